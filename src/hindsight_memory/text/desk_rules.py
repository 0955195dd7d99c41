"""Reads goals, confirmed facts, questions, decisions and what is given up off a message, in English and Chinese.

Conservative: no entry is better than a wrong one. Each entry is a clause of the message, as it is written there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hindsight_memory.domain import Role, StatePatch
from hindsight_memory.text.clauses import AUX, HAN, WH, sentences
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk

_LOOKED_AT: Final = 4_000
_LONGEST: Final = 300
_MOST: Final = 5
"""Entries of one sort that one message may give: what says more is a pasted text."""
_FIELDS: Final = ("task_goal", "confirmed_facts", "open_questions", "decisions", "discarded")

_NOT_PROSE: Final = Lazy(r"(?s)```.*?(?:```|\Z)|(?m:^\s*>.*$)|https?://\S+")
_QUOTES: Final = (("“", "”"), ("「", "」"), ("『", "』"), ("《", "》"), ("«", "»"))

_START: Final = Lazy(r"(?:^|[,，;；:：]\s*|\s+[—–-]+\s+|(?i:\s+(?:and|but|so|then)\s+))")
_LEAD: Final = Lazy(
    r"(?i:(?:(?:ok(?:ay)?|so|well|al(?:l )?right|right|yes|yeah|yep|sure|great|good|perfect|fine|cool|hmm+|actually"
    r"|then|now"
    r"|and|but|also|please|hi|hey|hello|thanks|thank you|agreed|after all|finally|in that case)[,!.]?\s+)*)"
    r"(?:(?:好的?|好吧|嗯+|那么?|所以|然后|但是?|不过|其实|对了|另外|行|可以|同意|最终|最后|算了|你好|您好)[，,、！!]?\s*)*"
)
_END: Final = Lazy(r"(?i)(?:[\s,，;；:：、。.!！—–-]|(?<![a-z])(?:and|but|so|then)$)+$")

_CONDITION: Final = Lazy(
    r"(?i)(?<![a-z])(?:if|unless|suppose|supposing|assuming|whether|in case|depending|provided|would have"
    r"|wish)(?![a-z])"
    "|如果|要是|假如|万一|的话|除非|假设"
)
_REPORTED: Final = Lazy(
    r"(?i)(?<![a-z])(?:said|says|saying|told|tells|thinks?|suggests?|suggested|recommends?|recommended|asked|asks"
    r"|claims?"
    r"|argues?|wrote|writes)(?![a-z])|说|认为|建议|觉得|问|声称|写道"
)
_HEDGE: Final = Lazy(
    r"(?i)(?<![a-z])(?:maybe|perhaps|probably|possibly|might|may|could|i think|i guess|i suppose|not sure|unsure"
    r"|should we"
    r"|considering|thinking (?:of|about)|not yet|haven['’]?t|hasn['’]?t|some ?day|one day|eventually)(?![a-z])"
    "|可能|也许|或许|大概|要不|似乎|好像|应该|不确定|不知道|还没|没有决定|将来|有一天|以后再"
)

_TOGETHER: Final = (
    "build|write|plan|design|implement|create|fix|refactor|debug|set up|organi[sz]e|prepare|migrate|draft|develop"
    "|figure out|book|review|update|add|deploy|analy[sz]e|finish|solve|improve|compare|research|schedule|arrange"
    "|clean up|test|install|configure|translate|summari[sz]e|optimi[sz]e|upgrade|release|publish|rewrite|replace"
    "|automate|integrate|benchmark"
)
_TASK: Final = (
    rf"{_TOGETHER}|make|find|work on|learn|move (?!on)|understand|switch|convert|connect|investigate|track|monitor"
    "|measure|extract|import|export|generate|remove|rename|split|merge|document|evaluate|launch|reduce|increase|buy"
    "|sell"
    "|rent|renovate|apply|visit|travel|train for|run an?|lose|save|study|practi[sc]e|change|check|choose|pick|order"
    "|host|start an?"
)
_TASK_ZH: Final = (
    "做|写|建|搭|开发|实现|设计|学|准备|安排|计划|规划|找|买|订|查|修|改|优化|重构|部署|迁移|整理|制定|完成|申请|办|创建|生成|翻译|总结|分析"
    "|比较|对比|测试|解决|提高|提升|组织|策划|预订|预约|升级|发布|调试|搭建|编写|考"
)
_GOAL: Final = Lazy(
    r"(?i:(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?help\s+(?:me|us)\s+(?:to\s+"
    r"|with\s+)?(?=[a-z])(?!(?:out|please|now|here)(?![a-z]))"
    rf"|(?:i|we)(?:['’]d\s+like|\s+would\s+like|\s+want|['’]?(?:m|re)\s+trying|\s+(?:am|are)\s+trying)\s+to\s+"
    rf"(?=(?:{_TASK})(?![a-z]))|(?:i|we)\s+need\s+to\s+(?=(?:{_TASK})(?![a-z]))"
    rf"|let['’]?s\s+(?=(?:{_TOGETHER})(?![a-z]))"
    r"|(?:my|our|the)\s+(?:main\s+|overall\s+)?(?:goal|objective|aim)\s+(?:here\s+|today\s+|for\s+today\s+)?is\s+"
    r"(?=(?:to|an?|that)(?![a-z])))"
    r"|(?:(?:请|麻烦|可以|能不能|可不可以|能否|能|你)+帮忙|(?:请|麻烦|可以|能不能|可不可以|能否|能|你)*(?:帮|协助)我们?)(?![了的过很]|个忙"
    r"|.{1,2}一下[吧吗]?$)\s*(?=[^\W_]{2})"
    rf"|我们?想要?(?=(?:{_TASK_ZH}))(?!做梦|买单)|我们?(?:要|打算|准备|需要|计划)(?=(?:{_TASK_ZH}))(?!准备好)"
    r"|(?:我的|我们的|这次的?|本次的?|今天的?|当前的?)?(?:目标|任务)(?:是|：|:)\s*(?=[^\W_]{2})"
)

_COMPANY: Final = "(?:(?:the flow|my|you|him|her|them|us|me|friends|some friends|it|that|this)(?![a-z]))"

_DECIDED: Final = Lazy(
    r"(?i:(?:we|i)(?:['’]ve|\s+have)?\s+(?:finally\s+)?decided\s+(?:to\s+(?:go\s+with|use|adopt)|on|to|that|against)\s+"
    r"|decided\s*:\s*|decision\s*:\s*|the\s+decision\s+is\s+(?:to\s+(?:use|go\s+with)\s+|to\s+|that\s+)"
    rf"|(?:we|i)(?:['’]ll|\s+will|['’](?:re|m)\s+going\s+to|\s+(?:are|am)\s+going\s+to)\s+go\s+with\s+(?!{_COMPANY}))"
    r"|(?:我们?|咱们?|大家|现在|已经|都|就){0,3}决定(?:了?(?:就?用|采用|选用?|选择)|了)?(?![吗权性于因不论])(?:[：:，,])?\s*(?=[^\W_]{2})"
)
_CHOSEN: Final = Lazy(  # an assistant that says so proposes; a user decides
    r"(?i:(?:let['’]?s|(?:we|i)(?:['’](?:re|m)|\s+(?:are|am)))\s+(?:just\s+)?(?:go(?:ing)?\s+with"
    r"|stick(?:ing)?\s+with)\s+"
    rf"(?!{_COMPANY})|let['’]?s\s+(?:just\s+)?use\s+|we(?:['’]ll|\s+will)\s+use\s+|(?:going"
    rf"|go)\s+with\s+(?!{_COMPANY}))"
    r"|(?:我们?|咱们?|那|还是)?就(?:用|选|定)(?![完掉光不到得上过了于力在])\s*(?=[^\W_])"
    r"|还是(?:用|选)\s*(?=[^\W_])(?=.+吧)"
)

_DROPPED: Final = Lazy(
    r"(?i:forget\s+(?:all\s+)?about\s+(?!it(?![a-z])|that[.!]*$)"
    r"|(?:let['’]?s\s+)?(?:scrap|drop|ditch|abandon)\s+(?=(?:the|that|this|our)\s+(?:[\w-]+\s+){0,3}(?:idea|plan"
    r"|approach|option)s?(?![a-z]))"
    r"|let['’]?s\s+not\s+(?:use|do|go\s+with|go\s+for|bother\s+with)\s+"
    r"|(?:we|i)\s+no\s+longer\s+(?:want|need|use|plan)\s+(?:to\s+)?"
    r"|(?:we|i)(?:['’](?:re|m)|\s+(?:are|am))\s+(?:no\s+longer|not)\s+(?:using|doing|going\s+(?:with|for|to)"
    r"|planning|considering)\s+"
    r"(?=.*(?:any\s?more|no\s+longer)|(?<=no longer using )|(?<=no longer doing ))"
    r"|(?:we|i)\s+(?:do\s+not|don['’]?t)\s+(?:want|need|use)\s+(?:to\s+)?(?=.*\bany\s?more)|not\s+(?!only|just|that"
    r"|sure)(?=.{1,60}\bany\s?more))"
    r"|(?:我们?|咱们?)?(?:就|先|都)?不(?:想|需)?(?:要|用|做|考虑|去|买|选)(?!紧|谢|担心|客气|忘|着急|怕|急)(?:再)?(?=[^，,。！!？?]{1,40}了[。！!]?$"
    r"|[^，,。！!？?]{1,40}了[，,])"
    r"|(?:我们?|咱们?)?就?(?:不再(?:使?用|考虑|需要|做|采用)|放弃)了?\s*(?=[^\W_]{2})"
)
_TAKEN_BACK: Final = Lazy(
    r"(?i)\W*(?:(?:oh|ah|ok|well|actually|哦|唉|嗯)\W+)*(?:never\s?mind|forget\s+(?:about\s+)?(?:it|that)|算了吧?|不用了"
    r"|当我没[说问]|不问了)"
    r"(?:\W+(?:then|thanks|谢谢))?\W*"
)

_YES: Final = Lazy(
    r"(?i:(?:yes|yeah|yep|yup|correct|exactly|indeed|confirmed|that['’]?s\s+(?:right|correct)|that\s+is\s+(?:right"
    r"|correct))"
    r"(?:\s*[,.:;!]+\s*|\s+[—–-]+\s+)|(?:i|we)\s+(?:can\s+)?confirm(?:ed)?\s+(?:that\s+)?)"
    r"|(?:(?:对的?|没错|是的|正确|确实如此|确认)[，,：:。！!]\s*|我?(?:已经?)?确认(?:过了?|了)[，,：:]?\s*)"
)
_ONLY_YES: Final = Lazy(
    r"(?i)\W*(?:yes|yeah|yep|yup|correct|exactly|indeed|confirmed|that['’]?s\s+(?:right|correct)|对的?|没错|是的|正确)\W*"
)
_STATED: Final = Lazy(
    r"(?:(?i:the|our|my|his|her|their|all|both|every|each)\s|(?!(?i:this|that|it|there|they|he|she|you|these|those"
    r"|what|i|we)\s)[A-Z][\w.+#-]*\s)"
    r"(?=.*(?<![a-z])(?i:is|are|was|were|has|have|had|uses?|used|runs?|lives?|works?|needs?|starts?|ends?|costs?"
    r"|takes?|supports?"
    r"|requires?|contains?|listens?|prefers?|likes?|owns?|isn['’]?t|aren['’]?t|wasn['’]?t|doesn['’]?t"
    r"|don['’]?t)(?![a-z]))"
    r"|(?i:i|we)(?:['’](?:m|re)|\s+(?i:am|are|was|were|use|used|run|live|work|own|prefer|need|pay|host|deploy"
    r"|don['’]?t|do\s+not))\s"
)
_STATED_ZH: Final = Lazy(
    "(?=.*(?:是|有|在|用|住|叫|需要|已经|喜欢|位于|支持|属于))(?!请|帮|你|麻烦|那就|就|这样|那样|这个|那个|它|我想|我觉得|我要|能|可以|反正|不过|就是)"
)
_NO_FACT: Final = Lazy(
    r"(?i)(?<![a-z])(?:(?:an?|one|another|some|two) (?:\w+ )?(?:questions?|problems?|requests?|ideas?)"
    r"|we (?:should|could|can)|i['’]?m (?:sure|sorry|glad|happy|excited|so|really|just|very)|i am (?:sure|sorry|glad"
    r"|happy|so)|please"
    r"|what i (?:meant?|want|need))(?![a-z])|想问|感觉|我的意思"
)

_ASKS: Final = Lazy(rf"(?i)(?:{WH}|(?:(?:with|for|to|from|in|at|on|by)\s+)?{AUX})\s")
_REQUEST: Final = Lazy(
    r"(?i)(?:(?:can|could|would|will)\s+you|shall\s+we|how\s+about|what\s+about|why\s+(?:not|don['’]?t)|do\s+you\s+mind"
    r"|may\s+i|can\s+i\s+ask|how\s+are\s+you)(?![a-z])|.*,\s*(?:you know|right|all ?right|ok(?:ay)?|huh|eh)\?$"
)
_REQUEST_ZH: Final = Lazy("帮我|帮忙|请你|麻烦|要不|好吗|可以吗|行吗|怎么样[？?]?$|对吗|对吧|是吧|能.{0,3}给我")
_TELLING: Final = Lazy(
    r"(?i)(?<![a-z])(?!(?:what|which|when|where|this|that|about|does|have|there|these|those|they|them|your|with"
    r"|would|should"
    r"|could|will|mean|really|here|then|else)(?![a-z]))[a-z]{4,}|\d|[A-Z]{2,}"
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause that says something for the desk: where it begins in its sentence, and in which list it belongs."""

    start: int
    field: str


