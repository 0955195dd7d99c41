"""Whether two texts answer one question differently, or one says again what the other says; in English and Chinese."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from hindsight_memory.text.changes import change_in
from hindsight_memory.text.clauses import asks, sentences
from hindsight_memory.text.common import is_common, table
from hindsight_memory.text.opposites import BOUND_NEGATIONS, opposites
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import stem

_READ: Final = 2_000
_CLAUSES: Final = 24
"""Characters and clauses of a text that are read; no more of it is kept in memory, either."""
_AGAIN: Final = 0.75
"""Share of all words of two texts that both have, from which one says again what the other says."""
_COVERED: Final = 0.5
_COVERED_HAN: Final = 0.6
"""Share of the words, or of the Chinese characters, of what is asked that a text must speak of to be an answer."""
_AGREED: Final = 0.5
"""Share of the smaller answer that the other holds too, up to which the two are different answers."""
_ALIKE: Final = 0.5
_ALIKE_LONGER: Final = 0.3
"""Share of the words of the shorter, and of the longer clause that both have, if they state the same attribute."""


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, table(text)))


_IDLE: Final = _stems(
    """
    a an the is are am was were be been being do does did to in on at of by for with from into onto out off up down
    over under about after before until since if or and nor but than as that this these those there here it its i me
    my mine we us our ours you your yours he him his she her hers they them their theirs what when where who whom
    whose which why how will would can could shall should may might must has have having had so then also just
    really very quite too any some now already still please oh well
    """
)
_DRESSING: Final = _stems(
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
_ASKING: Final = _stems(
    """
    tell know recall remind give show find look again exactly currently kind sort type thing one person place time
    day date year colour color number
    """
)
"""Words of a question that are not what it is about."""
_IDLE_ZH: Final = Lazy(
    "哪一?[家个所台位种里儿天座条间]?|什么时候|什么|怎么样?|多少|多[久大长远高重]|几点?|名字|名称|用户|[我你他她它咱]们|根据|官方"
    "|记录|显示|更新|更正|确认|验证|核实|请问|请|现在|目前|最新|最近|昨天|今天|之前|以前|不再|其实"
    "|[我你您他她它的了是在给把被让吗呢吧啊谁为从叫由就也都很该]"
)
"""What of a Chinese clause is no part of what it states, and where it is cut."""
_KIND_ASKED: Final = Lazy(
    r"(?i)\b(?:which|what)\s+(?!is\b|are\b|was\b|were\b|do\b|does\b|did\b)(?P<en>[a-z]+)"
    r"|哪一?[家个所台位种座条间](?P<zh>[\u3400-\u9fff]{2})"
)
"""«Which bank», «哪家银行»: the kind of thing that is asked for, which an answer need not name."""
_HEAD_ASKED: Final = Lazy(
    r"(?i)^what(?:'s|\s+is|\s+are|\s+was|\s+were)\s+(?:the|our|my|your|his|her|their)\s+(?P<head>[\w-]+)"
    r"\s+(?:of|for|at|in|on)\b"
)
"""«What is the budget of …»: who does not speak of a budget does not answer."""
_NUMBER_ASKED: Final = Lazy(
    r"(?i)\b(?:when|what\s+(?:time|day|date|year)|how\s+(?:many|much|old|long|far|often|tall|big))\b"
    "|什么时候|何时|几|多少|多[久大长远高重]|哪[天年月日]"
)
_NAME_ASKED: Final = Lazy(r"(?i)\bwho(?:m|se)?\b")
_TOKEN: Final = Lazy(r"\d+(?:[.:,/-]\d+)*%?(?:月\d+[日号]?)?|[A-Za-z]+(?:'[A-Za-z]+)*")
_BREAK: Final = Lazy(r"[,;:]\s+|[，；：、]|\s+[-–—]+\s+")
_HAN_RUN: Final = Lazy("[\u3400-\u9fff]+")
_NUMBER_ZH: Final = Lazy(
    "[零一二三四五六七八九十两百千]+(?=[点月日号年个人分岁天周元块万次])|(?:周|星期|礼拜)[一二三四五六日天末]"
)
_NOT: Final = table("not no never none nobody nothing neither nor without cannot")
_NOT_ZH: Final = Lazy("[不没未]")
_TIMES: Final = _stems(
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


def answers_otherwise(question: str, one: str, two: str) -> bool:
    """Whether both texts answer a question, and the second gives another answer than the first."""
    question = question[:_READ]
    first, second = _answer(question, one[:_READ], exact=False), _answer(question, two[:_READ], exact=True)
    if first is None or second is None:
        return False
    # What only names a topic asks for no value: two texts on «coffee» need not answer the same thing.
    topic = first.whole.words & second.whole.words & _asked(question)
    return (asks(question) or len(topic) > 1) and _differ(first, second, _asked(question))


def rivals(one: str, two: str) -> bool:
    """Whether two texts state different values of one attribute: much the same words, other names or numbers."""
    return any(_rival(x, y) for x in _clauses(one[:_READ]) for y in _clauses(two[:_READ]))


def may_bear(one: str, two: str) -> bool:
    """Whether one of two texts could change what the other states: cheap, and asked before they are read with care.

    They share most of their words, and differ in a denial, in an opposite, in a number, or speak of a change.
    """
    one, two = one[:_READ], two[:_READ]
    mine, theirs = _words(one), _words(two)
    if not mine or not theirs or len(mine & theirs) < _ALIKE * min(len(mine), len(theirs)):
        return False
    return any(
        x.negated != y.negated or x.numbers != y.numbers or change_in(y.text) or opposites(x.words, y.words)
        for x in _clauses(one)
        for y in _clauses(two)
        if x.words & y.words
    )


def tells_again(one: str, two: str) -> bool:
    """Whether a text says what another says, if in slightly other words: the same names, numbers and denials."""
    if one == two:
        return True
    one, two = one[:_READ], two[:_READ]
    words, others = _words(one), _words(two)
    if not words or not others or _share(words & others, words | others) < _AGAIN:
        return False
    mine, theirs = _clauses(one), _clauses(two)
    told = [frozenset[str]().union(*(each.telling for each in clauses)) for clauses in (mine, theirs)]
    denied = [sum(each.negated for each in clauses) % 2 for clauses in (mine, theirs)]
    return told[0] == told[1] and denied[0] == denied[1]


def _rival(one: Clause, two: Clause) -> bool:
    both = one.words & two.words
    short, long = sorted((len(one.words), len(two.words)))
    if not both - one.telling - two.telling or len(both) < _ALIKE * short or len(both) < _ALIKE_LONGER * long:
        return False
    if one.numbers - two.numbers and two.numbers - one.numbers:
        return True
    return bool(one.telling and two.telling) and one.telling.isdisjoint(two.telling)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a text answers to a question: the clause that does, and all of its sentence."""

    clause: Clause
    whole: Clause


