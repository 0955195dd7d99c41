"""What a task teaches, by rules: a failure and its error, what worked then, what did not, in the task's own words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Final

from hindsight_memory.domain import Memory, Outcome, Role, Source, Visibility
from hindsight_memory.text.clauses import sentences
from hindsight_memory.text.common import table
from hindsight_memory.text.episodes import Turn, task_of
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.steps import OPEN, SPAN, Tried, is_chinese, overcomes, shortened, unsolved_since

LESSON: Final = "lesson."
OUTCOME: Final = "outcome."
"""What the keys of lessons, and of the outcomes of tasks, begin with."""

MOST: Final = 20
"""Lessons of one task, the latest."""
EVIDENCE: Final = 50
"""Memories that one lesson rests on, the latest."""

_BETWEEN: Final = 3
"""Deeds of each sort that a lesson names."""
_LOOKS: Final = table(
    "cat echo find get grep head list look ls open print pwd query read rg search show tail type view wc which"
)
"""What only looks, and so solves nothing."""
_LOOKING: Final = frozenset({("git", "status"), ("git", "diff"), ("git", "log"), ("git", "show")})
_READ: Final = 2_000
"""Characters of a turn that are read."""
_WORD: Final = Lazy(r"[A-Za-z]+")
_REASON: Final = Lazy(
    r"(?i)\b(?:because|since|due to|caused by|the (?:reason|cause|problem|issue) (?:is|was)|turns out|turned out)\b"
    r"|因为|由于|原因|导致|是.{1,20}的问题"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A lesson as one run of a task bears it out.

    ``worked``, among the ids of its ``evidence``, shows that it works. ``again`` is a lesson to do once more what had
    failed. ``words`` say trigger, advice, what to avoid and why in a language model's words, where these were found to
    hold.
    """

    trigger: str
    do: tuple[str, ...]
    avoid: tuple[str, ...] = ()
    because: str = ""
    tool: str
    signature: str
    failed: int
    evidence: tuple[str, ...]
    worked: str
    last: Memory
    private: bool
    chinese: bool
    again: bool = False
    words: tuple[str, str, str, str] | None = None

    @property
    def key(self) -> str:
        """One lesson stands for one error of one tool."""
        return key_of(self.signature, self.tool)

    @property
    def text(self) -> str:
        """The lesson in words: spans of its evidence in a fixed frame."""
        *frame, then, retry = _FRAMES[self.chinese]
        ruled = (
            self.trigger,
            f"{retry if self.again else ''}{then.join(self.do)}",
            then.join(self.avoid),
            self.because or _counted(self.failed, chinese=self.chinese),
        )
        said = zip(frame, self.words or ruled, strict=True)
        return "\n".join(f"{name}{text}" for name, text in said if text)


_FRAMES: Final = {
    False: ("When: ", "Do: ", "Avoid: ", "Because: ", "; ", "try again: "),
    True: ("遇到：", "做法：", "避免：", "原因：", "；", "重试："),
}


def _counted(failed: int, *, chinese: bool) -> str:
    if chinese:
        return f"这样失败过 {failed} 次，之后成功了"
    return f"it failed {'once' if failed == 1 else f'{failed} times'} like this, and went through after that"


def key_of(signature: str, tool: str) -> str:
    """The key of the lesson about an error of a tool."""
    return LESSON + blake2b(f"{signature}\n{tool}".encode(), digest_size=8).hexdigest()


def outcome_key(session_id: str | None, task: str) -> str:
    """The key of what a task came to in a session, or in all of them."""
    return OUTCOME + blake2b(f"{session_id or ''}\n{task}".encode(), digest_size=8).hexdigest()


def is_reflected(key: str | None) -> bool:
    """Whether a key is that of a lesson or of a task's outcome: nothing but another look back changes those."""
    return key is not None and key.startswith((LESSON, OUTCOME))


# What a run teaches


def lessons_of(run: Sequence[Tried]) -> list[Taught]:
    """What a run of a task teaches: for each error that was overcome, what worked then."""
    taught: dict[str, Taught] = {}
    open_: list[int] = []
    for place, each in enumerate(run):
        if each.outcome is Outcome.FAILURE:
            open_ = [*open_, place][-OPEN:]
        elif each.outcome is Outcome.SUCCESS:
            solved = [at for at in open_ if overcomes(each, run[at])]
            open_ = [at for at in open_ if at not in solved]
            for lesson in _of_success(run, solved, place):
                taught.pop(lesson.key, None)  # the latest of one error stands, and stands last
                taught[lesson.key] = lesson
    return list(taught.values())[-MOST:]


