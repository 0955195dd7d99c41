"""The test that a model takes before it judges: pairs whose answer is known, in English and Chinese.

What judges takes true statements out of sight where it is wrong, and no check can tell a weak model's «newer» from a
good one's. So it is asked what is known, first.
"""

from __future__ import annotations

from typing import Final

from hindsight_memory.assist.assistant import Advice, Assistant, Standing

BOTH: Final[tuple[tuple[str, str], ...]] = (
    ("The user likes hiking in the mountains", "The user likes swimming in the lake"),
    ("The user's sister works as a nurse in Leeds", "The user works as a teacher in Leeds"),
    ("The staging server runs Debian", "The staging server has 32 GB of memory"),
    ("用户喜欢早上跑步", "用户喜欢晚上读书"),
    ("用户的妈妈住在成都", "用户的爸爸是一名医生"),
    ("项目的前端用的是 Vue", "项目的测试用的是 pytest"),
)
"""Both true at once."""
CHANGED: Final[tuple[tuple[str, str], ...]] = (
    ("The user lives in Berlin", "The user has moved from Berlin to Lisbon and lives there now"),
    ("The team meets every Monday", "The team no longer meets on Mondays, but every Thursday"),
    ("用户在一家银行上班", "用户从银行辞职了，现在在一所小学当老师"),
    ("用户每天喝咖啡", "用户已经戒掉咖啡了，现在只喝茶"),
)
"""The second says how the first is now."""
_AT_ODDS: Final[frozenset[Standing]] = frozenset({"newer", "contradicts"})

_WRONG: Final = 1
"""Pairs true at once that may be taken for anything else, ..."""
_RIGHT: Final = 3
"""... and changes that must be seen."""


async def examine(assistant: Assistant) -> Advice[bool]:
    """Whether a judge may be believed; nothing, where it did not answer. ``reason`` says what went wrong."""
    wrong = seen = 0
    for old, new in BOTH:
        advice = await assistant.judge(old, new)
        if advice.passing:
            return Advice(reason=advice.reason, passing=True)
        wrong += advice.value is not None and advice.value.standing != "unrelated"
    for old, new in CHANGED if wrong <= _WRONG else ():
        advice = await assistant.judge(old, new)
        if advice.passing:
            return Advice(reason=advice.reason, passing=True)
        seen += advice.value is not None and advice.value.standing in _AT_ODDS
    if wrong > _WRONG:
        return Advice(False, f"it took {wrong} of {len(BOTH)} pairs that are both true for something else")
    if seen < _RIGHT:
        return Advice(False, f"it saw {seen} of {len(CHANGED)} changes")
    return Advice(True)
