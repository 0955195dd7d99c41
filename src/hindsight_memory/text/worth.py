"""Reads off a message what in it is worth remembering for long, by rules that would rather miss than invent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from hindsight_memory.domain import Kind, Role
from hindsight_memory.text import worth_rules, worth_rules_zh, worth_states
from hindsight_memory.text.clauses import HAN, asks, sentence_spans
from hindsight_memory.text.frame import frames_blanked
from hindsight_memory.text.keys import is_single
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.worth_words import Rule

READ: Final = 20_000
"""Characters of one message that are read: who writes more has pasted a document."""

MOST: Final = 20
"""Things of one message that are worth remembering, the first ones."""

_SENTENCES: Final = 300
_ASKED: Final = 0.9
"""Importance of what a user asks to remember."""
_LEAST: Final = 4
_LONGEST: Final = 500
"""Characters of a sentence beyond which it is no talk."""


@dataclass(frozen=True, slots=True)
class Worth:
    """One thing worth remembering: ``text[start:end]`` of the message says it.

    ``key`` says what it is about, where a rule can tell; ``single`` that the key has one current value. ``polarity`` is
    -1 for what is denied, disliked, forbidden or given up. ``rule`` names the rule that found it.
    """

    start: int
    end: int
    kind: Kind
    key: str | None
    single: bool
    polarity: int
    importance: float
    rule: str


def worth(text: str, role: Role = Role.USER) -> list[Worth]:
    """What in a message of that role is worth remembering, in its order, at most ``MOST``; spans do not overlap.

    Left out are questions, what would be or may be, what others said, jokes marked as such, wishes for the moment,
    code, quotations, recalled memory, and all that a system or a tool says. Of an assistant only decisions and results
    of the work count: its «I» is not the user.
    """
    if role not in (Role.USER, Role.ASSISTANT) or _PROMPT.pattern.match(text):
        return []
    return list(islice(_found(_own_words(text[:READ]), role), MOST))


# What is read

_NOT_OWN: Final = Lazy(
    r"(?s:```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z))|(?m:^[ \t]*>.*$)|(?m:^[ \t]*\|.*\|[ \t]*$)|https?://\S+"
    r"|<([a-z_-]{2,40})>[^<]*</\1>|[“「『«][^”」』»\n]{12,400}[”」』»]|\"[^\"\n]{16,400}\"|`[^`\n]{30,400}`"
)
"""Code, quoted lines, tables, addresses, blocks of a host, and what stands in quotation marks at some length."""
_PROMPT: Final = Lazy(
    r"(?i)\W*(?:you\s+are\s+(?:an?\s+|the\s+)?.{0,60}(?:assistant|agent|model|bot|expert)\b"
    r"|system\s*(?:prompt)?\s*:|instructions?\s*:|<system)"
    "|\\W*你是一?(?:个|名|位)?.{0,30}(?:助手|专家|模型|机器人)"
)
"""How a system prompt begins."""


def _own_words(text: str) -> str:
    """The text with all that is not the speaker's own words made blank: everything else stays where it is."""
    return _NOT_OWN.pattern.sub(lambda found: " " * len(found[0]), frames_blanked(text))


# Sentences and clauses

