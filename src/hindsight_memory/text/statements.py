"""Reads what a text states, clause by clause, so that two statements can be held against each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from hindsight_memory.text.clauses import HAN, sentences
from hindsight_memory.text.common import table
from hindsight_memory.text.opposites import BOUND_NEGATIONS, NEGATIONS
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import dictionary_cutter, stem

MOST_STATEMENTS: Final = 40
"""Clauses of one text that are read: who says more at once says it in a document."""

MOST_CHARS: Final = 4_000
"""Characters of one text that are read."""

_LONGEST_HAN: Final = 400
_MOST_TOKENS: Final = 120
_MOST_QUANTITIES: Final = 8


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a statement: its value and form, and the words before and after it, as stems.

    ``label`` says that it names something instead of counting it: «Room 101». ``ahead`` are all the words before it.
    """

    value: str
    form: str
    before: str
    after: str
    label: bool
    ahead: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause of a text.

    ``words`` are its content words as stems, ``beside`` those of its whole sentence. ``who`` is whom it is about:
    ``i``, ``you``, the word for another one, or nobody said. ``partly`` says that something in it is denied, and not
    it. ``lasts`` tells a state («I have 37 coins») from an event («I bought three»).
    """

    text: str
    words: tuple[str, ...]
    beside: frozenset[str]
    negated: bool
    partly: bool
    quantities: tuple[Quantity, ...]
    who: str
    lasts: bool
    asks: bool


@lru_cache(maxsize=4_096)
def statements(text: str) -> tuple[Statement, ...]:
    """The clauses of a text, in order, at most ``MOST_STATEMENTS``."""
    return tuple(islice((each for one in sentences(text[:MOST_CHARS]) for each in _sentence(one)), MOST_STATEMENTS))


@lru_cache(maxsize=4_096)
def wording(text: str) -> tuple[str, ...]:
    """A text as what it says: the same for two texts only when they say the same.

    Articles, copulas, fillers and the marks of a sentence are left out and endings are cut. What bears on the meaning
    stays, in its order: who, when (past, will), whether (not, if, or), numbers, and where to.
    """
    asks = text.rstrip().endswith(("?", "？", "吗", "呢"))
    units = [*(unit for token in _tokens(text[:MOST_CHARS]) for unit in _unit(token))]
    return (*units, *(["?"] if asks else []))


_TOKEN: Final = Lazy(
    r"(?P<number>[$€£¥￥]?\d+(?:[,.:/-]\d+)*)(?:\s?(?P<percent>%))?|[A-Za-z]+(?:'[A-Za-z]+)*|[\u3400-\u9fff]+|[^\W\d_]+"
)
_FORMS: Final = (
    ("clock", Lazy(r"\d{1,2}:\d\d(?::\d\d)?")),
    ("range", Lazy(r"\d+(?:\.\d+)?-\d+(?:\.\d+)?")),
    ("share", Lazy(r"\d+(?:\.\d+)?%")),
    ("number", Lazy(r"\d+(?:\.\d+)?")),
)
_ENGLISH_NUMBERS: Final = {
    word: str(number)
    for number, words in enumerate(
        [
            "zero",
            "one once first",
            "two twice second",
            "three third",
            "four fourth",
            "five fifth",
            "six sixth",
            "seven seventh",
            "eight eighth",
            "nine ninth",
            "ten tenth",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
    for word in words.split()
} | {
    word: str(20 + 10 * n)
    for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
_CHINESE_DIGITS: Final = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_CHINESE_NUMBER: Final = Lazy("(?:第)?([零〇一二三四五六七八九两]?)(十?)([一二三四五六七八九]?)([\u3400-\u9fff]?)")
_MEASURES: Final = "个只位名种次年月日天岁块元本件条张部家人点号周口辆台套份杯斤层间碗瓶双对遍回箱盆匹头棵架株栋艘"

_PRONOUNS: Final = {
    word: words[0]
    for words in (
        ("i", "me", "my", "mine", "myself", "我"),
        ("we", "us", "our", "ours", "ourselves", "我们", "咱们", "咱"),
        ("you", "your", "yours", "yourself", "你", "您", "你们"),
        ("he", "him", "his", "himself", "他"),
        ("she", "her", "hers", "herself", "她"),
        ("they", "them", "their", "theirs", "他们", "她们"),
    )
    for word in words
}
_PARTLY: Final = table(
    """
    without none neither nor nobody nothing against opposed oppose opposes refuse refused refuses fail failed fails deny
    denied denies lack lacks avoid avoided declined unlike except 无 未 非 别 不得 无法 除了 反对 拒绝
    """
)
"""Words that deny a part of what is said («without looking»), or say «not» otherwise («decided against»)."""
_IDLE: Final = table(
    """
    a an the is are am be being been do does to in on at as that which and also just really very quite actually so well
    then there oh hey please currently now already btw its it s re ve ll d m
    现在 目前 如今
    的 了 吗 呢 啊 吧 呀 嘛 哦 嗯 么 着 得 地 之 是 在 正在 也 都 就 还 又 而 且 但 很 非常 真 真的 挺 把 啦 哈 哈哈
    一个 一只 一位 一名
    一种 一些 一条 一张 一辆 一件 一部 个 这 那 其 该 并 并且 已 已经 所
    """
)
_AND: Final = table("和 与 及 以及 跟")
_PAST: Final = table("was were had did")
_FUNCTION: Final = table(
    """
    of by for with from into onto out off up down over under about after before until since if or nor but than like
    will would can could shall should may might must has have having had was were did doing this these those what when
    where who whom whose why how some any too yes i me my mine we us our you your he him his she her they them their
    用 来 去 到 过 会 将 要 想 能 可以 应该 可能 如果 虽然 因为 所以 但是 然后 或者 还是 就是 给 让 对 从 向 于 以
    为 被 有 我 我们 你 您 你们 他 她
    他们 她们 自己 什么 怎么 这个 那个 哪个 比较 觉得 感觉 呵呵 嘿嘿 哈哈哈 不过 一下 一直 一样 时候
    """
)
_FIRST: Final = Lazy(r"(?i)\b(?:i|we|my|our|me|us|mine|ours)\b|[我咱]")
_SECOND: Final = Lazy(r"(?i)\b(?:you|your|yours)\b|[你您]")
_KIN: Final = (
    "sister|brother|mom|mother|mum|dad|father|parents|wife|husband|partner|friends?|boss|manager|colleagues?|coworkers?"
    "|roommate|flatmate|neighbou?rs?|sons?|daughters?|kids?|child|children|cousins?|uncle|aunt|grand[a-z]+|boyfriend"
    "|girlfriend|fianc[eé]e?|teacher|doctor|therapist|client|landlord"
)
_KIN_ZH: Final = (
    "同事|老板|领导|朋友|室友|同学|老师|医生|邻居|客户|房东|妈|爸|爷爷|奶奶|外公|外婆|父亲|母亲|老婆|老公|妻子|丈夫|媳妇|男友|女友|对象"
    "|儿子|女儿|孩子|哥|姐|弟|妹"
)
_OTHERS: Final = Lazy(
    rf"(?i)\b(?:he|she|they|his|her|their|him|them)\b|\b(?:(?:my|our|the|a) (?:\w+ )?)?(?:{_KIN})\b"
    rf"|[他她]|我?[们的]?(?:{_KIN_ZH})|老[张王李赵刘陈杨黄周吴徐孙马朱胡林郭何高罗]"
)
_ASKS: Final = Lazy(
    r"(?i)(?:(?:so|and|also|but|ok|okay|hey|hi|well|oh|btw|anyway|by the way)[,\s]+)*"
    r"(?:what|when|where|who|which|why|how|do|does|did|is|are|was|were|can|could|would|will|should|have|has|any)\b"
)
_ASKS_ZH: Final = Lazy(
    "[吗呢么]$|什么|怎么|为什么|多少|几[个点时号岁年月天次]|哪[里个儿年天些]|谁|是不是|有没有|能不能|要不要|会不会|可不可以"
)
_BREAK: Final = Lazy(r"\s*[,;:，；：、]\s+|[，；：]|\s+[-–—]+\s+|\s+(?=(?i:but|because|although|so that|while)\s)")
_LASTS: Final = Lazy(
    r"(?i)\b(?:i|we)(?:'ve| have)(?: (?:already|also|just|been|now|even|actually|recently|only|managed to))* \w+"
    r"|\b(?:i|we)(?:'m|'re| am| are|'ll have| did) \w+"
    r"|\b(?:i|we) (?:(?:currently|now|usually|actually|still|typically|always|normally|only|just|really|do|generally"
    r"|also|often|never|don't) )*"
    r"(?:have|own|need|use|go|lead|see|live|weigh|earn|make|pay|work|play|run|keep|spend|drink|eat|take|get|wake|sleep|meet"
    r"|write|read|watch|practice|train|collect|manage|save|charge|drive|commute|like|love|hate|prefer|want|reached|hit"
    r"|realized|completed|finished|added|remember|switched|moved|changed|can)\b"
    r"|\b(?:my|our)\b.{0,60}\b(?:is|are|was|were|of|at|now|count|total|record|score|best|time|limit|goal"
    r"|(?:went (?:up|down)|changed|raised) to)\b"
    r"|\bthe (?:[\w-]+ ){0,3}?(?:code|password|passcode|pin|combination|extension|rent|budget|deadline)"
    r" (?:is|was|went|has)\b"
    r"|\bit's\b|\bso far\b|\bin total\b|\b(?:brings?|bringing) my\b|\bwhich (?:i|we|is|are)\b"
)
_LASTS_ZH: Final = Lazy(
    "现在|目前|已经|一共|总共|终于|涨到|升到|降到|减到|反弹到|改成|改为|改用|换成|换了|调薪到|月租|年薪|体重|都是"
    "|住在|[我咱].{0,12}(?:有|用|住|是|在|养|喜欢|爱|讨厌|不|要|想|会|每)"
    "|(?:密码|口令|门禁码?|工号|学号|车牌号?|门牌号?|群号|房号|房租|租金|工资|月薪|学费|物业费|手机号|电话)(?:都|还)?(?:是|为)"
)


def _sentence(sentence: str) -> list[Statement]:
    clauses = _BREAK.pattern.split(sentence)
    read = [each for clause in clauses if clause.strip() and (each := _read(clause)) is not None]
    beside = frozenset(word for each in read for word in each.words)
    told: list[Statement] = []
    for each in read:
        who = each.who or (told[-1].who if told else "")  # «my colleague has moved too, his rent is 5,800»
        lasts = each.lasts or (not each.who and any(other.lasts for other in read))
        told.append(replace(each, beside=beside, who=who, lasts=lasts))
    return told


def _read(clause: str) -> Statement | None:
    clause = unicodedata.normalize("NFKC", clause).replace("’", "'").strip()
    chinese = HAN.pattern.search(clause) is not None
    tokens = list(islice(_tokens(_every_other(clause)), _MOST_TOKENS))
    telling = [_tells(token) for token in tokens]
    words = [(at, stem(token) if token.isascii() else token) for at, token in enumerate(tokens) if telling[at]]
    numbers = [(at, number) for at, token in enumerate(tokens) if (number := _number(token)) is not None]
    if not words and not numbers:
        return None
    return Statement(
        text=clause,
        words=tuple(word for _, word in words),
        beside=frozenset(word for _, word in words),
        negated=sum(token in NEGATIONS and token not in _PARTLY for token in tokens) % 2 == 1,
        partly=any(token in _PARTLY for token in tokens),
        quantities=tuple(_quantity(at, number, words, tokens, telling) for at, number in numbers[:_MOST_QUANTITIES]),
        who=_who(clause),
        lasts=(_LASTS_ZH if chinese else _LASTS).pattern.search(clause) is not None,
        asks=_asks(clause, chinese),
    )


def _tells(token: str) -> bool:
    """Whether a token is a content word."""
    idle = token in _IDLE or token in _FUNCTION or token in _PRONOUNS or token in _AND or token in NEGATIONS
    return not idle and _number(token) is None


def _quantity(
    at: int, number: str, words: Sequence[tuple[int, str]], tokens: Sequence[str], telling: Sequence[bool]
) -> Quantity:
    return Quantity(
        value=number,
        form="date" if _is_date(tokens, at) else _form(number),
        before=next((word for place, word in reversed(words) if place < at), ""),
        after=next((word for place, word in words if place > at and word not in _ADJECTIVES), ""),
        label=at > 0 and telling[at - 1] and not _counts(tokens, at),
        ahead=frozenset(word for place, word in words if place < at),
    )


def _asks(clause: str, chinese: bool) -> bool:
    if chinese:
        return clause.endswith(("?", "？")) or _ASKS_ZH.pattern.search(clause) is not None
    return clause.endswith("?") and _ASKS.pattern.match(clause) is not None


def _who(clause: str) -> str:
    """Who a clause is about: whoever it names first."""
    found = [
        (match.start(), who or match.group().casefold())
        for who, pattern in (("", _OTHERS), ("i", _FIRST), ("you", _SECOND))  # «my sister» is not I
        if (match := pattern.pattern.search(clause))
    ]
    return min(found, key=lambda place: place[0])[1] if found else ""


def _is_date(tokens: Sequence[str], at: int) -> bool:
    """Whether a number is of a day, a month or a year."""
    beside = (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])
    return not _MONTHS.isdisjoint(beside) or tokens[at][-1] in "月日号年" or _next_is_date(tokens, at)


def _next_is_date(tokens: Sequence[str], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1][0] in "月日号年" and not tokens[at + 1].startswith(("年薪", "日元"))


_MONTHS: Final = table(
    """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec
    """
)


def _counts(tokens: Sequence[str], at: int) -> bool:
    """Whether a unit stands after a number, or is its last character: «四点»."""
    return (at + 1 < len(tokens) and tokens[at + 1] in _UNITS) or tokens[at][-1] in _MEASURES


_UNITS: Final = table(
    """
    am pm kg g lb lbs km m cm mm mi mile miles meter meters metre metres hour hours minute minutes second seconds h min
    s ms day days week weeks month months year years time times percent dollar dollars euro euros pound pounds gb mb kb
    people
    点 点半 号 日 月 年 岁 天 周 小时 分钟 秒 次 元 块 万 亿 公斤 斤 公里 米 人 个 度 页 本 台 件
    """
)
_ADJECTIVES: Final = frozenset(map(stem, table("new different more other short whole total full good great great")))
_EVERY_OTHER: Final = Lazy(r"(?i)\b(?:every|each) other (\w+)")
_EVERY: Final = Lazy(
    r"(?i)\b(?:every|once a|once every|about an?|been an?|for an?|just an?|just one)"
    r" (hour|day|week|month|year|cup|time)\b"
)


def _every_other(clause: str) -> str:
    return _EVERY.pattern.sub(r"1 \1", _EVERY_OTHER.pattern.sub(r"2 \1", clause))


def _tokens(text: str) -> Iterator[str]:
    """Words and numbers as they are written, without case; a denial that is glued to its verb comes by itself."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    for found in _TOKEN.pattern.finditer(text):
        token = found.group()
        if found["number"]:
            yield found["number"].replace(",", "") + (found["percent"] or "")
        elif HAN.pattern.match(token):
            yield from _han(token[:_LONGEST_HAN])
        elif token.lower().endswith("n't"):
            yield from (token.lower()[:-3], "not")
        else:
            yield token.lower().partition("'")[0]


