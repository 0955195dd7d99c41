"""Cuts a text into sentences, and a question into those it is made of, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from hindsight_memory.text.patterns import Lazy

MOST_SENTENCES: Final = 60
"""Sentences of one text that are looked at."""

_LONGEST: Final = 1_000
"""Characters of a sentence beyond which it is a pasted text, and no compound question."""

HAN: Final = Lazy("[\u3400-\u9fff]")

_BREAK: Final = Lazy(
    r"(?P<stop>\.{1,3}|…|:(?=\n))[\"'”’)\]*_]*\s+|(?<![!?])[!?]++[\"'”’)\]*_]*+(?:\s+|(?=[\u3400-\u9fff]))|[。！？]+[”’」』）)]*\s*|[;；]\s*|\n+\s*"
)
_ABBREVIATED: Final = Lazy(
    r"(?i)(?:(?<![a-z])(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|jr|sr|inc|ltd|co)|(?<![a-z0-9])[a-z]|(?<![\w.])\d{1,3})$"
)
_MARKER: Final = Lazy(r"^\s*(?:[-*•·>#]+|\(?\d{1,2}[.)、])\s+")

WH: Final = r"(?:what|when|where|who|whom|whose|which|why|how)(?:['’]s)?(?![a-z])"
AUX: Final = (
    r"(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|should|am|may|might)(?:n['’]t)?(?![a-z])"
)
_SUBJECT: Final = (
    r"(?:(?i:he|she|it|they|there|this|that|these|those|the|an?|my|your|his|her|their|its|our|we|you|i|any|anyone"
    r"|everyone|someone)(?![a-z])|[A-Z])"
)
_ASKED: Final = Lazy(  # «and have a bad time» goes on; «and have they met» asks
    rf"(?i:(?:(?:with|for|to|from|in|at|on|by)\s+)?{WH})|(?!(?i:(?:have|has|had|do)\s+(?:an?|the|any|this|that|these|those)\s))(?i:{AUX})"
    rf"\s+{_SUBJECT}"
    r"|(?i:(?:please\s+)?(?:tell|show|remind|give)\s+me)(?![a-z])"
)
_LEAD: Final = Lazy(
    r"(?i)(?:(?:please|so|ok|okay|and|also|hey|hi)[,\s]+)*(?:(?:do|did)\s+you\s+(?:know|remember|recall)|(?:can|could)\s+you\s+(?:please\s+)?"
    r"(?:tell|remind|show)\s+me|(?:please\s+)?(?:tell|remind|show)\s+me|i(?:'d|\s+would)?\s+(?:want|like|need)\s+to\s+know)\s+"
)
_JOINT: Final = Lazy(
    rf"(?:\s*,)?\s+(?i:and|but|plus|as\s+well\s+as)\s+(?:(?i:also|then)\s+)?(?={_ASKED.source})|\s*,\s+(?=(?i:{WH}(?:\s+[a-z]+){{0,2}}\s+{AUX}))"
)
_TOGETHER: Final = Lazy(
    r"(?i)(?<![a-z])(?:between|difference|compared?|both|whether|either|regardless|no\s+matter)(?![a-z])"
)
_TWICE: Final = Lazy(rf"(?is)(?P<first>{WH})\s+and\s+(?P<second>{WH})\s+(?P<rest>{AUX}\s+.+)")
_WORD: Final = Lazy(r"[\w'’-]+")
_QUESTION_WORD: Final = Lazy("(?i)(?:what|when|where|who|whom|whose|which|why|how)(?![a-z])")

ASK_ZH: Final = Lazy(
    "什么|啥|谁|哪|多少|几(?![乎何])|怎么|怎样|如何|为何|何时|何地|何种|有何"
    "|多[久大长远高重](?![的了])|是否|是不是|有没有|能不能|会不会|吗|呢"
)
_JOINT_ZH: Final = Lazy("[，,；]|(?=以及|并且|还有|另外|同时|而且)")
_CONNECTED_ZH: Final = Lazy("^(?:以及|并且?|还有|另外|同时|而且|然后|那么?)[，,]?")
_TOGETHER_ZH: Final = Lazy("^(?:关于|对于|至于|针对|根据)|无论|不管|不论|还是|区别|差别|不同")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each with the mark it ends with, without the marks of a list before it."""
    for start, end in islice(sentence_spans(text), MOST_SENTENCES):
        yield _MARKER.pattern.sub("", text[start:end])


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text begins and ends; marks of a list before it are part of it, blanks around it not."""
    start = 0
    for found in _BREAK.pattern.finditer(text):
        if found["stop"] and _ABBREVIATED.pattern.search(text, max(start, found.start() - 8), found.start()):
            continue
        yield from _trimmed(text, start, found.end())
        start = found.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if stripped := part.strip():
        start += len(part) - len(part.lstrip())
        yield start, start + len(stripped)


def asks(sentence: str) -> bool:
    """Whether a sentence asks something."""
    if sentence.rstrip("\"'”’」』）) ").endswith(("?", "？")):
        return True
    return bool(
        ASK_ZH.pattern.search(sentence)
        if HAN.pattern.search(sentence)
        else _ASKED.pattern.match(sentence, _lead(sentence))
    )


def clauses(sentence: str) -> list[str]:
    """The questions that a sentence is made of, as they stand there; the sentence itself when it is one."""
    if len(sentence) > _LONGEST or (_TOGETHER_ZH if HAN.pattern.search(sentence) else _TOGETHER).pattern.search(
        sentence
    ):
        return [sentence]
    if HAN.pattern.search(sentence):
        return _clauses_zh(sentence)
    if twice := _TWICE.pattern.match(sentence, _lead(sentence)):
        return [f"{twice['first']} {twice['rest']}", f"{twice['second']} {twice['rest']}"]
    parts: list[str] = []
    start = 0
    for joint in _JOINT.pattern.finditer(sentence):
        left = sentence[start : joint.start()]
        if _stands(left) and not _goes_on(left, sentence[joint.end() :]):
            parts.append(left)
            start = joint.end()
    return [*parts, sentence[start:]]


def _lead(sentence: str) -> int:
    """Where the question begins, after «do you know» and the like."""
    found = _LEAD.pattern.match(sentence)
    return found.end() if found else 0


def _stands(left: str) -> bool:
    """Whether what stands before a joint is a question by itself: it begins as one and has three words."""
    return bool(_ASKED.pattern.match(left, _lead(left))) and len(_WORD.pattern.findall(left)) >= 3


def _goes_on(left: str, right: str) -> bool:
    """Whether the second question word only goes on with one inside the first: «when she came and when she left»."""
    word = _QUESTION_WORD.pattern.match(right)
    return word is not None and word[0].lower() in left[_lead(left) + len(word[0]) :].lower().split()


def _clauses_zh(sentence: str) -> list[str]:
    ends = [*(found.end() for found in _JOINT_ZH.pattern.finditer(sentence)), len(sentence)]
    parts: list[str] = []
    start = at = 0
    for end in ends:
        if ASK_ZH.pattern.search(sentence, at, end) and ASK_ZH.pattern.search(sentence, end):
            parts.append(sentence[start:end].strip("，,； "))
            start = end
        at = end
    return [_CONNECTED_ZH.pattern.sub("", part) or part for part in (*parts, sentence[start:]) if part.strip()] or [
        sentence
    ]
