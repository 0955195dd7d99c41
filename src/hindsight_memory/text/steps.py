"""The steps of a task: how one is told, what was tried by which memory, what has one aim, and when a task is stuck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_memory.domain import Memory, Outcome, Role, Source, Step
from hindsight_memory.text.clauses import HAN, sentences
from hindsight_memory.text.episodes import Turn, outcome_of
from hindsight_memory.text.errors import error_line, find_error, signature
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import index_words

_DEED: Final = 300
_ERROR: Final = 1_500
_OUTPUT: Final = 1_000
"""Characters that are kept of what a step was, of its error and of its output."""
SPAN: Final = 240
"""Characters of a deed, an error or a sentence that is quoted."""
OPEN: Final = 60
"""Failures that may still be overcome, the latest."""
_ROW: Final = 2
"""Failures from which a task is stuck: in a row, or of one error while its aim is not reached."""
_TELLING: Final = 4
"""Characters of a sentence that can be told from a part of another."""
_SAME_TOOL: Final = 0.6
_OTHER_TOOL: Final = 0.75
"""Share of the shorter input's words in the other from which two steps have one aim."""
_MARK: Final = "step"
_OBJECT: Final = Lazy(r"[\w.@~-]{0,80}/[\w./@~-]{1,200}|\b[\w-]{1,80}\.[A-Za-z]\w{0,8}\b")
"""What a step is about: a path, an address, a file."""


def told(step: Step) -> str:
    """A step in words: on its first line what was done and what came of it."""
    deed, chinese = deed_of(step.tool, step.input), is_chinese(f"{step.input} {step.error} {step.output}")
    ran = f"运行 {deed}" if chinese else f"ran {deed}"
    match step.outcome, chinese:
        case Outcome.FAILURE, _:
            text = step.error or step.output
            line, whole = error_line(text), shortened(text, _ERROR)
            more = f"\n{whole}" if whole.strip() != line else ""
            failed = "失败" if chinese else "failed"
            mark = "：" if chinese else ": "
            return f"{ran}{mark}{failed}{mark}{line}{more}" if line else f"{ran}{mark}{failed}"
        case _, True:
            return f"{ran}：成功" + (f"：{shortened(step.output, _OUTPUT)}" if step.output else "")
    return f"{ran}: succeeded" + (f": {shortened(step.output, _OUTPUT)}" if step.output else "")


def kept_of(step: Step) -> dict[str, str]:
    """What a step's memory keeps beside its text, to be looked back on."""
    kept = {_MARK: deed_of(step.tool, step.input)}
    if step.outcome is Outcome.FAILURE:
        text = step.error or step.output
        kept |= {"error": error_line(text), "signature": signature(text)}
    return kept


def deed_of(tool: str, given: str) -> str:
    """What was done, on one line."""
    return shortened(" ".join(f"{tool} {given}".split()), _DEED)


def shortened(text: str, most: int) -> str:
    """A text by its beginning and its end, at most ``most`` characters; what is left out is marked."""
    if len(text) <= most:
        return text
    head = (most - 3) * 2 // 3
    return f"{text[:head].rstrip()} … {text[len(text) - (most - 3 - head) :].lstrip()}"


def is_chinese(text: str) -> bool:
    """Whether a text has Chinese in it; commands and names are Latin in a Chinese one too."""
    return HAN.pattern.search(text[:10_000]) is not None


def is_step(memory: Memory) -> bool:
    """Whether a memory is a step that was recorded."""
    return memory.source is Source.TOOL and isinstance(memory.metadata.get(_MARK), str)


def quoted_of(memory: Memory) -> list[str]:
    """The parts of a memory that lessons and accounts of a task quote: a step's deed and error, a turn's sentences."""
    if not is_step(memory):
        return [each for said in sentences(memory.content) if len(each := said.strip()) >= _TELLING]
    parts = [part for part in (_kept(memory, _MARK), _kept(memory, "error")) if part]
    return [*parts, *(shortened(part, SPAN) for part in parts)]


