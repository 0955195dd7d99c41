"""Numbered SQL files, applied once each and in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its number, its name and its SQL."""

    number: int
    name: str
    sql: str


@cache
def migrations(engine: str) -> tuple[Migration, ...]:
    """The steps of an engine's schema, in order; their numbers run from 1 without a gap."""
    folder = files("hindsight_memory.store") / "migrations" / engine
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(_read(name, (folder / name).read_text(encoding="utf-8")) for name in names)


def pending(engine: str, version: int) -> tuple[Migration, ...]:
    """The steps still to be applied to a database at ``version`` (0 when it is empty)."""
    return migrations(engine)[version:]


def latest(engine: str) -> int:
    """The version this program writes."""
    return len(migrations(engine))


def _read(name: str, sql: str) -> Migration:
    number, _, title = name.removesuffix(".sql").partition("_")
    return Migration(int(number), title, sql)
