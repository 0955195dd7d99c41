"""What a turn says that is worth remembering by itself: memories of their own, each with the span it stands in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Draft, Kind, Memory, Role, Scope, Source
from hindsight_memory.errors import InvalidInput
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.text.keys import has_many, is_single
from hindsight_memory.text.worth import Worth, worth

_WORKER: Final = "hindsight-memory"

Read = Callable[[str, Role], list[Worth]]


@dataclass(frozen=True, slots=True)
class Extractor:
    """Writes what turns say that is worth remembering, through the ordinary write path. The turns stay as they are."""

    write: Writer
    read: Read = worth

    async def __call__(self, bank: str, turns: Sequence[Memory]) -> int:
        """Extract from turns of one bank; returns how many memories were new. Done twice, it adds nothing."""
        created = 0
        for turn in turns:
            drafts = drafts_of(turn, self.read) if is_told(turn) else []
            if drafts:
                scope = replace(Scope.of_bank(bank), agent_id=turn.agent_id, session_id=turn.session_id)
                with suppress(InvalidInput):  # the turn was forgotten in the meantime
                    created += sum(receipt.created for receipt in await self.write(drafts, scope, _WORKER, turn.trust))
        return created


def drafts_of(turn: Memory, read: Read = worth) -> list[Draft]:
    """The memories that a turn holds; their text is the turn's own, word by word."""
    return [
        Draft(
            content=turn.content[each.start : each.end],
            kind=each.kind,
            key=each.key if each.key is not None and (is_single(each.key) or has_many(each.key)) else None,
            tags=() if each.key is None else (each.key,),
            metadata={EXTRACTED_FROM: turn.id, "span": [each.start, each.end], "rule": each.rule},
            source=turn.source,
            source_ref=turn.source_ref,
            visibility=turn.visibility,
            importance=each.importance,
            speaker=turn.speaker,
            occurred_at=turn.occurred_at,
            relations=(f"derived_from:{turn.id}",),
        )
        for each in read(turn.content, Role.USER)
    ]


def is_told(turn: Memory) -> bool:
    """Whether a turn is a person's own word: not an agent's, a tool's, or one on a desk that may still be cleared."""
    return turn.turn is not None and turn.source is Source.USER and turn.kind is Kind.EPISODIC and not turn.context_only
