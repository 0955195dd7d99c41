"""The desk of a session: messages laid on it, its state changed, and all of it cleared away at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hindsight_memory.domain import (
    Appended,
    Desk,
    Ended,
    Event,
    Kind,
    Memory,
    Message,
    Role,
    Scope,
    SessionState,
    Source,
    StatePatch,
    Status,
    new_id,
)
from hindsight_memory.errors import Conflict, InvalidInput
from hindsight_memory.ingest.conversation import ConversationWriter, about, promote, session_of
from hindsight_memory.settings import SessionSettings, WriteSettings
from hindsight_memory.store.base import Stage, Store, Tx
from hindsight_memory.text.desk import LINES, Said, laid_out, observed, patched

_ROLES: Final = {Source.USER: Role.USER, Source.AGENT: Role.ASSISTANT}
_LOOK_BACK: Final = 6
"""Turns before a message that its rules may look at; tools may stand between two that were said."""
_GRAINS: Final = 60
"""Parts of a session's life. It ends between two of them, so that its messages are renewed once a part, not each time
that something is said."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SessionKeeper:
    """Keeps the desks of sessions. Whatever is done to one makes it live for another ``working_ttl_s``."""

    store: Store
    converser: ConversationWriter
    write: WriteSettings
    settings: SessionSettings
    clock: Callable[[], datetime]

    async def put(self, state: SessionState, scope: Scope, actor: str, version: int | None) -> Desk:
        """Replace the state. Raises ``Conflict`` when ``version`` is given and is not the stored one."""
        session_id, now = session_of(scope), self.clock()
        laid = laid_out(await self.converser.screener.plain(state, Source.AGENT, scope.bank))
        async with self.store.transaction(scope) as tx:
            desk = (await tx.take_desk(session_id)).at(now)
            if version not in (None, desk.version):
                message = f"Session {session_id} is at version {desk.version}, not {version}."
                raise Conflict(message, hint="Read it again and repeat the change.", field="version")
            kept = replace(desk, state=laid, given=_said(laid, LINES))
            return await self._keep(desk, kept, _Deed("put_session", scope.bank, actor, now), tx)

    async def patch(self, patch: StatePatch, scope: Scope, actor: str) -> Desk:
        """Change the state. Raises ``InvalidInput`` when a list would grow too long."""
        session_id, now = session_of(scope), self.clock()
        patch = await self.converser.screener.plain(patch, Source.AGENT, scope.bank)
        async with self.store.transaction(scope) as tx:
            desk = (await tx.take_desk(session_id)).at(now)
            state = patched(desk.state, patch)
            set_now = [name for name in LINES if getattr(patch, name) is not None]
            kept = replace(desk, state=state, given=_said(state, {*desk.given, *set_now}))
            return await self._keep(desk, kept, _Deed("patch_session", scope.bank, actor, now), tx)

    async def note(self, patch: StatePatch, scope: Scope, actor: str) -> Desk:
        """Lay what a model made of a turn on the state; texts that a caller has set stay, and so does what would go.

        Where the session has ended in the meantime, nothing is done.
        """
        session_id, now = session_of(scope), self.clock()
        patch = await self.converser.screener.plain(patch, Source.AGENT, scope.bank)
        async with self.store.transaction(scope) as tx:
            desk = (await tx.take_desk(session_id)).at(now)
            if desk.expires_at is None:
                return desk
            theirs: dict[str, Any] = dict.fromkeys(desk.given)
            ours = replace(patch, remove=(), **theirs)
            deed = _Deed("note_session", scope.bank, actor, now)
            return await self._keep(desk, replace(desk, state=patched(desk.state, ours)), deed, tx)

    async def append(
        self, messages: Sequence[Message], scope: Scope, actor: str, *, rules: bool, most: float = 1.0
    ) -> Appended:
        """Lay messages on the desk, each a working memory; see ``ConversationWriter`` for which are stored.

        Args:
            messages: What was said, in its order.
            scope: The session, and who writes.
            actor: Who it is put down to.
            rules: Whether rules keep the state by what the new messages say.
            most: How far whoever writes is believed, whoever they say has spoken.
        """
        session_id, now = session_of(scope), self.clock()
        turns = await self.converser.turns(messages, scope, self._until(now), most=most)
        async with self.store.transaction(scope) as tx:
            desk = (await tx.take_desk(session_id)).at(now)
            receipts = await self.converser.append(turns, scope, actor, tx, most)
            new = sum(receipt.created for receipt in receipts)
            state = await self._observed(desk, new, tx) if rules and new else desk.state
            if not rules:  # the caller keeps it: no model is to read what is said
                await tx.settle(Stage.READ, [receipt.id for receipt in receipts if receipt.created], {})
            deed = _Deed("append_session", scope.bank, actor, now)
            kept = await self._keep(desk, replace(desk, state=state), deed, tx)
        return Appended(
            session_id=session_id,
            state=kept.state,
            given=kept.given,
            version=kept.version,
            expires_at=kept.expires_at,
            receipts=tuple(receipts),
        )

    async def end(self, scope: Scope, actor: str, *, forget: bool) -> Ended:
        """Promote the messages to episodic memory, or forget them, and clear the desk; ended twice is ended once.

        In bounded transactions: a death between two of them leaves a session that is ended by the next call.
        """
        session_id, reader = session_of(scope), self.store.reading(scope.bank)
        desk = await reader.desk(session_id)
        ended = Ended(session_id=session_id, state=desk.state, version=desk.version)
        if desk.expires_at is None and not await reader.working(session_id, 1):
            return ended
        clearing, more = _Clearing(scope, actor, self.clock(), forget=forget), True
        while more:
            step, more = await clearing(self.store, self.settings.batch)
            ended = replace(step, promoted=ended.promoted + step.promoted, forgotten=ended.forgotten + step.forgotten)
        return ended

    async def _observed(self, desk: Desk, new: int, tx: Tx) -> SessionState:
        """The state after the latest ``new`` turns, by rules; what would not fit is left out."""
        end = await tx.next_turn(desk.session_id, 0)
        turns = await tx.turns(desk.session_id, end - new - _LOOK_BACK, end - 1)
        turns = [turn for turn in turns if turn.source in _ROLES and turn.status is Status.ACTIVE]
        said = [Said(_ROLES[turn.source], turn.content) for turn in turns]
        fresh = sum(turn.turn >= end - new for turn in turns if turn.turn is not None)
        state = desk.state
        for place in range(len(said) - fresh, len(said)):
            with suppress(InvalidInput):
                state = patched(state, observed(state, said[place], said[max(place - 2, 0) : place]))
        return state

    async def _keep(self, before: Desk, after: Desk, deed: _Deed, tx: Tx) -> Desk:
        """Store a desk, for another while; a state that is another is the next version, and an event."""
        names = [each.name for each in fields(SessionState)]
        changed = [name for name in names if getattr(before.state, name) != getattr(after.state, name)]
        kept = replace(after, version=before.version + bool(changed), expires_at=self._until(deed.now))
        await tx.put_desk(kept, deed.now)
        if changed:
            detail = {"session": kept.session_id, "version": kept.version, "changed": changed}
            await tx.record([deed.event(detail)])
        return kept

    def _until(self, now: datetime) -> datetime:
        grain = timedelta(seconds=self.write.working_ttl_s / _GRAINS)
        return _EPOCH - (_EPOCH - now - timedelta(seconds=self.write.working_ttl_s)) // grain * grain


