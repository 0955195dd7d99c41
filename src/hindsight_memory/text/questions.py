"""Takes a question apart into those it asks, and fills in from the talk before it what it leaves unsaid; rules only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Final

from hindsight_memory.text.clauses import ASK_ZH, AUX, HAN, WH, asks, clauses, sentences
from hindsight_memory.text.dates import find_windows
from hindsight_memory.text.names import names_in
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.tokens import index_words

MOST: Final = 4
"""Parts of one question: each costs a search."""

READ: Final = 6_000
"""Characters of a question that are taken apart."""

_SHORT: Final = 400
"""Characters beyond which a question says enough by itself."""
_TURN: Final = 1_000
_TURNS: Final = 6
"""How much of how many turns before a question is read."""
_NAMES: Final = 4
_TOPIC_WORDS: Final = 5
_TOPIC_CHARS: Final = 30
_HEAD_CHARS: Final = 12
_ANY_DAY: Final = datetime(2024, 5, 15, 12, tzinfo=UTC)
"""Only whether a phrase is a time matters here, not which."""

_HOLLOW: Final = frozenset(
    index_words(
        "okay ok yes hello hi hey thanks thank sure alright right great good nice perfect ready back now today let lets"
        " go going get want need like know think see thing step next plan start continue help please just really still"
        " make sense sound look feel work first session discuss talk mention idea one more"
    )
) | {
    "好的",
    "谢谢",
    "你好",
    "请问",
    "现在",
    "今天",
    "一下",
    "继续",
    "开始",
    "计划",
    "知道",
    "觉得",
    "可以",
    "帮",
    "想",
    "要",
}
"""Words that tell no memory from another."""
_REQUEST: Final = Lazy(
    r"(?i)(?:(?:so|ok|okay|now|then|and|just|please|can\s+you|could\s+you)[,\s]+)*(?:show|give|tell|find|list|send|generate"
    r"|draft|create|write|remind|explain|outline|summari[sz]e|compare|recommend|suggest|let['’]?s)(?![a-z])"
    r"|(?:请|帮我|麻烦|给我|告诉我|推荐|列出|总结)"
)
_OPENING: Final = Lazy(
    r"(?i)^(?:(?:and|also|then|so(?!\s+that)|plus|but|oh|well|okay|ok|alright|anyway|now(?!\s+that)|hey|hi|hello|thanks|thank\s+you)"
    r"(?:[,!.:]\s*|\s+))+"
    r"|^(?:那么?|还有|另外|对了|然后|好的?|嗯|请问)[，,、]?"
)


def parts_of(question: str) -> list[str]:
    """The questions that a question asks, each to be understood by itself, at most ``MOST``; itself if it is one.

    A turn of several sentences gives those that tell most, the most telling first, without greetings and thanks.
    """
    text = question[:READ]
    said = [sentence for sentence in sentences(text) if not is_small_talk(sentence)]
    pieces = [piece for sentence in said for piece in clauses(sentence)]
    if len(pieces) < 2:
        return [said[0]] if said and len(said[0]) < len(text.strip()) - 2 else [question]
    whole = [piece for piece in _carried(pieces) if piece]
    if len(whole) <= MOST and all(map(asks, said)):
        return _different(whole)
    ranked = sorted(whole, key=_telling, reverse=True)
    return _different(piece for piece in ranked if _words(piece)) or [question]


def needs_context(question: str) -> bool:
    """Whether a question leaves something to the turns before it: a pronoun, «that one», «and in Berlin?», «上海呢»."""
    text = question.strip()
    if not text or len(text) > _SHORT:
        return False
    return _fragment(text) is not None or _points_back(text)


def resolved(question: str, before: Sequence[str]) -> str:
    """The question with what it leaves to the turns before it, oldest first; unchanged when that is nothing.

    What stands for part of an earlier question is put in its place («上海呢» after «北京明天的天气»); otherwise the
    names, or the topic, of those turns are added in brackets. No word of the question that says something is lost.
    """
    turns = [turn.strip()[:_TURN] for turn in before[-_TURNS:] if turn.strip()][::-1]
    if not turns or not needs_context(question):
        return question
    text = question.strip()
    fragment = _fragment(text)
    base = _base(turns)
    if fragment and len(base) <= _SHORT:
        whole = _in_place(base, fragment)
        if whole and _holds(whole, fragment):
            return whole
    added = [] if fragment is not None else _recent_names(turns, text)
    return _with(text, added or _topic_words(base, text))


def _different(pieces: Iterable[str]) -> list[str]:
    return list(islice(dict.fromkeys(pieces), MOST))


def _words(text: str) -> set[str]:
    return {word for word in index_words(text[:_TURN]) if word not in _HOLLOW}


def _telling(piece: str) -> float:
    """How much a sentence says about what to look for: words that are not everyone's, names, that it asks."""
    words = _words(piece)
    weight = min(len(words), 12) + 2 * min(len(names_in(piece[:_TURN])), 3)
    if words and asks(piece):
        weight += 3
    return weight + (2 if words and _REQUEST.pattern.match(piece) else 0)


