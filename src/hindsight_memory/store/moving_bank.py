"""One bank, to be moved: what every engine does alike, whichever way it carries a plan out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hindsight_memory.store import moving
from hindsight_memory.store.base import Marks
from hindsight_memory.store.parts import Key, Line, Part
from hindsight_memory.store.rows import Bank, Plan

T = TypeVar("T")


class MovingReader:
    """The part of ``Reader`` that is for who moves a bank."""

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        raise NotImplementedError

    async def head(self) -> Line | None:
        """See ``Reader.head``."""
        return await self._ask(moving.head, None)

    async def lines(self, part: Part, after: Key | None, limit: int) -> list[Line]:
        """See ``Reader.lines``."""
        return await self._ask(lambda bank: moving.lines(bank, part, after, limit), [])

    async def faults(self, limit: int) -> list[str]:
        """See ``Reader.faults``."""
        return await self._ask(lambda bank: moving.faults(bank, limit), [])


class MovingTx(MovingReader):
    """The part of ``Tx`` that is for who moves a bank."""

    async def _do(self, plan: Plan[T]) -> T:
        raise NotImplementedError

    _bank: Bank

    async def set_head(self, head: Line) -> None:
        """See ``Tx.set_head``."""
        await self._do(moving.set_head(self._bank, head))

    async def put_memories(self, memories: Sequence[tuple[Line, Marks]]) -> None:
        """See ``Tx.put_memories``."""
        await self._do(moving.put_memories(self._bank, memories))

    async def put_lines(self, part: Part, lines: Sequence[Line]) -> None:
        """See ``Tx.put_lines``."""
        await self._do(moving.put_lines(self._bank, part, lines))

    async def drop_lines(self, part: Part, keys: Sequence[Key]) -> None:
        """See ``Tx.drop_lines``."""
        await self._do(moving.drop_lines(self._bank, part, keys))

    async def settle_vectors(self) -> None:
        """See ``Tx.settle_vectors``."""
        await self._do(moving.settle_vectors(self._bank))
