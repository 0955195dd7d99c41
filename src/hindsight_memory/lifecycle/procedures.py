"""How a task is done: the steps that its successful runs have in common, in their order and in their own words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from hindsight_memory.domain import Kind, Memory, Outcome, Source
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.ingest.made import is_made
from hindsight_memory.lifecycle.conclude import NAME, Conclusion, Times, kept_evidence
from hindsight_memory.lifecycle.likeness import Happening, grouped
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.steps import Tried, is_step, same_aim
from hindsight_memory.text.tokens import index_words

_STEPS: Final = 20
"""Steps of a procedure, ..."""
_READ: Final = 60
"""... of a run, ..."""
_LONGEST: Final = 300
"""... and characters of one."""
_RUNS: Final = 20
"""Latest successful runs of a task that are held against each other."""
_LEAST: Final = 2
"""Steps that make a procedure, and failures in a row that say that it no longer works."""
_ALIKE: Final = 0.6
"""Share of the words of two steps that both have, from which they are the same step."""
_ITEM: Final = Lazy(
    r"\s*(?:\(?\d{1,2}[.)、]\s*|[-*•]\s+|step \d{1,2}\s*[:.]\s*|第[一二三四五六七八九十]步[:：,，]?\s*)(?=\S)"
)


@dataclass(frozen=True, slots=True)
class Step:
    """A step as it was told, the memory that tells it, and the words it is known again by."""

    text: str
    memory: Memory
    words: frozenset[str]
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One time that a task was done, or not: its memory and the steps that went well."""

    memory: Memory
    task: str
    steps: tuple[Step, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that were used, in their order."""
        used = [step.tool for step in self.steps if step.tool] or list(self.memory.tools)
        return tuple(tool for number, tool in enumerate(used) if number == 0 or tool != used[number - 1])[:_STEPS]


def run_of(memory: Memory, turns: Sequence[Memory]) -> Run:
    """A memory of a task as a run; ``turns`` are those of an episode."""
    steps = [each for turn in turns for each in _steps_of(turn)] if turns else _listed(memory)
    return Run(memory, memory.task or "", tuple(_once(steps))[:_READ])


def _steps_of(turn: Memory) -> list[Step]:
    if is_step(turn):
        deed = str(turn.metadata["step"])
        if turn.outcome is not Outcome.SUCCESS or deed not in turn.content:
            return []
        return [Step(deed, turn, Tried.of(turn).words, turn.tools[0] if turn.tools else "")]
    return _listed(turn) if turn.source is Source.AGENT else []


def _listed(memory: Memory) -> list[Step]:
    """The items of a list in a text."""
    items = ((line, _ITEM.pattern.match(line)) for line in memory.content.splitlines())
    texts = [line[found.end() :].strip() for line, found in items if found]
    return [Step(text, memory, frozenset(index_words(text))) for text in texts if len(text) <= _LONGEST]


def _once(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without those that only repeat the one before."""
    for number, step in enumerate(steps):
        if number == 0 or not _same(step, steps[number - 1]):
            yield step


def _same(one: Step, two: Step) -> bool:
    """Whether two steps are the same step of a task."""
    if one.tool and two.tool:
        return one.tool == two.tool and same_aim(Tried.of(one.memory), Tried.of(two.memory))
    both = len(one.words & two.words)
    return both > 0 and both >= _ALIKE * max(len(one.words), len(two.words))


def common(one: Sequence[Step], two: Sequence[Step]) -> list[Step]:
    """The longest sequence of steps that two runs have in common, as the first one tells them."""
    longest = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(two))):
            further = longest[i + 1][j + 1] + 1 if _same(one[i], two[j]) else 0
            longest[i][j] = max(further, longest[i + 1][j], longest[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(one) and j < len(two):
        if _same(one[i], two[j]) and longest[i][j] == longest[i + 1][j + 1] + 1:
            found.append(one[i])
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def procedures(
    runs: Sequence[Run], made: Sequence[Memory], held: Mapping[str, Memory], support: int
) -> Iterator[Conclusion]:
    """How tasks are done, by their runs; see ``claims.conclusions`` for the arguments."""
    seen = frozenset(run.memory.id for run in runs)
    by_owner: dict[str | None, list[Run | Memory]] = defaultdict(list)
    every: list[Run | Memory] = [*runs, *made]
    for each in every:
        by_owner[owner_of(each.memory if isinstance(each, Run) else each)].append(each)
    for those in by_owner.values():
        for group in _kinds(sorted(those, key=_when), support):
            done = [each for each in group if isinstance(each, Run)]
            before = [each for each in group if isinstance(each, Memory)]
            others = [e for old in before for e in kept_evidence(old, held, seen) if e.outcome is Outcome.SUCCESS]
            if before or len(done) >= support:
                yield _concluded(done, before, others, support)


def _when(each: Run | Memory) -> tuple[object, ...]:
    memory = each.memory if isinstance(each, Run) else each
    return memory.occurred_at, memory.id


def _kinds(those: Sequence[Run | Memory], support: int) -> Iterator[list[Run | Memory]]:
    """Runs of one kind of task, each once: the tasks are alike, or the same tools were used in the same order."""
    left: dict[tuple[str, ...], list[Run | Memory]] = defaultdict(list)
    for group in grouped([_happening(each) for each in those]):
        members = [those[place] for place in group.members]
        if sum(isinstance(each, Run) for each in members) >= support:
            yield members
            continue
        for each in members:
            left[each.tools].append(each)
    for tools, members in left.items():
        if len(tools) >= _LEAST:
            yield members
        else:
            yield [each for each in members if isinstance(each, Memory)]


def _happening(each: Run | Memory) -> Happening:
    memory = each.memory if isinstance(each, Run) else each
    return Happening(replace(memory, content=memory.task or "", speaker=None))


def _concluded(runs: Sequence[Run], before: Sequence[Memory], others: Sequence[Memory], support: int) -> Conclusion:
    went_well = [run for run in runs if run.memory.outcome is Outcome.SUCCESS][-_RUNS:]
    steps = _common_to(went_well)[:_STEPS]
    evidence = [*(run.memory for run in went_well), *others]
    times = Times.of(evidence)
    why = f"went well in {times.count} sessions or on as many days"
    if [run.memory.outcome for run in runs[-_LEAST:]] == [Outcome.FAILURE] * _LEAST:
        return Conclusion(holds=False, why="it has failed since", before=before, times=times)
    if times.count < support or len(steps) < _LEAST:
        return Conclusion(holds=False, why=f"{why}, with {len(steps)} steps in common", before=before, times=times)
    latest = went_well[-1]
    lines = [f"{number}. {step.text}" for number, step in enumerate(steps, start=1)]
    telling = {step.memory.id: step.memory for step in steps} | {latest.memory.id: latest.memory}
    return Conclusion(
        holds=True,
        why=why,
        kind=Kind.PROCEDURAL,
        content="\n".join([*([latest.task] if latest.task else []), *lines]),
        quoted=list(telling.values()),
        evidence=evidence,
        times=times,
        before=before,
        task=latest.task or None,
        tools=latest.tools,
    )


def _common_to(runs: Sequence[Run]) -> list[Step]:
    """What all runs have in common, as the latest tells it."""
    latest_first = [list(run.steps) for run in reversed(runs)]
    return reduce(common, latest_first) if latest_first else []


def is_procedure(memory: Memory) -> bool:
    """Whether a memory was made of the runs of a task."""
    return memory.kind is Kind.PROCEDURAL and is_made(memory, NAME)
