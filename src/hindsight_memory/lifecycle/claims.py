"""What people state again and again: statements put together where they say the same, in English and Chinese."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Kind, Memory, Source
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.ingest.made import is_account, is_made
from hindsight_memory.lifecycle.conclude import NAME, Conclusion, Times, is_supported, kept_evidence
from hindsight_memory.lifecycle.likeness import Group, Happening, grouped
from hindsight_memory.text.bearing import changed
from hindsight_memory.text.clauses import asks, sentences
from hindsight_memory.text.common import table
from hindsight_memory.text.dates import mentioned_windows
from hindsight_memory.text.episodes import Turn, task_of
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.statements import statements, wording
from hindsight_memory.text.tokens import stem
from hindsight_memory.text.worth import worth

_LONGEST: Final = 300
"""Characters of a statement: what is longer tells a story."""
_READ: Final = 2_000
_SENTENCES: Final = 20
"""Characters and sentences of a turn that are read."""
_LEAST: Final = 2
"""Words that say what a statement is about."""
_ALIKE: Final = 0.5
"""Share of the words of two statements that both have, from which one can stand for the other."""
_COMPARED: Final = 200
"""Statements of one group that are held against the one that stands for them, the latest."""
_HOURS: Final = frozenset(
    map(
        stem,
        table(
            """
            morning afternoon evening night noon midnight breakfast lunch dinner weekend weekday
            monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter
            january february march april may june july august september october november december
            早上 早晨 上午 中午 下午 晚上 夜里 周末 春天 夏天 秋天 冬天 早餐 午餐 晚餐
            周一 周二 周三 周四 周五 周六 周日
            """
        ),
    )
)
"""Words that say at what time something is so: two statements that differ in one say different things."""


_PASSING: Final = Lazy(
    r"(?i)\b(?:question|problem|issue|bug|idea|meeting|deadline|moment|minute)s?\b|问题|想法|个会|会议|有点|有空|一会儿?"
)
"""What a person has for a moment, whatever words it is said with."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, the memory it stands in and when it was made; ``told`` is one that is not a memory by itself."""

    memory: Memory
    text: str
    times: Times
    told: bool


def claims_of(memory: Memory, sources: Sequence[Memory]) -> Iterator[Claim]:
    """What a memory states in its user's own words; ``sources`` are the turns it was read off."""
    if memory.context_only or memory.superseded_by is not None or memory.source is not Source.USER:
        return
    if memory.turn is not None or _is_note(memory):
        for sentence in _sentences(memory):
            yield Claim(memory, sentence, Times.of([memory]), told=True)
    elif memory.kind is Kind.SEMANTIC and len(memory.content) <= _LONGEST:
        yield Claim(memory, memory.content, Times.of([*sources] or [memory]), told=False)


def _is_note(memory: Memory) -> bool:
    """Whether somebody wrote down by itself what happened: it may state something, as a turn may."""
    return memory.kind is Kind.EPISODIC and not is_account(memory) and EXTRACTED_FROM not in memory.metadata


def _sentences(turn: Memory) -> Iterator[str]:
    for number, sentence in enumerate(sentences(turn.content[:_READ])):
        if number == _SENTENCES:
            return
        if len(sentence) <= _LONGEST and not is_small_talk(sentence) and _states(sentence, turn):
            yield sentence


def _states(sentence: str, turn: Memory) -> bool:
    """Whether a sentence says what is so of its speaker, beyond this day: no question, no request, no event."""
    if asks(sentence):
        return False
    if worth(sentence):
        return True
    task = task_of([Turn.of(sentence, turn.occurred_at)])
    if task is not None or _PASSING.pattern.search(sentence) or mentioned_windows(sentence, turn.occurred_at):
        return False
    return any(each.lasts and each.who == "i" and len(each.words) >= _LEAST for each in statements(sentence))