_ASIDE: Final = Lazy(
    r"(?i)(?<![a-z])(?:if|unless|suppose|supposing|imagine|pretend|hypothetically|assuming|let['’]?s\s+say"
    "|maybe|perhaps|wish|would['’]?ve"
    r"|would\s+have|might|as\s+though|[a-z]+\s+(?:said|says|told|tells|thinks?|thought|claims?|claimed|wrote"
    "|writes|asked|asks|replied|mentioned)"
    r"|according\s+to|once\s+upon|in\s+(?:the|my|a)\s+(?:story|novel|dream|game|script|example)|for\s+example"
    r"|e\.g\.|when\s+i\s+was|back\s+then"
    r"|as\s+a\s+(?:kid|child)|used\s+to)(?![a-z])"
    "|如果|要是|假如|假设|假使|万一|倘若|若是|比如|例如|假装|也许|可能|或许|说不定|打算|准备|计划|考虑(?!到)"
    "|梦见|梦到|故事里|小说里|据说|听说|小时候|以前我"
    "|曾经|那时候|当时|(?<![我对])(?:说|告诉|问|认为|觉得|表示|提到)(?!实话|真的|一下|起来)"
)
"""What makes the rest of a sentence another's, or not so, or not so any more."""
_SAID: Final = Lazy(r"(?i)[,，]\s*(?:[a-z]+\s+){1,3}(?:said|says|told\s+me|wrote)\W*$|[，,](?!我)\S{1,6}说\W*$")
_TELLS: Final = Lazy(
    r"(?!.*(?i:(?<![a-z])(?:here\s+for\s+you|proud\s+of\s+you|yourself)(?![a-z])))(?:.*(?<![A-Za-z])(?:I|[Mm]y"
    "|[Mm]e|[Ww]e|[Oo]ur|[Uu]s|[Tt]he|[Aa]lways|[Nn]ever)(?![a-z])"
    r"|.*\d|.*\s[A-Z]|(?!你|您).*(?:我|咱|以后|每次|不要|别))"
)
"""What is asked to be remembered tells something: «remember, just do it!» only cheers."""
_JOKE: Final = Lazy(
    r"(?i)(?<![a-z])(?:just\s+kidding|(?:only|just)\s+joking|i['’]?m\s+(?:kidding|joking)|jk|j/k"
    r"|april\s+fools?)(?![a-z])|(?<!\S)/s(?!\S)"
    r"|\(joke\)|开玩笑|逗你|骗你的|狗头|说着玩"
)
_OF_THE_MOMENT: Final = Lazy(
    r"(?i)(?<![a-z])(?:this\s+time|this\s+once|just\s+once|for\s+now|for\s+today|today\s+only"
    r"|in\s+this\s+(?:reply|answer|message|one|case))(?![a-z])"
    "|这次|这一次|这回|本次|这条|这个回答|暂时"
)
_UNSAID: Final = Lazy(
    "(?:现在|目前|平时|最|也|很|更|还|特别|非常)*(?:住在|不?喜欢|讨厌|受不了|爱[吃喝看听]|不[吃喝]"
    "|对[^，。]{1,12}过敏|搬[到去]了|今年\\d+岁|是一[名个位]|在[^，。]{2,16}(?:工作|上班|[做当]))"
)
"""What a Chinese clause says of the one the clause before it was about."""
_CUT: Final = Lazy(
    r"(?i)(?:\s*[,;:]|\s+[-–—]+)\s+(?:(?:and|but|so|because|though|although|since)\s+)?(?=(?:i|my|we|our"
    r"|please|from\s+now|always|never|it|the|that"
    r"|whenever|do|don|can|could|would|will|are|what|how|any|which|where|have)['’\s])|\s+(?:and|but"
    r"|so)\s+(?=(?:i|my|we|our)['’\s])"
    rf"|[，,；;：:、—]+\s*(?:但是?|不过|而且|所以|因为|并且|也|还)?(?=[我咱请别叫你每]|{_UNSAID.source}"
    "|以后|今后|从现在|记住|原因|解决|最[后终]|决定|改用|换成|[^，。]{0,12}(?:原因|办法|方案)是)"
)
_OPENING: Final = Lazy(
    "(?i)(?:(?:and|but|so|also|well|oh|hey|hi|hello|yeah|yes|yep|no|nope|ok|okay|sure|actually|honestly|btw"
    r"|by\s+the\s+way|fyi|for\s+the\s+record"
    r"|just\s+so\s+you\s+know|i\s+mean|you\s+know|as\s+you\s+know|anyway|plus|thanks|great|right|wow|haha"
    "|besides|oops|sorry|update|note|correction"
    r"|hmm|um|because)(?![a-z])[\s,.!:—-]*|(?:[-*•·#]+|\(?\d{1,2}[.)、])\s+"
    "|(?:嗯|哦|啊|对了|那么?|其实|另外|还有|顺便(?:说一下|提一下|说一句)?|说实话|不过|但是?|而且|因为|所以"
    "|你好|您好|好的?|行|是的|对|谢谢|哈哈|更正|补充一下|总之|当然|嗨)"
    "(?![吃喝看用])[呀啊吧哈呢]*[，,！!。:：、 ]*)*+"
)
"""What a clause may begin with before it says anything."""


