"""Whom a text speaks of, and whether what somebody told bears out what it answers; in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from hindsight_memory.domain import Window
from hindsight_memory.text.chinese_names import is_person
from hindsight_memory.text.claims import READ, Clause, clauses_of, is_han, joined, part, stems, words_of
from hindsight_memory.text.dates import find_windows, mentioned_windows
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.rivals import answer_to, asked_of, names_of

_BORNE: Final = 0.7
"""Share of the words of an answer that somebody must have told, to bear it out."""
_VERBATIM: Final = 0.9
"""Share of the words of a clause from which it was said as it stands."""
_ON_TOPIC: Final = 0.5
"""Share of the words of what is asked that they must have spoken of."""
_INSIDE: Final = 0.5
"""Share of the time they named that must lie in the time that is claimed."""
_LIGHT: Final = stems("do make take get go give have start begin keep come put use try want like feel think")
"""Verbs that say too little of what a question is about."""
_QUOTED: Final = 4
_QUOTED_NAMES: Final = 2
_QUOTED_AFTER_QUESTION: Final = 8
"""Words from which it is no accident that somebody stated the same; with a name or number among them; and in a text
that asks a question, to which they may have been no answer."""
_LONGEST_NOW: Final = timedelta(days=31)
"""Longest span that holds the moment of speaking, as «this week» does, and says when something was."""
_JUST: Final = Lazy(r"(?i)\b(?:just|right\s+now)\b|刚刚?|现在")
_REPORTED: Final = Lazy(
    r"(?i)\b(?:minutes|transcript)\s+of\s+(?:a|the|our|their)\s+(?:talk|meeting|conversation|call)\b"
    r"|\b(?:the|an?|our)\s+(?:[a-z]+\s+){1,2}(?:says|states|reads|notes|shows|records)\b|\baccording\s+to\s+the\s+[a-z]+\b"
    r"|\b(?:the\s+)?answer\s+(?:to|is)\b|\bfrequently\s+asked\b|(?<![a-z])[qa]:"
    "|(?:谈话|会议|聊天|通话)(?:纪要|记录)|(?:登记册|文件|档案|记录|资料)(?:中|里)?(?:显示|写明|指出|记载)|实际上|事实上|据[说悉]|确实|常见问题|答案是?|[问答][：:]"
)
"""What says that something was said, asked or answered, and not what."""
_USER: Final = Lazy(r"(?i)\bthe\s+user(?:'s|s')?\b|用户|机主|本人")
_ROLES: Final = frozenset({"user", "human", "assistant", "agent", "ai", "bot", "system", "用户", "助手", "我"})
"""What stands for a speaker and is no name."""
_I: Final = Lazy(r"\bI\b|(?i:\b(?:my|mine|me)\b)|[我俺](?![们国司方])")
_WE: Final = Lazy(r"(?i)\b(?:our|ours|we|us)\b|我们|咱")
_HOW_TO: Final = Lazy(r"(?i)\bhow\s+(?:do|can|could|should|would|to)\b|怎么(?!样)|怎样|如何")
"""What asks for instructions: «the user» of a manual is nobody in particular."""


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said, and when; ``by`` is a name where it is known."""

    text: str
    at: datetime
    by: str | None = None


def people_of(question: str, names: Iterable[str], told: Sequence[Told]) -> list[str]:
    """Of whom those who are trusted have told: they themselves, and who is asked about and is known to them.

    A Chinese name is read as a person's or not. Of another the matter must be known as well: that somebody was in
    Utrecht does not make the library of Utrecht theirs.

    Args:
        question: What was asked.
        names: The names in it that the bank knows; Chinese ones, from those who are trusted.
        told: Some of what those told.
    """
    topic = asked_of(question[:READ]) - names_of(question[:READ])
    speakers = dict.fromkeys(each.by.strip() for each in told if each.by and each.by.strip().lower() not in _ROLES)
    known = [name for name in names if (is_person(name) if is_han(name) else _is_matter(name, told, topic))]
    return [*speakers, *known]


def _is_matter(name: str, told: Sequence[Told], topic: frozenset[str]) -> bool:
    texts = [each.text[:READ] for each in told if _is_named(name, each.text[:READ])]
    return any(not topic.isdisjoint(words_of(text)) for text in texts)


def speaks_of(text: str, question: str, people: Sequence[str]) -> str | None:
    """Whom of these people a text speaks of, or that it is the user.

    «The user» and «I» are the user where the question is about the user: a manual may mean anybody. A text that answers
    what is asked of somebody speaks of them, though it may not name them.
    """
    text, question = text[:READ], question[:READ]
    if _is_of_user(question) and (_USER.pattern.search(text) or _I.pattern.search(text)):
        return "the user"
    if (named := next((each for each in people if _is_named(each, text)), None)) is not None:
        return named
    asked = next((each for each in people if _is_named(each, question)), None)
    return asked if asked is not None and answer_to(question, text, exact=False) is not None else None


def _is_of_user(question: str) -> bool:
    if _HOW_TO.pattern.search(question):
        return False
    return any(each.pattern.search(question) for each in (_I, _WE, _USER))


