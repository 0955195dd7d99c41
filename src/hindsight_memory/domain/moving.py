"""What is asked of who moves memory out of one database and into another, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hindsight_memory.check import Checked, Limits


@dataclass(frozen=True, kw_only=True)
class Export(Checked):
    """What an archive is to hold: ``all_users`` of the namespace instead of one, the ``vectors`` too.

    ``stamp`` says in it when it was made, so that two of the same memory differ; ``passphrase`` encrypts it.
    """

    all_users: bool = False
    vectors: bool = False
    stamp: bool = False
    passphrase: str | None = field(default=None, repr=False, metadata=Limits(least=1, most=1_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBank:
    """What became of one user's memory; ``lines`` counts what it is made of, ``note`` says what is to be known of it.

    ``outcome`` is ``moved`` or ``known``: it was there already, as it is in the archive or further on.
    """

    namespace: str
    user_id: str | None
    outcome: str
    lines: Mapping[str, int]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What an import of an archive did, user by user."""

    banks: tuple[MovedBank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a move from database to database did: how often all was gone through, what was moved, what is not equal.

    ``open`` names the banks that were still being written to, so that a further run is needed; none when all is equal.
    """

    banks: int
    rounds: int
    lines: int
    changed: int
    sha256: str
    open: tuple[str, ...] = ()