def _found(text: str, role: Role) -> Iterator[Worth]:
    spans = list(islice(sentence_spans(text), _SENTENCES))
    for (start, end), (after, until) in zip(spans, [*spans[1:], (0, 0)], strict=False):
        if end - start > _LONGEST or _SAID.pattern.search(text, start, end):
            continue
        if not _JOKE.pattern.search(text, start, end) and not _JOKE.pattern.match(text, after, until):
            yield from _in_sentence(text, start, end, role)


def _in_sentence(text: str, start: int, end: int, role: Role) -> Iterator[Worth]:
    """What a sentence says: each clause that a rule knows, with those after it up to the next such one."""
    held: Worth | None = None
    until = start
    for first, last in _clauses(text, start, end):
        begin = _begin(text, first, last)
        if asks(text[first:last]) or _ASIDE.pattern.search(text, start, begin):
            break
        if held and _UNSAID.pattern.match(text, begin):
            spoken = f"{text[: begin - 1]}我{text[begin:]}"  # in the place of the comma before it
            found = _known(spoken, begin - 1, (last, end), role)
            found = found and replace(found, start=begin)
        else:
            found = _known(text, begin, (last, end), role)
        if found and (held is None or held.start < found.start):
            yield from _held(held, until)
            held = found
        until = last
    yield from _held(held, until)


def _held(found: Worth | None, until: int) -> Iterator[Worth]:
    if found and found.end <= until:
        yield replace(found, end=until)


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for cut in _CUT.pattern.finditer(text, start, end):
        yield start, cut.start()
        start = cut.end()
    yield start, end


def _begin(text: str, first: int, last: int) -> int:
    opening = _OPENING.pattern.match(text, first, last)
    return opening.end() if opening else first


def _known(text: str, begin: int, ends: tuple[int, int], role: Role) -> Worth | None:
    """What a clause says that a rule knows; it begins at ``begin``, and ``ends`` are its own end and its sentence's."""
    last, end = ends
    chinese = HAN.pattern.search(text, begin, last) is not None
    request = (worth_rules_zh if chinese else worth_rules).REMEMBER.pattern.match(text, begin, end)
    asked = request is not None and role is Role.USER
    start = _begin(text, request.end(), end) if request and asked else begin
    if _OF_THE_MOMENT.pattern.search(text, begin, end):
        return None
    for rule in (*_CHINESE, *_ENGLISH) if chinese else _ENGLISH:
        if (rule.of_work or role is Role.USER) and (match := rule.pattern.pattern.match(text, start, end)):
            found = _told(rule, match, max(last, start))
            return replace(found, importance=max(found.importance, _ASKED)) if asked else found
    if asked and (_TELLS.pattern.search(text, start, end) or (chinese and "，" not in text[begin:start])):
        return Worth(start, start + _LEAST, Kind.SEMANTIC, None, False, 1, _ASKED, "remember")
    return None


_ENGLISH: Final = (*worth_rules.RULES, *worth_states.ENGLISH)
_CHINESE: Final = (*worth_states.CHINESE, *worth_rules_zh.RULES)


def _told(rule: Rule, match: re.Match[str], last: int) -> Worth:
    """What a rule makes of its match, in a clause that ends at ``last``; its end is the least that has to be there."""
    about = match.span("it") if "it" in match.groupdict() else (match.start(), match.end() - 1)
    it = match.string[about[0] : min(about[1], max(last, about[0] + 1))]
    key = rule.key(it) if callable(rule.key) else rule.key
    return Worth(match.start(), about[0] + 1, rule.kind, key, is_single(key), rule.polarity, rule.importance, rule.name)