def _han(run: str) -> Iterator[str]:
    for word in dictionary_cutter()(run):
        if len(word) > 1 and word[0] in "不没" and word not in BOUND_NEGATIONS and word not in NEGATIONS:
            yield from (word[0], word[1:])
        elif joined := _JOINED.pattern.fullmatch(word):
            yield from filter(None, joined.groups())
        else:
            yield word


_JOINED: Final = Lazy("([二两三四五六七八九十]+[个只位名条台辆部头匹棵盆把架本])(..?)|(我)([养有用住买换])")
"""What the dictionary takes for one word and is two: 「两辆车」, 「我养」."""


def _number(token: str) -> str | None:
    """The number that a token is, in digits; ``None`` when it is none."""
    if token[0].isdigit():
        return token
    if token[0] in "$€£¥￥":
        return token[1:]
    if token.isascii():
        return _ENGLISH_NUMBERS.get(token)  # «one» is nearly always an article
    return _chinese_number(token)


def _chinese_number(token: str) -> str | None:
    found = _CHINESE_NUMBER.pattern.fullmatch(token)
    if found is None or not (found[1] or found[2]) or (found[4] and found[4] not in _MEASURES):
        return None
    if found[4] and token[0] == "一" and not found[2]:
        return None  # «一个» is an article
    if not found[2]:
        return str(_CHINESE_DIGITS[found[1]]) if found[1] and not found[3] else None
    return str(10 * (_CHINESE_DIGITS[found[1]] if found[1] else 1) + (_CHINESE_DIGITS[found[3]] if found[3] else 0))


def _form(number: str) -> str:
    return next((name for name, pattern in _FORMS if pattern.pattern.fullmatch(number)), "other")


def _unit(token: str) -> Iterator[str]:
    """What a token is counted as in ``wording``; nothing when it is idle."""
    number = _number(token)
    if number is not None:
        yield number
    elif token in NEGATIONS:
        yield "not"
    elif token in _PRONOUNS:
        yield _PRONOUNS[token]
    elif token in _AND:
        return
    elif token in _PAST:
        yield "(past)"
    elif token not in _IDLE:
        word = stem(token) if token.isascii() else token
        yield word
        if token.endswith("ed") and word != token:
            yield "(past)"