# Carrying the subject on


_HE: Final = Lazy(r"(?i)(?<![\w'’])(?:he|she|him|they|them)(?![\w])(?!['’])")
_HIS: Final = Lazy(r"(?i)(?<![\w'’])(?:his|their)(?![\w])")
_HER: Final = Lazy(
    r"(?i)(?<![\w'’])her(?![\w])(?P<owns>\s+(?!(?:and|or|to|at|in|on|for|with|from|when|because|last)\b)[a-z])?"
)
_THAT: Final = Lazy(r"(?i)(?<![\w'’])(?:it|its|that|this|these|those|one|ones)(?![\w'’])")
_TA: Final = Lazy("(?<![其吉])[他她它](?!们|人)")
_TIME_ZH: Final = Lazy("现在|目前|如今|之前|以前|此前|后来|之后|最近|当时|最初|一开始|原来|当初|曾经|刚才")
_END_ZH: Final = Lazy(
    "(?:(?:住在|来自|属于|就职于|任职于|[是有在叫为住去到做用买吃喝开学换得说花从和跟给喜欢会能要想不都还又也最]|打算|准备|为了|由于|一共|总共|分别|每[年月周天]?|应该))+$"
)
_PREDICATE_ZH: Final = Lazy("^(?:是|有|在|为|叫|怎么|如何|什么|谁|哪|多|几)")


def _carried(pieces: Sequence[str]) -> Iterator[str]:
    """The pieces with what the later ones leave to those before: the subject of the first, the topic of the last."""
    first = topic = ""
    for each in pieces:
        piece = (_OPENING.pattern.sub("", each.strip()) or each.strip()) if first else each.strip()
        yield _carried_on(piece, first, topic) if first and asks(piece) else piece
        if not first or (_spelt(piece) and not _spelt(first)):
            first = piece
        if not topic or len(_words(piece)) > 2:
            topic = piece


def _carried_on(piece: str, first: str, topic: str) -> str:
    return _carried_zh(piece, first) if HAN.pattern.search(piece) else _carried_en(piece, first, topic)


def _carried_en(piece: str, first: str, topic: str) -> str:
    if len(piece.split()) == 1 and (rest := re.match(rf"{WH}\s+(?P<rest>{AUX}.+)", first, re.IGNORECASE | re.DOTALL)):
        return f"{piece.rstrip('?')} {rest['rest'].rstrip('?')}?"
    names = _spelt(first)
    if len(names) == 1:
        piece = _named(piece, names[0])
    elif (_HE.pattern.search(piece) or _HIS.pattern.search(piece) or _HER.pattern.search(piece)) and not _spelt(piece):
        return _with(piece, names or _topic_words(first, piece))
    said = len(_words(piece))
    if said < 2 or (said < 5 and _THAT.pattern.search(piece)):
        return _with(piece, _topic_words(topic, piece))
    return piece


