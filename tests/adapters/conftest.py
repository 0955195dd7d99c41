"""A server and clients for it, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from hindsight_memory.server.app import create_app
from hindsight_memory.settings import ServerSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service

BASE = "http://127.0.0.1:8765"


@asynccontextmanager
async def serving(database: Path, clock: StoppedClock, **server: Any) -> AsyncIterator[FastAPI]:
    """The application over an empty database, started, with these settings of the server."""
    settings = replace(Settings(database=str(database)), server=ServerSettings(**server))
    service = await open_service(database, clock=clock, embedder=HashEmbedder(), settings=settings, start=False)
    app = create_app(service)
    async with running(app):
        yield app


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """The lifespan in a task of its own, as a server has it: what it opens must be closed by the same task."""
    begun, ending = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        try:
            async with app.router.lifespan_context(app):
                begun.set()
                await ending.wait()
        finally:
            begun.set()

    task = asyncio.create_task(live())
    await begun.wait()
    try:
        yield
    finally:
        ending.set()
        await task


def client_of(app: FastAPI, **headers: str) -> httpx.AsyncClient:
    """A client of the application, as a program on this machine would be."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


@pytest.fixture
async def app(database: Path, clock: StoppedClock) -> AsyncIterator[FastAPI]:
    async with serving(database, clock) as opened:
        yield opened


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client
