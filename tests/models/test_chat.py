"""Language models behind an address: what they are asked, and what comes of their answers and of their silence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoints import Endpoint, Reply
from hindsight_memory.assist.queries import rewritten
from hindsight_memory.errors import InvalidInput
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.chat import AnthropicChat, OpenAIChat, unthought
from hindsight_memory.settings import LLMSettings
from local_model import serving

KEY = "sk-very-secret-0123456789"


def said(text: Any) -> Reply:
    return Reply({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


@pytest.fixture
async def openai(endpoint: Endpoint) -> AsyncIterator[OpenAIChat]:
    llm = OpenAIChat("small", LLMSettings(base_url=f"{endpoint.url}/", api_key=KEY, timeout_s=2))
    yield llm
    await llm.close()


@pytest.fixture
async def anthropic(endpoint: Endpoint) -> AsyncIterator[AnthropicChat]:
    llm = AnthropicChat("small", LLMSettings(base_url=endpoint.url, api_key=KEY, timeout_s=2))
    yield llm
    await llm.close()


async def test_openai_is_asked_in_its_form(endpoint: Endpoint, openai: OpenAIChat) -> None:
    endpoint.replies = [said("<think>Paris or Lyon?</think>\n\nParis ")]
    assert await openai.chat("Be brief.", "Capital of France?", max_tokens=50) == "Paris"
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of France?"}],
        "max_tokens": 50,
        "temperature": 0,
    }


async def test_anthropic_is_asked_in_its_form(endpoint: Endpoint, anthropic: AnthropicChat) -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]
    endpoint.replies = [Reply({"type": "message", "content": parts})]
    assert await anthropic.chat("Be brief.", "Capital of France?", max_tokens=50) == "Paris"
    (asked,) = endpoint.asked
    assert asked.path == "/v1/messages"
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-version"]
    assert (asked.body["system"], asked.body["max_tokens"]) == ("Be brief.", 50)
    assert asked.body["messages"] == [{"role": "user", "content": "Capital of France?"}]


async def test_a_model_that_takes_no_max_tokens_and_no_temperature_is_asked_otherwise(
    endpoint: Endpoint, openai: OpenAIChat
) -> None:
    def picky(body: Any) -> Reply:
        refused = {"type": "invalid_request_error"}
        if "max_tokens" in body:
            text = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Reply({"error": refused | {"message": text, "param": "max_tokens"}}, 400)
        if "temperature" in body:
            return Reply({"error": refused | {"message": "'temperature' does not support 0 with this model."}}, 400)
        return said("yes")

    endpoint.replies = [picky]
    assert await openai.chat("", "hello", max_tokens=5) == "yes"
    assert endpoint.asked[-1].body["max_completion_tokens"] == 5
    assert await openai.chat("", "again", max_tokens=5) == "yes"
    assert len(endpoint.asked) == 4  # it was learnt


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
REFUSED = Reply({"error": {"message": "This response_format type is unavailable now"}}, 400)


async def test_openai_is_asked_for_a_schema(endpoint: Endpoint, openai: OpenAIChat) -> None:
    endpoint.replies = [said('{"a": "b"}')]
    assert await openai.chat("", "hello", max_tokens=5, schema=SCHEMA) == '{"a": "b"}'
    named = {"name": "answer", "strict": True, "schema": SCHEMA}
    assert endpoint.asked[-1].body["response_format"] == {"type": "json_schema", "json_schema": named}
    await openai.chat("", "hello", max_tokens=5)
    assert "response_format" not in endpoint.asked[-1].body


@pytest.mark.parametrize(("refusals", "form"), [(1, {"type": "json_object"}), (2, None)])
async def test_a_form_that_is_refused_is_asked_for_otherwise(
    endpoint: Endpoint, openai: OpenAIChat, refusals: int, form: Any
) -> None:
    endpoint.replies = [*[REFUSED] * refusals, said("yes")]
    assert await openai.chat("", "hello", max_tokens=5, schema=SCHEMA) == "yes"
    assert await openai.chat("", "again", max_tokens=5, schema=SCHEMA) == "yes"
    assert [each.body.get("response_format") for each in endpoint.asked[refusals:]] == [form, form]  # it was learnt


async def test_a_server_that_breaks_on_a_schema_is_asked_otherwise(endpoint: Endpoint, openai: OpenAIChat) -> None:
    def brittle(body: Any) -> Reply:
        if body.get("response_format", {}).get("type") == "json_schema":
            return Reply({"error": {"message": "failed to parse grammar"}}, 500)
        return said("yes")

    endpoint.replies = [brittle]
    assert await openai.chat("", "hello", max_tokens=5, schema=SCHEMA) == "yes"


@pytest.mark.parametrize(("status", "times"), [(400, 3), (401, 1), (403, 1), (404, 1)])
async def test_a_request_that_is_wrong_otherwise_teaches_nothing(
    endpoint: Endpoint, openai: OpenAIChat, status: int, times: int
) -> None:
    endpoint.replies = [Reply({"error": {"message": "The context is too long."}}, status)]
    with pytest.raises(ModelFailed) as failed:
        await openai.chat("", "hello", max_tokens=5, schema=SCHEMA)
    assert not failed.value.passing
    assert len(endpoint.asked) == times
    endpoint.replies = [said("yes")]
    await openai.chat("", "hello", max_tokens=5, schema=SCHEMA)
    assert endpoint.asked[-1].body["response_format"]["type"] == "json_schema"


async def test_a_model_may_refuse_the_form_and_the_temperature(endpoint: Endpoint, openai: OpenAIChat) -> None:
    def picky(body: Any) -> Reply:
        if "temperature" in body:
            return Reply({"error": {"message": "'temperature' is not supported"}}, 400)
        return REFUSED if "response_format" in body else said("yes")

    endpoint.replies = [picky]
    assert await openai.chat("", "hello", max_tokens=5, schema=SCHEMA) == "yes"
    count = len(endpoint.asked)
    assert await openai.chat("", "again", max_tokens=5, schema=SCHEMA) == "yes"
    assert len(endpoint.asked) == count + 1


async def test_anthropic_answers_a_schema_with_a_tool(endpoint: Endpoint, anthropic: AnthropicChat) -> None:
    parts = [{"type": "text", "text": "Sure."}, {"type": "tool_use", "name": "answer", "input": {"a": "你好"}}]
    endpoint.replies = [Reply({"content": parts})]
    assert await anthropic.chat("", "hello", max_tokens=5, schema=SCHEMA) == '{"a": "你好"}'
    body = endpoint.asked[-1].body
    assert body["tool_choice"] == {"type": "tool", "name": "answer"}
    assert [tool["input_schema"] for tool in body["tools"]] == [SCHEMA]


async def test_anthropic_without_tools_answers_in_words(endpoint: Endpoint, anthropic: AnthropicChat) -> None:
    refused = Reply({"error": {"message": "tool_choice forces tool use, which thinking does not allow"}}, 400)
    endpoint.replies = [refused, Reply({"content": [{"type": "text", "text": "yes"}]})]
    assert await anthropic.chat("", "hello", max_tokens=5, schema=SCHEMA) == "yes"
    assert "tools" not in endpoint.asked[-1].body


@pytest.mark.parametrize("part", [{"type": "tool_use"}, {"type": "tool_use", "input": None}, {"type": "other"}])
async def test_a_tool_without_an_input_is_a_failure(endpoint: Endpoint, anthropic: AnthropicChat, part: Any) -> None:
    endpoint.replies = [Reply({"content": [part]})]
    with pytest.raises(ModelFailed):
        await anthropic.chat("", "hello", max_tokens=5, schema=SCHEMA)


@pytest.mark.parametrize(
    "first",
    [
        [Reply({"error": "busy"}, 429, {"Retry-After": "0"})],
        [Reply(b"<html>bad gateway</html>", 502)],
        [Reply({}, 503), Reply({}, 529)],
        [Reply({"choices": "x" * 1_000}, broken_off=True)],
    ],
)
async def test_what_may_pass_is_asked_again(endpoint: Endpoint, openai: OpenAIChat, first: list[Reply]) -> None:
    endpoint.replies = [*first, said("there")]
    assert await openai.chat("", "hello", max_tokens=5) == "there"
    assert len(endpoint.asked) == len(first) + 1


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        (Reply({"error": {"code": "insufficient_quota", "message": f"{KEY} is out"}}, 429), 3),
        (Reply({"error": "down"}, 500), 3),
        (Reply({"error": "down"}, 429, {"Retry-After": "3600"}), 1),
        (Reply({"error": "down"}, 503, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}), 3),
        (Reply({"error": {"code": "invalid_api_key", "message": f"Incorrect API key: {KEY}"}}, 401), 1),
        (Reply({"error": {"code": f"{KEY} in a code", "message": "hello"}}, 404), 1),
        (Reply([KEY], 400), 1),
        (Reply({}, 302, {"Location": "http://127.0.0.1:9/"}), 1),
        (Reply(b'{"choices": [{"mess'), 1),
        (Reply(b"[" * 100_000), 1),
        (Reply(b" " * 5_000_000), 1),
        (Reply({}), 1),
        (Reply({"choices": []}), 1),
        (Reply({"choices": [{"message": {"content": 5}}]}), 1),
        (Reply([]), 1),
        (said(None), 1),
        (said(""), 1),
        (said("<think>and then it was cut off"), 1),
        (said([{"type": "refusal", "refusal": "no"}]), 1),
    ],
)
async def test_what_is_no_answer_is_a_failure_without_a_secret(
    endpoint: Endpoint, openai: OpenAIChat, reply: Reply, times: int
) -> None:
    endpoint.replies = [reply]
    with pytest.raises(ModelFailed) as failed:
        await openai.chat("", "hello there", max_tokens=5)
    assert KEY not in f"{failed.value!s}{failed.value!r}"
    assert "hello" not in str(failed.value)
    assert len(endpoint.asked) == times


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text"}], [5], {"a": 1}])
async def test_anthropic_without_text_is_a_failure(endpoint: Endpoint, anthropic: AnthropicChat, content: Any) -> None:
    endpoint.replies = [Reply({"content": content})]
    with pytest.raises(ModelFailed):
        await anthropic.chat("", "hello", max_tokens=5)


async def test_the_time_limit_is_of_the_whole(endpoint: Endpoint) -> None:
    llm = OpenAIChat("small", LLMSettings(base_url=endpoint.url, timeout_s=0.5))
    started = time.monotonic()
    for replies in ([Reply({}, after_s=3)], [Reply({}, 503, {"Retry-After": "2"})], [Reply({}, 500, after_s=0.3)]):
        endpoint.replies = list(replies)
        with pytest.raises(ModelFailed, match="did not answer in"):
            await llm.chat("", "hello", max_tokens=5)
    assert time.monotonic() - started < 2.5
    await llm.close()


async def test_an_address_where_nobody_listens(endpoint: Endpoint) -> None:
    endpoint.close()
    llm = OpenAIChat("small", LLMSettings(base_url=endpoint.url, api_key=KEY))
    with pytest.raises(ModelFailed, match="did not answer"):
        await llm.chat("", "hello", max_tokens=5)
    await llm.close()


@pytest.mark.parametrize(
    "address", ["localhost:8080/v1", "http://host:port", "ftp://a", "http://", "not an address", "/v1"]
)
def test_what_is_no_address_is_said_at_once(address: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        OpenAIChat("small", LLMSettings(base_url=address))
    assert wrong.value.field == "base_url"


async def test_who_waits_no_longer_is_let_go(endpoint: Endpoint, openai: OpenAIChat) -> None:
    endpoint.replies = [Reply({}, after_s=1)]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await openai.chat("", "hello", max_tokens=5)


def test_settings_do_not_show_their_keys() -> None:
    assert KEY not in repr(LLMSettings(api_key=KEY))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("plain", "plain"),
        (" <think>a</think> b ", "b"),
        ("<think>a</think><think>b</think>c", "c"),
        ("only its end</think>c", "c"),
        ("<thinking>\na\n</thinking>\nc", "c"),
        ("<think>never ended", ""),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_thoughts_are_left_out(text: str, answer: str) -> None:
    assert unthought(text) == answer


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path) as (address, _):
        yield address


@pytest.mark.slow
async def test_a_real_model_answers_or_is_done_without(served: str) -> None:
    llm = OpenAIChat("gemma", LLMSettings(base_url=served, timeout_s=30))
    assert await llm.chat("Answer in one word.", "What is the capital of France?", max_tokens=8)
    started = time.monotonic()
    queries = await rewritten("when did she move there?", ["Ann moved to Berlin."], llm, 5)
    assert time.monotonic() - started < 7
    assert len(queries) <= 3
    await llm.close()