def _named(piece: str, name: str) -> str:
    """The piece with a name for its pronouns; what stands after «her» says whether it owns or is meant."""
    if name.casefold() in piece.casefold():
        return piece
    piece = _HER.pattern.sub(lambda m: f"{name}'s{m['owns']}" if m["owns"] else name, piece)
    return _HIS.pattern.sub(f"{name}'s", _HE.pattern.sub(name, piece))


def _carried_zh(piece: str, first: str) -> str:
    names = _spelt(first)
    if _TA.pattern.search(piece):
        return _TA.pattern.sub(names[0], piece, 1) if len(names) == 1 else _with(piece, names)
    if names_in(piece) or re.match("[我你您咱]", piece):
        return piece
    if len(piece) < 12 and (fragment := _fragment(piece)):
        return _in_place(first, fragment) or _with(piece, names)
    topic = _topic_zh(first)
    if not topic or topic in piece:
        return _with(piece, names) if re.match("[这那]", piece) else piece
    if len(topic) > _HEAD_CHARS and names:
        topic = names[0]
    if re.match("[^，,]{0,12}[，,]|[这那]", piece):  # it begins otherwise: «到9月底，这两项规定…»
        return _with(piece, names or [topic])
    bare = _TIME_ZH.pattern.sub("", piece)
    subject = topic.rpartition("的")[0] if "的" in topic and not _PREDICATE_ZH.pattern.match(bare) else topic
    return f"{subject}{'的' if subject != topic else ''}{piece}"


def _topic_zh(question: str) -> str:
    """What a Chinese question is about: what stands before its verb and question word, without when."""
    found = ASK_ZH.pattern.search(question)
    head = re.split("[，,。？?！!；;]", question[: found.start()] if found else question.rstrip("，,。？?！!；; "))[-1]
    for window in find_windows(head, _ANY_DAY):
        head = head.replace(window.text, "")
    return _END_ZH.pattern.sub("", _TIME_ZH.pattern.sub("", head)).strip("的了过 ")[-_TOPIC_CHARS:]


# What the turns before say


