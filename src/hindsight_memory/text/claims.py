"""A text as clauses that can be held against others: the words, names and numbers of each; English and Chinese."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from hindsight_memory.text.clauses import asks, sentences
from hindsight_memory.text.common import is_common, table
from hindsight_memory.text.opposites import BOUND_NEGATIONS
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import stem

READ: Final = 2_000
_CLAUSES: Final = 24
"""Characters and clauses of a text that are read; no more of it is kept in memory, either."""


def stems(text: str) -> frozenset[str]:
    """The stems of a table of words."""
    return frozenset(map(stem, table(text)))


_IDLE: Final = stems(
    """
    a an the is are am was were be been being do does did to in on at of by for with from into onto out off up down
    over under about after before until since if or and nor but than as that this these those there here it its i me
    my mine we us our ours you your yours he him his she her hers they them their theirs what when where who whom
    whose which why how will would can could shall should may might must has have having had so then also just
    really very quite too any some now already still please oh well
    """
)
_DRESSING: Final = stems(
    """
    user according record records recorded update updated updates confirm confirmed confirms verify verified
    verification official officially note notes noted notice file profile database system latest recent recently
    correct corrected correction correctly actual actually real true truth known information info data document page
    report source sources memo memory remember state stated states say says said yesterday today new newest last
    previously formerly earlier entry fact important reminder per based longer anymore instead never change changed
    review reviewed archive mr mrs ms dr name named called q
    """
)
"""Words that dress a statement and are no part of it."""
_IDLE_ZH: Final = Lazy(
    "哪一?[家个所台位种里儿天座条间]?|什么时候|什么|怎么样?|多少|多[久大长远高重]|几点?|名字|名称|用户|[我你他她它咱]们|根据|官方"
    "|记录|显示|更新|更正|确认|验证|核实|请问|请|现在|目前|最新|最近|昨天|今天|之前|以前|不再|其实"
    "|[我你您他她它的了是在给把被让吗呢吧啊谁为从叫由就也都很该]"
)
"""What of a Chinese clause is no part of what it states, and where it is cut."""
_TOKEN: Final = Lazy(r"\d+(?:[.:,/-]\d+)*%?(?:月\d+[日号]?)?|[A-Za-z]+(?:'[A-Za-z]+)*")
_BREAK: Final = Lazy(r"[,;:]\s+|[，；：、]|\s+[-–—]+\s+")
_HAN_RUN: Final = Lazy("[\u3400-\u9fff]+")
_NUMBER_ZH: Final = Lazy(
    "[零一二三四五六七八九十两百千]+(?=[点月日号年个人分岁天周元块万次])|(?:周|星期|礼拜)[一二三四五六日天末]"
)
_NOT: Final = table("not no never none nobody nothing neither nor without cannot")
_NOT_ZH: Final = Lazy("[不没未]")
_TIMES: Final = stems(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december morning afternoon evening noon midnight spring summer autumn winter daily
    weekly monthly yearly two three four five six seven eight nine ten eleven twelve twenty thirty
    """
)
_IRREGULAR: Final = {
    stem(form): stem(verb)
    for verb, *forms in (
        entry.split("/")
        for entry in table(
            """
            pay/paid send/sent keep/kept meet/met leave/left teach/taught buy/bought bring/brought drive/drove/driven
            give/gave/given take/took/taken write/wrote/written speak/spoke/spoken choose/chose/chosen hold/held run/ran
            tell/told sell/sold lend/lent build/built lead/led feed/fed fly/flew/flown go/went/gone see/saw/seen
            eat/ate/eaten drink/drank/drunk wear/wore/worn sing/sang/sung begin/began/begun grow/grew/grown
            know/knew/known make/made sleep/slept sit/sat stand/stood find/found win/won lose/lost spend/spent get/got
            come/came
            """
        )
    )
    for form in forms
}


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause as it is compared: its content words, those of its sentence, and what is a name or a number.

    Of Chinese the words are pairs of neighbouring characters: a dictionary cuts the same thing in different ways.
    """

    text: str
    words: frozenset[str]
    beside: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    asks: bool

    @property
    def telling(self) -> frozenset[str]:
        """Names and numbers: what tells two values apart best."""
        return self.names | self.numbers


@lru_cache(maxsize=8_192)
def clauses_of(text: str) -> tuple[Clause, ...]:
    """The first clauses of a text."""
    return tuple(islice(_read(text.replace("’", "'")), _CLAUSES))


@lru_cache(maxsize=8_192)
def words_of(text: str) -> frozenset[str]:
    """The content words of all clauses of a text."""
    return all_words(clauses_of(text))


def _read(text: str) -> Iterator[Clause]:
    for sentence in sentences(text):
        read = [each for part in _BREAK.pattern.split(sentence) if (each := _clause(part)) is not None]
        beside, asked = all_words(read), sentence.rstrip().endswith(("?", "？"))
        for each in read:
            yield replace(each, beside=beside, asks=asked or each.asks)


def _clause(text: str) -> Clause | None:
    words, names, numbers, denials = set[str](), set[str](), set[str](), 0
    for found in _TOKEN.pattern.finditer(text):
        token = found[0]
        low = token.lower()
        if token[0].isdigit():
            numbers.add(token)
            continue
        denials += low in _NOT or low.endswith("n't")
        word = stem(low)
        if word in _IDLE or word in _DRESSING or low in _NOT:
            continue
        words.add(_IRREGULAR.get(word, word))
        if word in _TIMES:
            numbers.add(word)
        elif token[0].isupper() and (found.start() or not is_common(low)):
            names.add(word)
    if not text.isascii():
        numbers.update(_NUMBER_ZH.pattern.findall(text))
        denials += len(_NOT_ZH.pattern.findall(text)) - sum(text.count(each) for each in BOUND_NEGATIONS)
        words.update(_pairs(text))
    words |= numbers
    if not words:
        return None
    held = frozenset(words)
    return Clause(text, held, held, frozenset(names), frozenset(numbers), denials % 2 == 1, _is_question(text))


def _is_question(text: str) -> bool:
    return not text.rstrip().endswith((".", "。")) and asks(text)


def _pairs(text: str) -> Iterator[str]:
    for run in _HAN_RUN.pattern.findall(_IDLE_ZH.pattern.sub(" ", text)):
        yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))


def joined(clauses: Sequence[Clause]) -> Clause:
    """Clauses as one."""
    return Clause(
        "; ".join(each.text for each in clauses),
        all_words(clauses),
        clauses[0].beside,
        frozenset[str]().union(*(each.names for each in clauses)),
        frozenset[str]().union(*(each.numbers for each in clauses)),
        sum(each.negated for each in clauses) % 2 == 1,
        all(each.asks for each in clauses),
    )


def all_words(clauses: Sequence[Clause]) -> frozenset[str]:
    """The content words of clauses."""
    return frozenset[str]().union(*(each.words for each in clauses))


def part(some: Collection[str], of: Collection[str]) -> float:
    """How many these are of those, as a share; 0 of none."""
    return len(some) / len(of) if of else 0.0


def is_han(text: str) -> bool:
    """Whether a text has Chinese in it."""
    return not text.isascii() and _HAN_RUN.pattern.search(text) is not None