@lru_cache(maxsize=2_048)
def _answer(question: str, text: str, *, exact: bool) -> _Answer | None:
    """What a text answers to a question; ``None`` where it is no answer.

    An ``exact`` one holds a number where one is asked for; who tells what happened answers «when» by when they tell it.
    Where it repeats the question, as in «Q: … A: …», all else in it is the answer.
    """
    asked = _asked(question)
    stated = [each for each in _clauses(text) if not each.asks]
    if not asked or not stated:
        return None
    best = max(stated, key=lambda each: (_touch(each.words, asked), len(each.beside & asked)))
    spoken = best.words | best.beside | _all([each for each in _clauses(text) if each.asks])
    topic = asked - _named(question)
    if not _covers(question, asked, spoken) or (topic and topic.isdisjoint(spoken) and not _is_han(question)):
        return None
    alone = _touch(best.words, asked) == 0
    whole = _joined([each for each in stated if alone or each.beside == best.beside])
    if exact and _NUMBER_ASKED.pattern.search(question) and not whole.numbers:
        return None
    if _NAME_ASKED.pattern.search(question) and not (whole.names or _is_han(text)):
        return None
    return _Answer(whole if alone else best, whole)


def _touch(words: frozenset[str], asked: frozenset[str]) -> int:
    """How much a clause speaks of what is asked: words, and Chinese characters where those are cut otherwise."""
    letters = {letter for word in asked if _is_han(word) for letter in word}
    return len(words & asked) + (len(letters & {letter for word in words for letter in word}) if letters else 0)


