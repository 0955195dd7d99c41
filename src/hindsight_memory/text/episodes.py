"""Groups the turns of a talk into episodes, each what a person would call one thing that happened, without a model.

An episode ends at a long pause, at a farewell, where somebody says that something else comes now, and where the words
change: TextTiling (Hearst, «TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages», 1997), with turns for
its blocks and a fixed threshold for its mean, so that what is decided once stays decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Final

from hindsight_memory.domain import Outcome, Role
from hindsight_memory.text.clauses import asks, sentences
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.summary import most_central
from hindsight_memory.text.tokens import index_words, truncate

LONG_PAUSE: Final = timedelta(hours=3)
"""After it something new begins, whatever is said."""

SHORT_PAUSE: Final = timedelta(minutes=20)
"""After it something new begins when its words are not those of before."""

_BLOCK: Final = 6
"""Turns before and after a gap that are held against each other."""
_CLIMB: Final = 4
"""Gaps to each side in which the peak of a valley is looked for."""
_APART: Final = 3
"""Gaps between two changes of words: the deepest of its surroundings is the boundary."""
_DEPTH: Final = 0.4
"""How deep a valley is that parts two episodes: at 0.4, 58 are found in the 2,080 turns of LoCoMo without their times,
more than half of them where a session ends; at 0.3, 125 and a third."""
_LEAST: Final = 3
"""Turns from a break in which no change of words counts: too little was said yet to tell."""
_ALIKE: Final = 0.12
"""How alike the words before and after a short pause are when the talk goes on."""
_FAREWELL: Final = 3
"""Turns of small talk after a farewell that still belong to it."""

SETTLED: Final = _BLOCK + _CLIMB + _APART
"""Turns after which a boundary is final: of ``n`` turns, those up to ``n - SETTLED`` stay whatever comes after."""

BEHIND: Final = 2 * SETTLED
"""Turns before a boundary that it may depend on: what is read from turn ``k`` on is right from ``k + BEHIND`` on."""

_WORDS: Final = 80
_READ: Final = 1_000
_SENTENCES: Final = 100
_TITLE: Final = 30
"""Words and characters of a turn, sentences of an episode that are read, and tokens of its title."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, by whom and when; ``words`` are its index words."""

    text: str
    occurred_at: datetime
    role: Role
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str, occurred_at: datetime, role: Role = Role.USER) -> Turn:
        """A turn with the words of its text; of what a tool says there are none."""
        words = () if role is Role.TOOL else tuple(index_words(text[:_READ])[:_WORDS])
        return cls(text, occurred_at, role, words)


@dataclass(frozen=True, slots=True)
class Episode:
    """The turns from ``start`` up to, and without, ``end``: one thing that happened.

    ``title`` is the sentence that says most of it. ``task`` is what was asked for first, if anything was, and
    ``outcome`` how that ended: pending while nobody said. Both sentences stand in the turns as they are.
    """

    start: int
    end: int
    title: str
    task: str | None
    outcome: Outcome | None


def episodes(turns: Sequence[Turn]) -> list[Episode]:
    """The episodes that turns are made of, in order, without gaps.

    An episode that ended ``SETTLED`` or more turns before the last one stays as it is whatever comes after.
    """
    return [_episode(turns[start:end], start) for start, end in pairwise([*boundaries(turns), len(turns)])]


def _episode(turns: Sequence[Turn], start: int) -> Episode:
    task = task_of(turns)
    return Episode(start, start + len(turns), title_of(turns), task, outcome_of(turns, asked=task is not None))


def boundaries(turns: Sequence[Turn]) -> list[int]:
    """The places where an episode begins, the first of them 0; empty when there are no turns.

    See ``SETTLED`` for what more turns at the end may still change. The work grows with the number of turns.
    """
    breaks = [number for number in range(1, len(turns)) if _breaks(turns, number)]
    runs = pairwise([0, *breaks, len(turns)]) if turns else ()
    return [number for start, end in runs for number in (start, *_changes(turns, start, end))]


# Where episodes end


def _breaks(turns: Sequence[Turn], at: int) -> bool:
    """Whether the talk plainly breaks before a turn: by a pause, a farewell, or by what is said."""
    before, after = turns[at - 1], turns[at]
    pause = after.occurred_at - before.occurred_at
    if pause >= LONG_PAUSE:
        return True
    if after.role is Role.USER and _TURNS.pattern.match(after.text):
        return True
    if is_small_talk(after.text) or _CLOSES.pattern.search(after.text[-_LAST:]):
        return False
    if pause >= SHORT_PAUSE and _likeness(_count(turns[max(at - _BLOCK, 0) : at]), Counter(after.words)) < _ALIKE:
        return True
    return after.role is Role.USER and _said_farewell(turns[max(at - 1 - _FAREWELL, 0) : at])


def _said_farewell(turns: Sequence[Turn]) -> bool:
    for turn in reversed(turns):
        if _CLOSES.pattern.search(turn.text[-_LAST:]):
            return True
        if not is_small_talk(turn.text):
            return False
    return False