def read_off(text: str, role: Role) -> StatePatch:
    """What a message of this speaker says for the desk: of an assistant only what is decided, of tools nothing."""
    found: dict[str, list[str]] = {name: [] for name in _FIELDS}
    if role in (Role.USER, Role.ASSISTANT):
        before = ""
        lines = _NOT_PROSE.pattern.sub("\n", text[:_LOOKED_AT]).split("\n")
        for sentence in (each for line in lines for each in sentences(line)):
            for field, entry in _entries(sentence, before, role):
                found[field].append(entry)
            before = sentence
    goals = found.pop("task_goal")
    lists: dict[str, Any] = {field: tuple(entries) for field, entries in found.items() if len(entries) <= _MOST}
    return StatePatch(task_goal=goals[0] if goals else None, **lists)


def is_taken_back(text: str) -> bool:
    """Whether a message says no more than «never mind»."""
    return len(text) <= 60 and bool(_TAKEN_BACK.pattern.fullmatch(text))


def thing_decided(entry: str) -> str:
    """What a decision is for, folded; empty where it names nothing."""
    return _thing(entry, _DECIDED) or _thing(entry, _CHOSEN)


def thing_discarded(entry: str) -> str:
    """What is given up, folded; empty where it names nothing."""
    return _thing(entry, _DROPPED)


