"""Passwords as people say them and as programs assign them, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_memory.guard.detect_views import Spot

_HINT: Final = re.compile(
    r"pass|pwd|\bpin\b|secret|token|api.?key|access.?key|private.?key|auth.?key|credential|\bcode\b|密码|口令|密钥|cvv|cvc",
    re.IGNORECASE,
)
_QUOTED: Final = r"[\"'`“‘「『《](?P<quoted>[^\n\"'`”’」』》]{3,200})[\"'`”’」』》]"
_BARE: Final = r"(?P<bare>[!-~]{3,200}+)"
_WHOSE: Final = re.compile(
    r"(?<![A-Za-z])(?:my|our|his|her|their|the|your|[A-Za-z]{1,30}['’]s)[ ](?:[\w-]{1,30}[ ]){0,4}\Z", re.IGNORECASE
)
_ENGLISH: Final = re.compile(
    r"(?<![A-Za-z])(?P<what>pass(?:word|code|phrase|wd)|pwd|pin(?:[ ](?:code|number))?|security[ ]code|cvv|cvc"
    r"|secret[ ](?:key|word)|code)(?![A-Za-z])"
    r"(?:[ ](?:for|of|to|on)(?:[ ][\w@'’-]{1,40}(?:\.[\w-]{1,40}){0,3}){1,5}?)?"
    r"[ ]?(?:(?:is|was|are|will be|changed to|set to|[=:：]|->|→|⇒)[ ]?"
    r"(?:(?:now|still|set to|changed to|simply|just|actually)[ ])?)"
    rf"(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?P<what>密码|口令|密钥|PIN码?)(?:现在|目前|已经|已|后来|还|都|就)?"
    r"(?:是|为|改成了?|改为了?|换成了?|变成了?|设成了?|设为|设置为|叫|[:：=]|[ ](?=[!-~]{0,60}[0-9]))[了\s]?"
    rf"(?:{_QUOTED}|{_BARE})(?!\s?[位个次条种])",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    r"(?P<what>密码|口令|\bpass(?:word|code|phrase)|\bpwd|\bpin)(?:[ ][a-z]{2,8}){0,3}(?:从|[ ]from[ ])[ ]?"
    r"(?P<old>[!-~]{3,200}?)(?:改成了?|改为|换成了?|变成了?|[ ]to[ ])[ ]?(?P<new>[!-~]{3,200})",
    re.IGNORECASE,
)
_THING: Final = re.compile(
    r"柜子|[物存衣件递]柜|门禁|[大房家院单元]门|门锁|车锁|密码锁|车库|行李箱|信箱"
    r"|\b(?:locker|door|gate|garage|lock|padlock|bike|suitcase|luggage|mailbox|entry|building|gym|cabinet|shed)\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"[0-9*#A-Da-d]{3,10}")
_PIN: Final = re.compile(r"[0-9]{3,12}")
_ASSIGNED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<name>[A-Za-z0-9_.-]{0,40}(?:api_?-?key|secret(?:_?-?(?:access_?-?)?key)?|passw(?:or)?d|passphrase|pwd"
    r"|auth_?-?token|access_?-?token|refresh_?-?token|client_?-?secret|private_?-?key|access_?-?key|credentials?|token)(?:_?[0-9]{1,2})?)"
    r"[\"'`]?\s{0,3}(?:=>|[:=：])\s{0,3}(?:[\"'`](?P<quoted>[^\s\"'`]{6,200})[\"'`]"
    r"|(?P<bare>[A-Za-z0-9+/_.~!@#$%^&*-]{8,200}={0,2}))",
    re.IGNORECASE,
)
_KEPT: Final = re.compile(
    r"\[(?:redacted|vault):|\$\{|\$[A-Za-z_]|<|\{\{|%\(|\*{3}|•|x{4,}|\.{3}"
    r"|your[-_ ]|my[-_]|example|changeme|placeholder"
    r"|env[.(\[]|os\.|process\.|self\.|config\.|settings\.|getenv|https?://|file:|/|[A-Za-z_]+[\[\](),]",
    re.IGNORECASE,
)
"""How a value begins that stands for a secret and is none: a mark, a placeholder, a variable of a program."""
_COMMON_WORDS: Final = """
a an the and or not no none null nil true false string str text int integer number bool boolean bytes object
optional required missing empty blank wrong invalid incorrect expired weak strong secure insecure safe unsafe
correct valid reset changed updated saved stored hashed encrypted hidden masked redacted removed deleted rotated
protected shared known unknown forgotten lost stolen leaked compromised exposed needed set unset too very so in on
at by for from with to of as that this it its what when where why how who which same different new old long short
case also only now still being been both never always already about asked sent available mandatory default sensitive
private public confidential ready working broken enabled disabled accepted rejected denied easy hard simple complex
random unique your my our his her their varchar char password passwd secret token field value type here there
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
"""What stands behind «the password is» and is no password."""
_EDGE: Final = ".,;:!?)]}>'\"`，。；：！？）】》、"


