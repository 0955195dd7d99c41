"""Tells which of the things that happened are the same thing again, by their words, in English and Chinese."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from hindsight_memory.domain import Memory
from hindsight_memory.text.common import table
from hindsight_memory.text.names import names_in
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.statements import wording
from hindsight_memory.text.tokens import stem

_READ: Final = 300
"""Characters of a text that are read: what is asked for leads it."""
_MOST_WORDS: Final = 40
_ALIKE: Final = 0.7
"""Cosine of the words of two that are the same: «write the weekly report» and «write the expense report» have 0.67."""
_WITHIN: Final = 0.5
"""The same where one says all that the other says, and more."""
_DENIED: Final = "not"
"""What ``wording`` makes of every denial."""
_LIST: Final = 40
"""Groups remembered for one word, the latest used: so the work for one text does not grow with their number."""

_PASSING: Final = frozenset(
    map(
        stem,
        table(
            """
            i you he she it we they me my your our this that these those of for to with in on at by from about into up
            can could would will shall may might should do have has let need want please help thanks thank hello hi hey
            again now then today tomorrow yesterday tonight morning afternoon evening night noon monday tuesday
            wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january february march
            april june july august september october november december next last first new usual
            帮 请 麻烦 一下 看看 给 把 谢谢 能 能不能 可以 可不可以 吗 呢 吧 的 要 想 需要 又 再 这 那 这个 那个 好 你好
            今天 明天 昨天 今晚 今早 早上 早晨 上午 中午 下午 晚上 傍晚 现在 年 号 点 分
            """
        ),
    )
)
"""Words that ask, greet or say when: the same request has others each time."""
_WHEN: Final = Lazy(
    r"[(?].*|[^\d]{0,2}\d.*|[上下本这每]?个?(?:周|星期|礼拜|月)[一二三四五六日天末]?|[一二三四五六七八九十]+[月日号点]"
)
"""Units that are a number, a mark or a date."""


@dataclass(frozen=True)
class Happening:
    """A memory as something that happened: the words that say what, whether it denies, and who said it."""

    memory: Memory

    @cached_property
    def words(self) -> frozenset[str]:
        """What it is about."""
        return frozenset(self._told[:_MOST_WORDS]) - {_DENIED}

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the names it mentions."""
        return frozenset(stem(word) for name in names_in(self.memory.content[:_READ]) for word in name.split())

    @cached_property
    def kind(self) -> tuple[str | None, bool]:
        """What must be equal: the speaker, and whether it begins with a denial («don't plan», not «plan, no calls»)."""
        return self.memory.speaker, self._told[:1] == (_DENIED,)

    @cached_property
    def _told(self) -> tuple[str, ...]:
        said = wording(self.memory.content[:_READ].replace("一下", ""))  # it is cut together with its verb
        return tuple(unit for unit in said if unit not in _PASSING and not _WHEN.pattern.fullmatch(unit))


@dataclass(eq=False)
class Group:
    """Happenings that are the same thing again, by their places; ``core`` is what most of them say."""

    first: Happening
    members: list[int] = field(default_factory=list)
    core: frozenset[str] = frozenset()
    _counts: Counter[str] = field(default_factory=Counter)

    def take(self, place: int, happening: Happening) -> None:
        """Add one more."""
        self.members.append(place)
        self._counts.update(happening.words)
        self.core = frozenset(word for word, count in self._counts.items() if 2 * count > len(self.members))

    def likeness(self, happening: Happening) -> float:
        """How well it fits, 0 to 1; 0 where it is another thing."""
        both = len(self.core & happening.words)
        cosine = both / (len(self.core) * len(happening.words)) ** 0.5
        contained = both >= 2 and both == min(len(self.core), len(happening.words))
        return cosine if cosine >= (_WITHIN if contained else _ALIKE) else 0.0


def grouped(happenings: Sequence[Happening]) -> list[Group]:
    """The happenings, put together where they are the same thing, in the order of their first one.

    Vectors are not asked: those of «check the backups» and «check the logs» are nearer than those of two wordings of
    one request (``docs/decisions/0015-habits.md``).
    """
    groups: list[Group] = []
    holding: dict[tuple[object, str], deque[int]] = defaultdict(lambda: deque(maxlen=_LIST))
    for place, happening in enumerate(happenings):
        if not happening.words:
            continue
        number = _fitting(happening, groups, holding)
        if number is None:
            number = len(groups)
            groups.append(Group(happening))
        group = groups[number]
        group.take(place, happening)
        for word in group.core:
            held = holding[happening.kind, word]
            if number in held:
                held.remove(number)
            held.append(number)
    return groups


def _fitting(
    happening: Happening, groups: Sequence[Group], holding: Mapping[tuple[object, str], deque[int]]
) -> int | None:
    """The group that a happening belongs to, of those its words lead to."""
    near: Counter[int] = Counter()
    for word in happening.words:
        near.update(holding.get((happening.kind, word), ()))
    least = _WITHIN**2 * len(happening.words)  # with fewer words in common no cosine is high enough
    scores = {number: groups[number].likeness(happening) for number, shared in near.items() if shared >= least}
    ranked = sorted((-score, number) for number, score in scores.items() if score)
    return next((number for _, number in ranked if not _other_names(groups[number], happening)), None)


def _other_names(group: Group, happening: Happening) -> bool:
    """Whether each has a name that the other has not: lunch with Anna, and lunch with Bob."""
    more, less = happening.words - group.core, group.core - happening.words
    return bool(more and less and less & group.first.names and more & happening.names)
