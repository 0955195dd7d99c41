"""Language models behind an address: OpenAI-compatible ones (OpenAI, Ollama, vLLM, llama.cpp) and Anthropic's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hindsight_memory.domain import utc_now
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.budget import Budget
from hindsight_memory.models.http import Endpoint, Refused
from hindsight_memory.text.tokens import count_tokens

if TYPE_CHECKING:
    from hindsight_memory.settings import LLMSettings

_OPENAI: Final = "https://api.openai.com/v1"
_ANTHROPIC: Final = "https://api.anthropic.com/v1"
_ANTHROPIC_VERSION: Final = "2023-06-01"
_ANSWER: Final = "answer"
_FORM_WORDS: Final = re.compile(r"response_format|json_(?:schema|object)|schema|grammar|tool|structured", re.IGNORECASE)
_USAGE: Final = (
    "prompt_tokens",
    "completion_tokens",
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_MOST_TOKENS: Final = 10_000_000
"""More in one request is no count."""
_COUNTED: Final = 200_000
_THOUGHTS: Final = (("<think>", "</think>"), ("<thinking>", "</thinking>"))


class OpenAIChat:
    """Answers from ``POST {base_url}/chat/completions``."""

    def __init__(self, model: str, settings: LLMSettings, budget: Budget | None = None) -> None:
        self.name = f"openai:{model}"
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        endpoint = Endpoint(self.name, settings.base_url or _OPENAI, headers, settings.timeout_s)
        self._asked = _Adaptable(endpoint, (_json_schema, _json_object, _no_form), budget)
        self._model = model

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """See ``LLM.chat``."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body = {"model": self._model, "messages": messages, "max_tokens": max_tokens, "temperature": 0}
        reply = await self._asked("/chat/completions", body, schema)
        return answer_of(self.name, lambda: reply["choices"][0]["message"]["content"])

    async def close(self) -> None:
        """See ``LLM.close``."""
        await self._asked.endpoint.close()


class AnthropicChat:
    """Answers from ``POST {base_url}/messages``; the address may be given with ``/v1`` or without."""

    def __init__(self, model: str, settings: LLMSettings, budget: Budget | None = None) -> None:
        self.name = f"anthropic:{model}"
        headers = {"anthropic-version": _ANTHROPIC_VERSION}
        if settings.api_key:
            headers["x-api-key"] = settings.api_key
        base = (settings.base_url or _ANTHROPIC).rstrip("/").removesuffix("/v1") + "/v1"
        endpoint = Endpoint(self.name, base, headers, settings.timeout_s)
        self._asked = _Adaptable(endpoint, (_tool, _no_form), budget)
        self._model = model

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """See ``LLM.chat``."""
        body = {
            "model": self._model,
            "system": system,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        reply = await self._asked("/messages", body, schema)
        return answer_of(self.name, lambda: reply["content"])

    async def close(self) -> None:
        """See ``LLM.close``."""
        await self._asked.endpoint.close()


_Form: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""What a request says to get an answer that keeps to a schema."""


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": _ANSWER, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _json_object(_: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_object"}}


def _tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool whose input is the answer: taken by every model that has tools, older and newer."""
    tool = {"name": _ANSWER, "description": "Give the answer.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": _ANSWER}}


def _no_form(_: Mapping[str, Any]) -> dict[str, Any]:
    return {}


class _Adaptable:
    """An endpoint asked in the form it takes, within the budget.

    Some models refuse ``temperature``, some want ``max_tokens`` renamed, some take no schema. What is refused once is
    not tried again.
    """

    def __init__(self, endpoint: Endpoint, forms: Sequence[_Form], budget: Budget | None) -> None:
        self.endpoint = endpoint
        self._forms = forms
        self._form = 0
        self._budget = budget or Budget(0, utc_now)
        self._taken: dict[str, str | None] = {"max_tokens": "max_tokens", "temperature": "temperature"}

    async def __call__(self, path: str, body: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Any:
        told = count_tokens(json.dumps([body, schema], ensure_ascii=False))
        with self._budget.billed(told + body["max_tokens"]) as bill:
            bill.tokens = told  # what is paid for an answer that never comes
            try:
                reply = await self._shaped(path, body, schema)
            except Refused:
                bill.tokens = 0
                raise
            bill.tokens = _used(reply) or told + count_tokens(json.dumps(reply, ensure_ascii=False)[:_COUNTED])
            return reply

    async def _shaped(self, path: str, body: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Any:
        """Ask for an answer of a form, in the first way that is taken, which is then the first to be tried."""
        if schema is None:
            return await self._renamed(path, body)
        first = self._form
        for place, form in enumerate(self._forms[first:], first):
            try:
                reply = await self._renamed(path, {**body, **form(schema)})
            except Refused as refusal:
                if place + 1 == len(self._forms) or not _may_mean_form(refusal):
                    raise
            else:
                self._form = max(self._form, place)
                return reply
        raise AssertionError  # the last form returns or raises

    async def _renamed(self, path: str, body: Mapping[str, Any]) -> Any:
        for _ in self._taken:
            try:
                return await self.endpoint.ask(path, self._formed(body))
            except Refused as refusal:
                if refusal.http_status not in (400, 422) or not self._learn(refusal.said):
                    raise
        return await self.endpoint.ask(path, self._formed(body))

    def _formed(self, body: Mapping[str, Any]) -> dict[str, Any]:
        named = {self._taken.get(name, name): value for name, value in body.items()}
        return {name: value for name, value in named.items() if name is not None}

    def _learn(self, said: str) -> bool:
        """Whether the refusal names a parameter that can be left out or called otherwise."""
        if "max_completion_tokens" in said and self._taken["max_tokens"] == "max_tokens":
            self._taken["max_tokens"] = "max_completion_tokens"
            return True
        if "temperature" in said and self._taken["temperature"]:
            self._taken["temperature"] = None
            return True
        return False


def _may_mean_form(refusal: Refused) -> bool:
    """Whether the same request without its form may be taken; one that is wrong otherwise is soon refused again."""
    return refusal.http_status in (400, 422) or (refusal.http_status >= 404 and bool(_FORM_WORDS.search(refusal.said)))


def _used(reply: Any) -> int:
    """The tokens that an endpoint says it took; 0 where it does not."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return 0
    counts = {name: each for name, each in usage.items() if type(each) is int and 0 < each < _MOST_TOKENS}
    return counts.get("total_tokens") or sum(counts.get(name, 0) for name in _USAGE)


def answer_of(name: str, find: Callable[[], Any]) -> str:
    """The text of a reply, which ``find`` takes out of it. Raises ``ModelFailed`` when there is none."""
    try:
        text = unthought(_joined(find()))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelFailed(f"{name} answered in a form that is not known.") from error
    if not text:
        raise ModelFailed(f"{name} gave an empty answer.")
    return text


def _joined(content: Any) -> str:
    """The text of a message: itself, the input of our tool, or the text parts among others (thoughts)."""
    if isinstance(content, str):
        return content
    parts = content or []
    answer = next((part["input"] for part in parts if part.get("type") == "tool_use"), None)
    if answer is not None:
        return json.dumps(answer, ensure_ascii=False)
    return "".join(part["text"] for part in parts if part.get("type") == "text")


def unthought(text: str) -> str:
    """An answer without ``<think>…</think>``: also where only the end of a thought is there, or only its beginning."""
    for begin, end in _THOUGHTS:
        _, closed, after = text.rpartition(end)
        if closed:
            text = after
        text = text.partition(begin)[0]
    return text.strip()
