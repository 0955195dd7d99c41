"""What an episode says: a title and the sentences that say most, word for word from its turns, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hindsight_memory.domain import Memory, Outcome, Role, Source
from hindsight_memory.text.clauses import sentences
from hindsight_memory.text.episodes import Turn, outcome_of, task_of
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.steps import is_step
from hindsight_memory.text.summary import most_central
from hindsight_memory.text.tokens import index_words, truncate
from hindsight_memory.text.worth import worth

ROLES: Final = {Source.USER: Role.USER, Source.AGENT: Role.ASSISTANT}
"""Who speaks in a turn, by its source; of any other it is a tool."""
_READ: Final = 1_000
_COMPARED: Final = 100
"""Characters of a turn, and sentences of an episode, that are read."""
_LEAST: Final = 2
"""Turns, and lines, that make an event."""
_ENDS: Final = 2
"""Steps at the beginning, and at the end, that are told."""
_SENTENCES: Final = 3
"""Sentences beside the title."""
_LINE: Final = 40
"""Longest line, in tokens."""
_TASK: Final = 500
_TOOLS: Final = 20
_REPEATS: Final = 0.8
"""Share of a sentence's words that stand there already, from which it is left out."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a turn, by the place of the turn."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Account:
    """An episode told: its text, the places of the turns it quotes, and what is known of the task it was about."""

    content: str
    quoted: tuple[int, ...]
    task: str | None
    tools: tuple[str, ...]
    outcome: Outcome | None


def turn_of(memory: Memory) -> Turn:
    """A stored turn as episodes are read off it."""
    return Turn.of(memory.content, memory.occurred_at, ROLES.get(memory.source, Role.TOOL))


def account_of(memories: Sequence[Memory]) -> Account | None:
    """An episode of these turns; ``None`` where they are no event.

    Small talk is none, and what one turn says speaks for itself: an episode tells of two things at least.
    """
    if sum(map(_counts, memories)) < _LEAST:
        return None
    turns = [turn_of(memory) for memory in memories]
    steps = [memory for memory in memories if is_step(memory)]
    asked = _asked(turns, memories)
    lines = _lines(memories, asked) or _deeds(memories)
    if len(lines) < _LEAST:
        return None
    task = next((step.task for step in steps if step.task), asked)
    outcome = outcome_of(turns, asked=task is not None)
    if outcome in (None, Outcome.PENDING) and steps:
        outcome = steps[-1].outcome
    return Account(
        content=_written(lines, memories),
        quoted=tuple(dict.fromkeys(line.place for line in lines)),
        task=task[:_TASK] if task else None,
        tools=tuple(dict.fromkeys(tool for memory in memories for tool in memory.tools))[:_TOOLS],
        outcome=outcome,
    )


def _counts(memory: Memory) -> bool:
    """Whether a turn is part of what happened: what tools say counts where it was recorded as a step."""
    return is_step(memory) if memory.source is Source.TOOL else not is_small_talk(memory.content)


def _asked(turns: Sequence[Turn], memories: Sequence[Memory]) -> str | None:
    """What was asked for first, of what is not out of date; to remember something is no task."""
    asked = task_of([turn for turn, memory in zip(turns, memories, strict=True) if memory.superseded_by is None])
    return None if asked is None or worth(asked) else asked


def _said(memories: Sequence[Memory], source: Source) -> list[Said]:
    """The sentences of one source that say something and are not out of date."""
    every = (
        Said(place, sentence)
        for place, memory in enumerate(memories)
        if memory.source is source and memory.superseded_by is None
        for sentence in sentences(memory.content[:_READ])
        if not is_small_talk(sentence)
    )
    return list(islice(every, _COMPARED))


def _lines(memories: Sequence[Memory], asked: str | None) -> list[Said]:
    """The title, then what was asked for and what else says most, in the order it was said.

    The user's own words, and of a task also what was answered; the agent's words alone where no user spoke.
    """
    spoke = any(memory.source is Source.USER and _counts(memory) for memory in memories)
    left = _said(memories, Source.USER if spoke else Source.AGENT)
    if not left:
        return []
    title = left.pop(most_central([each.text for each in left]))
    taken = [each for each in left if each.text == asked][:1] if asked != title.text else []
    held = {word for each in (title, *taken) for word in index_words(each.text)}
    if spoke and asked is not None:
        left += _said(memories, Source.AGENT)
    while left and len(taken) < _SENTENCES:
        best = left.pop(most_central([each.text for each in left]))
        words = set(index_words(best.text))
        if words and len(words & held) < _REPEATS * len(words):
            taken.append(best)
            held |= words
    return [title, *sorted(taken, key=lambda each: each.place)]


def _deeds(memories: Sequence[Memory]) -> list[Said]:
    """How a task that nobody spoke of began and ended: its first and its last steps."""
    if any(_counts(memory) for memory in memories if memory.source is not Source.TOOL):
        return []  # somebody did, and what was said is out of date
    done = [Said(place, memory.content.partition("\n")[0]) for place, memory in enumerate(memories) if _counts(memory)]
    return done if len(done) <= 2 * _ENDS else [*done[:_ENDS], *done[-_ENDS:]]


def _written(lines: Sequence[Said], memories: Sequence[Memory]) -> str:
    """The lines, each under who said it where several did.

    A name stands on a line of its own, and what is too long has no mark where it was cut: so every line is word for
    word what was said, and what is forgotten can be told by it.
    """
    speakers = [memories[line.place].speaker for line in lines]
    several = len(set(speakers)) > 1
    written: list[str] = []
    for number, (line, speaker) in enumerate(zip(lines, speakers, strict=True)):
        if several and speaker and (number == 0 or speaker != speakers[number - 1]):
            written.append(f"{speaker}:")
        written.append(truncate(line.text, _LINE).removesuffix("…").rstrip())
    return "\n".join(written)
