"""Back-pressure: what finds no room is told to come back, and nothing is left held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.conftest import client_of, serving
from hindsight_memory.server.limits import Room, Slower
from hindsight_memory.testing import StoppedClock


@given(st.lists(st.lists(st.integers(0, 60), max_size=5), max_size=20))
def test_what_was_held_is_given_back_whoever_was_refused(requests: list[list[int]]) -> None:
    room = Room(100, 3)
    for pieces in requests:
        refused = False
        try:
            with room.held() as take, room.answering():
                for piece in pieces:
                    take(piece)
        except Slower:
            refused = True
        assert refused == (sum(pieces) > 100)
    with room.held() as take, room.answering(), room.answering(), room.answering():
        take(100)
        with pytest.raises(Slower):
            take(1)
        with pytest.raises(Slower), room.answering():
            raise AssertionError("there was no room")


async def test_more_requests_than_are_answered_at_a_time_come_back_later(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, at_once=4) as app, client_of(app) as http:

        async def written(number: int) -> bool:
            while True:
                reply = await http.post("/v1/write", json={"content": f"number {number}"})
                if reply.status_code == 201:
                    return True
                assert (reply.status_code, reply.json()["code"]) == (429, "overloaded")
                assert reply.headers["Retry-After"] == "1"
                refused.append(number)
                await asyncio.sleep(0.01)

        refused: list[int] = []
        assert all(await asyncio.gather(*(written(number) for number in range(40))))
        assert refused
        listed = (await http.post("/v1/list", json={"limit": 100})).json()["memories"]
        assert sorted(memory["content"] for memory in listed) == sorted(f"number {number}" for number in range(40))


async def test_bodies_are_refused_while_others_fill_the_room(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, held_bytes=3_000) as app, client_of(app) as http:
        arrived, go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b'{"content": "' + b"a" * 2_900
            arrived.set()
            await go_on.wait()
            yield b'"}'

        sending = asyncio.create_task(
            http.post("/v1/write", content=slow(), headers={"Content-Type": "application/json"})
        )
        await arrived.wait()
        small: dict[str, Any] = {"content": "b" * 500}
        refused = await http.post("/v1/write", json=small)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert (await http.get("/health/live")).status_code == 200
        go_on.set()
        sent = await sending
        assert sent.status_code == 201, sent.text
        assert (await http.post("/v1/write", json=small)).status_code == 201


async def test_a_body_that_does_not_come_is_not_waited_for(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, body_s=0.05) as app, client_of(app) as http:

        async def stuck() -> AsyncIterator[bytes]:
            yield b'{"content": '
            await asyncio.sleep(30)

        reply = await http.post("/v1/write", content=stuck())
        assert (reply.status_code, reply.json()["code"]) == (408, "invalid_input")
        assert (await http.post("/v1/list", json={})).json()["memories"] == []