def _of_success(run: Sequence[Tried], solved: Sequence[int], end: int) -> Iterator[Taught]:
    signatures = dict.fromkeys(run[at].signature for at in solved if run[at].signature)
    for signature in signatures:
        failed = [at for at in solved if run[at].signature == signature]
        lesson = _lesson(run, failed, min((at for at in solved if at > failed[-1]), default=end), end)
        if lesson is not None:
            yield lesson


def _lesson(run: Sequence[Tried], failed: Sequence[int], next_: int, end: int) -> Taught | None:
    """The lesson of failures with one error; ``next_`` is where another one came, ``end`` where it all went well."""
    failure, success = run[failed[-1]], run[end]
    helped = [at for at in range(failed[-1] + 1, next_) if _does(run[at])][-_BETWEEN:]
    do = {run[at].deed: at for at in (*helped, end) if run[at].deed} or _said(run, failed[-1] + 1, end)
    again = list(do) == [failure.deed]
    if not do or (again and not _follows(run, failed[-1], end)):
        return None
    vain = (at for at in range(failed[0], end) if run[at].outcome is Outcome.FAILURE)
    avoid = dict(list({run[at].deed: at for at in vain if run[at].deed and run[at].deed not in do}.items())[-_BETWEEN:])
    because = _reason(run, failed[-1], end + 2)
    places = {*failed, *do.values(), *avoid.values(), *because.values(), end}
    memories = [run[at].memory for at in sorted(places)]
    chinese = is_chinese(" ".join((failure.error, failure.memory.content, *do)))
    return Taught(
        trigger=_trigger(failure, chinese=chinese),
        do=tuple(shortened(deed, SPAN) for deed in do),
        avoid=tuple(shortened(deed, SPAN) for deed in avoid),
        because="".join(because),
        tool=failure.tool,
        signature=failure.signature,
        failed=len(failed),
        evidence=tuple(memory.id for memory in memories)[-EVIDENCE:],
        worked=success.memory.id,
        last=success.memory,
        private=any(memory.visibility is Visibility.PRIVATE for memory in memories),
        chinese=chinese,
        again=again,
    )


def _follows(run: Sequence[Tried], start: int, end: int) -> bool:
    """Whether nothing is missing between two turns: what was done there may have been forgotten, or be another's."""
    first, last = run[start].memory, run[end].memory
    if first.session_id != last.session_id or first.turn is None or last.turn is None:
        return False
    return last.turn - first.turn == end - start


def _trigger(failure: Tried, *, chinese: bool) -> str:
    error = shortened(failure.error, SPAN)
    if not failure.deed:
        return error
    deed = shortened(failure.deed, SPAN)
    return f"{deed}：失败：{error}" if chinese else f"{deed}: failed: {error}"


def _does(each: Tried) -> bool:
    """Whether a step has gone well and does more than look."""
    if each.outcome is not Outcome.SUCCESS or not each.tool:
        return False
    given = each.deed.removeprefix(each.tool).split()[:2]
    first = _WORD.pattern.search(each.tool.casefold())
    looks = (first is not None and first[0] in _LOOKS) or (bool(given) and given[0].casefold() in _LOOKS)
    return not looks and tuple(word.casefold() for word in given) not in _LOOKING


def _said(run: Sequence[Tried], start: int, end: int) -> dict[str, int]:
    """The first sentence of what the assistant said last, with its place; nothing where it said nothing."""
    for at in reversed(range(start, end)):
        if run[at].memory.source is Source.AGENT:
            said = islice(sentences(run[at].memory.content[:_READ]), 5)
            return next(({shortened(each.strip(), SPAN): at} for each in said if not is_small_talk(each)), {})
    return {}


def _reason(run: Sequence[Tried], start: int, end: int) -> dict[str, int]:
    """The first sentence of a turn there that gives a reason, with its place."""
    for at in range(start, min(end, len(run))):
        memory = run[at].memory
        if memory.source in (Source.USER, Source.AGENT) and _REASON.pattern.search(memory.content[:_READ]):
            said = sentences(memory.content[:_READ])
            return next(({shortened(each.strip(), SPAN): at} for each in said if _REASON.pattern.search(each)), {})
    return {}


