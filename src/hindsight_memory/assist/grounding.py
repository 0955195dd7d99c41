"""Whether what a model wrote stands in what it was given: quotes, numbers, names and dates, language, polarity.

Nothing here asks a model. Every test would rather drop something true than keep something made up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from hindsight_memory.assist.prompts import Language, language_of
from hindsight_memory.text.chinese_names import HAN
from hindsight_memory.text.names import fold_name, names_in
from hindsight_memory.text.opposites import opposites
from hindsight_memory.text.spans import chinese_number
from hindsight_memory.text.statements import statements
from hindsight_memory.text.tokens import index_words

_HAN: Final = re.compile(f"[{HAN}]")
_HAN_RUN: Final = re.compile(f"[{HAN}]+")
_SHORTEST: Final = 4
"""Letters of a quote that says something; two Chinese characters do."""

# Numbers and times

_UNITS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGITS: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMERAL: Final = re.compile("[〇零一二三四五六七八九十百千万亿两]+")
_COUNTED: Final = re.compile("[个名位条次年月日号天点岁块元本杯周小时分钟秒种家台辆倍%％]")
_ENGLISH_NUMBERS: Final = {word: str(10 * place) for place, word in enumerate(_TENS, 2)} | {
    word: str(number) for number, word in enumerate(_UNITS)
}
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE: Final = {
    "today": "today", "tonight": "today", "yesterday": "yesterday", "tomorrow": "tomorrow", "今天": "today",
    "今晚": "today", "昨天": "yesterday", "明天": "tomorrow", "前天": "前天", "后天": "后天", "去年": "last year",
    "今年": "this year", "明年": "next year", "上个月": "last month", "上周": "last week", "下周": "next week",
}  # fmt: skip
_RELATIVE_WORD: Final = re.compile("|".join(rf"\b{each}\b" if each.isascii() else each for each in _RELATIVE))
_PHRASE: Final = re.compile(r"\b(last|this|next)\s+(week|month|year)\b")
_WEEKDAY_ZH: Final = re.compile("(?:周|星期|礼拜)([一二三四五六日天])")
_LATIN: Final = re.compile(r"[a-z]+")


class Grounds:
    """A text that a model was given, read once for all that is held against it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def quoted(self, quote: str) -> tuple[int, int] | None:
        """Where a quote stands word for word, whatever its case, spaces and marks; ``None`` if nowhere."""
        wanted, _ = _folded(quote)
        if len(wanted) < _SHORTEST and len(_HAN.findall(wanted)) < 2:
            return None
        held, places = self._letters
        at = held.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if not _inside_word(held, at) and not _inside_word(held, end):
                return places[at], places[end - 1] + 1
            at = held.find(wanted, at + 1)
        return None

    def shared(self, text: str) -> float:
        """How much of a text's words stand here, from 0 to 1."""
        words = set(index_words(text))
        return len(words & self._words) / len(words) if words else 0.0

    def speaks_otherwise(self, text: str) -> bool:
        """Whether a text is in another language; names in it do not make it so."""
        return language_of(text) != self._language and self.quoted(text) is None

    def lacks(self, text: str) -> str:
        """What a text says that is not here: a number, a name or a time; empty if there is nothing of the kind."""
        if strange := numbers_in(text) - self._numbers:
            return f"the number {min(strange)} is not in the source"
        if strange := _times_in(text) - self._times:
            return f"the time {min(strange)} is not in the source"
        for name in names_in(text):
            wanted = _folded(name)[0]
            if wanted not in self._names if _HAN.search(wanted) else f" {wanted} " not in self._names:
                return f"the name {name[:60]} is not in the source"
        return ""

    @cached_property
    def _letters(self) -> tuple[str, list[int]]:
        return _folded(self.text)

    @cached_property
    def _names(self) -> str:
        """The text as names are compared with it, Latin words apart from the Chinese around them."""
        folded, _ = _folded(fold_name(self.text))
        return f" {_HAN_RUN.sub(lambda run: f' {run.group()} ', folded)} "

    @cached_property
    def _words(self) -> set[str]:
        return set(index_words(self.text))

    @cached_property
    def _language(self) -> Language:
        return language_of(self.text)

    @cached_property
    def _numbers(self) -> set[str]:
        return numbers_in(self.text, loosely=True)

    @cached_property
    def _times(self) -> set[str]:
        return _times_in(self.text) | {month for place, month in enumerate(_MONTHS, 1) if str(place) in self._numbers}


def _folded(text: str) -> tuple[str, list[int]]:
    """Letters and digits without case and accents, words one space apart, and the place of each in the text."""
    folded: list[str] = []
    places: list[int] = []
    gap = False
    for place, character in enumerate(text):
        for each in unicodedata.normalize("NFKD", character).casefold():
            if each.isalnum():
                if gap and folded and not _HAN.match(each) and not _HAN.match(folded[-1]):
                    folded.append(" ")
                    places.append(place)
                folded.append(each)
                places.append(place)
                gap = False
            elif each not in "'’" and not unicodedata.category(each).startswith("M"):
                gap = True
    return "".join(folded), places


def _inside_word(folded: str, at: int) -> bool:
    """Whether a cut here would part a word of letters, or a number."""
    around = folded[at - 1 : at + 1] if at else ""
    return len(around) == 2 and " " not in around and not _HAN.search(around)


