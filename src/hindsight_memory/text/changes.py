"""Phrases that say that something changed, and what they give up, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindsight_memory.text.clauses import HAN
from hindsight_memory.text.patterns import Lazy


@dataclass(frozen=True, slots=True)
class Change:
    """A change: what is ``given_up``, where it is said, and the ``topic`` it is said of, where it comes first.

    ``plain`` says that the words can mean nothing else: «replaced by», not «not today».
    """

    given_up: str = ""
    topic: str = ""
    plain: bool = True


_OBJECT: Final = r"(?P<old>[^,.;:!?()]{2,60}?)"
_END: Final = r"(?=\s+(?:because|since|as|so|and|but|for|after|when|due)\b|[,.;:!?()]|\s*$)"
_FROM: Final = r"(?:switched|moved|changed|migrated|converted|upgraded|transferred|went)(?: \w+){0,3}? from"
_STOPPED: Final = (
    "(?:i|we|user|he|she|they)(?:'ve| have| has| just| finally| recently| already)*"
    " (?:stopped|quit|gave up|given up|dropped|abandoned|cancell?ed|sold|ditched|got rid of|broke up with|left)"
    "(?: my| our| the| using| eating| drinking| taking| doing| playing| going to| working (?:at|for|on))*"
)
_ENGLISH: Final = tuple(
    Lazy(rf"(?i)\b{source}")
    for source in (
        _FROM + rf" {_OBJECT} (?:back )?to\b",
        rf"replac(?:ed|ing) (?:my |our |the )?{_OBJECT} (?:with|by)\b",
        rf"(?:no longer|don't|doesn't|do not|does not|not) {_OBJECT} any ?more\b",
        rf"no longer {_OBJECT}{_END}",
        _STOPPED + rf" {_OBJECT}{_END}",
        rf"(?:instead of|rather than|in place of) (?:my |our |the )?{_OBJECT}{_END}",
        rf"not (?:at |in |on |the |my )?{_OBJECT} (?:but|anymore)\b",
    )
)
_TOPIC: Final = Lazy(
    r"(?i)^(?:(?:and|but|so|also|by the way|now)\s+)*(?:my |our |the )?(?P<topic>[\w' -]{3,40}?)"
    r" (?:(?:is|are|was|were|has been|have been) )?"
    r"(?:now|changed to|moved to|switched to|rescheduled (?:to|for)|postponed (?:to|until)|became)\b"
)
_OLD_ZH: Final = r"(?P<old>[^，。；：！？,.;:!?（）了]{1,30}?)"
_STOPPED_ZH: Final = "(?:不再|再也不|戒掉?了?|放弃了?|停用了?|弃用了?|卖掉了?|卖了|告别了?)"
_CHINESE: Final = tuple(
    Lazy(source)
    for source in (
        rf"从{_OLD_ZH}(?:换|改|搬|转|跳槽|切换|迁移|升级|调)(?:到|成|为|用|去)",
        rf"(?:把|将)?{_OLD_ZH}(?:都|也|已经)?(?:换成|改成|改为|换为|升级成|替换成|替换为)",
        _STOPPED_ZH + r"(?P<old>[^，。；：！？,.;:!?（）]{1,30})",
    )
)
_WEAK_ZH: Final = tuple(
    Lazy(source)
    for source in (
        r"不(?P<old>[^，。；：！？,.;:!?（）不]{1,20}?)了(?=$|[，。；！？,.;!?啊呢吧])",
        rf"(?:取消了?|而不是|代替了?|取代了?|替代了?){_OLD_ZH}(?=$|[，。；！？,.;!?了])",
    )
)
_MOMENT_ZH: Final = Lazy("今天|今晚|今早|今儿|今年|明天|这次|这会儿?|这顿|这周|先不|等会儿?|一会儿|暂时")
"""When a denial is of the moment: «今天不喝咖啡了»."""
_TOPIC_ZH: Final = Lazy(
    "^(?:但是?|不过|而且|现在|另外|对了|最近)?(?P<topic>[^，。；：！？,.;:!?我你他她]{2,8}?)(?:也|都|已经|现在)?(?:改成|改为|改到|改在|改用|改了|换成|换了|换到|变成|调到|推迟到|提前到)"
)


def change_in(clause: str) -> Change | None:
    """The change that a clause speaks of, if it does."""
    chinese = HAN.pattern.search(clause) is not None
    topic = (_TOPIC_ZH if chinese else _TOPIC).pattern.search(clause)
    said = topic["topic"].strip() if topic else ""
    weak = () if _MOMENT_ZH.pattern.search(clause) else _WEAK_ZH
    for pattern in (*_CHINESE, *weak) if chinese else _ENGLISH:
        if found := pattern.pattern.search(clause):
            return Change(found["old"].strip(), said, plain=pattern not in _WEAK_ZH)
    return Change(topic=said) if said else None


_TO: Final = Lazy(
    r"(?i)\b(?:switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|chang(?:ed|ing)|went back) (?:\w+ ){0,3}?to\b"
    r"|\bnow (?:use|using|on)\b|\b(?:use|using|am on|are on) .{1,30} (?:now|instead)\b"
    r"|\breplac(?:ed|ing) .{1,40} (?:with|by)\b"
    r"|改用|换成|换到|换了|改成|改为|迁移到|迁到|切换到|切到"
)


def change_to(clause: str) -> bool:
    """Whether a clause says that something else is used from now on."""
    return _TO.pattern.search(clause) is not None
