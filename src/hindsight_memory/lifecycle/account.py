"""What an episode says: a title and the sentences that say most, word for word from its turns, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

ROLES: Final = {Source.USER: Role.USER, Source.AGENT: Role.ASSISTANT}
"""Who speaks in a turn, by its source; of any other it is a tool."""
_READ: Final = 1_000
_COMPARED: Final = 100
"""Characters of a turn, and sentences of an episode, that are read."""
_LEAST: Final = 2
"""Turns that make an event: one speaks for itself."""
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
    """An episode of these turns; ``None`` where they are no event: small talk, or one turn that speaks for itself."""
    if sum(_counts(memory) for memory in memories) < _LEAST:
        return None
    said = _told(memories)
    if not said:
        return None
    turns = [turn_of(memory) for memory in memories]
    steps = [memory for memory in memories if is_step(memory)]
    task = next((step.task for step in steps if step.task), None)
    asked = task_of([turn for turn, memory in zip(turns, memories, strict=True) if not memory.superseded_by])
    lines = _lines(said, asked)
    outcome = outcome_of(turns, asked=task is not None or asked is not None)
    if outcome in (None, Outcome.PENDING) and steps:
        outcome = steps[-1].outcome
    return Account(
        content=_written(lines, memories),
        quoted=tuple(dict.fromkeys(line.place for line in lines)),
        task=(task or asked or "")[:_TASK] or None,
        tools=tuple(dict.fromkeys(tool for memory in memories for tool in memory.tools))[:_TOOLS],
        outcome=outcome,
    )


def _counts(memory: Memory) -> bool:
    """Whether a turn is part of what happened: what tools say counts where it was recorded as a step."""
    return is_step(memory) if memory.source is Source.TOOL else not is_small_talk(memory.content)


def _told(memories: Sequence[Memory]) -> list[Said]:
    """The sentences that may be quoted, none out of date: the user's own, else the agent's, else what was done."""
    standing = [(place, memory) for place, memory in enumerate(memories) if memory.superseded_by is None]
    for source in (Source.USER, Source.AGENT):
        every = (Said(place, each) for place, memory in standing if memory.source is source for each in _of(memory))
        if found := list(islice(every, _COMPARED)):
            return found
    return [Said(place, memory.content.partition("\n")[0]) for place, memory in standing if is_step(memory)][:_COMPARED]


def _of(memory: Memory) -> Iterator[str]:
    return (each for each in sentences(memory.content[:_READ]) if not is_small_talk(each))


def _lines(said: Sequence[Said], asked: str | None) -> list[Said]:
    """The title, then what was asked for and what else says most, in the order it was said."""
    left = list(said)
    title = left.pop(most_central([each.text for each in left]))
    taken = [each for each in left[:] if each.text == asked][:1] if asked != title.text else []
    held = {word for each in (title, *taken) for word in index_words(each.text)}
    while left and len(taken) < _SENTENCES:
        best = left.pop(most_central([each.text for each in left]))
        words = set(index_words(best.text))
        if words and len(words & held) < _REPEATS * len(words):
            taken.append(best)
            held |= words
    return [title, *sorted(taken, key=lambda each: each.place)]


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
