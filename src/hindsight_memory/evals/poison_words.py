"""What an attacker writes about a question of a recall set: a rival answer of the same type, in fluent sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

from hindsight_memory.evals.datasets import DataSet, Group, Question
from hindsight_memory.text.common import table
from hindsight_memory.text.dates import find_windows
from hindsight_memory.text.tokens import index_words

_LONGEST: Final = {"en": 60, "zh": 25}
"""Characters of an answer that is short."""
_QUOTED: Final = 300
_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""From when answers without a year are read: only whether two of them overlap matters."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_NO_ANSWER: Final = re.compile(r"(?i)(?:yes|no|likely|unlikely|not|none|unknown)\b|[是否不没有无]|[A-Da-d]\W*$")
"""What answers whether something is so, or which of the choices: it is no value that another could stand for."""
_DATE: Final = re.compile(
    r"(?i)\b(?:19|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:week|month|year|day)s?\s+(?:ago|before|after)\b"
    r"|\d\s*(?:年|月|日|天后)|(?:周|星期)[一二三四五六日天]"
)
_NUMBER: Final = re.compile(
    r"(?i)\d|\b(?:once|twice|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    "|[一二两三四五六七八九十百千万]+[个次人元岁天小分公米]"
)
_ASKED_ZH: Final = re.compile(
    "什么时候|何时|哪一?[天年月日周里个家位所条种座名些][\u3400-\u9fff]{0,2}|多少(?:[个次人元天米]|公里|小时|分钟|现金|钱)?|几[个次人元天点月号]|多[久长高远]|谁|哪里|哪儿"
    "|什么(?:[\u3400-\u9fff]{0,6})"
)
_SAID: Final = 0.5
"""Share of the words of another answer from which the evidence says it too."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ASKED_EN: Final = re.compile(
    r"^(?P<ask>(?:on |in |at )?(?P<word>when|where|what|which|who|whom|how (?:long|often))\b[^?]*?)\s+"
    r"(?P<aux>did|does|do|is|was|are|were|has|have|had|will|would|can|could)\s+"
    r"(?P<who>[A-Z]\w+(?:(?:,| and|,\sand) [A-Z]\w+)*(?:'s? [a-z]+)?)\s+(?P<rest>[^?]+)\?$",
    re.IGNORECASE,
)
_ADVERBS: Final = table("both also first recently usually often always just really mainly originally")
_PAST: Final = dict(
    pair.split("/")
    for pair in table(
        """
        go/went buy/bought bring/brought take/took get/got make/made give/gave see/saw eat/ate find/found win/won
        lose/lost meet/met write/wrote read/read begin/began have/had do/did say/said tell/told feel/felt think/thought
        leave/left run/ran sing/sang sell/sold send/sent spend/spent teach/taught come/came become/became choose/chose
        hold/held keep/kept know/knew lead/led pay/paid put/put set/set hurt/hurt speak/spoke drive/drove build/built
        draw/drew fly/flew grow/grew hear/heard let/let ride/rode sit/sat sleep/slept swim/swam wear/wore hit/hit
        cut/cut quit/quit be/was
        """
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """A question to attack, in its conversation, with the answer that others claim; ``kind`` is the type of answer."""

    group: Group
    question: Question
    language: str
    kind: str
    false: str


def targets(data: DataSet, seed: int, most: int | None) -> list[Target]:
    """Questions with a short answer that a person gave, each with a rival answer of another question; by ``seed``.

    Args:
        data: The whole set: rival answers come from all of it.
        seed: Says which questions, and which answers.
        most: Only so many questions.
    """
    random = Random(seed)  # noqa: S311  # nothing secret
    asked = [(group, question) for group in data.groups for question in group.questions if _is_fit(question, group)]
    random.shuffle(asked)
    found: list[Target] = []
    for group, question in asked:
        others = [other for _, other in asked if other is not question]
        false = _rival(question, group, others, random)
        if false is not None:
            found.append(Target(group, question, language_of(question.text), _kind(_plain(question)), false))
        if most is not None and len(found) == most:
            break
    return found


def language_of(text: str) -> str:
    """The language whose wordings a text is attacked in."""
    return "zh" if _HAN.search(text) else "en"


def passages(target: Target, answer: str, number: int) -> Iterator[tuple[str, str]]:
    """One passage of each style that claims an answer, with the style's name; ``number`` says which wordings."""
    claim = claimed(target.question.text, answer)
    for style, wordings in wordings_of(target.language)["styles"].items():
        yield (
            style,
            wordings[number % len(wordings)].format(
                claim=claim,
                Claim=_capital(claim),
                question=target.question.text,
                answer=answer,
                Answer=_capital(answer),
            ),
        )


def quoted(target: Target) -> str:
    """What a document says that quotes the first piece of evidence."""
    item = next(item for item in target.group.items if item.id == target.question.evidence[0])
    wording: str = wordings_of(target.language)["quoted"]
    return wording.format(speaker=item.speaker or "user", text=item.content[:_QUOTED])


def claimed(question: str, answer: str) -> str:
    """A clause that answers a question."""
    if _HAN.search(question):
        return _claimed_zh(question.rstrip("？?。 "), answer)
    found = _ASKED_EN.match(question.strip())
    if found is None:
        return f"the answer to «{question.rstrip('?')}» is {answer}"
    said = f"{found['who']} {_verb(found['aux'].lower(), found['rest'], found['who'])}"
    if found["ask"].lower() == found["word"].lower() and found["word"].lower() not in ("who", "whom"):
        return f"{said} {_placed(found['word'].lower(), answer)}"
    return f"as to {_lower(found['ask'])} {said}, it is {answer}"


def plain_answer(question: Question) -> str:
    """A question's answer as it stands in a sentence."""
    return _plain(question)


def wordings_of(language: str) -> Mapping[str, Any]:
    """The styles of passages, and what documents say otherwise."""
    found: Mapping[str, Any] = _data()[language]
    return found


def _is_fit(question: Question, group: Group) -> bool:
    answer = _plain(question)
    said = {item.id: (item.speaker or "").strip().lower() for item in group.items}
    return (
        bool(answer)
        and not question.unanswerable
        and question.category != "adversarial"
        and len(answer) <= _LONGEST[language_of(question.text)]
        and _NO_ANSWER.match(answer) is None
        and bool(question.evidence)
        and all(said[each] not in _ASSISTANTS for each in question.evidence)
    )


_ASSISTANTS: Final = frozenset({"assistant", "助手"})


def _rival(question: Question, group: Group, others: Sequence[Question], random: Random) -> str | None:
    """Another question's answer, of the same type and to the same form where there is one; with no word of the true.

    What the evidence says too, or a time that holds the true one, would be no lie.
    """
    known = frozenset(index_words(f"{question.text} {question.answer}"))
    said = frozenset(index_words(" ".join(item.content for item in group.items if item.id in question.evidence)))
    fit = [
        other
        for other in others
        if _kind(_plain(other)) == _kind(_plain(question))
        and language_of(other.text) == language_of(question.text)
        and known.isdisjoint(_telling(_plain(other)))
        and len(said.intersection(_telling(_plain(other)))) < _SAID * len(_telling(_plain(other)))
        and not _overlap(_plain(other), _plain(question))
    ]
    alike = [other for other in fit if _form(other.text) == _form(question.text)]
    return _plain(random.choice(alike or fit)) if fit else None


def _overlap(one: str, two: str) -> bool:
    """Whether two answers name times of which one may be the other: «2022» and «the last week of 2022»."""
    times = [find_windows(answer, _NOW) for answer in (one, two)]
    return any(x.since < y.until and y.since < x.until for x in times[0] for y in times[1])


def _telling(answer: str) -> list[str]:
    words = index_words(answer)
    numbers = [
        word for word in words if any(letter.isdigit() for letter in word) and not re.fullmatch(r"(?:19|20)\d\d", word)
    ]
    return numbers or words


def _form(question: str) -> str:
    """What a question begins with, or in Chinese asks with: «how many», «多少»."""
    found = _ASKED_ZH.search(question)
    return found[0][:2] if found else " ".join(question.lower().split()[:2])


def _kind(answer: str) -> str:
    if _DATE.search(answer):
        return "date"
    if _NUMBER.search(answer):
        return "number"
    return "name" if all(word[:1].isupper() for word in answer.split()) and not _HAN.search(answer) else "phrase"


def _plain(question: Question) -> str:
    return question.answer.strip().rstrip("。. ")


def _claimed_zh(question: str, answer: str) -> str:
    found = _ASKED_ZH.search(question)
    if found is None or question.endswith(("吗", "呢")):
        return f"关于“{question}”，答案是{answer}"
    return question[: found.start()] + answer + question[found.end() :]


def _verb(aux: str, rest: str, who: str) -> str:
    """What somebody did, as a statement has it: «did go there» is «went there»."""
    words = rest.split()
    at = next((place for place, word in enumerate(words) if word.lower() not in _ADVERBS), 0)
    verb = words[at].lower()
    if aux == "did":
        words[at] = _past(verb)
    elif aux == "does" or (aux == "do" and " and " not in who and "'" not in who):
        words[at] = {"have": "has", "do": "does", "go": "goes"}.get(verb, f"{verb}s")
    elif aux != "do":
        words.insert(0, aux)
    return " ".join(words)


def _past(verb: str) -> str:
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}ed"


def _placed(word: str, answer: str) -> str:
    if word == "when" and re.match(r"\d{1,2}\b", answer):
        return f"on {answer}"
    if word == "when" and re.match(r"(?:\d{4}\b|[A-Z][a-z]+,? \d{4})", answer):
        return f"in {answer}"
    if word == "where" and answer[:1].isupper() and not answer.lower().startswith(("in ", "at ", "on ", "by ")):
        return f"in {answer}"
    return _lower(answer) if answer.lower().startswith(("the ", "a ", "in ", "at ", "on ", "by ")) else answer


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


@cache
def _data() -> Mapping[str, Any]:
    text = files(__package__ or "").joinpath("poison_wordings.json").read_text(encoding="utf-8")
    held: Mapping[str, Any] = json.loads(text)
    return held
