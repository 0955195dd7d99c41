"""What the description promises, asked by a machine: no fault of ours, no undescribed reply, nothing without a key."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import requests
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as bounded
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from hindsight_memory.domain import Draft, NewKey, Scope
from hindsight_memory.server.app import create_app
from hindsight_memory.service import Service
from hindsight_memory.settings import ServerSettings, Settings
from hindsight_memory.testing import HashEmbedder, ScriptedLLM, open_service

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FIRST = "the first key"
CANARY = "canary-7f3a"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
FEW = bounded(
    max_examples=max(4, bounded.default.max_examples // 5),  # type: ignore[union-attr]
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)


async def _filled(database: Path) -> tuple[Service, str]:
    """A service over a bank of Bob's, and the secret of a key for Ann."""
    limits = ServerSettings(api_key=FIRST, requests_per_minute=0, bytes_per_minute=0, failures_per_minute=0)
    settings = Settings(database=str(database), server=limits)
    model = ScriptedLLM("{}")  # some verbs cannot answer without one
    service = await open_service(database, embedder=HashEmbedder(), settings=settings, start=False, llm=model)
    for user in ("bob", "default", None):
        namespace = "default" if user == "bob" else "theirs"
        await service.write(Draft(content=f"The {CANARY} of milk", key="a.a"), Scope(namespace=namespace, user_id=user))
    # In her own bank, and in the one that she shares with others, what an agent keeps to itself.
    for user in ("ann", None):
        await service.write(
            Draft(content=f"The {CANARY} of the host", key="a.b", visibility="private"),
            Scope(user_id=user, agent_id="host"),
        )
    issued = await service.create_key(NewKey(name="agent", users=("ann", "default"), grants=("read", "write", "purge")))
    return service, issued.secret


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a real server in a thread, and the secret of a key for Ann."""
    with serving(tmp_path / "memory.db") as found:
        yield found


@contextmanager
def serving(database: Path) -> Iterator[tuple[str, str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made: list[Any] = []

    async def live() -> None:
        service, secret = await _filled(database)
        server = uvicorn.Server(uvicorn.Config(create_app(service), port=port, log_level="warning"))
        made[:] = [server, secret]
        await server.serve()

    thread = Thread(target=asyncio.run, args=(live(),))
    thread.start()
    try:
        while not (made and made[0].started):
            thread.join(0.05)
            assert thread.is_alive()
        yield f"http://127.0.0.1:{port}", made[1]
    finally:
        if made:
            made[0].should_exit = True
        thread.join()


def ask(base: str, secret: str, judge: Callable[[Case, Any], None]) -> int:
    """Ask every operation for a few things that fit its description, and a few that do not; returns how many."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    document = requests.get(f"{base}/openapi.json", headers=headers, timeout=30).json()
    schema = schemathesis.openapi.from_dict(document)
    asked = 0
    with requests.Session() as session:
        session.headers.update(headers)
        for found in schema.get_all_operations():
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

                @FEW
                @given(case=found.ok().as_strategy(generation_mode=mode))
                def one(case: Case) -> None:
                    nonlocal asked
                    asked += 1
                    judge(case, case.call(base_url=base, session=session, headers=headers))

                with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
                    one()
    return asked


def test_with_the_first_key_every_reply_is_as_described(server: tuple[str, str]) -> None:
    def judge(case: Case, response: Any) -> None:
        case.validate_response(response, checks=CHECKS)

    assert ask(server[0], FIRST, judge) > 200


def test_with_a_key_of_some_users_nothing_of_others_is_shown(server: tuple[str, str]) -> None:
    def judge(case: Case, response: Any) -> None:
        case.validate_response(response, checks=CHECKS)
        assert CANARY.encode() not in response.content

    assert ask(*server, judge) > 200


def test_without_a_key_there_is_no_data(server: tuple[str, str]) -> None:
    def judge(case: Case, response: Any) -> None:
        case.validate_response(response, checks=CHECKS)
        assert CANARY.encode() not in response.content
        assert response.status_code == 401 or case.operation.path.startswith("/health/")

    assert ask(server[0], "", judge) > 200
