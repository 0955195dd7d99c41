"""One model behind an address: JSON there and back, within a time limit, asked again where that may help."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hindsight_memory.errors import InvalidInput
from hindsight_memory.models.base import ModelFailed

if TYPE_CHECKING:
    import httpx

_TRIES: Final = 3
_FIRST_PAUSE_S: Final = 0.3
_LONGEST_PAUSE_S: Final = 10.0
_LONGEST_REPLY: Final = 4_000_000
_PASSING: Final = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
"""Answers that the same request may not get a second time; 529 is Anthropic's «overloaded»."""
_CODE: Final = re.compile(r"[A-Za-z][\w.-]{0,60}")


class Refused(ModelFailed):
    """The endpoint took the request and refused it. ``said`` is its reason: for decisions, never for a log."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message, hint="Check the model's name, address and key.")
        self.http_status = status
        self.said = said
        self.passing = status in _PASSING


class Endpoint:
    """Asks one address. No error of it holds a key, a prompt or an answer.

    Args:
        name: What the settings call the model, for errors.
        base_url: Where its paths begin.
        headers: Sent with every request; the key stands here.
        timeout_s: How long one ``ask`` may take, pauses and repeats included.
        transport: For tests: what carries the requests instead of the network.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        headers: Mapping[str, str],
        timeout_s: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        import httpx

        self.name = name
        self._timeout_s = timeout_s
        self._failure = (httpx.HTTPError, httpx.InvalidURL)
        self._broken_off = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
        try:
            base = httpx.URL(base_url.rstrip("/"))
        except httpx.InvalidURL:
            base = httpx.URL("")
        if base.scheme not in ("http", "https") or not base.host:  # not shown: a password may stand in it
            hint = "Give one that begins with http:// or https://."
            raise InvalidInput(f"The address of {name} is none.", hint=hint, field="base_url")
        self._client = httpx.AsyncClient(base_url=base, headers=dict(headers), timeout=timeout_s, transport=transport)

    async def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that answers. Raises ``Refused`` for a request that is wrong, else ``ModelFailed``."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._insisting(path, body)
        except TimeoutError:
            raise self._failed(f"did not answer in {self._timeout_s:g} s") from None

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _insisting(self, path: str, body: Mapping[str, Any]) -> Any:
        for left in reversed(range(_TRIES)):
            pause = _FIRST_PAUSE_S * 2 ** (_TRIES - 1 - left)
            try:
                status, headers, reply = await self._once(path, body)
            except self._broken_off as error:
                if not left:
                    raise self._failed(f"broke off ({type(error).__name__})") from error
            except self._failure as error:
                raise self._failed(f"did not answer ({type(error).__name__})") from error
            else:
                if status == 200:
                    return self._read(reply)
                if status not in _PASSING or not left:
                    raise self._refused(status, reply)
                pause = _pause(headers.get("retry-after", ""), pause)
                if pause > _LONGEST_PAUSE_S:
                    raise self._refused(status, reply)
            await asyncio.sleep(pause)
        raise AssertionError  # the last try returns or raises

    async def _once(self, path: str, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        async with self._client.stream("POST", path, json=body) as reply:
            held = bytearray()
            async for part in reply.aiter_bytes():
                held += part
                if len(held) > _LONGEST_REPLY:
                    raise self._failed("sent more than an answer can be")
            return reply.status_code, reply.headers, bytes(held)

    def _read(self, reply: bytes) -> Any:
        try:
            return json.loads(reply)
        except (ValueError, RecursionError) as error:
            raise self._failed("sent something that is not JSON") from error

    def _refused(self, status: int, reply: bytes) -> Refused:
        """The refusal with its code; the words beside it may repeat the key or the prompt, and are left out."""
        try:
            said = json.loads(reply)
        except (ValueError, RecursionError):
            said = None
        error = said.get("error") if isinstance(said, dict) else None
        named = [error.get(field) for field in ("code", "type")] if isinstance(error, dict) else []
        code = next((each for each in named if isinstance(each, str) and _CODE.fullmatch(each)), "")
        message = f"{self.name} answered {status}{f' ({code})' if code else ''}."
        return Refused(message, status, reply[:2_000].decode("utf-8", "replace"))

    def _failed(self, what: str) -> ModelFailed:
        return ModelFailed(f"{self.name} {what}.", hint="Check its address, and that it runs.")


def _pause(asked: str, own: float) -> float:
    """What the endpoint asks for in seconds, else our own growing pause; a date is read as «later»."""
    try:
        return max(float(asked), own) if asked else own
    except ValueError:
        return own