def _thing(entry: str, rule: Lazy) -> str:
    match = rule.pattern.match(entry)
    return _TRIMMED.pattern.sub("", entry[match.end() :]).casefold() if match else ""


_TRIMMED: Final = Lazy(
    r"(?i)^(?:the|an?|our|using|re)\s+|(?:\s*\b(?:any\s?more|then|instead|now|after all)|[了吧啦]|[\s.,!。，！])+$"
)


def _entries(sentence: str, before: str, role: Role) -> Iterator[tuple[str, str]]:
    asks = sentence.rstrip("\"'”」』）) ").endswith(("?", "？", "吗", "呢"))
    clauses = [each for each in _clauses(sentence, before, role) if each.field == "task_goal" or not asks]
    if not clauses and asks and role is Role.USER and _is_question(sentence):
        yield "open_questions", sentence
    for place, clause in enumerate(clauses):
        end = clauses[place + 1].start if place + 1 < len(clauses) else len(sentence)
        entry = sentence[clause.start : end]
        if place + 1 < len(clauses):  # what joins it to the next clause is not part of it
            entry = _joint_cut(entry)
        entry = _END.pattern.sub("", entry)
        if 0 < len(entry) <= _LONGEST:
            yield clause.field, entry


def _joint_cut(entry: str) -> str:
    cuts = [match.start() for match in _START.pattern.finditer(entry) if match.start()]
    return entry[: cuts[-1]] if cuts else entry


