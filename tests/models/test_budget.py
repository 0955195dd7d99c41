"""The day's tokens: what requests take is counted, and what is not there is not spent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from endpoints import Endpoint, Reply
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.budget import Budget, BudgetSpent
from hindsight_memory.models.chat import AnthropicChat, OpenAIChat
from hindsight_memory.settings import LLMSettings
from hindsight_memory.testing import StoppedClock


def said(usage: Any = None, text: str = "yes") -> Reply:
    return Reply({"choices": [{"message": {"content": text}}], "usage": usage})


def chat_over(endpoint: Endpoint, budget: Budget, timeout_s: float = 5) -> OpenAIChat:
    return OpenAIChat("small", LLMSettings(base_url=endpoint.url, timeout_s=timeout_s), budget)


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        ({"total_tokens": 120}, 120),
        ({"prompt_tokens": 100, "completion_tokens": 20}, 120),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150}, 150),
    ],
)
async def test_what_an_answer_says_it_took_is_counted(
    endpoint: Endpoint, clock: StoppedClock, usage: Any, spent: int
) -> None:
    budget = Budget(100_000, clock)
    endpoint.replies = [said(usage)]
    llm = chat_over(endpoint, budget)
    for _ in range(3):
        await llm.chat("Be brief.", "hello", max_tokens=50)
    assert budget.spent == 3 * spent
    await llm.close()


async def test_anthropics_counts(endpoint: Endpoint, clock: StoppedClock) -> None:
    budget = Budget(100_000, clock)
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1}
    endpoint.replies = [Reply({"content": [{"type": "text", "text": "yes"}], "usage": usage})]
    llm = AnthropicChat("small", LLMSettings(base_url=endpoint.url), budget)
    await llm.chat("", "hello", max_tokens=50)
    assert budget.spent == 116
    await llm.close()


@pytest.mark.parametrize(
    "usage", [None, {}, [], "many", {"total_tokens": -5}, {"total_tokens": 10**12}, {"total_tokens": True}]
)
async def test_what_is_not_said_is_estimated(endpoint: Endpoint, clock: StoppedClock, usage: Any) -> None:
    budget = Budget(100_000, clock)
    endpoint.replies = [said(usage, "word " * 100)]
    llm = chat_over(endpoint, budget)
    await llm.chat("", "prompt " * 100, max_tokens=500)
    assert 200 < budget.spent < 700
    await llm.close()


async def test_what_is_not_there_is_not_spent(endpoint: Endpoint, clock: StoppedClock) -> None:
    budget = Budget(1_000, clock)
    endpoint.replies = [said({"total_tokens": 600})]
    llm = chat_over(endpoint, budget)
    await llm.chat("", "hello", max_tokens=500)
    with pytest.raises(BudgetSpent, match="1,000 tokens") as spent:
        await llm.chat("", "hello", max_tokens=500)
    assert spent.value.passing
    assert len(endpoint.asked) == 1
    await llm.chat("", "hello", max_tokens=50)  # a smaller one still fits
    clock.advance(days=1)
    assert budget.spent == 0
    await llm.chat("", "hello", max_tokens=500)
    await llm.close()


async def test_many_at_once_do_not_spend_what_is_there_for_one(endpoint: Endpoint, clock: StoppedClock) -> None:
    budget = Budget(1_000, clock)
    endpoint.replies = [
        Reply({"choices": [{"message": {"content": "x"}}], "usage": {"total_tokens": 500}}, after_s=0.2)
    ]
    llm = chat_over(endpoint, budget)
    answers = await asyncio.gather(*(llm.chat("", "hi", max_tokens=600) for _ in range(8)), return_exceptions=True)
    assert [each for each in answers if isinstance(each, str)] == ["x"]
    assert budget.spent == 500
    await llm.close()


async def test_a_refusal_costs_nothing_and_an_answer_that_never_comes_its_question(
    endpoint: Endpoint, clock: StoppedClock
) -> None:
    budget = Budget(100_000, clock)
    llm = chat_over(endpoint, budget, timeout_s=0.3)
    endpoint.replies = [Reply({"error": "no"}, 401)]
    with pytest.raises(ModelFailed):
        await llm.chat("", "hello", max_tokens=50_000)
    assert budget.spent == 0
    endpoint.replies = [Reply({}, after_s=1)]
    with pytest.raises(ModelFailed):
        await llm.chat("", "hello", max_tokens=50_000)
    assert 0 < budget.spent < 200
    await llm.close()


async def test_no_limit_is_no_limit(endpoint: Endpoint, clock: StoppedClock) -> None:
    budget = Budget(0, clock)
    endpoint.replies = [said({"total_tokens": 9_000_000})]
    llm = chat_over(endpoint, budget)
    for _ in range(3):
        await llm.chat("", "hello", max_tokens=50)
    assert budget.spent == 27_000_000
    await llm.close()


def test_what_was_begun_yesterday_is_not_taken_from_today(clock: StoppedClock) -> None:
    budget = Budget(1_000, clock)
    with budget.billed(800) as bill:
        clock.advance(days=1)
        bill.tokens = 100
    assert budget.spent == 0
