"""The verbs that remove for good, from every table and every file, and prove it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import Erased, Event, Memory, Scope, SessionState, new_id
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import may, require
from hindsight_memory.ingest.derived import quoting
from hindsight_memory.service.base import LONGEST_ID, Verbs, seen
from hindsight_memory.store.base import Tx

_LONGEST_REASON: Final = 2_000
_READERS: Final = tuple(f"hindsight_memory.{name}." for name in ("text", "guard", "ingest", "recall", "lifecycle"))
_SHARED: Final = "shared"
"""What confirms that the shared bank is meant: it has no user."""


class Erasing(Verbs):
    """Verbs that remove for good."""

    async def purge(self, memory_id: str, scope: Scope, reason: str = "") -> Erased:
        """Remove one memory for good, at once, with its words, vectors, relations and what the log holds of it.

        What was read off it, and would keep its words, goes along, and so does what the state of its session quotes.

        Returns:
            What was removed, counted, and what a search of the files found: nothing.
        """
        require(self.principal, "purge", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        reason = await self._parts.screener.text(parse_text("reason", reason, _LONGEST_REASON), scope.bank)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            gone = [memory, *await quoting(memory, tx)]
            ids = [each.id for each in gone]
            samples = await tx.samples(ids)
            await self._clear_desks(gone, tx)
            erased = await tx.erase(ids)
            await tx.record([self._event("purge", each, scope, {**erased.counted()}, reason) for each in gone])
        self._parts.indexer.wake()  # a turn after it is to be embedded without it
        return await self._proved(erased, samples)

    async def forget_all(self, scope: Scope, confirm: str) -> Erased:
        """Remove everything a user's bank holds, for good: memories, sessions, relations, vectors and the log.

        One line of the log stays, which says when and by whom, and what was removed, counted.

        Args:
            scope: Whose memory is meant.
            confirm: The same ``user_id`` once more; ``shared`` for the shared bank.

        Returns:
            What was removed, counted, and what a search of the files found: nothing.

        Raises:
            InvalidInput: ``confirm`` is not the user; nothing was removed.
        """
        require(self.principal, "forget_all", scope)
        if confirm != (_SHARED if scope.user_id is None else scope.user_id):
            message = "confirm is not the user whose memory is to be removed."
            raise InvalidInput(message, hint="Give the user_id once more; nothing was removed.", field="confirm")
        now = self._parts.clock()
        reader = self._parts.store.reading(scope.bank)
        if not await reader.events(None, 1) and not await reader.active():
            return Erased()  # nothing is known of this user, and that stays so
        async with self._parts.store.transaction(scope) as tx:
            samples = await tx.samples()
            erased = await tx.erase_bank()
            event = Event(id=new_id(now), bank_id=scope.bank, at=now, actor=self._actor(scope), verb="forget_all")
            await tx.record([replace(event, detail={**erased.counted()})])
        self._parts.touched.pop(scope.bank, None)
        return await self._proved(erased, samples, compact=True)

    async def _proved(self, erased: Erased, samples: Sequence[str], *, compact: bool = False) -> Erased:
        self._parts.finder.understand.drop_recent()
        forget_texts()
        proof = await self._parts.store.scrub(samples, compact=compact)
        if not may(self.principal, "doctor", None):
            proof = replace(proof, bytes=0, compacted=False)  # of the size of the whole store, nothing
        return replace(erased, proof=proof)

    async def _clear_desks(self, gone: Sequence[Memory], tx: Tx) -> None:
        """Take out of the states of sessions what was read off turns that go; they stand there word for word."""
        for session_id in dict.fromkeys(each.session_id for each in gone if each.turn is not None and each.session_id):
            said = [each.content for each in gone if each.session_id == session_id]
            desk = await tx.desk(session_id)
            state = _without(desk.state, said)
            if state != desk.state:
                desk = await tx.take_desk(session_id)
                kept = replace(desk, state=_without(desk.state, said), version=desk.version + 1)
                await tx.put_desk(kept, self._parts.clock())


def forget_texts() -> None:
    """Empty the caches that are kept by texts: those with a bound. The others hold what the program comes with."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_READERS):
            for each in list(vars(module).values()):
                if hasattr(each, "cache_clear") and each.cache_parameters()["maxsize"] is not None:
                    each.cache_clear()


def _without(state: SessionState, said: Collection[str]) -> SessionState:
    """A state without the entries that stand in a text, or hold it."""

    def quotes(entry: str) -> bool:
        return bool(entry) and any(entry in text or text in entry for text in said)

    values: dict[str, Any] = {}
    for each in fields(SessionState):
        value = getattr(state, each.name)
        if isinstance(value, str):
            values[each.name] = "" if quotes(value) else value
        else:
            values[each.name] = tuple(entry for entry in value if not quotes(entry))
    return SessionState(**values)
