"""The verbs that correct, take out of sight and bring back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any, Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Changes,
    Draft,
    Event,
    Kind,
    Memory,
    RelationType,
    Scope,
    Source,
    Status,
    Tier,
    Visibility,
)
from hindsight_memory.errors import Conflict, InvalidInput, NotAllowed
from hindsight_memory.guard.access import require
from hindsight_memory.guard.trust import believed
from hindsight_memory.guard.verdicts import taken_out, undone
from hindsight_memory.ingest.derived import derived_from, unsupported
from hindsight_memory.ingest.enrich import content_of, identity, is_dated, marks_of, owner_of, summary_for
from hindsight_memory.ingest.resolve import value_of
from hindsight_memory.service.base import LONGEST_ID, Verbs, origin_of, own, seen, visible, without_origin
from hindsight_memory.store.base import Tx
from hindsight_memory.strength import expired

_LONGEST_REASON = 2_000
_EVENTS = 200
"""Events of a memory among which stands how it was before it was taken out."""
_MARKED = {"content", "key", "tags", "occurred_at"}
_SAYING = {"content", "key", "valid_until", "expires_at"}
"""What decides what a memory says, and for how long."""
_OF_DRAFT: Final = {each.name for each in fields(Draft)}


class Changing(Verbs):
    """Verbs that correct, take out of sight and bring back."""

    async def update(self, memory_id: str, changes: Changes, scope: Scope) -> Memory:
        """Change fields of a memory; its version goes up.

        Other words of who is trusted less are kept beside it, as a memory of their own that contradicts it until the
        user settles which is right: the answer is then that one, and nothing is changed.

        Raises:
            Conflict: ``changes.version`` is not the stored one, or another memory says the same already.
            NotAllowed: Who is trusted less would move it under another key, or end it.
        """
        require(self.principal, "update", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        if not changes.given():
            raise InvalidInput("There is nothing to change.", hint="Give at least one field.", field="content")
        speaker = self._speaker(scope, changes.source)
        values = (await self._parts.screener.plain(changes, speaker, scope.bank)).given()
        async with self._parts.store.transaction(scope) as tx:
            memory = visible(await tx.get([memory_id]), memory_id, scope, self._parts.clock())
            if changes.version not in (None, memory.version):
                message = f"Memory {memory_id} is at version {memory.version}, not {changes.version}."
                raise Conflict(message, hint="Read it again and repeat the change.", field="version")
            if changes.metadata is not None:
                values["metadata"] = origin_of(memory) | without_origin(values["metadata"])
            beside = self._outweighs(memory, values, speaker, scope)
            changed = memory if beside else await self._changed(memory, values, speaker, scope, tx)
        self._parts.indexer.wake()
        return await self._beside_it(memory, values, speaker, scope) if beside else changed

    async def _changed(self, memory: Memory, values: dict[str, Any], speaker: Source, scope: Scope, tx: Tx) -> Memory:
        worded = "content" in values
        values |= await _rehashed(memory, values, tx) | _pinned(memory, values)
        values |= self._reweighed(memory, values, self._trust_of(speaker, scope))
        if worded:
            values["summary"] = summary_for(values["content"], self.settings.write)
        marks = marks_of(replace(memory, **values)) if _MARKED & values.keys() else None
        changed = await tx.change(memory, marks, **values)
        before = {name: str(getattr(memory, name)) for name in values}
        await tx.record([self._event("update", changed, scope, {"before": before})])
        return changed

    def _outweighs(self, memory: Memory, values: Mapping[str, Any], speaker: Source, scope: Scope) -> bool:
        """Whether a memory is trusted more than who would change what it says; not what an agent keeps to itself.

        Raises ``NotAllowed`` for what cannot be kept beside it: another key, an end, words of what no longer stands.
        """
        said = {**values, **({"content": content_of(values["content"])} if "content" in values else {})}
        saying = {name for name in _SAYING & said.keys() if said[name] != getattr(memory, name)}
        private = memory.visibility is Visibility.PRIVATE
        if private or not saying or self._trust_of(speaker, scope) >= memory.trust:
            return False
        if saying != {"content"} or memory.status is not Status.ACTIVE:
            hint = "Write what is so as a memory of its own: it is kept beside this one, and the user can settle it."
            raise NotAllowed("This memory is trusted more than who would change it.", hint=hint)
        return True

    async def _beside_it(self, memory: Memory, values: Mapping[str, Any], speaker: Source, scope: Scope) -> Memory:
        """Keep other words of who is trusted less beside a memory, as a contradiction of it."""
        kept = {name: getattr(memory, name) for name in ("kind", "key", "tags", "visibility", "importance")}
        kept |= {"occurred_at": memory.occurred_at} if is_dated(memory) else {}
        said = {name: value for name, value in values.items() if name in _OF_DRAFT}
        draft = Draft(**kept | said, source=speaker, relations=(f"{RelationType.CONTRADICTS}:{memory.id}",))
        where = replace(scope, session_id=memory.session_id)
        (receipt,) = await self._parts.writer(own([draft]), where, self._actor(scope), self._most(scope))
        self._parts.indexer.wake()
        (beside,) = await self._parts.store.reading(scope.bank).get([receipt.id])
        return beside

    def _trust_of(self, speaker: Source, scope: Scope) -> float:
        return min(self._most(scope), self.settings.write.trust[speaker])

    def _reweighed(self, memory: Memory, values: Mapping[str, Any], most: float) -> dict[str, Any]:
        """The trust that is left of a memory when it is put in other words: no more than who does so is believed."""
        if "content" not in values or values["content"] == memory.content:
            return {}
        put = replace(memory, content=values["content"])
        trust = believed(put, self.settings.write, self.settings.trust, most=most)
        return {"trust": trust} if trust < memory.trust else {}

    async def forget(self, memory_id: str, scope: Scope, reason: str = "") -> Memory:
        """Take a memory out of sight, and what was read off it alone; ``restore`` brings both back.

        Forgetting it twice is forgetting it once.
        """
        require(self.principal, "forget", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        reason = await self._parts.screener.text(parse_text("reason", reason, _LONGEST_REASON), scope.bank)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            if memory.status is Status.DELETED:
                return memory
            also = await unsupported(memory, tx)
            gone, *_ = [await self._take_out(each, scope, reason, tx) for each in (memory, *also)]
        return gone

    async def restore(self, memory_id: str, scope: Scope) -> Memory:
        """Bring a memory back as it was: one that was forgotten, that feedback took out of recall, or time did.

        It also lets in what waits in quarantine, and lets stand what agents have called wrong: see ``review``.
        What has expired has no end then (working memory: a new one), what had gone cold counts as used now.

        Raises:
            Conflict: The same, or another value of its key, has been stored in the meantime.
            NotAllowed: It waits for the user, or the user took it out, and somebody else would bring it back.
        """
        require(self.principal, "restore", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            events = await tx.events(memory_id, _EVENTS)
            self._refuse_against(memory, events, scope)
            fields = (undone(memory, events) or {}) | self._revived(memory) | self._let_stand(memory, scope)
            if not fields:
                return memory
            if fields.get("status") is Status.ACTIVE:
                await _refuse_second(memory, tx)
            also = [each for each in await derived_from(memory, tx) if _went_with(each, memory)]
            back = await tx.change(memory, marks_of(memory), **fields)
            await tx.record([self._event("restore", back, scope, {})])
            for each in also:
                await self._bring_back(each, scope, tx)
        self._parts.indexer.wake()
        return back

    def _refuse_against(self, memory: Memory, events: Sequence[Event], scope: Scope) -> None:
        """Raise ``NotAllowed`` where somebody would undo what only the user may: a quarantine, or the user's own deed.

        What one has done oneself one may take back.
        """
        deed = taken_out(memory, events)
        if self._speaker(scope) is Source.USER or (deed is not None and deed.actor == self._actor(scope)):
            return
        by_user = deed is not None and deed.detail.get("source") == Source.USER
        if memory.status is Status.QUARANTINED or (memory.status is not Status.ACTIVE and by_user):
            hint = "Ask the user, who does so without an agent_id and with a key that may vouch."
            raise NotAllowed(f"Memory {memory.id} is brought back by the user alone.", hint=hint)

    def _let_stand(self, memory: Memory, scope: Scope) -> dict[str, Any]:
        """What changes when the user looks at a memory that was called wrong and lets it stand."""
        mine = memory.status is Status.ACTIVE and memory.doubted and self._speaker(scope) is Source.USER
        return {"doubted": 0} if mine else {}

    async def _take_out(self, memory: Memory, scope: Scope, reason: str, tx: Tx) -> Memory:
        gone = await tx.change(memory, status=Status.DELETED, deleted_at=self._parts.clock())
        detail = {"before": {"status": memory.status}, "after": {"status": gone.status}, "source": self._speaker(scope)}
        await tx.record([self._event("forget", gone, scope, detail, reason)])
        return gone

    async def _bring_back(self, memory: Memory, scope: Scope, tx: Tx) -> None:
        """Bring back what was read off a memory, unless something else has taken its place."""
        fields = undone(memory, await tx.events(memory.id, _EVENTS)) or {}
        with suppress(Conflict):
            if fields.get("status") is Status.ACTIVE:
                await _refuse_second(memory, tx)
            back = await tx.change(memory, marks_of(memory), **fields)
            await tx.record([self._event("restore", back, scope, {})])

    def _revived(self, memory: Memory) -> dict[str, Any]:
        """What changes of a memory that time took away when it comes back."""
        now = self._parts.clock()
        fields: dict[str, Any] = {}
        if expired(memory, now):
            again = now + timedelta(seconds=self.settings.write.working_ttl_s)
            fields["expires_at"] = again if memory.kind is Kind.WORKING else None
        if memory.tier is not Tier.HOT:
            fields |= {"tier": Tier.HOT, "last_accessed_at": now}
        return fields


def _pinned(memory: Memory, values: dict[str, Any]) -> dict[str, Any]:
    """What else a new pin does: a pinned memory is close at hand, and the end that its kind set for it is none."""
    if not values.get("pinned"):
        return {}
    ends = memory.kind is Kind.WORKING and memory.expires_at is not None and "expires_at" not in values
    return ({"expires_at": None} if ends else {}) | ({"tier": Tier.HOT} if memory.tier is not Tier.HOT else {})


def _went_with(derived: Memory, source: Memory) -> bool:
    """Whether what was read off a memory was forgotten with it."""
    return derived.status is Status.DELETED and derived.deleted_at == source.deleted_at is not None


async def _rehashed(memory: Memory, values: dict[str, Any], tx: Tx) -> dict[str, Any]:
    """Content and hash of a memory whose words change; a turn keeps the identity its conversation gave it."""
    content = content_of(values.get("content", memory.content))
    dated = is_dated(memory)
    if memory.turn is not None or not ({"content", "key"} | ({"occurred_at"} if dated else set())) & values.keys():
        return {"content": content} if "content" in values else {}
    key = values.get("key", memory.key)
    at = values.get("occurred_at", memory.occurred_at) if dated else None
    changed = identity(memory.kind, key, content, owner_of(memory), memory.session_id, at=at)
    other = await tx.known(changed)
    if other is not None and other.id != memory.id and other.status is Status.ACTIVE:
        raise Conflict(f"Memory {other.id} says this already.", hint="Forget one of the two.", field="content")
    holder = None
    if key is not None and key != memory.key and memory.status is Status.ACTIVE:
        holder = await value_of(key, memory, tx)
    if holder is not None:
        raise Conflict(f"Memory {holder.id} is the value of {key}.", hint="Update that one, or forget it.", field="key")
    return {"content_hash": changed} | ({"content": content} if {"content", "key"} & values.keys() else {})


async def _refuse_second(memory: Memory, tx: Tx) -> None:
    same = await tx.known(memory.content_hash)
    other = same if same is not None and same.status is Status.ACTIVE else None
    if other is None:
        other = await value_of(memory.key, memory, tx)
    if other is not None:
        hint = "Forget that one first, or leave this one forgotten."
        raise Conflict(f"Memory {other.id} has taken its place.", hint=hint, field="memory_id")