def _changes(turns: Sequence[Turn], start: int, end: int) -> Iterator[int]:
    """Where the words change between two breaks: the deepest valleys of likeness, ``_APART`` gaps apart."""
    gaps = range(start + 1, end)
    likeness = [
        _likeness(_count(turns[max(at - _BLOCK, start) : at]), _count(turns[at : min(at + _BLOCK, end)])) for at in gaps
    ]
    depths = [_depth(likeness, number) for number in range(len(likeness))]
    for number, depth in enumerate(depths):
        if not start + _LEAST <= gaps[number] <= end - _LEAST:
            continue
        around = depths[max(number - _APART, 0) : number + _APART + 1]
        earlier = depths[max(number - _APART, 0) : number]
        if depth >= _DEPTH and depth == max(around) and depth not in earlier:
            yield gaps[number]


def _depth(likeness: Sequence[float], at: int) -> float:
    """How far likeness falls from the peaks on both sides."""
    left = max(likeness[max(at - _CLIMB, 0) : at + 1])
    right = max(likeness[at : at + _CLIMB + 1])
    return left + right - 2 * likeness[at]


def _count(turns: Sequence[Turn]) -> Counter[str]:
    return Counter(word for turn in turns for word in turn.words)


def _likeness(one: Counter[str], two: Counter[str]) -> float:
    """The cosine of two counts of words."""
    shared = sum(count * two[word] for word, count in one.items() if word in two)
    if not shared:
        return 0.0
    return shared / math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in two.values()))


# What an episode says of itself


def title_of(turns: Sequence[Turn]) -> str:
    """The sentence that says most of what was said, shortened if it is long; users' own where there are any."""
    said = [*_said(turns, Role.USER)] or [*_said(turns, Role.ASSISTANT)] or [turn.text for turn in turns[:1]]
    return truncate(" ".join(said[most_central(said)].split()), _TITLE) if said else ""


def task_of(turns: Sequence[Turn]) -> str | None:
    """What the user asked for first, as it was said; ``None`` when nothing was asked."""
    return next((said for said in _said(turns, Role.USER) if _ASKS.pattern.match(said) or asks(said)), None)


def outcome_of(turns: Sequence[Turn], *, asked: bool) -> Outcome | None:
    """How it ended, as the last one who said so says; pending when something was ``asked`` and nobody said."""
    for turn in reversed(turns[-_ENDS:]):
        ends = [
            (found.start(), ending)
            for ending, words in _ENDINGS
            for found in words.pattern.finditer(turn.text[-_READ:])
        ]
        if turn.role is not Role.TOOL and ends and not turn.text.rstrip().endswith(("?", "？")):
            return max(ends, key=lambda pair: pair[0])[1]
    return Outcome.PENDING if asked else None


def _said(turns: Sequence[Turn], role: Role) -> Iterator[str]:
    """Sentences of one role that say something."""
    each = (said for turn in turns if turn.role is role for said in sentences(turn.text[:_READ]))
    return islice((said for said in each if not is_small_talk(said)), _SENTENCES)


_LAST: Final = 80
"""Characters at the end of a turn where a farewell stands."""
_ENDS: Final = 20
"""Turns at the end of an episode that may say how it ended."""

