"""Indexes of nearest neighbours: made behind the work, once a bank has grown beyond what is read line by line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import psycopg

from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.settings import StoreSettings

_log: Final = logging.getLogger(__name__)
_WIDEST: Final = 4_000
"""Numbers of a vector in half precision that the index takes."""
_BUILDING: Final = 0x484E5357  # «HNSW»: one index at a time is built in a database


class Indexes:
    """Which parts of the table of vectors have an index for a space, and who makes those that are missing.

    One bank that is large makes an index over all banks of its part. Smaller ones there are read line by line still.
    """

    def __init__(self, connect: Callable[[], Awaitable[psycopg.AsyncConnection[Any]]], settings: StoreSettings) -> None:
        self._connect = connect
        self._settings = settings
        self._made: set[tuple[str, int]] = set()
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    def wanted(self, documents: int, dimension: int) -> bool:
        """Whether a bank with so many memories is to have an index."""
        return documents >= self._settings.hnsw_from and dimension <= _WIDEST

    def made(self, part: str, space: int) -> bool:
        """Whether the index is known to be there."""
        return (part, space) in self._made

    def found(self, part: str, space: int) -> None:
        """Remember that the index is there."""
        self._made.add((part, space))

    def make(self, part: str, space: int, dimension: int) -> None:
        """Have the index made, unless that is under way, or was tried before."""
        if (part, space) not in self._tasks:
            work = self._make(part, space, dimension)
            self._tasks[part, space] = asyncio.create_task(work, name=f"index of {part}")

    async def done(self) -> None:
        """Wait until what is being made is made."""
        await asyncio.gather(*self._tasks.values())

    async def close(self) -> None:
        """End what is under way; it is begun anew by whoever needs it next."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _make(self, part: str, space: int, dimension: int) -> None:
        name = index_name(part, space)
        try:
            async with await self._connect() as connection:
                await connection.execute("SELECT pg_advisory_lock(%s)", [_BUILDING])
                await connection.execute(f"SET maintenance_work_mem = '{self._settings.hnsw_memory_mb}MB'")
                await connection.execute("SET lock_timeout = 0")
                # One that was left half-made is of no use, and stands in the way.
                asked = "SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(%s)"
                row = await (await connection.execute(asked, [name])).fetchone()
                if row is not None and not row[0]:
                    await connection.execute(f"DROP INDEX CONCURRENTLY {name}")
                await connection.execute(
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {part}"
                    f" USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops)"
                    f" WITH (m = {self._settings.hnsw_m}, ef_construction = {self._settings.hnsw_ef_construction})"
                    f" WHERE space = {space} AND vector IS NOT NULL"
                )
        except (psycopg.Error, HindsightMemoryError) as error:
            # Searches are right without it. Who may not make it leaves that to the owner of the tables.
            _log.warning("The index of vectors %s was not made: %s", name, type(error).__name__)


def index_name(part: str, space: int) -> str:
    """What the index of a part of the table is called."""
    return f"{part}_near_{space}"
