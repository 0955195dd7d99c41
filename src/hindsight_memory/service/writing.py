"""The verbs that remember."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hindsight_memory.domain import (
    Action,
    Draft,
    ImportReport,
    Message,
    Receipt,
    Relation,
    RelationType,
    Scope,
    Skipped,
    Wait,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.transcripts import Transcript, detect, read
from hindsight_memory.lifecycle.packing import is_archive
from hindsight_memory.service.base import Verbs, own

_IMPORT_BATCH = 200


class Writing(Verbs):
    """Verbs that remember."""

    async def write(self, draft: Draft, scope: Scope, wait: Wait = Wait.STORED) -> Receipt:
        """Store one memory; it is durable and found by words when this returns.

        Args:
            draft: What to remember.
            scope: Whose memory it becomes, and who writes.
            wait: ``indexed`` waits for its vector, and for what a second look says of it, too.

        Raises:
            InvalidInput: A field is wrong; nothing was stored.
        """
        return (await self.write_many([draft], scope, wait))[0]

    async def write_many(self, drafts: Sequence[Draft], scope: Scope, wait: Wait = Wait.STORED) -> list[Receipt]:
        """Store several memories, all or none; the receipts come in their order."""
        require(self.principal, "write", scope)
        receipts = await self._parts.writer(own(drafts), scope, self._actor(scope), self._most(scope))
        return await self._waited(receipts, scope, wait)

    async def write_conversation(
        self, messages: Sequence[Message], scope: Scope, wait: Wait = Wait.STORED
    ) -> list[Receipt]:
        """Append messages to the scope's session, each one episodic memory; see ``ConversationWriter``."""
        require(self.principal, "write", scope)
        receipts = await self._parts.converser(own(messages), scope, self._actor(scope), self._most(scope))
        return await self._waited(receipts, scope, wait)

    async def import_file(
        self,
        path: Path,
        scope: Scope,
        wait: Wait = Wait.STORED,
        progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Read a conversation export, or a folder of them, into the bank. Run twice, it adds nothing.

        Args:
            path: A ChatGPT or Claude export, a Claude Code or Codex transcript, Markdown, or JSON lines of messages.
            scope: Whose memory it becomes. The sessions are the export's own.
            wait: ``indexed`` waits for the vectors too, which take far longer than the reading.
            progress: Called with the number of turns read so far.
        """
        require(self.principal, "write", scope)
        if await asyncio.to_thread(is_archive, path):
            raise InvalidInput(f"{path.name} is an archive.", hint="Use import_archive.", field="path")
        form = await asyncio.to_thread(lambda: "folder" if path.is_dir() else detect(path))
        report = ImportReport(format=form, sessions=0, turns=0, created=0, known=0)
        parts = await asyncio.to_thread(read, path)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            if isinstance(part, Skipped):
                report = replace(report, skipped=(*report.skipped, part))
                continue
            for batch in _batches(part):
                receipts = await self.write_conversation(batch, replace(scope, session_id=part.session_id), wait)
                report = _counted(report, receipts, part.session_id)
                progress(report.turns)
            report = replace(report, sessions=report.sessions + 1)
        return report

    async def _waited(self, receipts: list[Receipt], scope: Scope, wait: Wait) -> list[Receipt]:
        indexer = self._parts.indexer
        indexer.wake()
        if wait is Wait.STORED:
            return receipts
        ids = {receipt.id for receipt in receipts} - {""}
        done = ids - await indexer.finish(scope.bank, sorted(ids), self.settings.write.finish_s)
        done = done if self._parts.embedders else set()
        edges = await self._parts.store.reading(scope.bank).relations(sorted(ids))
        return [_settled(replace(receipt, indexed=receipt.id in done), edges) for receipt in receipts]


_ACTIONS: Final = {RelationType.SUPERSEDES: Action.SUPERSEDES, RelationType.CONTRADICTS: Action.CONTRADICTS}


def _settled(receipt: Receipt, edges: Sequence[Relation]) -> Receipt:
    """The receipt with what the second look found."""
    if receipt.action is not Action.ADDED:
        return receipt
    found = [edge for edge in edges if edge.from_id == receipt.id and edge.type in _ACTIONS]
    if not found:
        return receipt
    action = min((_ACTIONS[edge.type] for edge in found), key=list(_ACTIONS.values()).index)
    return replace(receipt, action=action, related=tuple(edge.to_id for edge in found))


def _batches(transcript: Transcript) -> Iterable[list[Message]]:
    # In a file a turn's place is sure, so it can serve as the id that a repeated import is known by.
    named = [
        message if message.id is not None else replace(message, id=f"turn {number}")
        for number, message in enumerate(transcript.messages)
    ]
    return (named[start : start + _IMPORT_BATCH] for start in range(0, len(named), _IMPORT_BATCH))


def _counted(report: ImportReport, receipts: Sequence[Receipt], session_id: str) -> ImportReport:
    seen = Counter(each.rule for receipt in receipts if receipt.action is Action.REJECTED for each in receipt.findings)
    if seen:
        refused = sum(receipt.action is Action.REJECTED and bool(receipt.findings) for receipt in receipts)
        reason = f"The guards refused {refused} of its turns: {', '.join(sorted(seen))}."
        report = replace(report, skipped=(*report.skipped, Skipped(session_id, reason)))
    return replace(
        report,
        turns=report.turns + len(receipts),
        created=report.created + sum(receipt.created for receipt in receipts),
        known=report.known + sum(receipt.action is Action.DUPLICATE for receipt in receipts),
    )
