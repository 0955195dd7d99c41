"""What tells one error from others whatever its values are: the line that says it, with placeholders for the values.

Reads what Python, JavaScript, Java, Go, Rust and shells print, and messages in English and Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from hindsight_memory.text.patterns import Lazy

TAG: Final = "error:"
"""What the tag of an error begins with."""

_EDGE: Final = 8_000
"""Characters at each end of a text that are read: what went wrong stands there, whatever lies between."""
_LINE: Final = 400
"""Characters of a line that are read."""
_LONGEST: Final = 200
"""Characters of a signature."""
_LETTERS: Final = str.maketrans("0123456789abcdef", "ghijklmnopabcdef")


def signature(text: str) -> str:
    """What an error is, with placeholders for its values; empty where the text is.

    Numbers, paths, addresses, times, ids and what stands in quotes are values. The code of an error (``HTTP 404``,
    ``E0382``, ``errno 13``) is not: it says which error it is.
    """
    line = unicodedata.normalize("NFKC", error_line(text))[:_LINE]
    plain = _VALUE.pattern.sub(_placeholder, line)
    plain = _REPEATED.pattern.sub(r"\1", " ".join(plain.casefold().split()))
    return plain.strip(" .,;:!-")[:_LONGEST].strip()


def error_tag(text: str) -> str | None:
    """The tag that memories of the same error share, one word of the index; see ``tag_of``."""
    return tag_of(signature(text))


def tag_of(said: str) -> str | None:
    """The tag of a signature; ``None`` where it says too little: «exit code 1» and «KeyError» are many errors."""
    return (
        None
        if not _TELLING.pattern.search(said)
        else TAG + blake2b(said.encode(), digest_size=6).hexdigest().translate(_LETTERS)
    )


def error_line(text: str) -> str:
    """The part of a text that says best what went wrong, on one line as it stands there; its first line if none does.

    The class of an exception without its module leads, where there is one; of a chain of causes it is the root.
    """
    return find_error(text) or next(_lines(_ends(text)), "") or " ".join(text[:_LINE].split())


def find_error(text: str, *, plainly: bool = False) -> str:
    """The same, and empty where no line speaks of an error; ``plainly`` wants one that is an error's own message."""
    text = _ends(text)
    lines = list(_lines(text))
    classes = [line[found.start(1) :] for line in lines if (found := _CLASS.pattern.search(line))]
    causes = [
        line[found.start(1) :]
        for line in lines
        if line.startswith("Caused by:") and (found := _CLASS.pattern.search(line))
    ]
    if causes:
        return causes[-1]
    if classes:
        return classes[-1 if "Traceback (most recent call last)" in text else 0]
    for marks in (_MARKED,) if plainly else (_MARKED, _SPEAKS):
        found_in = next((line for line in lines if marks.pattern.search(line)), "")
        if found_in:
            return found_in
    return ""


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"


def _lines(text: str) -> Iterator[str]:
    """The lines that say something, without what a log or a test runner puts before them."""
    for line in text.splitlines():
        if _FRAME.pattern.match(line[:_LINE]):
            continue
        said = _PREFIX.pattern.sub("", line.strip()[:_LINE]).strip()
        if said and not _EMPTY.pattern.fullmatch(said):
            yield said


def _placeholder(found: re.Match[str]) -> str:
    name = found.lastgroup or ""
    return found.group() if name == "code" else f"<{name}>"