@dataclass(frozen=True, slots=True)
class Tried:
    """Something that was tried in a task, or a turn that speaks of how it went; ``tool`` and ``deed`` are a step's."""

    memory: Memory
    outcome: Outcome | None
    tool: str = ""
    deed: str = ""
    error: str = ""
    signature: str = ""
    words: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()

    @classmethod
    def of(cls, memory: Memory) -> Tried:
        """What a memory says was tried."""
        if not is_step(memory):
            return _said(memory)
        tool = memory.tools[0] if memory.tools else ""
        deed = _kept(memory, _MARK)
        given = deed.removeprefix(tool)
        return cls(
            memory=memory,
            outcome=memory.outcome,
            tool=tool,
            deed=deed,
            error=_kept(memory, "error"),
            signature=_kept(memory, "signature"),
            words=frozenset(index_words(given)),
            objects=frozenset(_OBJECT.pattern.findall(given)),
        )


def _kept(memory: Memory, name: str) -> str:
    value = memory.metadata.get(name)
    return value if isinstance(value, str) else ""


def _said(memory: Memory) -> Tried:
    """A turn: only a user's word says how something went, and only an error's own message that it failed."""
    if memory.source is not Source.USER:
        return Tried(memory, None)
    outcome = outcome_of([Turn(memory.content, memory.occurred_at, Role.USER, ())], asked=False)
    error = find_error(memory.content, plainly=True)
    if outcome is None and error:
        outcome = Outcome.FAILURE
    failed = outcome is Outcome.FAILURE
    return Tried(memory, outcome, error=error if failed else "", signature=signature(error) if failed else "")


def same_aim(one: Tried, other: Tried) -> bool:
    """Whether two steps try to do the same thing: about the same object, in much the same words."""
    if one.tool == other.tool and (one.deed == other.deed or not one.words or not other.words):
        return True
    if one.objects and other.objects and not one.objects & other.objects:
        return False
    if one.tool == other.tool and _other_command(one, other):
        return False
    shared, least = len(one.words & other.words), min(len(one.words), len(other.words))
    return least > 0 and shared >= least * (_SAME_TOOL if one.tool == other.tool else _OTHER_TOOL)


def _other_command(one: Tried, other: Tried) -> bool:
    """Whether two are different commands of one program: «git push» and «git pull»."""
    first, second = (each.deed.removeprefix(each.tool).split()[:2] for each in (one, other))
    return len(first) == len(second) == 2 and first[0] == second[0] and _differ(first[1], second[1])


def _differ(one: str, other: str) -> bool:
    return one.isalpha() and other.isalpha() and one != other


def failures_in_row(steps: Sequence[Tried]) -> int:
    """How many steps at the end have failed."""
    count = 0
    for step in reversed(steps):
        if step.outcome is not Outcome.FAILURE:
            break
        count += 1
    return count


def is_stuck(steps: Sequence[Tried]) -> bool:
    """Whether steps, the earliest first, end in two failures in a row, or in the second of one error.

    Between two of one error other things may have gone well, as long as the aim was not reached: reading a file is no
    way out.
    """
    return failures_in_row(steps) >= _ROW or _again(steps) >= _ROW


def _again(steps: Sequence[Tried]) -> int:
    """How often the last step's error was met by what has not been overcome."""
    last = steps[-1] if steps else None
    if last is None or last.outcome is not Outcome.FAILURE or not last.signature:
        return 0
    return sum(each.signature == last.signature for each in unsolved(steps))


# What overcomes a failure


def overcomes(success: Tried, failure: Tried) -> bool:
    """A user who says that it works speaks of all that failed; a step speaks of its own aim."""
    return not success.tool or (bool(failure.tool) and same_aim(failure, success))


def unsolved(run: Sequence[Tried]) -> list[Tried]:
    """The failures of a run that nothing has overcome, the latest of them."""
    return _left(run)[0]


def unsolved_since(run: Sequence[Tried]) -> list[Tried]:
    """Those since the last failure was overcome: the earlier ones were detours."""
    return _left(run)[1]


def _left(run: Sequence[Tried]) -> tuple[list[Tried], list[Tried]]:
    open_: list[Tried] = []
    since: list[Tried] = []
    for each in run:
        if each.outcome is Outcome.FAILURE:
            open_, since = [*open_, each][-OPEN:], [*since, each][-OPEN:]
        elif each.outcome is Outcome.SUCCESS:
            left = [failure for failure in open_ if not overcomes(each, failure)]
            open_, since = left, since if len(left) == len(open_) else []
    return open_, since
