"""What a new statement does to an old one: says it again, changes it, or neither; by rules, in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_memory.text.alternatives import alternatives
from hindsight_memory.text.changes import change_in, change_to
from hindsight_memory.text.clauses import HAN
from hindsight_memory.text.common import table
from hindsight_memory.text.habits import displaced, habit_in
from hindsight_memory.text.names import names_in
from hindsight_memory.text.opposites import opposites
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.statements import Quantity, Statement, statements, wording
from hindsight_memory.text.tokens import stem
from hindsight_memory.text.worth import worth

_ALIKE: Final = 0.7
_ALIKE_LONGER: Final = 0.55
"""Share of the words of the shorter, and of the longer statement that both have, if they are about the same."""
_SAME_BUT_NUMBERS: Final = 0.8
_TOPIC: Final = 1.0
"""Weight of shared words, besides what is counted, from which two numbers count the same."""
_AROUND: Final = 0.4
"""Weight of a word that both texts say, outside the two statements, against one inside both."""
_GIVEN_UP: Final = 0.6
"""Share of the words of what a change gives up that the old statement has."""
_COMMON: Final = frozenset(
    map(
        stem,
        table(
            """
            get got go going gone make made take took think know want need try like love enjoy good great nice time day
            week month year thing things lot bit way people new first last next start started feel look see say said
            tell help keep use today tomorrow yesterday recommend tips suggest suggestions plan planning far ago around
            past few more most much many one another back able lately recently speaking thanks idea sure check
            current latest
            现在 今天 明天 昨天 最近 目前 一般 时间 东西 事情 每天 每周 每月 喜欢 知道 觉得 开始 需要 建议 比如
            大概 可能 希望 每次 感觉 已经 一共 总共 终于 工作 用户 养
            """
        ),
    )
)
"""Words so common that sharing them means nothing."""


@dataclass(frozen=True, slots=True)
class Bearing:
    """That a new text changes an old one: the two statements, and the rule that says so."""

    rule: str
    old: str
    new: str


def same(old: str, new: str) -> bool:
    """Whether two texts say the same in the same order: same numbers, names, denials, persons and tenses."""
    one = wording(old)
    return bool(one) and one == wording(new)


def changed(old: str, new: str, *, spoken: bool = False) -> Bearing | None:
    """How a later text changes what an earlier one states, if it does.

    It is for two texts of one speaker, or two facts of one bank. Rather nothing than a wrong answer: a false change
    takes a true statement out of sight. What is ``spoken`` in a conversation says more in passing: there a denial
    counts only of what the speaker says of himself.
    """
    olds, news = statements(old), statements(new)
    around = _shared(_words_of(olds), _words_of(news))
    # What the other text says as well has not changed, whatever else there is like it.
    stated = [one for one in olds if not one.asks and not any(_repeats(one, two) for two in news)]
    fresh = [two for two in news if not two.asks and not any(_repeats(two, one) for one in olds)]
    for rule, judge in _RULES.items():
        for one in stated:
            for two in fresh:
                if _one_person(one, two) and (not spoken or _of_oneself(one, two, rule)) and judge(one, two, around):
                    return Bearing(rule, one.text, two.text)
    return _refilled(old, new)


def _refilled(old: str, new: str) -> Bearing | None:
    """«I live in Berlin» and «I moved to Lisbon»: another value of what a person has one of."""
    before = {each.key: each for each in worth(old) if each.single and each.polarity > 0}
    for each in worth(new):
        held = before.get(each.key)
        if held is None or each.polarity < 0:
            continue
        one, two = old[held.start : held.end], new[each.start : each.end]
        if _other_value(one, two, each.key):
            return Bearing("refilled", one, two)
    return None


def _other_value(one: str, two: str, key: str | None) -> bool:
    of_key = _FRAME | {stem(word) for word in (key or "").replace(".", "_").split("_")}
    mine, theirs = (_words_of(statements(each)) - of_key for each in (one, two))
    if not mine or not theirs or _shared(mine, theirs):
        return False
    # «I live in Berlin» and «I live by the river» may both be so; two cities may not.
    return key not in _NAMED or bool(names_in(one) and names_in(two))


_NAMED: Final = frozenset({"profile.home_city", "profile.employer", "profile.origin"})
_FRAME: Final = _COMMON | frozenset(
    map(
        stem,
        table(
            "live lived move moved moving work works working based job name called call am from 住 叫 搬 上班 住在 搬到"
        ),
    )
)


def _repeats(one: Statement, two: Statement) -> bool:
    """Whether one statement says what another one says, numbers and denial included."""
    return (
        one.negated == two.negated
        and _values(one) <= _values(two)
        and _alike(one.words, two.words, _ALIKE)
        and not _opposed(one, two, frozenset())
        and not _other_habit(one, two)
    )


def _other_habit(one: Statement, two: Statement) -> bool:
    """«I switched to coffee» and «I switched from coffee to matcha»."""
    mine = habit_in(one.text)
    theirs = habit_in(two.text) if mine is not None else None
    return mine is not None and theirs is not None and (displaced(mine, theirs) or displaced(theirs, mine))


_ME: Final = "i"


def _of_oneself(one: Statement, two: Statement, rule: str) -> bool:
    if rule == "recounted":
        return (one.lasts and two.lasts) or _NEWS.pattern.search(two.text) is not None
    if rule == "given up":
        change = change_in(two.text)
        return change is not None and change.plain
    if rule not in {"denied", "opposed"}:
        return True
    return one.lasts and two.lasts and "i" in (one.who, two.who) and len(_shared(one.words, two.words) - _COMMON) > 1


_NEWS: Final = Lazy(
    r"(?i)\bnow\b|\b(?:changed|raised|moved|went up|went down) to\b|现在|目前|如今|改[成为到在]|换[成到]|[涨降调升减]到"
)
"""What says that something is otherwise than it was."""


def _one_person(one: Statement, two: Statement) -> bool:
    """Whether both are about the same person; who names nobody speaks of himself, or of no person."""
    return (one.who or _ME) == (two.who or _ME)


def _denied(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«The door is open» and «the door is not open»."""
    both = _shared(one.words, two.words)
    short, long = sorted((len(set(one.words)), len(set(two.words))))
    return (
        one.negated != two.negated
        and not (one.partly or two.partly)
        and _REPORTED.isdisjoint(one.words)
        and _REPORTED.isdisjoint(two.words)
        and len(both) + len(_values(one) & _values(two)) > 1
        and not both <= _COMMON
        and len(both) >= _ALIKE * short
        and len(both) >= _ALIKE_LONGER * long
    )