# What a run came to


@dataclass(frozen=True, slots=True)
class Run:
    """A task as it went."""

    task: str
    outcome: Outcome | None
    steps: int
    failures: int
    tools: tuple[str, ...]
    error: str
    worked: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """The task and what came of it, in a line or two."""
        chinese, ended = is_chinese(f"{self.task} {self.error}"), self.outcome is Outcome.SUCCESS
        tools = ("、" if chinese else ", ").join(self.tools[:10])
        worked = ("；" if chinese else "; ").join(self.worked)
        if chinese:
            how = f"{'成功' if ended else '失败'}，共 {self.steps} 步，失败 {self.failures} 次，工具：{tools}"
            first, last, did = f"{self.task}：{how}", "最后的错误：", "有效的做法："
        else:
            how = (
                f"{'success' if ended else 'failure'} after {self.steps} steps, {self.failures} failed; tools: {tools}"
            )
            first, last, did = f"{self.task}: {how}", "Last error: ", "What worked: "
        error = f"{last}{self.error}" if self.error and not ended else ""
        return "\n".join(line for line in (first, error, f"{did}{worked}" if worked else "") if line)


def run_of(run: Sequence[Tried], task: str, taught: Sequence[Taught]) -> Run:
    """What a run came to. The task is the one that is named, or what the user asked for first."""
    steps = [each for each in run if each.tool]
    failures = [each for each in steps if each.outcome is Outcome.FAILURE]
    left = unsolved_since(run)
    ended = next((each.outcome for each in reversed(run) if each.outcome is not None), None)
    outcome = Outcome.FAILURE if any(each.tool for each in left) else ended
    named = task or next((each.memory.task for each in reversed(steps) if each.memory.task), None) or _asked(run)
    named = named or next((each.deed for each in steps), "")
    return Run(
        task=shortened(" ".join(named.split()), SPAN),
        outcome=outcome,
        steps=len(steps),
        failures=len(failures),
        tools=tuple(dict.fromkeys(each.tool for each in steps)),
        error=shortened(left[-1].error, SPAN) if left else "",
        worked=tuple(dict.fromkeys(deed for lesson in taught[-_BETWEEN:] for deed in lesson.do))[-_BETWEEN:],
    )


def _asked(run: Sequence[Tried]) -> str:
    turns = [each.memory for each in run if each.memory.source is Source.USER]
    return task_of([Turn(each.content, each.occurred_at, Role.USER, ()) for each in turns[:20]]) or ""


# What becomes of a lesson


def followed_in_vain(lesson: Memory, run: Sequence[Tried]) -> list[str]:
    """The ids that show, in a run after a lesson was learnt, that its advice was followed and the error came again."""
    do, signature = lesson.metadata.get("do"), lesson.metadata.get("signature")
    if not isinstance(do, list) or not isinstance(signature, str):
        return []
    known = {*_ids(lesson, "evidence"), *_ids(lesson, "against")}
    run = [each for each in run if each.memory.id not in known and each.memory.created_at > lesson.created_at]
    failed = [at for at, each in enumerate(run) if each.outcome is Outcome.FAILURE and each.signature == signature]
    advised = [at for at, each in enumerate(run) if each.deed and shortened(each.deed, SPAN) in do]
    for first, last in pairwise(failed):
        between = [at for at in advised if first < at <= last]
        own = [at for at in between if at != last or lesson.metadata.get("again")]
        if own:
            return [run[at].memory.id for at in dict.fromkeys((first, *own, last))][:EVIDENCE]
    return []


def still_supported(lesson: Memory, standing: Collection[str]) -> float:
    """How much of what a lesson rests on is left, 0 to 1, where these ids still stand.

    It is 0 when nothing is left that shows that its advice worked. For what looks after memories whose evidence has
    gone: the lesson's confidence shrinks with it, and at 0 the lesson goes as well.
    """
    held = _ids(lesson, "evidence")
    if not held or not any(each in standing for each in _ids(lesson, "worked")):
        return 0.0
    return sum(each in standing for each in held) / len(held)


def _ids(lesson: Memory, name: str) -> list[str]:
    value = lesson.metadata.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
