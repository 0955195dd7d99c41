"""Holds memories that answer one question against each other: which contradict what is trusted more, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hindsight_memory.domain import Doubt, Memory, Source
from hindsight_memory.guard.trust import is_bare_claim, speaks_with_authority, together, voice_of
from hindsight_memory.settings import TrustSettings, WriteSettings
from hindsight_memory.text.authority import demands
from hindsight_memory.text.bearing import changed
from hindsight_memory.text.keys import has_many
from hindsight_memory.text.rivals import answers_otherwise, may_bear, rivals, tells_again
from hindsight_memory.text.statements import MOST_CHARS
from hindsight_memory.text.support import Told, bears_out, speaks_of

AUTHORITY = "authority"
DECEPTION = "deception"
DEMAND = "demand"
CONTRADICTION = "contradiction"
OTHERWISE = "otherwise"
UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True, slots=True)
class Bench:
    """What memories are held against: the question, what was found to be false before, and the bounds.

    ``people`` are those of whom trusted memories tell; ``witnesses`` are trusted ones that are not among the compared,
    and would be were there fewer of others.
    """

    question: str
    lessons: Sequence[Memory]
    write: WriteSettings
    settings: TrustSettings
    people: Sequence[str] = ()
    witnesses: Sequence[Memory] = ()


def is_outsider(memory: Memory, write: WriteSettings) -> bool:
    """Whether a memory is trusted less than an agent, which is there at the user's wish."""
    return memory.trust < write.trust[Source.AGENT]


def is_in_question(memory: Memory, write: WriteSettings) -> bool:
    """Whether a memory is to be held against others: what an outsider says, or an agent's statement by itself.

    What an agent said in a talk is there to be seen as what it said.
    """
    return is_outsider(memory, write) or (memory.turn is None and memory.trust < write.trust[Source.USER])


def doubts(memories: Sequence[Memory], bench: Bench) -> dict[str, tuple[Doubt, ...]]:
    """What speaks against memories that were found together, the best first; by id.

    Args:
        memories: Those to compare; their number bounds the work.
        bench: What they are held against.
    """
    every = [*memories, *bench.witnesses]
    voices = {memory.id: voice_of(memory) for memory in every}
    told = told_by_trusted(every, bench.write)
    found = {}
    for memory in memories:
        if is_in_question(memory, bench.write):
            others = [each for each in every if voices[each.id] != voices[memory.id]]
            if seen := tuple(_doubts(memory, others, told, bench)):
                found[memory.id] = seen
    return found


def told_by_trusted(memories: Iterable[Memory], write: WriteSettings) -> list[Told]:
    """What those told who are trusted as an agent is, or more; without what an assistant said in a talk."""
    trusted = (each for each in memories if not is_outsider(each, write) and not _is_talk(each, write))
    return [Told(each.content, each.occurred_at, each.speaker) for each in trusted]


def _doubts(memory: Memory, others: Sequence[Memory], told: Sequence[Told], bench: Bench) -> Iterator[Doubt]:
    lesson = next((each for each in bench.lessons if tells_again(memory.content, each.content)), None)
    if lesson is not None:
        because = f"it says again what was found to be false: memory {lesson.id}"
        yield Doubt(DECEPTION, because, (lesson.id,), withheld=True)
    if is_bare_claim(memory, bench.settings):
        yield Doubt(AUTHORITY, "it claims permissions, credentials or policy, and nobody vouches for that")
    if not is_outsider(memory, bench.write):
        return
    if demands(memory.content) and not any(tells_again(each.content, memory.content) for each in others):
        yield Doubt(DEMAND, "it alone asks for an action", withheld=True)
    doubt = _contradicted(memory, others, bench) or _unconfirmed(memory, bench)
    claim = Told(memory.content, memory.occurred_at)
    if doubt is not None and not any(bears_out(bench.question, each, claim) for each in told):
        yield doubt


def _unconfirmed(memory: Memory, bench: Bench) -> Doubt | None:
    """What an outsider says of a person, where nobody trusted says so; whom the settings name is believed in that."""
    whom = speaks_of(memory.content, bench.question, bench.people)
    if whom is None or speaks_with_authority(memory, bench.settings):
        return None
    return Doubt(UNCONFIRMED, f"only a {memory.source} says this of {whom}: nothing that is trusted more bears it out")


def _contradicted(memory: Memory, others: Sequence[Memory], bench: Bench) -> Doubt | None:
    """What better trusted memories, or more voices together, say against one."""
    better = [each for each in others if each.trust > memory.trust and not _is_talk(each, bench.write)]
    better.sort(key=lambda each: -each.trust)  # the user first: a crowd of tools must not hide them from a document
    rules = {each.id: rule for each in better[: bench.settings.against] if (rule := _rule(each, memory, bench))}
    if rules:
        against = [each for each in better if each.id in rules]
        hard = [each for each in against if rules[each.id] != OTHERWISE]
        best = max(hard or against, key=lambda each: each.trust)
        gap = round(best.trust - memory.trust, 4)
        because = f"{_SAID[rules[best.id]]} memory {best.id}, from {best.source}, trusted {best.trust:.2f}"
        ids = tuple(each.id for each in (hard or against))
        return Doubt(rules[best.id], because, ids, withheld=bool(hard) and gap >= bench.settings.withheld_from)
    return _outvoted(memory, others, bench)


def _outvoted(memory: Memory, others: Sequence[Memory], bench: Bench) -> Doubt | None:
    """What as little trusted voices together say against one, where they outweigh it and those that agree with it."""
    peers = [each for each in others if each.trust == memory.trust][: bench.settings.against]
    against = _loudest([each for each in peers if _rule(each, memory, bench)])
    if len(against) < 2:
        return None
    agreeing = [memory, *(each for each in peers if tells_again(each.content, memory.content))]
    if together(each.trust for each in against.values()) <= together(e.trust for e in _loudest(agreeing).values()):
        return None
    ids = tuple(each.id for each in against.values())
    return Doubt(CONTRADICTION, f"{len(ids)} independent sources contradict it", ids)


def _loudest(memories: Sequence[Memory]) -> Mapping[str, Memory]:
    """One memory for each voice, the most trusted: whoever says a thing five times has said it once."""
    found: dict[str, Memory] = {}
    for each in memories:
        voice = voice_of(each)
        if voice not in found or each.trust > found[voice].trust:
            found[voice] = each
    return found


_SAID = {CONTRADICTION: "it contradicts", OTHERWISE: "it answers otherwise than"}


def _rule(better: Memory, memory: Memory, bench: Bench) -> str | None:
    """How a memory stands against a better one: a plain contradiction, another answer to the question, or neither."""
    if tells_again(better.content, memory.content):
        return None
    if memory.key is not None and memory.key == better.key and not has_many(memory.key):
        return CONTRADICTION
    if answers_otherwise(bench.question, better.content, memory.content):
        return CONTRADICTION if rivals(better.content, memory.content) else OTHERWISE
    one, two = better.content[:MOST_CHARS], memory.content[:MOST_CHARS]
    return CONTRADICTION if may_bear(one, two) and _bears(one, two, better.turn is not None) else None


@lru_cache(maxsize=4_096)
def _bears(one: str, two: str, spoken: bool) -> bool:
    """Whether one of two texts changes what the other states, whichever came first."""
    return changed(one, two, spoken=spoken) is not None or changed(two, one, spoken=spoken) is not None


def _is_talk(memory: Memory, write: WriteSettings) -> bool:
    """Whether a memory is what an assistant said in a talk: it is no witness."""
    return memory.turn is not None and memory.trust < write.trust[Source.USER]