_TURNS: Final = Lazy(
    r"(?i)\W*(?:(?:ok(?:ay)?|alright|great|good|thanks|thank\s+you|perfect|well|so|now|and|hey)\W+){0,3}"
    r"(?:(?:the\s+)?next\s+(?:task|topic|question|item|thing)|new\s+(?:task|topic|question)|another\s+(?:task"
    "|topic|question|thing)"
    r"|on\s+(?:another|a\s+different)\s+(?:note|topic)|moving\s+on|switching\s+(?:gears|topics)"
    r"|(?:a\s+)?change\s+of\s+(?:topic|subject)"
    r"|(?:a\s+)?different\s+(?:topic|question|subject|task)|let['’]?s\s+(?:move\s+on|switch\s+(?:to|topics)"
    r"|talk\s+about\s+something\s+else)"
    r"|changing\s+(?:the\s+)?(?:topic|subject)|something\s+else|unrelated|one\s+more\s+(?:task|question"
    "|thing))(?![a-z])"
    "|\\W*(?:好的?|行|嗯|谢谢|对了|那么?|ok)?[，,。！!]*(?:另外|换个话题|换一?个(?:任务|问题)|下一个(?:任务"
    "|问题|话题|事)|还有(?:一件事|件事|个事|一个问题|个问题)|说点别的"
    "|新(?:的)?任务|聊点别的|再帮我(?:做|看)(?:一件|另)|接下来(?:帮我|我们)?(?:做|看|处理)(?:下一个|另))"
)
_CLOSES: Final = Lazy(
    r"(?i)(?<![a-z])(?:(?:good)?bye|see\s+(?:you|ya)(?:\s+(?:later|soon|tomorrow|then|around|next\s+week))?"
    r"|good\s*night|talk\s+(?:to\s+you\s+)?(?:later|soon|tomorrow)"
    r"|that['’]?s\s+(?:all|it)(?:\s+for\s+(?:now|today))?|that\s+will\s+be\s+all|take\s+care|ttyl"
    r"|catch\s+you\s+later)\W*$"
    "|(?:再见|拜拜|晚安|回头见|明天见|下次(?:再)?(?:见|聊)|改天(?:再)?聊|回聊|先这样|就这样(?:吧)?|今天(?:就"
    "|先)到这(?:里|儿)?|没(?:有)?别的了)[吧了啦哈！!。~～\\s]*$"
)
_ASKS: Final = Lazy(
    r"(?i)\W*(?:(?:hi|hey|hello|ok(?:ay)?|so|now|also|and|next|great|thanks)\W+){0,3}(?:please|can\s+(?:you"
    r"|we)|could\s+(?:you|we)|would\s+you|will\s+you|help\s+me"
    r"|i\s+(?:need|want|would\s+like|have)\s+(?:you\s+|help\s+|some\s+help\s+)?to"
    r"|i['’]d\s+like\s+(?:you\s+)?to|i\s+need\s+(?:help|an?)|let['’]?s|we\s+(?:need|have)\s+to"
    "|(?:fix|add|write|make|create|build|find|show|explain|update|remove|delete|change|check|run|test|deploy"
    r"|review|refactor|implement|translate|summari[sz]e|plan|book|set\s+up"
    r"|look\s+(?:into|up)|figure\s+out|debug|install|configure|draft|send|schedule|compare|generate|design"
    r"|migrate|rename|move|list|tell\s+me|give\s+me|remind\s+me)(?![a-z]))"
    "|\\W*(?:你好|您好|好的?|那么?|现在|接下来|另外|换个话题|下一个任务)?[，,。：:！!]*(?:请|麻烦|帮我|帮忙"
    "|给我|替我|能不能|可不可以|可以帮|能帮|我想(?:要|让|请)?|我要|我需要|需要|我们?得"
    "|(?:修复|修改|添加|增加|写|做|创建|查|找|解释|更新|删除|检查|运行|测试|部署|翻译|总结|安排|预订|安装|配置"
    "|生成|设计|迁移|重构|看看|分析)(?:一下|个|一个|这个|那个)?)"
)
_ENDINGS: Final = (
    (
        Outcome.FAILURE,
        Lazy(
            r"(?i)(?<![a-z])(?:gave\s+up|give\s+up\s+on|(?:does|did|do|is|are|was|has|have)(?:n['’]?t"
                r"|\s+not)\s+(?:really\s+|actually\s+)?(?:work(?:ing|ed)?|fixed|done|solved|help(?:ed)?)"
            r"|still\s+(?:fails|failing|broken|not\s+working|crashes|the\s+same\s+error|getting|doesn['’]?t)"
                r"|not\s+(?:fixed|solved|working|done)|no\s+luck|(?:it|that|this)\s+failed"
            r"|could(?:n['’]?t|\s+not)\s+(?:fix|solve|get\s+it|find)|can(?:['’]?t|not)\s+(?:fix|solve"
                r"|get\s+it)|abandoned|reverted\s+(?:it|everything|the\s+change))(?![a-z])"
            "|失败了|还是不行|还是报错|没(?:有)?(?:用|解决|成功|修好|搞定)|放弃了|不管用|行不通|仍然(?:报错"
                "|失败|不行)|搞不定|解决不了"
        ),
    ),
    (
        Outcome.SUCCESS,
        Lazy(
            r"(?i)(?<![a-z])(?<!not\s)(?<!n['’]t\s)(?:works\s+(?:now|fine|great|perfectly)|(?:it|that|this"
                r"|everything|all)\s+(?:works|worked)|working\s+(?:now|again|fine)|(?:is|are|was|it['’]?s"
                r"|that['’]?s|all)\s+(?:now\s+)?"
            r"(?:fixed|solved|resolved|done)|(?:fixed|solved|resolved|done)(?=\W*$|[!.])|that\s+(?:fixed"
                r"|solved|did)\s+(?:it|the\s+trick)|(?:all\s+)?tests\s+(?:now\s+)?pass(?:ed)?"
                r"|(?:it\s+)?passes\s+now"
            r"|problem\s+solved|deployed\s+successfully|completed\s+successfully|success(?:ful)?(?=\W*$)"
                r"|finally\s+works|merged\s+(?:it|and\s+deployed)|booked(?=\W*$))(?![a-z])"
            "|(?<![没未不])(?:搞定了?|(?<!没有)解决了|修好了|修复了|成功了|可以(?:用|运行)了|好使了|能用了"
                "|能跑了|没问题了|通过了|完成了|做完了|弄好了|正常了|部署好了|订好了)(?![吗么没])"
        ),
    ),
)  # fmt: skip