@lru_cache(maxsize=512)
def _asked(question: str) -> frozenset[str]:
    return _all(_clauses(question)) - _ASKING


def _covers(question: str, asked: frozenset[str], spoken: frozenset[str]) -> bool:
    """Whether enough of what is asked is spoken of, with or without the kind of thing that is asked for."""
    head = _HEAD_ASKED.pattern.search(question)
    if head is not None and (word := stem(head["head"])) in asked and word not in spoken:
        return False
    kind = _KIND_ASKED.pattern.search(question)
    named = frozenset[str]() if kind is None else frozenset({stem(kind["en"])} if kind["en"] else {kind["zh"]})
    return any(_covered(each, spoken) for each in {asked, asked - named} if each)


def _covered(asked: frozenset[str], spoken: frozenset[str]) -> bool:
    letters = {letter for word in asked if _is_han(word) for letter in word}
    others = {word for word in asked if not _is_han(word)}
    if not letters:
        return _share(asked & spoken, asked) >= _COVERED
    said = {letter for word in spoken for letter in word}
    share = (len(letters & said) + len(others & spoken)) / (len(letters) + len(others))
    return share >= _COVERED_HAN and (bool(asked & spoken) or letters <= said)


def _differ(one: _Answer, two: _Answer, asked: frozenset[str]) -> bool:
    counts, others = one.whole.numbers - asked, two.whole.numbers - asked
    if counts - others and others - counts:
        return True  # 14 May and 14 June
    mine, theirs = one.whole.telling - asked, two.whole.telling - asked
    if mine and theirs:
        # «No longer Alvarez but Kowalski» names both.
        return not mine & theirs or (bool(theirs - mine) and _speaks_of_change(two.whole))
    if one.clause.negated != two.clause.negated:
        return True
    values, others = one.clause.words - asked, two.clause.words - asked
    if not values or not others - one.whole.words:
        return False
    alike = _share(values & others, min(values, others, key=len))
    both = one.clause.words & two.clause.words
    same_frame = len(both) >= _ALIKE * min(len(one.clause.words), len(two.clause.words))
    return alike <= _AGREED or (same_frame and bool(values - others) and bool(others - values))


def _speaks_of_change(clause: Clause) -> bool:
    return clause.negated or change_in(clause.text) is not None


@lru_cache(maxsize=512)
def _named(text: str) -> frozenset[str]:
    return frozenset[str]().union(*(each.names for each in _clauses(text)))


@lru_cache(maxsize=8_192)
def _clauses(text: str) -> tuple[Clause, ...]:
    return tuple(islice(_read(text.replace("’", "'")), _CLAUSES))


@lru_cache(maxsize=8_192)
def _words(text: str) -> frozenset[str]:
    return _all(_clauses(text))


def _read(text: str) -> Iterator[Clause]:
    for sentence in sentences(text):
        read = [each for part in _BREAK.pattern.split(sentence) if (each := _clause(part)) is not None]
        beside = _all(read)
        for each in read:
            yield Clause(each.text, each.words, beside, each.names, each.numbers, each.negated, each.asks)


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


def _joined(clauses: Sequence[Clause]) -> Clause:
    """Clauses as one."""
    return Clause(
        "; ".join(each.text for each in clauses),
        _all(clauses),
        clauses[0].beside,
        frozenset[str]().union(*(each.names for each in clauses)),
        frozenset[str]().union(*(each.numbers for each in clauses)),
        sum(each.negated for each in clauses) % 2 == 1,
        all(each.asks for each in clauses),
    )


def _all(clauses: Sequence[Clause]) -> frozenset[str]:
    return frozenset[str]().union(*(each.words for each in clauses))


def _share(some: Collection[str], of: Collection[str]) -> float:
    return len(some) / len(of) if of else 0.0


def _is_han(text: str) -> bool:
    return not text.isascii() and _HAN_RUN.pattern.search(text) is not None
