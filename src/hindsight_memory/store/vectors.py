"""Exact nearest neighbours in memory: one matrix a bank and space, caught up from the database."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

_FIRST_ROOM: Final = 16
_CACHE_BYTES: Final = 512 << 20
_SCORES: Final = 4_000_000
"""Numbers that ``Matrix.alike`` holds at once."""


class Matrix:
    """The vectors of one bank in one space, with the rows they belong to.

    ``change`` and ``erasures`` are the bank's counters it has caught up with. A row whose vector is replaced
    leaves a dead line behind; lines are never moved, so adding is cheap.
    """

    def __init__(self, dimension: int) -> None:
        self.change = 0
        self.erasures = 0
        self.lock = Lock()
        self._size = 0
        self._data = np.zeros((_FIRST_ROOM, dimension), np.float32)
        self._rows = np.zeros(_FIRST_ROOM, np.int64)
        self._lines: dict[int, list[int]] = {}
        self._dead = 0

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._data.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self._data.nbytes

    def clear(self) -> None:
        """Forget everything, as after an erasure."""
        self._size, self._dead, self.change = 0, 0, 0
        self._data = np.zeros((_FIRST_ROOM, self._data.shape[1]), np.float32)
        self._lines.clear()

    def put(self, changed: Iterable[tuple[int, bytes | None]]) -> None:
        """Replace the vectors of rows; none removes the row's. Parts of one row come together."""
        fresh: set[int] = set()
        for row, blob in changed:
            if row not in fresh:
                self._drop(row)
                fresh.add(row)
            if blob:
                self._append(row, np.frombuffer(blob, "<f4"))

    def ranked(self, query: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """The nearest rows with their cosine, best first; a row counts by its best part."""
        # Not the product of matrices: its threads go on spinning after each call, and take the cores from the embedder.
        scores = np.vecdot(self._data[: self._size], query)
        if self._dead:
            alive = np.zeros(self._size, bool)
            alive[[line for lines in self._lines.values() for line in lines]] = True
            scores[~alive] = -np.inf
        order = _largest(scores, limit + self._size - len(self._lines))
        best: dict[int, float] = {}
        for row, score in zip(self._rows[order].tolist(), scores[order].tolist(), strict=True):
            if score == -np.inf or len(best) == limit:
                break
            best.setdefault(row, score)
        return list(best.items())

    def of(self, rows: Iterable[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors of these rows, of those that have one; the mean of several parts, scaled to length 1."""
        lines = {row: held for row in rows if (held := self._lines.get(row))}
        found = dict(zip(lines, self._data[[held[0] for held in lines.values()]], strict=True)) if lines else {}
        for row, held in lines.items():
            if len(held) > 1:
                found[row] = mean_of([self._data[line] for line in held])
        return found

    def alike(self, rows: Sequence[int], limit: int, without: Sequence[int] = ()) -> dict[int, list[int]]:
        """For each of these rows that has a vector, the rows nearest to it, nearest first and without itself.

        Rows after the last of these are left out, and those ``without``.
        """
        held = self.of(rows)
        asked = np.array(list(held.values()), np.float32).reshape(len(held), self.dimension)
        before = np.flatnonzero(self._rows[: self._size] <= max(held, default=0))
        end = int(before[-1]) + 1 if len(before) else 0
        size, wide = max(_SCORES // max(end, 1), 1), min(4 * (limit + 1), end)
        hidden = np.isin(self._rows[:end], without)
        found: dict[int, list[int]] = {}
        gone = set(without)
        for start in range(0, len(asked), size):
            # Here the product of matrices: it is a hundred times the work of a search, and nobody waits for it.
            apart = -(asked[start : start + size] @ self._data[:end].T)
            apart[:, hidden] = np.inf
            places = np.argpartition(apart, wide - 1, axis=1)[:, :wide]
            order = np.argsort(np.take_along_axis(apart, places, axis=1), axis=1, kind="stable")
            ranked = self._rows[np.take_along_axis(places, order, axis=1)].tolist()
            for row, near in zip(list(held)[start : start + size], ranked, strict=True):
                # A row may have several lines, some of them dead.
                left = [each for each in dict.fromkeys(near) if each != row and each in self._lines]
                found[row] = [each for each in left if each not in gone][:limit]
        return found

    def __len__(self) -> int:
        return len(self._lines)

    def _drop(self, row: int) -> None:
        self._dead += len(self._lines.pop(row, ()))

    def _append(self, row: int, vector: NDArray[np.float32]) -> None:
        if self._size == len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._data[self._size] = vector
        self._rows[self._size] = row
        self._lines.setdefault(row, []).append(self._size)
        self._size += 1


class MatrixCache:
    """Matrices of the banks searched most recently, within a bound of memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[tuple[int, int], Matrix] = OrderedDict()

    def clear(self) -> None:
        """Hold none; who is at work with one keeps it until he is done."""
        with self._lock:
            self._held.clear()

    def matrix(self, bank: int, space: int, dimension: int) -> Matrix:
        """The bank's matrix in this space, empty when it is new here."""
        with self._lock:
            found = self._held.setdefault((bank, space), Matrix(dimension))
            self._held.move_to_end((bank, space))
            while len(self._held) > 1 and sum(each.nbytes for each in self._held.values()) > _CACHE_BYTES:
                self._held.popitem(last=False)
            return found


def mean_of(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of the vectors of one memory's parts, scaled to length 1."""
    if len(parts) == 1:
        return parts[0]
    mean: NDArray[np.float32] = np.mean(parts, axis=0, dtype=np.float32)
    return np.divide(mean, max(float(np.linalg.norm(mean)), 1e-6), dtype=np.float32)


def _largest(scores: NDArray[np.float32], limit: int) -> NDArray[np.intp]:
    """Places of the largest scores, largest first, equal ones by place."""
    if limit < len(scores):
        bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        places = np.flatnonzero(scores >= bound)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")]


class Floats(bytes):
    """A vector as bytes, little-endian float32: told apart from other bytes where an engine keeps it in another way."""


def to_blob(vector: Sequence[float] | NDArray[np.float32]) -> Floats:
    """A vector as it is stored."""
    return Floats(np.asarray(vector, "<f4").tobytes())