_FRAGMENT: Final = Lazy(
    r"(?i)(?:(?:ok|okay|and|so|but|then|oh|well|hm+)[,\s]+)*(?:what|how)\s+about\s+(?P<about>[^?.!]{1,60})[?.!\s]*"
    r"|(?:and|or|but)\s+(?P<and>[^?.!]{1,60})\?+\s*"
    r"|(?P<bare>(?:in|on|at|for|with|from|to|by|near)\s+[^?.!]{1,40})\?+\s*"
    r"|(?:(?:ok|okay|and|so|but|oh)[,\s]+)*(?P<only>why|when|where|who|how|which|how\s+(?:much|many|long|often|far|old)|who\s+else"
    r"|(?:what|where|anything|anyone)\s+else|since\s+when|why\s+not|how\s+come)\s*\?+\s*"
    r"|(?:那么?|所以)?[，,]?(?P<only_zh>为什么|为啥|怎么办|什么时候|多少钱?|在?哪[里儿]?|谁|多久|和谁)呢?[？?。！!\s]*"
    r"|(?:那么?|然后|还有|嗯|所以)?[，,]?\s*(?P<zh>[^，。？?!！呢]{1,14})呢[？?。！!\s]*"
)
_ASKING_WORD: Final = Lazy(rf"(?i)(?<![a-z])(?:{WH}|{AUX})")
_NO_FRAGMENT: Final = Lazy(
    "[我你您他她它]们?$|^[你您人]$|什么|谁|哪|多少|怎|为何|是不是|有没有|吗|在干|在做|才|还没|着$"
)
_PREPOSITION: Final = Lazy(r"(?is)(?P<word>in|on|at|for|with|from|to|by|near)\s+(?P<rest>.+)")
_BACK: Final = Lazy(
    r"(?i)(?<![\w'’])(?:he|she|him|her|hers|his|they|them|their|theirs)(?![\w])"
    r"|(?<![\w'’])(?:that|this|the\s+(?:other|same|first|second|third|last|latter|former))\s+ones?(?![a-z])"
    r"|(?<![\w'’])(?:the\s+(?:latter|former)|those\s+ones|these\s+ones|the\s+same\s+(?:place|thing|day|time|person))(?![a-z])"
    r"|(?<![\w'’])(?<!is )(?<!was )(?<!are )(?<!were )there"
    r"(?=\s*[?.!,]|\s*$|\s+(?:last|yesterday|in|on|with|for|before|after|again)(?![a-z]))"
    rf"|^(?:{AUX})\s+(?:that|this|those|these)(?!\s+(?:year|month|week|morning|evening|afternoon|weekend|time))(?![a-z])"
    r"|(?<![\w'’])(?:about|of|with|for|is|was|does|did|like|than)\s+(?:that|this|those|these)\s*[?.!]*$"
)
_IT: Final = Lazy(
    r"(?i)(?<![\w'’])(?<!what time is )(?<!how is )(?<!how's )(?<!make )(?<!got )(?:it|its)(?![\w])"
    r"(?!\s+(?:is|was)?\s*(?:true|possible|ok|okay|safe|likely|worth|time|too\s+late|better|raining|snowing|cold|hot|that"
    r"|going)(?![a-z]))"
)
_BACK_ZH: Final = Lazy(
    "(?<![其吉])[他她它](?!人)|[那这](?:个(?!月|周|星期|礼拜|季度|年|时候|世界)|家|里|边|儿|位|本|部|款|件|次(?!数)|种"
    "|些(?!天|年|日))|那(?:天|时候?)|前者|后者"
    "|(?:刚才|上面|之前)(?:说|提到|聊)的"
)
_NOUN_ZH: Final = Lazy("一[部本个档位款家只件条种次辆台座场首名份张篇]|我(?:的|[妈爸姐哥妹弟]|老[婆公板师])")
_NOUN: Final = Lazy(
    r"(?i)(?<![\w'’])(?:my|our|your|the|a|an)\s+(?!same|other|latter|former|first|second|last)[a-z]{2,}"
)


def _fragment(text: str) -> str | None:
    """What a question that is no sentence asks about; empty for «why?»; ``None`` when it is a sentence."""
    found = _FRAGMENT.pattern.fullmatch(text)
    if found is None:
        return None
    if found["zh"]:
        return None if _NO_FRAGMENT.pattern.search(found["zh"]) else found["zh"].strip()
    if found["only"] or found["only_zh"]:
        return ""
    held = (found["about"] or found["and"] or found["bare"] or "").strip()
    if found["about"] is None and (_ASKING_WORD.pattern.search(held) or len(held.split()) > 6):
        return None
    return held or None


def _points_back(text: str) -> bool:
    """Whether a word of it means something said before, and nothing in the question itself can be what it means."""
    if HAN.pattern.search(text):
        found = _BACK_ZH.pattern.search(text)
        ahead = text[: found.start()] if found else text
        return found is not None and not (
            names_in(ahead) or _NOUN_ZH.pattern.search(ahead) or find_windows(ahead, _ANY_DAY)
        )
    found = _BACK.pattern.search(text) or _IT.pattern.search(text)
    if found is None:
        return False
    ahead = text[: found.start()]
    return not names_in(ahead) and not _NOUN.pattern.search(ahead)


def _base(turns: Sequence[str]) -> str:
    """The last thing that was asked, or else said; newest turn first."""
    for turn in turns:
        asked = [sentence for sentence in sentences(turn) if asks(sentence)]
        if asked:
            return asked[-1]
    return next(iter(sentences(turns[0])), turns[0])


