"""Who calls over HTTP: the key to a principal, and what no web page elsewhere may make a browser do."""

from __future__ import annotations

import base64
import binascii
import hmac
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hindsight_memory.errors import HindsightMemoryError, InvalidInput, NotAllowed, NotAuthenticated
from hindsight_memory.guard.access import LOCAL, Principal
from hindsight_memory.server.problems import problem

KEYED: Final = Principal("api-key", namespace="default")
"""Whoever shows the server's key."""

_OPEN: Final = ("/health/", "/openapi.json", "/static/")


def check_bind(host: str, api_key: str) -> None:
    """Raise ``InvalidInput`` when a server without a key would be reachable from other machines."""
    if not api_key and not _is_loopback(host):
        message = f"Listening on {host} without a key would let anyone on the network read and change the memories."
        hint = "Set HINDSIGHT_MEMORY_API_KEY, or listen on 127.0.0.1."
        raise InvalidInput(message, hint=hint, field="host")


def principal_of(path: str, headers: Headers, api_key: str) -> Principal:
    """The caller that a request's headers speak for.

    Without a key the caller is whoever uses this machine, so a request must name this machine as its host (a name
    rebound to 127.0.0.1 does not) and must not come from another site's page. Raises ``NotAllowed`` then, and
    ``NotAuthenticated`` when a key is asked for and this is not it.
    """
    if not api_key:
        _local(headers)
        return LOCAL
    if path.startswith(_OPEN):
        return KEYED
    if not hmac.compare_digest(_key(headers, page=path == "/").encode(), api_key.encode()):
        raise NotAuthenticated("A key is needed.", hint="Send the header: Authorization: Bearer KEY")
    return KEYED


class Authentication:
    """Puts the caller into ``request.state.principal``, or answers for the application that there is none."""

    def __init__(self, app: ASGIApp, api_key: str) -> None:
        self.app = app
        self.api_key = api_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            principal = principal_of(scope["path"], Headers(scope=scope), self.api_key)
        except HindsightMemoryError as error:
            scheme = 'Basic realm="Hindsight Memory", charset="UTF-8"' if scope["path"] == "/" else "Bearer"
            headers = {"WWW-Authenticate": scheme} if isinstance(error, NotAuthenticated) else {}
            await problem(error, headers=headers)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        await self.app(scope, receive, send)


def _key(headers: Headers, *, page: bool) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic" if page:  # a browser has no other way to show a key; the page changes nothing
            try:
                return base64.b64decode(value, validate=True).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return ""
    return headers.get("x-api-key", "")


def _local(headers: Headers) -> None:
    hosts, origin = headers.getlist("host"), headers.get("origin")
    if len(hosts) != 1 or not _is_loopback(_hostname(f"//{hosts[0]}")):
        hint = "Call it as localhost or 127.0.0.1, or set HINDSIGHT_MEMORY_API_KEY."
        raise NotAllowed("This server answers only under this machine's own name.", hint=hint)
    if origin is not None and origin.partition("://")[2] != hosts[0]:
        raise NotAllowed("A page of another site may not use this server.", hint="Call it from outside a browser.")


def _hostname(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
