"""Whether two texts answer one question differently, or one says again what the other says; in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hindsight_memory.text.changes import change_in
from hindsight_memory.text.claims import (
    READ,
    Clause,
    all_words,
    clauses_of,
    is_han,
    joined,
    part,
    stems,
    words_of,
)
from hindsight_memory.text.clauses import asks
from hindsight_memory.text.opposites import opposites
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import stem

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
_ASKING: Final = stems(
    """
    tell know recall remind give show find look again exactly currently kind sort type thing one person place time
    day date year colour color number
    """
)
"""Words of a question that are not what it is about."""
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


def answers_otherwise(question: str, one: str, two: str) -> bool:
    """Whether both texts answer a question, and the second gives another answer than the first."""
    question = question[:READ]
    first, second = answer_to(question, one[:READ], exact=False), answer_to(question, two[:READ], exact=True)
    if first is None or second is None:
        return False
    # What only names a topic asks for no value: two texts on «coffee» need not answer the same thing.
    topic = first.whole.words & second.whole.words & asked_of(question)
    return (asks(question) or len(topic) > 1) and _differ(first, second, asked_of(question))


def rivals(one: str, two: str) -> bool:
    """Whether two texts state different values of one attribute: much the same words, other names or numbers."""
    return any(_rival(x, y) for x in clauses_of(one[:READ]) for y in clauses_of(two[:READ]))


def may_bear(one: str, two: str) -> bool:
    """Whether one of two texts could change what the other states: cheap, and asked before they are read with care.

    They share most of their words, and differ in a denial, in an opposite, in a number, or speak of a change.
    """
    one, two = one[:READ], two[:READ]
    mine, theirs = words_of(one), words_of(two)
    if not mine or not theirs or len(mine & theirs) < _ALIKE * min(len(mine), len(theirs)):
        return False
    return any(
        x.negated != y.negated or x.numbers != y.numbers or change_in(y.text) or opposites(x.words, y.words)
        for x in clauses_of(one)
        for y in clauses_of(two)
        if x.words & y.words
    )


def tells_again(one: str, two: str) -> bool:
    """Whether a text says what another says, if in slightly other words: the same names, numbers and denials."""
    if one == two:
        return True
    one, two = one[:READ], two[:READ]
    words, others = words_of(one), words_of(two)
    if not words or not others or part(words & others, words | others) < _AGAIN:
        return False
    mine, theirs = clauses_of(one), clauses_of(two)
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
class Answer:
    """What a text answers to a question: the clause that does, and all of its sentence."""

    clause: Clause
    whole: Clause


@lru_cache(maxsize=2_048)
def answer_to(question: str, text: str, *, exact: bool) -> Answer | None:
    """What a text answers to a question; ``None`` where it is no answer.

    An ``exact`` one holds a number where one is asked for; who tells what happened answers «when» by when they tell it.
    Where it repeats the question, as in «Q: … A: …», all else in it is the answer.
    """
    asked = asked_of(question)
    stated = [each for each in clauses_of(text) if not each.asks]
    if not asked or not stated:
        return None
    best = max(stated, key=lambda each: (_touch(each.words, asked), len(each.beside & asked)))
    spoken = best.words | best.beside | all_words([each for each in clauses_of(text) if each.asks])
    topic = asked - names_of(question)
    if not _covers(question, asked, spoken) or (topic and topic.isdisjoint(spoken) and not is_han(question)):
        return None
    alone = _touch(best.words, asked) == 0
    whole = joined([each for each in stated if alone or each.beside == best.beside])
    if exact and _NUMBER_ASKED.pattern.search(question) and not whole.numbers:
        return None
    if _NAME_ASKED.pattern.search(question) and not (whole.names or is_han(text)):
        return None
    return Answer(whole if alone else best, whole)


def _touch(words: frozenset[str], asked: frozenset[str]) -> int:
    """How much a clause speaks of what is asked: words, and Chinese characters where those are cut otherwise."""
    letters = {letter for word in asked if is_han(word) for letter in word}
    return len(words & asked) + (len(letters & {letter for word in words for letter in word}) if letters else 0)


@lru_cache(maxsize=512)
def asked_of(question: str) -> frozenset[str]:
    """The words of what a question is about."""
    return all_words(clauses_of(question)) - _ASKING


def _covers(question: str, asked: frozenset[str], spoken: frozenset[str]) -> bool:
    """Whether enough of what is asked is spoken of, with or without the kind of thing that is asked for."""
    head = _HEAD_ASKED.pattern.search(question)
    if head is not None and (word := stem(head["head"])) in asked and word not in spoken:
        return False
    kind = _KIND_ASKED.pattern.search(question)
    named = frozenset[str]() if kind is None else frozenset({stem(kind["en"])} if kind["en"] else {kind["zh"]})
    return any(_covered(each, spoken) for each in {asked, asked - named} if each)


def _covered(asked: frozenset[str], spoken: frozenset[str]) -> bool:
    letters = {letter for word in asked if is_han(word) for letter in word}
    others = {word for word in asked if not is_han(word)}
    if not letters:
        return part(asked & spoken, asked) >= _COVERED
    said = {letter for word in spoken for letter in word}
    share = (len(letters & said) + len(others & spoken)) / (len(letters) + len(others))
    return share >= _COVERED_HAN and (bool(asked & spoken) or letters <= said)


def _differ(one: Answer, two: Answer, asked: frozenset[str]) -> bool:
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
    alike = part(values & others, min(values, others, key=len))
    both = one.clause.words & two.clause.words
    same_frame = len(both) >= _ALIKE * min(len(one.clause.words), len(two.clause.words))
    return alike <= _AGREED or (same_frame and bool(values - others) and bool(others - values))


def _speaks_of_change(clause: Clause) -> bool:
    return clause.negated or change_in(clause.text) is not None


@lru_cache(maxsize=512)
def names_of(text: str) -> frozenset[str]:
    """The names in a text, as words: those that a capital gives away."""
    return frozenset[str]().union(*(each.names for each in clauses_of(text)))
