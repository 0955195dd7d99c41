"""The assistant over a small real model: never an error, never long, and what comes out stands in what went in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.assist.assistant import Rules, Task
from hindsight_memory.assist.grounding import Grounds, numbers_in, says_nothing
from hindsight_memory.assist.llm import LLMAssistant
from hindsight_memory.domain import SessionState, StatePatch
from hindsight_memory.models.chat import OpenAIChat
from hindsight_memory.settings import LLMSettings
from local_model import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WAIT_S = 30.0
EN = (
    "I moved from Berlin to Lisbon last month and I prefer green tea now. My dog is called Rex. Please remember that "
    "the deploy key rotates every 90 days, because the auditors asked for it on Friday."
)
ZH = (
    "我上个月从柏林搬到里斯本了，现在更喜欢喝绿茶。我的狗叫雷克斯。"
    "请记住部署密钥每90天轮换一次，因为审计员周五提出了要求。"
)
TEXTS = pytest.mark.parametrize("text", [EN, ZH], ids=["en", "zh"])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("model")) as (served, _):
        yield served


class Brief(OpenAIChat):
    """Cut off after 150 tokens: this model never ends by itself, and whole answers should be seen too."""

    async def chat(self, *args: Any, max_tokens: int, **options: Any) -> str:
        return await super().chat(*args, max_tokens=min(max_tokens, 150), **options)


@pytest.fixture
async def assistant(address: str) -> AsyncIterator[LLMAssistant]:
    opened = over(address)
    started = time.monotonic()
    yield opened
    assert time.monotonic() - started < 2 * WAIT_S + 10
    await opened.close()


def over(address: str) -> LLMAssistant:
    llm = Brief("gemma", LLMSettings(base_url=address, timeout_s=WAIT_S))
    return LLMAssistant(dict.fromkeys(Task, llm), Rules(), WAIT_S)


@TEXTS
async def test_facts_are_quotes(assistant: LLMAssistant, text: str) -> None:
    advice = await assistant.extract(text)
    assert (advice.value is None) == bool(advice.reason)
    for fact in advice.value or ():
        assert text[fact.start : fact.end] == fact.quote
        assert not Grounds(text).speaks_otherwise(fact.draft.content)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user lives in Berlin", "The user moved to Lisbon"),
        ("用户住在北京", "用户搬到了上海"),
        ("Costs 3", "Costs 4"),
    ],
)
async def test_a_verdict_is_one_of_four(assistant: LLMAssistant, old: str, new: str) -> None:
    advice = await assistant.judge(old, new)
    if advice.value is None:
        assert advice.reason
    else:
        assert advice.value.standing in {"same", "newer", "contradicts", "unrelated"}
        assert advice.value.standing != "same" or numbers_in(old) == numbers_in(new)


@TEXTS
async def test_a_summary_is_shorter(assistant: LLMAssistant, text: str) -> None:
    advice = await assistant.summarise(text)
    if advice.value is None:
        assert advice.reason
    else:
        assert 0 < len(advice.value) < len(text)
        assert numbers_in(advice.value) <= numbers_in(text, loosely=True)
        assert not says_nothing(advice.value)


@pytest.mark.parametrize(
    "steps",
    [
        ["ran pytest: No module named httpx", "pip install httpx: ok", "ran pytest: 40 passed"],
        ["运行测试：缺少 httpx 模块", "安装 httpx：成功", "运行测试：40 个通过"],
    ],
    ids=["en", "zh"],
)
async def test_a_lesson_names_its_steps(assistant: LLMAssistant, steps: list[str]) -> None:
    advice = await assistant.reflect(steps)
    if advice.value is None:
        assert advice.reason
    else:
        assert {*advice.value.steps} <= {0, 1, 2}
        assert numbers_in(advice.value.do) <= numbers_in("\n".join(steps), loosely=True)


@TEXTS
async def test_a_state_only_grows(assistant: LLMAssistant, text: str) -> None:
    advice = await assistant.state(SessionState(task_goal="Deploy the shop"), text)
    patch = advice.value or StatePatch()
    assert patch.remove == ()
    assert "" not in (patch.task_goal, patch.current_step)
    assert (advice.value is None) == bool(advice.reason)


async def test_a_server_that_is_killed_in_mid_answer(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, process):
        assistant = over(address)
        asked = asyncio.create_task(assistant.extract(EN * 5))
        await asyncio.sleep(0.5)  # it reads the prompt, or writes; a whole answer takes longer
        process.kill()
        advice = await asked
        assert (advice.value, advice.passing) == (None, True)
        assert "broke off" in advice.reason or "did not answer" in advice.reason
        again = await assistant.summarise(EN)
        assert (again.value, again.passing) == (None, True)
        await assistant.close()