def _opposed(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«I love cats» and «I hate cats»."""
    pair = opposites(one.words, two.words)
    if one.negated != two.negated or pair is None or pair[0] in two.words or pair[1] in one.words:
        return False
    if _is_chinese(one.text):
        # The dictionary cuts «喝拿铁» otherwise than «拿铁», so characters are compared; «我讨厌的歌手» only names.
        if any(f"{word}的" in each.text for word, each in zip(pair, (one, two), strict=True)):
            return False
        return _alike(_letters(one, pair[0]), _letters(two, pair[1]), _ALIKE)
    both = _shared(one.words, two.words)
    only, other = set(one.words) - both - {pair[0]}, set(two.words) - both - {pair[1]}
    return bool(both) and len(only) <= 1 and len(other) <= 1


def _letters(statement: Statement, but: str) -> list[str]:
    return list("".join(word for word in statement.words if word != but))


def _recounted(one: Statement, two: Statement, around: frozenset[str]) -> bool:
    """«I have 17 postcards» and «I have 25 postcards»."""
    if not one.quantities or not two.quantities:
        return False
    return any(_clash(x, y, one, two, around) for x in one.quantities for y in two.quantities)


def _clash(x: Quantity, y: Quantity, one: Statement, two: Statement, around: frozenset[str]) -> bool:
    """Whether two numbers are two values of one thing."""
    if x.form != y.form or x.form == "other" or x.value in _values(two) or y.value in _values(one) or _of_two(x, y):
        return False
    if not (one.lasts and two.lasts) or x.form == "date":
        # «Room 101 is free» and «Room 102 is free» are of two rooms.
        named = x.before == y.before != "" or min(len(one.words), len(two.words)) > 1
        plain = named and not (x.label or y.label) and _stands(one) and _stands(two)
        return plain and _alike(one.words, two.words, _SAME_BUT_NUMBERS)
    counted = x.after == y.after != "" and x.after not in _COMMON
    nothing_else = not (_telling(frozenset((*one.words, *two.words)), x, y))
    if (_attribute(one) & _attribute(two) and x.after == y.after) or (
        counted and (nothing_else or change_in(two.text))
    ):
        return True
    inside = _telling(_shared(one.beside, two.beside), x, y)
    of_same = counted or _of_same(x, y, one, two) or (_bare(x, y) and len(inside) > 1)
    return of_same and _on_topic(x, y, (one, two), inside, around)


def _of_two(x: Quantity, y: Quantity) -> bool:
    """Whether two values are of two things of a kind: «my locker code is 4711» and «my gate code is 9921»."""
    one, other = x.ahead - _COMMON, y.ahead - _COMMON
    return x.after == y.after == "" and x.before == y.before and not (one <= other or other <= one)


def _on_topic(
    x: Quantity, y: Quantity, both: tuple[Statement, Statement], inside: frozenset[str], around: frozenset[str]
) -> bool:
    """Whether the statements, and what stands around them, share enough besides what is counted."""
    if any(_is_chinese(each.text) for each in both):
        return bool(inside) or (x.before == y.before != "" and x.before not in _COMMON)
    return len(inside) + _AROUND * len(_telling(around - inside, x, y)) >= _TOPIC


def _stands(statement: Statement) -> bool:
    """Whether a statement is of how things are: «the meeting is at 3pm», not «the shares fell by 3»."""
    said = wording(statement.text)
    done = "了" in statement.text and _NEWS.pattern.search(statement.text) is None
    happened = "(past)" in said or done or not _PAST.isdisjoint(said)
    return not happened and statement.who in {"", "i"} and not _of_a_year(statement)


def _of_a_year(statement: Statement) -> bool:
    return any(_YEAR.pattern.fullmatch(quantity.value) for quantity in statement.quantities)


_YEAR: Final = Lazy("(?:19|20)[0-9]{2}")
_PAST: Final = table(
    "fell rose won lost went came took gave made said told met ran sold bought paid got began grew saw wrote spent ate"
    " drank drove flew broke chose hit beat cut put"
)
_REPORTED: Final = frozenset(map(stem, table("said says told reported announced according added stated")))
"""Words of those who say what others said: there, a denial may be of anything."""


def _of_same(x: Quantity, y: Quantity, one: Statement, two: Statement) -> bool:
    """Whether two numbers count the same thing, by the words right beside them."""
    if x.after == y.after != "" or (x.before == y.before != "" and x.before not in _COMMON):
        return True
    if _is_chinese(one.text) or _is_chinese(two.text):
        return False
    return (
        x.form in {"clock", "range"}
        or (x.after in two.beside and x.after not in _COMMON)
        or (y.after in one.beside and y.after not in _COMMON)
    )


def _bare(x: Quantity, y: Quantity) -> bool:
    """Whether one of two numbers stands without what it counts: «I've written four so far»."""
    return not (_is_chinese(x.before) or _is_chinese(y.before)) and any(
        not each.after or each.after in _COMMON for each in (x, y)
    )


def _telling(words: frozenset[str], x: Quantity, y: Quantity) -> frozenset[str]:
    return words - _COMMON - {x.after, y.after}


def _values(statement: Statement) -> set[str]:
    return {quantity.value for quantity in statement.quantities}


def _attribute(statement: Statement) -> set[str]:
    """What of a person a number in a statement measures."""
    return {name for name, pattern in _ATTRIBUTES.items() if pattern.pattern.search(statement.text)}


_ATTRIBUTES: Final = {
    "weight": Lazy(r"(?i)\b(?:i weigh|my weight)\b|体重|减肥|反弹|瘦到|胖到|\d ?(?:kg|公斤|斤)"),
    "pay": Lazy(r"(?i)\b(?:salary|i earn|my pay)\b|年薪|月薪|工资|调薪|薪水"),
    "rent": Lazy(r"(?i)\brent\b|月租|房租|租金"),
    "age": Lazy(r"(?i)\b(?:years old|my age)\b|我.{0,4}岁"),
}


def _given_up(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«We use React» and «we switched from React to Vue»; «我用 iPhone» and «iPhone 换成了华为»."""
    change = change_in(two.text)
    if change is None or not change.given_up or one.negated:
        return False
    gone = frozenset(word for each in statements(change.given_up) for word in each.words)
    if gone <= _COMMON or _part(gone, one.words) < (1 if len(gone) < 3 else _GIVEN_UP):
        return False
    # «The task is no longer on hold» ends only what is said of that task.
    return (_of_self(one) and _of_self(two)) or one.lasts or bool(_shared(one.beside, two.beside) - gone - _COMMON)


def _of_self(statement: Statement) -> bool:
    """Whether a statement is about its speaker; Chinese leaves «I» out."""
    return statement.who == "i" or (not statement.who and _is_chinese(statement.text))


def _moved_on(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«早上都是吃面包» and «早上改成了酸奶»: a change in what is said first in both."""
    change = change_in(two.text)
    if change is None or not one.words or not two.words or not change.topic:
        return False
    topic = [word for each in statements(change.topic) for word in each.words]
    return bool(topic) and _part(topic, one.words[: len(topic) + 1]) == 1 and one.lasts


def _replaced(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«We use React» and «we switched to Vue»: of these one uses one at a time."""
    return (
        one.negated == two.negated
        and change_to(two.text)
        and alternatives(one.words, two.words)
        and (one.lasts or _of_self(one) or bool(_shared(one.words, two.words) - _COMMON))
    )


def _taken_up(one: Statement, two: Statement, _: frozenset[str]) -> bool:
    """«改喝咖啡了» and «改喝抹茶了»; «I take the bus to work» and «I take the train to work now»."""
    if one.negated or two.negated:
        return False
    new = habit_in(two.text)
    old = habit_in(one.text) if new is not None and new.taken_up else None
    return old is not None and new is not None and displaced(old, new)


_RULES: Final[dict[str, Callable[[Statement, Statement, frozenset[str]], bool]]] = {
    "denied": _denied,
    "opposed": _opposed,
    "recounted": _recounted,
    "given up": _given_up,
    "moved on": _moved_on,
    "replaced": _replaced,
    "taken up": _taken_up,
}


def _alike(one: Sequence[str], two: Sequence[str], share: float) -> bool:
    """Whether enough of the shorter, and half as much of the longer, are words of both."""
    both = _shared(one, two)
    short, long = sorted((len(set(one)), len(set(two))))
    return bool(both) and len(both) >= share * short and len(both) >= share / 2 * long


def _part(some: Collection[str], of: Collection[str]) -> float:
    return len(_shared(some, of)) / len(set(some)) if some else 0.0


def _shared(one: Collection[str], two: Collection[str]) -> frozenset[str]:
    held = frozenset(two)
    han = [word for word in held if _is_chinese(word)]
    return frozenset(
        word for word in one if word in held or (han and _is_chinese(word) and any(_equal(word, o) for o in han))
    )


def _equal(one: str, two: str) -> bool:
    """Whether two words are the same; a Chinese one may be cut shorter in one text than in the other."""
    if one == two:
        return True
    short, long = sorted((one, two), key=len)
    return len(short) >= 2 and short in long


def _is_chinese(text: str) -> bool:
    return not text.isascii() and HAN.pattern.search(text) is not None


def _words_of(every: Sequence[Statement]) -> frozenset[str]:
    return frozenset(word for each in every for word in each.words)
