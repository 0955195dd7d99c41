"""A database file that is taken away while it is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_memory import AsyncHindsightMemory, Unavailable


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
async def test_nothing_is_acknowledged_that_would_be_lost(database: Path, how: str) -> None:
    memory = AsyncHindsightMemory(database)
    await memory.write("kept while the file was there")
    if how == "moved":
        database.rename(database.with_suffix(".moved"))
    else:
        database.unlink()
    if how == "replaced":
        database.write_bytes(b"")
    for call in (memory.write("would be lost"), memory.search("kept"), memory.list()):
        with pytest.raises(Unavailable, match="moved or replaced"):
            await call
    await memory.close()