def _clauses(sentence: str, before: str, role: Role) -> Iterator[_Clause]:
    if len(sentence) > 2 * _LONGEST:
        return
    doubtful = bool(_CONDITION.pattern.search(sentence))
    unsure = doubtful or bool(_HEDGE.pattern.search(sentence))
    last = -1
    for joint in _START.pattern.finditer(sentence):
        start = _LEAD.pattern.match(sentence, joint.end()).end()  # type: ignore[union-attr]  # it may be empty
        if start == last or _is_anothers(sentence[:start]):
            continue
        field = _field(sentence, start, role)
        if field and not (unsure if field != "discarded" else doubtful):
            yield _Clause(start, field)
            last = start
        elif not unsure and role is Role.USER and not joint.start():
            stated = _stated(sentence, before)
            if stated is not None:
                yield _Clause(stated, "confirmed_facts")
                return


def _field(sentence: str, start: int, role: Role) -> str | None:
    if _DECIDED.pattern.match(sentence, start):
        return "decisions"
    if role is not Role.USER:
        return None
    if _DROPPED.pattern.match(sentence, start):
        return "discarded"
    if _CHOSEN.pattern.match(sentence, start):
        return "decisions"
    return "task_goal" if _GOAL.pattern.match(sentence, start) else None


def _stated(sentence: str, before: str) -> int | None:
    """Where a statement begins that follows a «yes», in its own sentence or the one before."""
    yes = _YES.pattern.match(sentence)
    if yes is None and not _ONLY_YES.pattern.fullmatch(before):
        return None
    start = yes.end() if yes else 0
    rest = sentence[start:]
    rule, least = (_STATED_ZH, 4) if HAN.pattern.search(rest) else (_STATED, 10)
    if len(rest) < least or _NO_FACT.pattern.search(rest) or not rule.pattern.match(sentence, start):
        return None
    return start


def _is_anothers(before: str) -> bool:
    """Whether what stands before a clause puts it into another's mouth."""
    inside = any(before.count(opening) > before.count(closing) for opening, closing in _QUOTES)
    return inside or before.count('"') % 2 == 1 or bool(_REPORTED.pattern.search(before))


def _is_question(sentence: str) -> bool:
    if len(sentence) > _LONGEST or is_small_talk(sentence) or _is_anothers(sentence):
        return False
    if HAN.pattern.search(sentence):
        return len(HAN.pattern.findall(sentence)) >= 4 and not _REQUEST_ZH.pattern.search(sentence)
    start = _LEAD.pattern.match(sentence).end()  # type: ignore[union-attr]  # it may be empty
    if not _ASKS.pattern.match(sentence, start) or _REQUEST.pattern.match(sentence, start):
        return False
    return len(sentence[start:].split()) >= 3 and bool(_TELLING.pattern.search(sentence, start))
