"""What a language model found in a turn, as drafts: none that rules have found there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hindsight_memory.assist.assistant import Fact
from hindsight_memory.domain import EXTRACTED_FROM, Draft, Memory
from hindsight_memory.text.bearing import same

MODEL: Final = "language-model"
"""Who the log says it was."""
_RULE: Final = "llm"
_COVERED: Final = 0.5
"""Share of a quote that was read already, from which what it says is known."""


def drafts_told(turn: Memory, facts: Sequence[Fact], known: Sequence[Memory]) -> list[Draft]:
    """The facts of a turn that are new beside those ``known`` of it.

    The turn's words stand behind each, but their choice and wording are the model's: they enter as its inference, of
    lower trust than what the user said, which they can contradict and never replace. For the same reason what the model
    takes for a key is a tag: a key decides what replaces what.
    """
    read = [span for memory in known if (span := _span(memory, turn)) is not None]
    said = [memory.content for memory in known]
    drafts = []
    for fact in facts:
        if _covered(fact, read) or any(same(each, fact.draft.content) for each in said):
            continue
        said.append(fact.draft.content)
        drafts.append(_draft(turn, fact))
    return drafts


def _draft(turn: Memory, fact: Fact) -> Draft:
    return Draft(
        content=fact.draft.content,
        kind=fact.draft.kind,
        tags=() if fact.draft.key is None else (fact.draft.key,),
        metadata={EXTRACTED_FROM: turn.id, "span": [fact.start, fact.end], "quote": fact.quote, "rule": _RULE},
        source=fact.draft.source,
        source_ref=turn.source_ref,
        visibility=turn.visibility,
        importance=fact.draft.importance,
        speaker=turn.speaker,
        occurred_at=turn.occurred_at,
        relations=(f"derived_from:{turn.id}",),
    )


def _span(memory: Memory, turn: Memory) -> tuple[int, int] | None:
    """Where a memory stands in its turn; nowhere, once the turn says something else."""
    span: Any = memory.metadata.get("span")
    if not isinstance(span, list) or len(span) != 2 or not all(isinstance(each, int) for each in span):
        return None
    start, end = span
    quote = memory.metadata.get("quote", memory.content)
    return (start, end) if turn.content[start:end] == quote else None


def _covered(fact: Fact, read: Sequence[tuple[int, int]]) -> bool:
    """Whether most of a fact's quote was read already."""
    places = {place for start, end in read for place in range(max(start, fact.start), min(end, fact.end))}
    return len(places) >= _COVERED * (fact.end - fact.start)
