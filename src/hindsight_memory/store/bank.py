"""One bank, to read and to change, as far as it is plans: an engine says how a plan is carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import (
    ApiKey,
    AuditLine,
    Desk,
    Erased,
    Event,
    Handling,
    Jobs,
    LogHead,
    Memory,
    Ranking,
    Relation,
    Tier,
    Window,
)
from hindsight_memory.settings import GraphSettings, WordSettings
from hindsight_memory.store import (
    audit,
    desks,
    disputes,
    erasure,
    graph,
    jobs,
    keys,
    learning,
    policies,
    search,
    sql,
    talks,
    upkeep,
    vault,
    voices,
    work,
)
from hindsight_memory.store.base import Aged, BankStats, Done, Mark, Marks, Scored, Setback, Stage, Talk, Where
from hindsight_memory.store.moving_bank import MovingReader, MovingTx
from hindsight_memory.store.rows import Bank, Plan

T = TypeVar("T")


class Means(Protocol):
    """What plans need of the engine that carries them out."""

    clock: Callable[[], datetime]
    words: WordSettings
    graph: GraphSettings


class BankReader(MovingReader):
    """One bank, to read. What is asked about vectors is each engine's own."""

    _engine: Means

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        """Carry out a plan; ``empty`` where there is no such bank."""
        raise NotImplementedError

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """See ``Reader.get``."""
        return await self._ask(lambda bank: sql.get(bank, ids), [])

    async def find(self, where: Where, limit: int, after: str | None = None) -> list[Memory]:
        """See ``Reader.find``."""
        return await self._ask(lambda bank: sql.find(bank, where, limit, after), [])

    async def count(self, where: Where) -> int:
        """See ``Reader.count``."""
        return await self._ask(lambda bank: sql.count(bank, where), 0)

    async def known(self, content_hash: str) -> Memory | None:
        """See ``Reader.known``."""
        return await self._ask(lambda bank: sql.known(bank, content_hash), None)

    async def happened(self, said: str, at: datetime | None) -> Memory | None:
        """See ``Reader.happened``."""
        return await self._ask(lambda bank: sql.happened(bank, said, at), None)

    async def current(self, key: str, owner: str | None = None) -> Memory | None:
        """See ``Reader.current``."""
        return await self._ask(lambda bank: sql.current(bank, key, owner), None)

    async def record_of(self, memory: Memory, most: int) -> tuple[int, int]:
        """See ``Reader.record_of``."""
        return await self._ask(lambda bank: voices.record_of(bank, memory, most), (0, 0))

    async def lessons(self, most: int) -> list[Memory]:
        """See ``Reader.lessons``."""
        return await self._ask(lambda bank: voices.lessons(bank, most), [])

    async def turns(self, session_id: str, first: int, last: int) -> list[Memory]:
        """See ``Reader.turns``."""
        return await self._ask(lambda bank: sql.turns(bank, session_id, first, last), [])

    async def search_words(self, words: Sequence[str], where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_words``."""
        return await self._ask(lambda bank: search.search_words(bank, words, where, limit, self._engine.words), [])

    async def search_time(self, window: Window, where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_time``."""
        return await self._ask(lambda bank: search.search_time(bank, window, where, limit), [])

    async def names_known(self, candidates: Sequence[str], where: Where) -> Mapping[str, int]:
        """See ``Reader.names_known``."""
        return await self._ask(lambda bank: search.names_known(bank, candidates, where), {})

    async def search_graph(
        self, seeds: Mapping[str, float], names: Mapping[str, float], where: Where, limit: int
    ) -> list[Scored]:
        """See ``Reader.search_graph``."""
        settings = self._engine.graph
        return await self._ask(lambda bank: graph.search_graph(bank, seeds, names, where, limit, settings), [])

    async def lacking(self, ids: Sequence[str]) -> set[str]:
        """See ``Reader.lacking``."""
        return await self._ask(lambda bank: sql.lacking(bank, ids), set())

    async def relations(self, ids: Sequence[str]) -> list[Relation]:
        """See ``Reader.relations``."""
        return await self._ask(lambda bank: sql.relations(bank, ids), [])

    async def contradictions(self, where: Where, limit: int) -> list[tuple[str, str]]:
        """See ``Reader.contradictions``."""
        return await self._ask(lambda bank: disputes.contradictions(bank, where, limit), [])

    async def events(self, memory_id: str | None, limit: int) -> list[Event]:
        """See ``Reader.events``."""
        return await self._ask(lambda bank: audit.events(bank, memory_id, limit), [])

    async def log_head(self) -> LogHead | None:
        """See ``Reader.log_head``."""
        return await self._ask(audit.log_head, None)

    async def log(self, after: int, limit: int) -> list[AuditLine]:
        """See ``Reader.log``."""
        return await self._ask(lambda bank: audit.log(bank, after, limit), [])

    async def feedback(self, since: datetime | None, limit: int, actor: str | None = None) -> list[Event]:
        """See ``Reader.feedback``."""
        return await self._ask(lambda bank: learning.feedback(bank, since, limit, actor), [])

    async def ranking(self) -> Ranking:
        """See ``Reader.ranking``."""
        return await self._ask(learning.ranking, Ranking())

    async def desk(self, session_id: str) -> Desk:
        """See ``Reader.desk``."""
        return await self._ask(lambda bank: desks.desk(bank, session_id), Desk(session_id=session_id))

    async def working(self, session_id: str, limit: int) -> list[Memory]:
        """See ``Reader.working``."""
        return await self._ask(lambda bank: desks.working(bank, session_id, limit), [])

    async def expired_sessions(self, now: datetime, limit: int) -> list[str]:
        """See ``Reader.expired_sessions``."""
        return await self._ask(lambda bank: desks.expired_sessions(bank, now, limit), [])

    async def talks(self, before: datetime, limit: int, after: str = "") -> list[Talk]:
        """See ``Reader.talks``."""
        return await self._ask(lambda bank: talks.talks(bank, before, limit, after), [])

    async def stats(self) -> BankStats:
        """See ``Reader.stats``."""
        return await self._ask(sql.stats, BankStats(0, 0, {}))

    async def jobs(self, viewer: str | None, attempts: int, limit: int) -> Jobs:
        """See ``Reader.jobs``."""
        now = self._engine.clock()
        return await self._ask(lambda bank: jobs.jobs(bank, viewer, attempts, limit, now), Jobs())

    async def aged(self, asked: Aged, limit: int, after: Memory | None = None) -> list[Memory]:
        """See ``Reader.aged``."""
        return await self._ask(lambda bank: upkeep.aged(bank, asked, limit, after), [])

    async def sweep(self, after: int, limit: int) -> list[tuple[int, Memory]]:
        """See ``Reader.sweep``."""
        return await self._ask(lambda bank: upkeep.sweep(bank, after, limit), [])

    async def rules(self) -> Mapping[str, Handling]:
        """See ``Reader.rules``."""
        return await self._ask(policies.rules, {})

    async def sealed(self, vault_id: str) -> tuple[str, bytes] | None:
        """See ``Reader.sealed``."""
        return await self._ask(lambda bank: vault.sealed(bank, vault_id), None)

    async def stored(self, after: int, limit: int) -> list[tuple[int, Memory]]:
        """See ``Reader.stored``."""
        return await self._ask(lambda bank: policies.stored(bank, after, limit), [])

    async def desks(self, after: str, limit: int) -> list[Desk]:
        """See ``Reader.desks``."""
        return await self._ask(lambda bank: desks.desks(bank, after, limit), [])

    async def active(self) -> int:
        """See ``Reader.active``."""
        return await self._ask(upkeep.active, 0)

    async def last_event(self, after: int, actor: str, verbs: Sequence[str]) -> int:
        """See ``Reader.last_event``."""
        return await self._ask(lambda bank: upkeep.last_event(bank, after, actor, verbs), 0)

    async def keyed(self, beginning: str, limit: int, after: str = "") -> list[Memory]:
        """See ``Reader.keyed``."""
        return await self._ask(lambda bank: upkeep.keyed(bank, beginning, limit, after), [])

    async def upkeep(self) -> Mapping[str, Done]:
        """See ``Reader.upkeep``."""
        return await self._ask(upkeep.upkeep, {})

    async def replay(
        self, span: Window, viewer: str | None, limit: int, after: Mark | None = None
    ) -> list[tuple[Mark, Event]]:
        """See ``Reader.replay``."""
        return await self._ask(lambda bank: upkeep.replay(bank, span, viewer, limit, after), [])


class BankTx(BankReader, MovingTx):
    """One transaction on one bank."""

    _bank: Bank

    async def next_turn(self, session_id: str, count: int) -> int:
        """See ``Tx.next_turn``."""
        return await self._do(sql.next_turn(self._bank, session_id, count, self._engine.clock()))

    async def take_desk(self, session_id: str) -> Desk:
        """See ``Tx.take_desk``."""
        return await self._do(desks.take_desk(self._bank, session_id, self._engine.clock()))

    async def put_desk(self, desk: Desk, now: datetime) -> None:
        """See ``Tx.put_desk``."""
        await self._do(desks.put_desk(self._bank, desk, now))

    async def add(self, memory: Memory, marks: Marks) -> None:
        """See ``Tx.add``."""
        await self._do(sql.add(self._bank, memory, marks))

    async def change(self, memory: Memory, marks: Marks | None = None, **fields: Any) -> Memory:
        """See ``Tx.change``."""
        return await self._do(sql.change(self._bank, memory, marks, fields))

    async def change_all(self, memories: Sequence[Memory], **fields: Any) -> list[Memory]:
        """See ``Tx.change_all``."""
        return await self._do(sql.change_all(self._bank, memories, fields))

    async def relate(self, relation: Relation) -> None:
        """See ``Tx.relate``."""
        await self._do(sql.relate(self._bank, relation))

    async def record(self, events: Sequence[Event]) -> None:
        """See ``Tx.record``."""
        await self._do(audit.record(self._bank, events))

    async def set_rules(self, rules: Mapping[str, Handling | None]) -> None:
        """See ``Tx.set_rules``."""
        await self._do(policies.set_rules(self._bank, rules))

    async def seal(self, sealed: Mapping[str, tuple[str, bytes]], now: datetime) -> None:
        """See ``Tx.seal``."""
        await self._do(vault.seal(self._bank, sealed, now))

    async def unrelate(self, relations: Sequence[Relation]) -> None:
        """See ``Tx.unrelate``."""
        await self._do(policies.unrelate(self._bank, relations))

    async def wipe(self) -> None:
        """See ``Tx.wipe``."""
        await self._do(erasure.count_erasure(self._bank))

    async def cleanse(self, memory: Memory) -> None:
        """See ``Tx.cleanse``."""
        await self._do(policies.cleanse(self._bank, memory))

    async def set_ranking(self, ranking: Ranking) -> None:
        """See ``Tx.set_ranking``."""
        await self._do(learning.set_ranking(self._bank, ranking))

    async def set_vectors(self, space: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """See ``Tx.set_vectors``."""
        await self._do(work.set_vectors(self._bank, space, vectors))

    async def settle(self, stage: Stage, done: Sequence[str], failed: Mapping[str, Setback]) -> None:
        """See ``Tx.settle``."""
        await self._do(work.settle(self._bank, stage, done, failed))

    async def retry(self, stage: Stage, attempts: int) -> int:
        """See ``Tx.retry``."""
        return await self._do(jobs.retry(self._bank, stage, attempts, self._engine.clock()))

    async def touch(self, ids: Sequence[str], at: datetime) -> None:
        """See ``Tx.touch``."""
        await self._do(sql.touch(self._bank, ids, at))

    async def samples(self, ids: Sequence[str] | None = None) -> list[str]:
        """See ``Tx.samples``."""
        return await self._do(erasure.samples(self._bank, ids))

    async def erase(self, ids: Sequence[str]) -> Erased:
        """See ``Tx.erase``."""
        return await self._do(erasure.erase(self._bank, ids))

    async def erase_bank(self) -> Erased:
        """See ``Tx.erase_bank``."""
        return await self._do(erasure.erase_bank(self._bank))

    async def set_tier(self, ids: Sequence[str], tier: Tier) -> None:
        """See ``Tx.set_tier``."""
        await self._do(upkeep.set_tier(self._bank, ids, tier))

    async def settle_upkeep(self, routine: str, done: Done) -> None:
        """See ``Tx.settle_upkeep``."""
        await self._do(upkeep.settle_upkeep(self._bank, routine, done))

    async def tell(self, talk: Talk, told: int, settled: int) -> None:
        """See ``Tx.tell``."""
        await self._do(talks.tell(self._bank, talk, told, settled))

    async def put_key(self, key: ApiKey, digest: str) -> None:
        """See ``KeyTx.put_key``."""
        await self._do(keys.put_key(self._bank, key, digest))

    async def end_key(self, key: ApiKey) -> None:
        """See ``KeyTx.end_key``."""
        await self._do(keys.end_key(self._bank, key))

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:  # noqa: ARG002
        return await self._do(plan(self._bank))

    async def _do(self, plan: Plan[T]) -> T:
        """Carry out a plan within the transaction."""
        raise NotImplementedError