def conclusions(
    claims: Sequence[Claim], made: Sequence[Memory], held: Mapping[str, Memory], support: int
) -> Iterator[Conclusion]:
    """What follows from claims, and what no longer does.

    Args:
        claims: What was stated, in any order.
        made: What was concluded before and stands.
        held: Memories those rest on, as they are now.
        support: Sessions, or days, in which a thing must have come up.
    """
    seen = frozenset(claim.memory.id for claim in claims)
    by_person: dict[tuple[str | None, str | None], list[Claim | Memory]] = defaultdict(list)
    every: list[Claim | Memory] = [*claims, *made]
    for each in every:
        memory = each.memory if isinstance(each, Claim) else each
        by_person[owner_of(memory), memory.speaker].append(each)  # the «I» of two people is not the same
    for those in by_person.values():
        ordered = sorted(those, key=_when)
        for group in grouped([_happening(each) for each in ordered]):
            members = [ordered[place] for place in group.members]
            stated = [each for each in members if isinstance(each, Claim)]
            before = [each for each in members if isinstance(each, Memory)]
            others = [e for old in before for e in kept_evidence(old, held, seen) if _still_says(e, old)]
            rare = len(stated) < support and not any(len(claim.times.days) > 1 for claim in stated)
            if not before and rare and not any(is_supported(claim.memory) for claim in stated):
                continue
            yield _concluded(group, stated, before, others, support)


def _when(each: Claim | Memory) -> tuple[object, ...]:
    memory = each.memory if isinstance(each, Claim) else each
    return memory.occurred_at, memory.id


class _Stated(Happening):
    """A statement, put together with its denial: whether the two agree is what has to be found out."""

    @cached_property
    def kind(self) -> tuple[str | None, bool]:
        return self.memory.speaker, False


def _happening(each: Claim | Memory) -> Happening:
    if not isinstance(each, Claim):
        return _Stated(each)
    return _Stated(each.memory if each.text == each.memory.content else replace(each.memory, content=each.text))


def _concluded(
    group: Group, stated: Sequence[Claim], before: Sequence[Memory], others: Sequence[Memory], support: int
) -> Conclusion:
    standing = [claim for claim in stated if not claim.told]
    best = max(standing, key=_standing, default=None)
    if not stated:
        return Conclusion(holds=False, why="nothing says so any more", before=before, times=Times.of(others))
    medoid = best or max(stated, key=lambda claim: group.likeness(_happening(claim)))
    latest = stated[-_COMPARED:]
    agreeing = [claim for claim in latest if claim is medoid or _agrees(claim, medoid)]
    evidence = list({claim.memory.id: claim.memory for claim in agreeing}.values())
    times = Times.of(others)
    for claim in agreeing:
        times |= claim.times
    doubt = next((claim for claim in latest if _changes(claim, medoid)), None)
    why = f"came up in {times.count} sessions or on as many days"
    if doubt is not None:
        why = "what was said of it contradicts itself"
    return Conclusion(
        holds=doubt is None and times.count >= support,
        why=why,
        content=medoid.text,
        quoted=[medoid.memory, *(c.memory for c in agreeing if medoid.text in c.text and c is not medoid)],
        evidence=[*evidence, *others],
        times=times,
        standing=None if best is None else best.memory,
        before=before,
    )


def _standing(claim: Claim) -> tuple[object, ...]:
    memory = claim.memory
    return memory.pinned, is_supported(memory), memory.key is not None, memory.trust, memory.occurred_at


def _agrees(one: Claim, two: Claim) -> bool:
    """Whether one statement can stand for the other: the same numbers, hours and denials, and most of the words."""
    mine, theirs = frozenset(wording(one.text)), frozenset(wording(two.text))
    return (
        _numbers(one.text) == _numbers(two.text)
        and _denials(one.text) == _denials(two.text)
        and mine & _HOURS == theirs & _HOURS
        and len(mine & theirs) >= _ALIKE * min(len(mine), len(theirs))
    )


def _still_says(memory: Memory, concluded: Memory) -> bool:
    """Whether a memory states what was concluded of it, as far as it is read now: somebody may have corrected it."""
    said = Claim(concluded, concluded.content, Times(), told=False)
    return any(_agrees(claim, said) for claim in claims_of(memory, ()))


def _changes(claim: Claim, other: Claim) -> bool:
    """Whether one of two statements changes the other, as they followed each other."""
    if claim.text == other.text:
        return False
    old, new = sorted((claim, other), key=lambda each: (each.memory.occurred_at, each.memory.id))
    return changed(old.text, new.text, spoken=claim.told or other.told) is not None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(quantity.value for each in statements(text) for quantity in each.quantities)


def _denials(text: str) -> int:
    return sum(each.negated for each in statements(text))


def is_concluded(memory: Memory) -> bool:
    """Whether a memory was made of statements."""
    return memory.kind is Kind.SEMANTIC and is_made(memory, NAME)
