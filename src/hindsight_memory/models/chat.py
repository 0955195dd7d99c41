"""Language models behind an address: OpenAI-compatible ones (OpenAI, Ollama, vLLM, llama.cpp) and Anthropic's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.http import Endpoint, Refused

if TYPE_CHECKING:
    import httpx

    from hindsight_memory.settings import LLMSettings

_OPENAI: Final = "https://api.openai.com/v1"
_ANTHROPIC: Final = "https://api.anthropic.com/v1"
_ANTHROPIC_VERSION: Final = "2023-06-01"
_THOUGHTS: Final = (("<think>", "</think>"), ("<thinking>", "</thinking>"))


class OpenAIChat:
    """Answers from ``POST {base_url}/chat/completions``."""

    def __init__(self, model: str, settings: LLMSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.name = f"openai:{model}"
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._asked = _Adaptable(
            Endpoint(self.name, settings.base_url or _OPENAI, headers, settings.timeout_s, transport)
        )
        self._model = model

    async def chat(self, system: str, prompt: str, *, max_tokens: int) -> str:
        """See ``LLM.chat``."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body = {"model": self._model, "messages": messages, "max_tokens": max_tokens, "temperature": 0}
        reply = await self._asked("/chat/completions", body)
        return answer_of(self.name, lambda: reply["choices"][0]["message"]["content"])

    async def close(self) -> None:
        """See ``LLM.close``."""
        await self._asked.endpoint.close()


class AnthropicChat:
    """Answers from ``POST {base_url}/messages``; the address may be given with ``/v1`` or without."""

    def __init__(self, model: str, settings: LLMSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.name = f"anthropic:{model}"
        headers = {"anthropic-version": _ANTHROPIC_VERSION}
        if settings.api_key:
            headers["x-api-key"] = settings.api_key
        base = (settings.base_url or _ANTHROPIC).rstrip("/").removesuffix("/v1") + "/v1"
        self._asked = _Adaptable(Endpoint(self.name, base, headers, settings.timeout_s, transport))
        self._model = model

    async def chat(self, system: str, prompt: str, *, max_tokens: int) -> str:
        """See ``LLM.chat``."""
        messages = [{"role": "user", "content": prompt}]
        body = {
            "model": self._model,
            "system": system,
            "messages": messages,
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        reply = await self._asked("/messages", body)
        return answer_of(self.name, lambda: reply["content"])

    async def close(self) -> None:
        """See ``LLM.close``."""
        await self._asked.endpoint.close()


class _Adaptable:
    """An endpoint asked in the form it takes: some models refuse ``temperature``, some want ``max_tokens`` renamed."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._taken: dict[str, str | None] = {"max_tokens": "max_tokens", "temperature": "temperature"}

    async def __call__(self, path: str, body: Mapping[str, Any]) -> Any:
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
    """The text of a message: itself, or the text parts among others (thoughts, calls of tools)."""
    if isinstance(content, str):
        return content
    return "" if content is None else "".join(part["text"] for part in content if part.get("type") == "text")


def unthought(text: str) -> str:
    """An answer without ``<think>…</think>``: also where only the end of a thought is there, or only its beginning."""
    for begin, end in _THOUGHTS:
        _, closed, after = text.rpartition(end)
        if closed:
            text = after
        text = text.partition(begin)[0]
    return text.strip()
