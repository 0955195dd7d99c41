"""Who calls over HTTP: the key to a principal, and what no web page elsewhere may make a browser do."""

from __future__ import annotations

import base64
import binascii
import hmac
import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hindsight_memory.errors import HindsightMemoryError, InvalidInput, NotAllowed, NotAuthenticated
from hindsight_memory.guard.access import FIRST, LOCAL, NOBODY, Principal
from hindsight_memory.guard.secrets import digest_of
from hindsight_memory.server.limits import Buckets, Slower, place_of, refusal
from hindsight_memory.server.problems import problem
from hindsight_memory.service import Service
from hindsight_memory.settings import ServerSettings

_OPEN: Final = ("/health/", "/openapi.json", "/static/")
_LONGEST_SECRET: Final = 1_000


def check_bind(host: str, key: str | bool) -> None:
    """Raise ``InvalidInput`` when a server without a key would be reachable from other machines."""
    if not key and not _is_loopback(host):
        message = f"Listening on {host} without a key would let anyone on the network read and change the memories."
        hint = "Set HINDSIGHT_MEMORY_API_KEY, make one with «hindsight-memory keys create», or listen on 127.0.0.1."
        raise InvalidInput(message, hint=hint, field="host")


async def check_keys(service: Service, host: str) -> bool:
    """Whether callers of this service must show a key. Raises ``InvalidInput`` as ``check_bind`` does."""
    keyed = bool(service.settings.server.api_key) or await service.keyed()
    check_bind(host, keyed)
    return keyed


def check_tls(settings: ServerSettings) -> None:
    """Raise ``InvalidInput`` when the server is to speak TLS and the files for it are not there or do not fit."""
    if not settings.tls_cert:
        if settings.tls_key:
            raise InvalidInput("There is a private key and no certificate.", hint="Set both.", field="tls_cert")
        return
    try:
        # With no password it would ask for one on the terminal.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.tls_cert, settings.tls_key or None, password="")
    except (OSError, ValueError) as error:
        hint = "Give PEM files that belong together, the private key without a password."
        raise InvalidInput(f"The certificate cannot be used: {error}.", hint=hint, field="tls_cert") from error


@dataclass(slots=True)
class Gate:
    """Who may come in. ``keyed`` says whether a key is needed, which is looked up once when the server starts.

    It is needed where the server was given one, or where there are keys that work. Nobody comes in before it is known.
    """

    service: Service
    failures: Buckets
    keyed: bool = True
    _first: str = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.service.settings.server.api_key

    async def open(self) -> None:
        """Look up whether a key is needed."""
        self.keyed = bool(self._first) or await self.service.keyed()

    async def principal(self, path: str, headers: Headers, address: str) -> Principal:
        """The caller that a request's headers speak for.

        Where no key is needed the caller is whoever uses this machine, so a request must name this machine as its host
        (a name rebound to 127.0.0.1 does not) and must not come from another site's page; who shows a key all the same
        is its principal.

        Raises:
            NotAuthenticated: A key is needed and this is none: not known, expired or revoked, it is one answer.
            NotAllowed: It comes from elsewhere.
            Overloaded: Too many attempts failed from there.
        """
        if not self.keyed:
            _local(headers)
        secret = _secret(headers, page=path == "/")
        if not secret and not self.keyed:
            return LOCAL
        if not secret and path.startswith(_OPEN):
            return NOBODY
        place = place_of(address)
        if wait := self.failures.empty(place):  # a right guess among too many must not look otherwise than a wrong one
            raise Slower("Too many attempts failed from this address.", wait)
        found = await self._shown(secret)
        if found is not None:
            return found
        self.failures.take(place)
        if path.startswith(_OPEN):
            return NOBODY
        raise NotAuthenticated("A key is needed.", hint="Send the header: Authorization: Bearer KEY")

    async def _shown(self, secret: str) -> Principal | None:
        if not secret or len(secret) > _LONGEST_SECRET:
            return None
        # Both are looked at whatever comes of the first: how long it takes does not tell which one it was near.
        first = hmac.compare_digest(digest_of(secret), digest_of(self._first)) and bool(self._first)
        found = await self.service.caller(secret)
        return FIRST if first else found


class Authentication:
    """Puts the caller into ``request.state.principal``, or answers for the application that there is none.

    ``requests`` bounds how many a caller may send; whoever uses this machine without a key is not counted.
    """

    def __init__(self, app: ASGIApp, gate: Gate, requests: Buckets) -> None:
        self.app = app
        self.gate = gate
        self.requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            principal = await self._principal(scope)
        except Slower as error:
            await refusal(error)(scope, receive, send)
            return
        except HindsightMemoryError as error:
            scheme = 'Basic realm="Hindsight Memory", charset="UTF-8"' if scope["path"] == "/" else "Bearer"
            headers = {"WWW-Authenticate": scheme} if isinstance(error, NotAuthenticated) else {}
            await problem(error, headers=headers)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        await self.app(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal:
        address = (scope.get("client") or ("",))[0]
        principal = await self.gate.principal(scope["path"], Headers(scope=scope), address)
        if principal.key_id and (wait := self.requests.take(principal.key_id)):
            raise Slower("This key has asked for too much in the last minute.", wait)
        return principal


def _secret(headers: Headers, *, page: bool) -> str:
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
