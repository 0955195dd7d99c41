"""The assistant as the settings make it: one model for all tasks, others for some, none, and one budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from endpoints import Endpoint, Reply
from hindsight_memory import InvalidInput
from hindsight_memory.assist.assistant import Assistant, Rules, Task
from hindsight_memory.assist.llm import LLMAssistant
from hindsight_memory.build import PREFIX, assistant_of, build, llm_of, settings_from
from hindsight_memory.models.budget import Budget
from hindsight_memory.settings import LLMSettings, Settings
from hindsight_memory.testing import ScriptedLLM, StoppedClock, open_service


def chosen(settings: LLMSettings, clock: StoppedClock) -> dict[str, str]:
    """The name of each task's model, where it has one."""
    budget = Budget(settings.daily_tokens, clock)
    assistant = assistant_of(settings, llm_of(settings, budget), budget)
    models = assistant._models if isinstance(assistant, LLMAssistant) else {}
    return {task.value: model.name for task, model in models.items()}


@pytest.mark.parametrize(
    ("settings", "models"),
    [
        (LLMSettings(), {}),
        (LLMSettings("openai:a"), dict.fromkeys(Task, "openai:a")),
        (LLMSettings("openai:a", judge="openai:b"), dict.fromkeys(Task, "openai:a") | {"judge": "openai:b"}),
        (LLMSettings("openai:a", state="none"), {task: "openai:a" for task in Task if task != "state"}),
        (LLMSettings(reflect="anthropic:b"), {"reflect": "anthropic:b"}),
        (LLMSettings(extract="none"), {}),
    ],
)
def test_which_model_a_task_has(settings: LLMSettings, models: dict[str, str], clock: StoppedClock) -> None:
    assert chosen(settings, clock) == models


def test_a_model_that_two_tasks_share_is_made_once(clock: StoppedClock) -> None:
    settings = LLMSettings("openai:a", judge="openai:b", state="openai:b")
    budget = Budget(0, clock)
    assistant = assistant_of(settings, llm_of(settings, budget), budget)
    assert isinstance(assistant, LLMAssistant)
    assert len({id(model) for model in assistant._models.values()}) == 2


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        (LLMSettings("openai:a", judge="anthropic:b"), "LLM_JUDGE"),
        (LLMSettings("openai:a", judge="b"), "LLM_JUDGE"),
        (LLMSettings(extract="openai:"), "LLM_EXTRACT"),
        (LLMSettings(summarise="gpt"), "LLM_SUMMARISE"),
    ],
)
def test_a_model_that_cannot_be_is_said_at_once(settings: LLMSettings, field: str, clock: StoppedClock) -> None:
    with pytest.raises(InvalidInput) as wrong:
        chosen(settings, clock)
    assert wrong.value.field == PREFIX + field


def test_every_task_has_its_variable() -> None:
    given = {f"{PREFIX}LLM_{task.value.upper()}": f"openai:{task}" for task in Task}
    llm = settings_from(given, "x.db").llm
    assert [getattr(llm, task.value) for task in Task] == [f"openai:{task}" for task in Task]


@pytest.mark.parametrize(("value", "tokens"), [("0", 0), ("5000", 5_000)])
def test_the_daily_tokens_are_a_variable(value: str, tokens: int) -> None:
    assert settings_from({f"{PREFIX}LLM_DAILY_TOKENS": value}, "x.db").llm.daily_tokens == tokens


@pytest.mark.parametrize("value", ["-1", "many", "1.5", "1e6"])
def test_tokens_that_are_no_number_are_an_error(value: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        settings_from({f"{PREFIX}LLM_DAILY_TOKENS": value}, "x.db")
    assert wrong.value.field == f"{PREFIX}LLM_DAILY_TOKENS"


async def test_the_service_has_it_and_closes_it(database: Path) -> None:
    llm = ScriptedLLM('{"summary": "short"}')
    service = await open_service(database, llm=llm)
    assistant: Assistant = service._parts.assistant
    assert (await assistant.summarise("A short text that is not so very short.")).value == "short"
    await service.close()
    assert llm.closed


async def test_without_a_model_rules_answer(database: Path) -> None:
    service = await open_service(database)
    assert isinstance(service._parts.assistant, Rules)
    await service.close()


async def test_every_model_of_a_service_has_one_budget(endpoint: Endpoint, database: Path, clock: StoppedClock) -> None:
    usage = {"total_tokens": 4_000}
    endpoint.replies = [Reply({"choices": [{"message": {"content": '{"summary": "A long text."}'}}], "usage": usage})]
    llm = LLMSettings("openai:a", endpoint.url, judge="openai:b", daily_tokens=6_000)
    service = await build(Settings(str(database), llm=llm), clock, [])
    assistant = service._parts.assistant
    assert (await assistant.summarise("A long text that is not so very long.")).value == "A long text."
    advice = await assistant.judge("Likes tea", "Lives in Rome")
    assert (advice.value, advice.passing) == (None, True)
    assert "6,000 tokens for language models are spent" in advice.reason
    assert len(endpoint.asked) == 1
    await service.close()