def clause_around(text: str, start: int, end: int) -> str:
    """The part of a sentence that a span stands in: what a quote leaves out may turn its meaning round."""
    first = max(0, start - _AROUND)
    before = max((found.end() for found in _MARK.finditer(text, first, start)), default=first)
    after = _MARK.search(text, end)
    return text[before : after.start() if after else end + _AROUND]


_AROUND: Final = 200
_MARK: Final = re.compile(r"[.!?;,。！？；，\n]")


def numbers_in(text: str, loosely: bool = False) -> set[str]:
    """The numbers in a text, in digits or words; ``loosely`` also what may be none («one», 「一起」)."""
    text = _WEEKDAY_ZH.sub(" ", unicodedata.normalize("NFKC", text).lower())
    found = {number for each in _DIGITS.findall(text) for number in _plain(each)}
    words = set(_LATIN.findall(text)) - (set() if loosely else {"one"})
    found |= {_ENGLISH_NUMBERS[word] for word in words if word in _ENGLISH_NUMBERS}
    for run in _NUMERAL.finditer(text):
        if loosely or len(run.group()) > 1 or (run.group() != "一" and _COUNTED.match(text, run.end())):
            found.add(str(chinese_number(run.group())))
    if loosely:
        found |= {
            str(place) for place, month in enumerate(_MONTHS, 1) if re.search(rf"\b(?:{month}|{month[:3]})\b", text)
        }
    return found


def _plain(digits: str) -> Iterator[str]:
    """A number without its leading zeros and thousands marks; the parts of a time or a date apart."""
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    for part in re.split("[,:]", digits):
        whole, point, rest = part.partition(".")
        yield f"{whole.lstrip('0') or '0'}{point}{rest}" if rest.strip("0") else whole.lstrip("0") or "0"


def _times_in(text: str) -> set[str]:
    text = unicodedata.normalize("NFKC", text).lower()
    words = set(_LATIN.findall(text))
    found = {month for month in _MONTHS if month != "may" and {month, month[:3]} & words}
    found |= {day for day in _DAYS if {day, day[:3], day[:4]} & (words - {"sun", "sat"})}
    found |= {_RELATIVE[each] for each in _RELATIVE_WORD.findall(text)}
    found |= {f"{which} {unit}" for which, unit in _PHRASE.findall(text)}
    return found | {_DAYS["一二三四五六日".index(each.replace("天", "日"))] for each in _WEEKDAY_ZH.findall(text)}


def repeats(text: str) -> bool:
    """Whether a text says the same again and again."""
    parts = [part for each in _SENTENCE.split(text) if len(part := " ".join(each.split()).casefold()) > 3]
    if len(parts) > len(set(parts)) + len(parts) // 4:
        return True
    words = index_words(text)[:2_000]
    runs = [tuple(words[at : at + 3]) for at in range(len(words) - 2)]
    return len(runs) >= 12 and len(set(runs)) < 0.7 * len(runs)


_SENTENCE: Final = re.compile(r"[.!?。！？;；\n]+")


def says_nothing(text: str) -> bool:
    """Whether a text is about not knowing, or about being a model, instead of what it should be about."""
    return bool(_NOTHING_SAID.search(text.replace("’", "'")))


_NOTHING_SAID: Final = re.compile(
    r"\bI (?:do not|don't|did not|didn't) (?:have|see|find) (?:any |enough |the |sufficient )?(?:relevant )?"
    r"(?:information|context|details|data|text)"
    r"|\bI(?:'m| am) (?:sorry|unable|not able|an? (?:AI|language model|assistant))|\bI can(?:not|'t)\b|\bas an AI\b"
    r"|\bno (?:relevant |specific |further )?(?:information|content|text|data|summary|details) "
    r"(?:is |was |are |were |has been )?(?:available|provided|given|found|present|mentioned)"
    r"|\b(?:the|this) (?:provided |given )?(?:text|message|context|content|conversation) (?:does not|doesn't|is empty|"
    r"contains no|provides no|did not)"
    r"|\b(?:insufficient|not enough) (?:information|context|data)|\b(?:unable|impossible) to (?:summari[sz]e|determine)"
    r"|\bnothing to (?:summari[sz]e|remember|report)|^\s*(?:n/?a|none|null|unknown|empty|no summary)\W*$"
    r"|没有(?:提供|找到|给出)?(?:任何|足够|相关|更多|可用)*的?(?:信息|内容|上下文|文本)|(?:我|暂时)?(?:无法|不能)(?:总结|概括|判断|确定|提供|回答)"
    r"|信息不足|^\s*(?:抱歉|对不起|很遗憾)|作为(?:一个|一名)?(?:AI|人工智能|语言模型)"
    r"|(?:文本|原文|内容|对话)(?:中)?(?:没有|并未|未)(?:提供|提及|提到|包含|说明|给出)|^\s*(?:无|暂无|没有|空)\W*$",
    re.IGNORECASE,
)


def contrary(one: str, other: str) -> bool:
    """Whether one text denies, or turns round, what the other says: «likes tea» and «does not like tea»."""
    denied = _denied(one) != _denied(other)
    return denied != (opposites(index_words(one), index_words(other)) is not None)  # «does not like» is «dislikes»


def _denied(text: str) -> bool:
    return any(each.negated for each in statements(text))


def same_words(one: str, other: str) -> bool:
    """Whether two texts are the same but for case, spaces and marks."""
    return _folded(one)[0] == _folded(other)[0] != ""