def _in_place(base: str, fragment: str) -> str | None:
    """The earlier question with the fragment where the same sort of thing stood; ``None`` when that is not clear."""
    preposition = _PREPOSITION.pattern.match(fragment)
    bare = preposition["rest"] if preposition else fragment
    if (stood := _time_in(base)) and _time_in(fragment):
        return _swapped(base, stood, fragment if _PREPOSITION.pattern.match(stood) else bare)
    if _time_in(fragment):
        return f"{fragment}{base}" if HAN.pattern.search(base) else f"{base.rstrip('?.! ')} {fragment}?"
    names = [name for name in _spelt(base) if name.casefold() not in fragment.casefold()]
    if HAN.pattern.search(base):
        if len(names) == 1 and names_in(fragment):
            return _swapped(base, names[0], fragment)
        _, owned, head = _topic_zh(base).rpartition("的")
        return _swapped(base, head, fragment) if owned and head and not names_in(fragment) else None
    if preposition:
        word = preposition["word"]
        same = re.findall(rf"(?<![a-z]){word}\s+((?:the\s+|my\s+)?[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*|[a-z]+)", base)
        return _swapped(base, f"{word} {same[-1]}", fragment) if len(same) == 1 else None
    return _swapped(base, names[0], bare) if len(names) == 1 and bare[:1].isupper() else None


def _swapped(base: str, old: str, new: str) -> str | None:
    at = base.find(old)
    return None if at < 0 else base[:at] + new + base[at + len(old) :]


@lru_cache(maxsize=256)
def _time_in(text: str) -> str:
    windows = find_windows(text, _ANY_DAY)
    return windows[0].text if len(windows) == 1 else ""


@lru_cache(maxsize=256)
def _spelt(text: str) -> tuple[str, ...]:
    """The names in a text as they are written there; long ones would drown the question they are added to."""
    text = text[:_TURN]
    folded = text.casefold()
    found: list[str] = []
    for name in names_in(text):
        at = folded.find(name)
        if len(name) <= _TOPIC_CHARS:
            found.append(text[at : at + len(name)] if at >= 0 and len(folded) == len(text) else name)
    return tuple(found)


def _recent_names(turns: Sequence[str], text: str) -> list[str]:
    """The names of the latest turns that have any, newest first."""
    known = {*names_in(text)}
    fresh = (name for turn in turns[:3] for name in _spelt(turn) if name.casefold() not in known)
    return list(islice(dict.fromkeys(fresh), _NAMES))


def _topic_words(base: str, text: str) -> list[str]:
    """What an earlier question was about: its words that say something, as they are written there."""
    if HAN.pattern.search(base):
        return [topic] if (topic := _topic_zh(base)) and topic not in text else []
    known = {*index_words(text)}
    words = (word.strip("'’-")[:_TOPIC_CHARS] for word in re.findall(r"[\w'’-]+", base[:_TURN]))
    return list(
        islice((word for word in words if _says_something(word) and not {*index_words(word)} & known), _TOPIC_WORDS)
    )


def _says_something(word: str) -> bool:
    return bool(word) and not _ASKING_WORD.pattern.fullmatch(word) and bool(_words(word)) and _content(word)


@lru_cache(maxsize=2_048)
def _content(word: str) -> bool:
    """Whether a word is none of the function words: those stay only where nothing else is."""
    return len(index_words(f"{word} zebra")) > 1


def _with(text: str, added: Sequence[str]) -> str:
    if not added:
        return text
    return f"{text}（{'、'.join(added)}）" if HAN.pattern.search(text) else f"{text} ({', '.join(added)})"


def _holds(whole: str, fragment: str) -> bool:
    """Whether every word of the fragment that says something is still there."""
    return {*index_words(fragment)} <= {*index_words(whole)} or fragment in whole
