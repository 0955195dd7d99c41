"""A store as far as it is plans over all banks: what engines do alike, whichever way they carry a plan out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import ClassVar, Protocol, TypeVar

from hindsight_memory.domain import ApiKey, Scope
from hindsight_memory.store import jobs, keys, moving, upkeep, work
from hindsight_memory.store.bank import Means
from hindsight_memory.store.base import Due, Space, Stage, Terms
from hindsight_memory.store.parts import Key, Line, Part
from hindsight_memory.store.rows import Plan

T = TypeVar("T")


class Engine(Means, Protocol):
    """How plans over all banks are carried out. A plan may be begun again: so it is a function that makes one."""

    async def ask(self, plan: Callable[[], Plan[T]]) -> T:
        """Carry out a plan that only reads."""

    async def alone(self, plan: Callable[[], Plan[T]]) -> T:
        """Carry out a plan in a transaction of its own."""


class PlanStore:
    """The part of ``Store`` that is no bank's alone."""

    _engine: Engine
    _skip: ClassVar[str] = ""
    """How a statement passes over lines that another transaction holds; nothing where there is one writer at a time."""

    async def claim(self, stage: Stage, holder: str, terms: Terms, bank: str | None = None) -> list[Due]:
        """See ``Store.claim``."""
        now = self._engine.clock()
        if not await self._engine.ask(lambda: work.anything(stage, terms, bank, now)):
            return []  # nothing to write, so others need not wait
        return await self._engine.alone(lambda: work.claim(stage, holder, terms, bank, now, self._skip))

    async def renew(self, stage: Stage, holder: str, lease_s: float) -> None:
        """See ``Store.renew``."""
        now = self._engine.clock()
        await self._engine.alone(lambda: work.renew(stage, holder, lease_s, now))

    async def give_back(self, gone: Callable[[str], bool]) -> None:
        """See ``Store.give_back``."""
        now = self._engine.clock()
        holders = await self._engine.ask(lambda: work.holders(now))
        if ended := [holder for holder in holders if gone(holder)]:
            await self._engine.alone(lambda: work.give_back(ended))

    async def use_spaces(self, spaces: Sequence[Space]) -> int:
        """See ``Store.use_spaces``."""
        held = await self._engine.ask(work.spaces)
        if [space for _, wanted, space in held if wanted] != list(spaces):
            await self._engine.alone(lambda: self._use(spaces))
        return await self._engine.ask(work.lacking_vectors)

    async def spaces(self) -> list[Space]:
        """See ``Store.spaces``."""
        return [space for _, _, space in await self._engine.ask(work.spaces)]

    async def due(self, stage: Stage, terms: Terms, bank: str | None = None) -> int:
        """See ``Store.due``."""
        return await self._engine.ask(lambda: work.due(stage, terms, bank))

    async def spend(self, day: date, tokens: int, memories: int) -> tuple[int, int]:
        """See ``Store.spend``."""
        if tokens or memories:
            return await self._engine.alone(lambda: jobs.spend(day, tokens, memories))
        return await self._engine.ask(lambda: jobs.spent(day))

    async def banks(self, namespace: str | None, after: str | None, limit: int) -> list[Scope]:
        """See ``Store.banks``."""
        return await self._engine.ask(lambda: upkeep.banks(namespace, after, limit))

    async def key_of(self, digest: str) -> ApiKey | None:
        """See ``KeyStore.key_of``."""
        return await self._engine.ask(lambda: keys.key_of(digest))

    async def key(self, key_id: str) -> ApiKey | None:
        """See ``KeyStore.key``."""
        return await self._engine.ask(lambda: keys.key(key_id))

    async def keys(self, namespace: str | None, after: str | None, limit: int) -> list[ApiKey]:
        """See ``KeyStore.keys``."""
        return await self._engine.ask(lambda: keys.keys(namespace, after, limit))

    async def working_keys(self, now: datetime) -> bool:
        """See ``KeyStore.working_keys``."""
        return await self._engine.ask(lambda: keys.working_keys(now))

    async def used_keys(self, used: Mapping[str, datetime]) -> None:
        """See ``KeyStore.used_keys``."""
        await self._engine.alone(lambda: keys.used_keys(used))

    async def lead(self, role: str, holder: str, lease_s: float) -> str:
        """See ``Store.lead``."""
        now = self._engine.clock()
        held = await self._engine.ask(lambda: upkeep.leader(role, now, lease_s))
        if held not in (None, holder):
            return held  # nothing to write, so others need not wait
        return await self._engine.alone(lambda: upkeep.lead(role, holder, now, lease_s))

    async def common_lines(self, part: Part, after: Key | None, limit: int) -> list[Line]:
        """See ``Store.common_lines``."""
        return await self._engine.ask(lambda: moving.common_lines(part, after, limit))

    async def put_common(self, part: Part, lines: Sequence[Line]) -> None:
        """See ``Store.put_common``."""
        await self._engine.alone(lambda: moving.put_common(part, lines))

    async def resign(self, role: str, holder: str) -> None:
        """See ``Store.resign``."""
        await self._engine.alone(lambda: upkeep.resign(role, holder))

    def _use(self, spaces: Sequence[Space]) -> Plan[None]:
        return work.use_spaces(spaces)