async def promote_expired(store: Store, bank: str, now: datetime, limit: int) -> int:
    """End sessions that nobody ended before they expired: their messages become episodic memory.

    To be called by maintenance, before anything that removes what has expired. At most ``limit`` messages are promoted,
    in one transaction a session; what is left is done by the next call, and nothing is done twice.

    Returns:
        How many messages were promoted.
    """
    promoted = 0
    for session_id in await store.reading(bank).expired_sessions(now, limit):
        clearing = _Clearing(replace(Scope.of_bank(bank), session_id=session_id), "maintenance", now, expired=True)
        step, _ = await clearing(store, limit - promoted)
        promoted += step.promoted
        if promoted >= limit:
            break
    return promoted


@dataclass(frozen=True, slots=True)
class _Deed:
    """What is done to a state, where, by whom, when."""

    verb: str
    bank: str
    actor: str
    now: datetime

    def event(self, detail: dict[str, Any], reason: str = "") -> Event:
        """The line of the log; it names what was changed, and holds none of its text."""
        return Event(
            id=new_id(self.now),
            bank_id=self.bank,
            at=self.now,
            actor=self.actor,
            verb=self.verb,
            reason=reason,
            detail=detail,
        )


@dataclass(frozen=True, slots=True)
class _Clearing:
    """The end of a session, a batch of messages at a time."""

    scope: Scope
    actor: str
    now: datetime
    forget: bool = False
    expired: bool = False
    """Only a session that has expired: somebody may have gone on with it in the meantime."""

    async def __call__(self, store: Store, batch: int) -> tuple[Ended, bool]:
        """Clear at most ``batch`` messages away, and with the last of them the desk; returns whether there are more."""
        session_id = session_of(self.scope)
        async with store.transaction(self.scope) as tx:
            desk = await tx.take_desk(session_id)
            ended = Ended(session_id=session_id, state=desk.state, version=desk.version)
            if self.expired and (desk.expires_at is None or desk.expires_at > self.now):
                return ended, False
            found = await tx.working(session_id, batch + 1)
            cleared = found[:batch]
            await (self._forget(cleared, tx) if self.forget else promote(cleared, self.actor, self.now, tx))
            more = len(found) > batch
            if not more:
                ended = replace(ended, version=desk.version + 1)
                await tx.put_desk(Desk(session_id=session_id, version=ended.version), self.now)
                deed = _Deed("end_session", self.scope.bank, self.actor, self.now)
                await tx.record([deed.event({"session": session_id}, "expired" if self.expired else "")])
        number = sum(memory.status is Status.ACTIVE for memory in cleared)
        return (replace(ended, forgotten=number) if self.forget else replace(ended, promoted=number)), more

    async def _forget(self, messages: Sequence[Memory], tx: Tx) -> None:
        # Of the kind they would have become: if one is brought back, it is to stay.
        for message in messages:
            at = message.deleted_at or self.now
            after = await tx.change(message, status=Status.DELETED, deleted_at=at, kind=Kind.EPISODIC, expires_at=None)
            await tx.record([about(after, "forget", self.actor, self.now, "the session was dropped")])


def _said(state: SessionState, names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in LINES if name in names and getattr(state, name))
