"""What people do as a rule, one thing at a time, so that taking up another gives up the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindsight_memory.text.clauses import HAN
from hindsight_memory.text.keys import topic_of
from hindsight_memory.text.patterns import Lazy


@dataclass(frozen=True, slots=True)
class Habit:
    """What somebody does as a rule: «I take the bus to work», «改喝茶了».

    ``act`` is what is done with the ``thing``, ``when`` on which occasions. ``taken_up`` says that it is so from now
    on, instead of something else: «I drink tea now».
    """

    act: str
    thing: str
    when: frozenset[str]
    taken_up: bool


_ACT: Final = {word: act for act, words in {"drink": "drink 喝", "eat": "eat 吃"}.items() for word in words.split()}
"""What is done with what; any other act is a way to get about."""
VEHICLE: Final = (
    "bus|train|subway|metro|tube|underground|tram|car|bike|bicycle|e-bike|scooter|motor(?:bike|cycle)|ferry|taxi|cab"
    "|shuttle"
)
_VEHICLE_ZH: Final = (
    "车|公交车?|地铁|轻轨|火车|高铁|动车|班车|大巴|出租车?|的士|网约车|自行车|单车|电动车|摩托车?|飞机|轮渡|路"
)
_OCCASION: Final = Lazy(
    r"(?i)\b(?:to (?:work|school|the office|the gym)|(?:in|on) the (?:morning|evening|afternoon|weekend)s?|at night"
    r"|(?:for|at|with|after|before) (?:breakfast|lunch|dinner|supper|bed|work|practice|school)"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|at (?:home|the office))\b"
)
_OCCASION_ZH: Final = Lazy(
    "[早晚](?:上|晨|餐|饭)|午[餐饭]|中午|上午|下午|夜里|夜宵|睡前|饭后|周末|平日|工作日|出差|回家|运动后?|公司|在家"
    "|周[一二三四五六日天]|上下班|上班|下班|上学|通勤"
)
_SAME_OCCASION: Final = {
    "早晨": "早上", "早饭": "早餐", "午饭": "午餐", "晚饭": "晚餐", "上下班": "上班", "通勤": "上班"
}  # fmt: skip
_LEAD: Final = (
    r"\s*(?:(?:and|but|so) )?(?P<from>now|nowadays|these days)?,?\s*(?:i|we) (?P<now>now )?"
    r"(?:usually |always |mostly |typically |normally |just )?"
)
_REST: Final = r"(?P<rest>(?: every ?day| each day| now| instead| these days| nowadays)*)\s*\W*"
_HABIT: Final = Lazy(
    rf"(?i){_LEAD}(?:(?P<act>drink|eat) (?:the |my |an? )?"
    r"(?P<thing>(?!(?:it|this|that|them|more|less|too|much|some|any)\b)[a-z][a-z' -]{1,30}?)"
    rf"|(?:take|ride|drive) (?:the |my |an? )?(?P<vehicle>{VEHICLE})|(?P<way>drive|cycle|bike|walk)){_REST}"
)
_SWITCH: Final = Lazy(
    r"(?i)\s*(?:(?:and|but|so) )?(?:i|we)(?:'ve| have)?(?: just| recently| finally| now)*"
    r" (?:switched|gone back|went back)(?: over| back)?(?: from [a-z' -]{2,30}?)?"
    r" to (?P<thing>[a-z][a-z' -]{1,30}?)(?: now| instead| again)?\s*\W*"
)
_HABIT_ZH: Final = Lazy(
    "(?:我们?|咱们?)?(?:现在|目前|最近|已经|平时|一直|总是|都|每天|就|也|又|以后|从此|今后)*(?P<now>改成?|换成?)?"
    "(?:(?P<act>[喝吃])(?![了过完得多少这那一两三四五六七八九十点不\\d])(?P<thing>[^，。；！？,.;!?了吧吗呢]{1,10}?)"
    f"|(?P<vehicle>[坐骑开走搭乘](?:{_VEHICLE_ZH})))(?:了|去)?[。！!～~ ]*"
)


def habit_in(clause: str) -> Habit | None:
    """The habit that a clause is about, if it says nothing else."""
    chinese = HAN.pattern.search(clause) is not None
    occasions = _OCCASION_ZH if chinese else _OCCASION
    when = frozenset(_occasion(found.group().lower()) for found in occasions.pattern.finditer(clause))
    bare = occasions.pattern.sub("" if chinese else " ", clause)
    bare = bare if chinese else " ".join(bare.split())
    if not chinese and (found := _SWITCH.pattern.fullmatch(bare)):
        return Habit("drink", found["thing"].lower(), when, True) if topic_of(found["thing"], "") == "drink" else None
    if (found := (_HABIT_ZH if chinese else _HABIT).pattern.fullmatch(bare)) is None:
        return None
    said = found.groupdict()
    since = said["now"] or said.get("from") or _SINCE.pattern.search(said.get("rest") or "")
    thing = said["thing"] or said["vehicle"] or said["way"]
    return Habit(_ACT.get((said["act"] or "").lower(), "get about"), thing.lower(), when, bool(since))


_SINCE: Final = Lazy(r"(?i)\b(?:now|instead|these days|nowadays)\b")


def _occasion(said: str) -> str:
    """What an occasion is called: «for breakfast» is that of «with breakfast», «after work» not that of «at work»."""
    first, *_, last = said.split() * 2
    name = _SAME_OCCASION.get(last, last.rstrip("s"))
    return f"{first} {name}" if first in ("after", "before") else name


def displaced(old: Habit, new: Habit) -> bool:
    """Whether one habit takes the place of another: the same act on the same occasion, with another thing.

    People drink and eat many things, and go to many places: without an occasion, only what was taken up for something
    else itself is given up for the next, and only of drinks.
    """
    if not new.taken_up or old.act != new.act or old.when != new.when or _within(old.thing, new.thing):
        return False
    return bool(new.when) or (old.taken_up and new.act == "drink")


def _within(one: str, two: str) -> bool:
    """Whether one thing is the other, said more closely."""
    return one in two or two in one