_FRAME: Final = Lazy(
    r"\s+at\s|\s*File \"|\s*goroutine \d|\s*note: |\s*-->|\s*\||\s*\d+ \||\s*[\^~]+\s*$|\s*\.\.\. \d+ more"
    r"|[>\s]+(?:raise|throw|except|catch|import|from|return|def|assert)\b"
    r"|\s*Traceback \(|\s*During handling of|\s*The above exception|\s*(?:stack backtrace|Stack trace)"
    r"|thread '[^']{0,100}'[^:]{0,40} panicked at [^'\"]{0,200}:\d+:\d+:\s*$"
)
"""Lines that say where it happened and not what."""
_PREFIX: Final = Lazy(
    r"^(?:E {2,}|npm ERR! |\S{0,12}\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\s|\d{4}-\d\d-\d\d[T\s]|\[[^\]]{1,40}\]\s"
    r"|(?:INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|DEBUG)(?:\s|:\s)|Uncaught |Unhandled |\(node:\d+\) |[-*•#]+\s){1,6}"
)
_EMPTY: Final = Lazy(r"\W*")
_CLASS: Final = Lazy(
    r"(?<![\w$])(?:[A-Za-z_]\w{0,60}(?:\.|::|\$)){0,9}"
    r"((?:[A-Z]\w{0,80}?)?(?:Error|Exception|Interrupt|Fault|Timeout|Failure|SystemExit|StopIteration)\b)"
    r"(?=\s{0,2}(?:[:：(\[]|-\s)|\s*$)"
)
_MARKED: Final = Lazy(
    r"(?i)^(?:[\w./-]{1,40}: )?(?:(?:error|fatal|panic|failed|failure)(?:\[\w{1,10}\])?(?: [A-Z]{0,5}\d{1,6})?\s?[:：]"
    r"|thread '[^']{0,100}' panicked)|^[^\s。，！？]{0,20}(?:错误|报错|异常|失败)[:：]"
)
_SPEAKS: Final = Lazy(
    r"(?i)\b(?:errors?|exception|fail(?:s|ed|ure)?|fatal|panic(?:ked)?|cannot|can't|could not|couldn't|unable to|denied"
    r"|refused|rejected|timed? ?out|not found|no such|crash(?:es|ed)?|aborted|segfault|segmentation|out of memory"
    r"|overflow|conflict|unauthorized|forbidden)\b"
    r"|错误|报错|出错|异常|失败|无法|超时|拒绝|找不到|未找到|不存在|崩溃|中断|溢出|没有权限|权限不足|冲突"
)
_QUOTED: Final = "|".join(
    rf"{opens}[^{opens}{closes}\n]{{0,200}}{closes}" for opens, closes in ("“”", "‘’", "«»", "「」", "『』", "``")
)
_VALUE: Final = Lazy(
    r"(?P<code>(?i:\b(?:https?(?:/\d(?:\.\d)?)?|status(?: code)?|errno|exit(?:ed)?(?: with)?(?: code| status)?|code"
    r"|errors?)[ :=#(\[]{1,3}|(?:错误码|状态码|返回码|退出码)\s?[:=]?\s?)[A-Za-z]{0,5}-?\d{1,5}(?![\w.]*\d|[ ]?\w))"
    rf"|(?P<v>(?<!\w)(?:'[^'\n]{{0,200}}'|\"[^\"\n]{{0,200}}\")(?!\w)|{_QUOTED})"
    r"|(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>,，。)]{1,300})"
    r"|(?P<path>(?<![\w/])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s'\"<>,;:，。；：()（）]{1,300}(?::\d+){0,2}"
    r"|(?<![\w/])[\w.-]{1,80}(?:[/\\][\w.@-]{1,80}){1,20}(?::\d+){0,2}"
    r"|\b[\w-]{1,80}\.(?:py|js|ts|tsx|jsx|java|go|rs|rb|c|cc|cpp|h|sh|json|ya?ml|toml|txt|log|csv|md|so|dll|db)"
    r"(?::\d+){0,2}\b)"
    r"|(?P<address>\b(?:\d{1,3}(?:\.\d{1,3}){3}|[A-Za-z][\w.-]{0,80}(?=:\d{2,5}\b))(?::\d{1,5}\b)?)"
    r"|(?P<id>\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?=[0-9a-fA-F]{0,64}\d)(?=[0-9a-fA-F]{0,64}[a-fA-F])[0-9a-fA-F]{7,64}\b"
    r"|\b[A-Za-z][\w-]{0,40}[-_]\d[\w-]{0,60})"
    r"|(?P<n>[+-]?\d+(?:[.,:/T-]\d+)*(?:Z\b)?|(?<=第)?[一二两三四五六七八九十百千万]{1,8}(?=次|秒|分钟|小时|个|行|条|天))"
)
"""Values, and first of all the codes that are none."""
_TELLING: Final = Lazy(
    r"(?<![\w<])(?!(?:errors?|exit|exited|with|code|status|failed|failure|exception|assert|true|false|none|null|and|the"
    r"|traceback|errno|http|command|process|returned|non)\b)[a-z][a-z-]{2,}\b(?<!error)(?<!exception)(?![>\w])"
    r"|(?!错误|失败|异常|报错)[\u3400-\u9fff]{2}"
)
"""A word that says more than that something failed."""
_REPEATED: Final = Lazy(r"(<\w+>)(?:(?:[\s,，、;:|/]|and|或|和)*\1)+")
