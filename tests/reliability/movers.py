"""Programs that move memory, for tests to kill: ``python movers.py NAME FROM TO``. They print a line at each step."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from hindsight_memory.build import open_store
from hindsight_memory.lifecycle.mirror import migrate
from hindsight_memory.settings import Settings
from hindsight_memory.store.sqlite_bank import SQLiteTx
from hindsight_memory.testing import open_service


def told() -> None:
    """Have each step of a transaction say that it was done, and take a while."""
    for name in ("set_head", "put_lines", "put_memories", "settle_vectors"):
        plain = getattr(SQLiteTx, name)

        async def put(self: SQLiteTx, *args: Any, plain: Any = plain) -> None:
            await plain(self, *args)
            os.write(1, b".\n")
            await asyncio.sleep(0.01)

        setattr(SQLiteTx, name, put)


async def take_in(archive: Path, database: Path) -> None:
    """Import an archive."""
    service = await open_service(database, embedder=[], start=False)
    await service.import_archive(archive)
    await service.close()


async def move(old: Path, new: Path) -> None:
    """Migrate a database."""
    source, target = [await open_store(Settings(database=str(path))) for path in (old, new)]
    await migrate(source, target)
    await target.close()
    await source.close()


if __name__ == "__main__":
    told()
    asyncio.run(globals()[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3])))
    os.write(1, b"done\n")
