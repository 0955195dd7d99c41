"""A program of its own that looks for texts in the bytes of files: ``python traces.py`` with JSON on standard input.

It is another process, because a process that closes a database's file lets go of all the locks it holds on it. It
imports nothing of this package.
"""

from __future__ import annotations

import json
import sys

_PIECE = 8 << 20
_BUDGET = 20_000_000_000
"""Bytes times patterns: seconds, whatever the size of the files. Of more samples the first are looked for."""
_LEAST = 3
"""Samples that are looked for at least."""


def search(files: list[str], samples: list[str]) -> dict[str, object]:
    """How many files and bytes there are, how many samples were looked for, and the places of those that were found."""
    sizes = [size for path in files if (size := _size(path)) is not None]
    forms = 3
    most = max(_BUDGET // (forms * max(sum(sizes), 1)), _LEAST)
    wanted = [(place, form) for place, text in enumerate(samples[:most]) for form in _forms(text)]
    longest = max((len(form) for _, form in wanted), default=1)
    found: set[int] = set()
    for path in files:
        _look(path, wanted, longest, found)
    return {"files": len(sizes), "bytes": sum(sizes), "samples": min(most, len(samples)), "found": sorted(found)}


def _forms(text: str) -> list[bytes]:
    return [text.encode(encoding, "replace") for encoding in ("utf-8", "utf-16-le", "utf-16-be")]


def _look(path: str, wanted: list[tuple[int, bytes]], longest: int, found: set[int]) -> None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # a plain program that starts at once
            rest = b""
            while piece := file.read(_PIECE):
                whole = rest + piece
                found.update(place for place, form in wanted if place not in found and form in whole)
                rest = whole[-longest:]
    except FileNotFoundError:
        return  # the log of writes goes with its last writer


def _size(path: str) -> int | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.seek(0, 2)
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    json.dump(search(asked["files"], asked["samples"]), sys.stdout)