def passwords(text: str) -> Iterator[Spot]:
    """What is said or assigned as a password, a PIN or a secret; a lock's number is an ``access_code``."""
    if not _HINT.search(text):
        return
    for pattern, judge in ((_ENGLISH, _in_english), (_CHINESE, _in_chinese)):
        for found in pattern.finditer(text):
            start, end = _value(found)
            kind = judge(found, text[start:end], text[end : end + 1])
            if kind is not None:
                yield Spot(kind, start, end)
    for found in _CHANGED.finditer(text):
        yield from (
            Spot("password", found.start(name), found.start(name) + len(found[name].rstrip(_EDGE)))
            for name in ("old", "new")
        )
    for found in _ASSIGNED.finditer(text):
        start, end = _value(found)
        if _is_secret(text[start:end], quoted=found["quoted"] is not None, name=found["name"]):
            yield Spot(
                "password" if "pass" in found["name"].lower() or "pwd" in found["name"].lower() else "api_key",
                start,
                end,
            )


def _value(found: re.Match[str]) -> tuple[int, int]:
    """Where the value stands, without the punctuation of the sentence around it."""
    if found["quoted"] is not None:
        return found.span("quoted")
    start = found.start("bare")
    said = found["bare"]
    return start, start + len(said.rstrip(_EDGE) or said)


def _in_english(found: re.Match[str], value: str, after: str) -> str | None:
    what, before = found["what"].lower(), found.string[max(0, found.start() - 80) : found.start()]
    whose = _WHOSE.search(before)
    if _KEPT.match(value) or value.lower() in _COMMON or len(value) < 3:
        return None
    lock = whose is not None and _THING.search(whose[0]) is not None and _CODE.fullmatch(value) is not None
    if what == "code" or lock:
        return "access_code" if lock else None
    if what.startswith("pin") or what in ("cvv", "cvc"):
        return "password" if _PIN.fullmatch(value) else None
    plain = value.replace("_", "").replace("-", "").isalpha() and (value.islower() or value.istitle())
    if plain and found["quoted"] is None and (whose is None or after not in (*_EDGE, "", "\n")):
        return None
    return "password"


def _in_chinese(found: re.Match[str], value: str, after: str) -> str | None:  # noqa: ARG001
    if _KEPT.match(value) or value.lower() in _COMMON or len(value) < 3:
        return None
    if found["quoted"] is None and value.isalpha() and len(value) < 4:
        return None
    before = found.string[max(0, found.start() - 6) : found.start()]
    return "access_code" if _THING.search(before) and _CODE.fullmatch(value) else "password"


_NO_SECRET_NAME: Final = re.compile(
    r"(?:max|min|num|total|n|count|input|output|prompt|completion|used|per|special|pad|eos|bos|unk|sep|cls|stop|next|page|csrf_?name)_?-?tokens?$",
    re.IGNORECASE,
)


def _is_secret(value: str, *, quoted: bool, name: str) -> bool:
    if _KEPT.match(value) or value.lower() in _COMMON or _NO_SECRET_NAME.search(name):
        return False
    digits, letters = any(each.isdigit() for each in value), any(each.isalpha() for each in value)
    password = "pass" in name.lower() or "pwd" in name.lower()
    if quoted and password:
        return True
    return digits and letters and len(value) >= (6 if password else 12)