def bears_out(question: str, told: Told, claim: Told) -> bool:
    """Whether what somebody told bears out what another text answers to a question, or, where it answers none, says.

    They said so; or they spoke of what is asked, and the words of the answer, each name and number, and its times are
    theirs.
    """
    question, said = question[:READ], told.text[:READ]
    if said == claim.text[:READ]:
        return True
    read = _read(question, claim.text[:READ], claim.at)
    known = _words(said, told.by)
    return _is_quoted(read, known, said) or _is_borne(question, read, told, known)


@dataclass(frozen=True, slots=True)
class _Stated:
    """The answer in a text: what of it the question does not say, and what of that tells values apart."""

    values: frozenset[str]
    telling: frozenset[str]
    negated: bool


@dataclass(frozen=True, slots=True)
class _Claim:
    """A text as it is held against what was told: all it states, when, and what it answers.

    ``enough`` says that it states so much that it is no accident if somebody else did.
    """

    text: str
    clauses: tuple[Clause, ...]
    enough: bool
    times: tuple[Window, ...]
    answer: _Stated | None


@lru_cache(maxsize=2_048)
def _read(question: str, text: str, at: datetime) -> _Claim:
    text = _REPORTED.pattern.sub(" ", text)
    every = clauses_of(text)
    stated = tuple(each for each in every if not each.asks)
    least = _QUOTED_NAMES if any(each.telling - names_of(question) for each in stated) else _QUOTED
    if len(stated) < len(every):
        least = _QUOTED_AFTER_QUESTION
    times = tuple(each for each in mentioned_windows(text, at) if each.text not in question)
    return _Claim(text, stated, sum(len(each.words) for each in stated) >= least, times, _stated(question, text))


@lru_cache(maxsize=2_048)
def _stated(question: str, text: str) -> _Stated | None:
    answer = answer_to(question, text, exact=False)
    if answer is None:
        return None
    # The answer may go on behind a comma: «her cats are Oliver, Luna and a parrot».
    every = clauses_of(text)
    begun = every.index(answer.clause) if answer.clause in every else len(every)
    rest = [each for each in every[begun:] if each.beside == answer.clause.beside]
    clause = joined(rest) if rest else answer.whole
    values = clause.words - asked_of(question)
    return _Stated(values, clause.telling & values, clause.negated)


def _is_quoted(claim: _Claim, known: frozenset[str], said: str) -> bool:
    """Whether all that a text states was said in these words, and enough of it to be no accident."""
    return (
        claim.enough
        and all(_is_said(each.words, each.telling, known, _VERBATIM) for each in claim.clauses)
        and _denials(claim.clauses) == _denials(each for each in clauses_of(said) if not each.asks)
    )


def _is_borne(question: str, claim: _Claim, told: Told, known: frozenset[str]) -> bool:
    """Whether somebody told what a text answers: in one sentence, that speaks of what is asked."""
    if claim.answer is None:
        return False
    rest = _without_told_times(claim, told) if claim.times else claim.text
    answer = claim.answer if rest == claim.text else _stated(question, rest)
    if answer is None or not (answer.values or rest != claim.text):
        return False
    by = words_of(told.by) if told.by else frozenset[str]()
    return _is_said(answer.values, answer.telling, known) and any(
        answer.negated == each.negated
        and _is_on_topic(question, each.beside | by)
        and _is_said(answer.values, answer.telling, each.beside | by)
        for each in clauses_of(told.text[:READ])
    )


@lru_cache(maxsize=4_096)
def _words(said: str, by: str | None) -> frozenset[str]:
    return words_of(said) | words_of(by) if by else words_of(said)


def _denials(clauses: Iterable[Clause]) -> int:
    return sum(each.negated for each in clauses) % 2


def _is_said(words: frozenset[str], telling: frozenset[str], known: frozenset[str], least: float = _BORNE) -> bool:
    """Whether enough of these words were said, and all that tells values apart: names, numbers, Chinese characters."""
    if not telling <= known or (words and part(words & known, words) < least):
        return False
    letters = {letter for word in words - known if is_han(word) for letter in word}
    return not letters or letters <= {letter for word in known for letter in word}


def _is_on_topic(question: str, sentence: frozenset[str]) -> bool:
    """Whether a sentence speaks of what is asked; where only names say what that is, of all of them."""
    asked = asked_of(question)
    topic = asked - names_of(question) - _LIGHT
    return part(topic & sentence, topic) >= _ON_TOPIC if topic else asked <= sentence


def _is_named(name: str, text: str) -> bool:
    return name in text if is_han(name) else bool(own := words_of(name)) and own <= words_of(text)


def _without_told_times(claim: _Claim, told: Told) -> str:
    """A text without those times in it that somebody told of, and nobody asked: «7 May» on the 8th is «yesterday»."""
    text = claim.text
    for window in claim.times:
        if any(_lies_in(each, window) for each in _times_told(told.text[:READ], told.at)):
            text = text.replace(window.text, " ")
    return text


def _lies_in(told: Window, claimed: Window) -> bool:
    both = min(told.until, claimed.until) - max(told.since, claimed.since)
    return both >= _INSIDE * (told.until - told.since)


@lru_cache(maxsize=4_096)
def _times_told(text: str, at: datetime) -> tuple[Window, ...]:
    now = [each for each in find_windows(text, at) if each.since <= at < each.until <= each.since + _LONGEST_NOW]
    if _JUST.pattern.search(text):
        day = at.replace(hour=0, minute=0, second=0, microsecond=0)
        now.append(Window(day, day + timedelta(days=1)))
    return (*now, *mentioned_windows(text, at))
