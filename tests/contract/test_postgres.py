"""What is PostgreSQL's own: the wall between banks, many processes at once, indexes of vectors, errors in words."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.conftest import PostgresEngine
from hindsight_memory.domain import Memory, Relation, RelationType, Scope, Source, Tier, Window
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, Overloaded, Unavailable
from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store import erasure
from hindsight_memory.store.base import Aged, Marks, Setback, Space, Stage, Store, Terms, Where
from hindsight_memory.testing import StoppedClock
from postgres import SCHEMA, Server
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, put, where, words_in

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("psycopg_pool")

SPACE = Space(name="s", spec="s", dimension=8, template="plain", calibration={})
TERMS = Terms(batch=4, attempts=3, lease_s=60)
NUMBER = "SELECT bank FROM banks WHERE bank_id = :id"


@pytest.fixture
async def engine(server: Server, clock: StoppedClock) -> AsyncIterator[PostgresEngine]:
    made = PostgresEngine(server, clock)
    yield made
    await made.close()


@pytest.fixture
async def store(engine: PostgresEngine) -> Store:
    return await engine.open()


@contextmanager
def as_program(url: str, **settings: str) -> Iterator[Any]:
    """A connection as the program's own are, with these settings."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}, public")
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", [f"hindsight_memory.{name}", value])
        yield connection


async def filled(store: Store) -> list[Memory]:
    """A memory of two people each, with all that belongs to one."""
    await store.use_spaces([SPACE])
    made = []
    for scope in (ALICE, BOB):
        memory = a_turn("some words", 0, scope, tags=("t",))
        async with store.transaction(scope) as tx:
            await tx.next_turn("s", 1)
            await tx.add(memory, Marks(("some", "words"), ("name",)))
            await tx.record([an_event(memory)])
            await tx.set_vectors(SPACE.name, {memory.id: np.eye(8, dtype=np.float32)[:1]})
        made.append(memory)
    return made


# The wall between banks


def divided(engine: PostgresEngine) -> list[str]:
    """The tables that hold lines of banks."""
    return [table for table in engine.tables() if "bank" in engine.columns(table)]


async def test_without_a_bank_nothing_is_seen(engine: PostgresEngine) -> None:
    engine.server.needs_walls()
    await filled(await engine.open())
    held = [table for table in divided(engine) if engine.rows(f"SELECT 1 FROM {table}")]
    assert {"banks", "memories", "postings", "texts", "lengths", "vectors", "events", "tags", "names"} <= set(held)
    with as_program(engine.server.url) as connection:
        for table in divided(engine):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
            assert connection.execute(f"DELETE FROM {table}").rowcount == 0, table
    assert [table for table in divided(engine) if engine.rows(f"SELECT 1 FROM {table}")] == held


async def test_a_statement_that_forgets_its_bank_sees_that_one_only(engine: PostgresEngine) -> None:
    engine.server.needs_walls()
    hers, _ = await filled(await engine.open())
    ((number,),) = engine.rows(NUMBER, id=ALICE.bank)
    ((other,),) = engine.rows(NUMBER, id=BOB.bank)
    with as_program(engine.server.url, bank=str(number), bank_id=ALICE.bank) as connection:
        assert connection.execute("SELECT id FROM memories").fetchall() == [(hers.id,)]
        assert connection.execute("SELECT bank_id FROM banks").fetchall() == [(ALICE.bank,)]
        assert connection.execute("UPDATE memories SET content = 'mine'").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO tags (bank, tag, row) VALUES (%s, 'x', 1)", [other])
    assert engine.rows("SELECT content FROM memories WHERE bank = :bank", bank=other) == [("some words",)]


async def test_a_part_of_a_table_is_no_way_around(engine: PostgresEngine) -> None:
    engine.server.needs_walls()
    await filled(await engine.open())
    parts = engine.rows("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'")
    assert len(parts) == 2 * (len(divided(engine)) - 1), "all but the banks"
    with as_program(engine.server.url, banks="all") as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (2,)
        for (part,) in parts:
            assert connection.execute(f"SELECT count(*) FROM {SCHEMA}.{part}").fetchone() == (0,), part


GRANTS = """
GRANT USAGE ON SCHEMA hindsight_memory TO app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hindsight_memory TO app;"""


async def test_a_role_that_owns_nothing_serves(engine: PostgresEngine, clock: StoppedClock) -> None:
    engine.server.needs_superuser()
    from hindsight_memory.store.postgres import PostgresStore

    hers, _ = await filled(await engine.open())
    engine.server.run(f"DROP ROLE IF EXISTS app; CREATE ROLE app LOGIN;{GRANTS}")
    url = engine.server.url.replace("tester", "app")
    served = await PostgresStore.open(url, StoreSettings(), WordSettings(), clock)
    try:
        assert await served.reading(ALICE.bank).get([hers.id]) == [hers]
        carol = Scope(user_id="carol")
        await put(served, a_memory("new", carol), scope=carol)
        assert await served.claim(Stage.INDEX, "me", TERMS)
        async with served.transaction(ALICE) as tx:
            assert (await tx.erase([hers.id])).memories == 1
        assert not (await served.scrub()).compacted, "who owns the tables tidies them"
        with as_program(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("ALTER TABLE memories DISABLE ROW LEVEL SECURITY")
    finally:
        await served.close()
        engine.server.run("DROP OWNED BY app; DROP ROLE app")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE events SET reason = 'another'", "the log is not changed"),
        ("UPDATE events SET seal = ''", "the log is not changed"),
        ("DELETE FROM events", "the log is not shortened"),
    ],
)
async def test_the_log_is_not_written_to_by_hand(engine: PostgresEngine, change: str, said: str) -> None:
    await filled(await engine.open())
    with pytest.raises(psycopg.errors.RaiseException, match=said):
        engine.rows(change)


# Many at once


async def test_of_many_that_start_on_an_empty_database_one_makes_the_tables(
    engine: PostgresEngine, server: Server
) -> None:
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    stores = await asyncio.gather(*(engine.open(connections=1) for _ in range(8)))
    assert engine.rows("SELECT number FROM versions") == [(1,)]
    for number, each in enumerate(stores):
        scope = Scope(user_id=f"u{number}")
        (held,) = await put(each, a_memory("m", scope), scope=scope)
        assert await stores[number - 1].reading(scope.bank).get([held.id]) == [held]


STARTED = """
import asyncio, sys
from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.postgres import PostgresStore
from samples import ALICE, a_memory, put

async def main():
    store = await PostgresStore.open(sys.argv[1], StoreSettings(partitions=2), WordSettings())
    await put(store, a_memory("m"))
    await store.close()

asyncio.run(main())
"""


@pytest.mark.slow
async def test_of_eight_processes_that_start_on_an_empty_database_all_serve(server: Server) -> None:
    server.empty()
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    folder = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", STARTED, server.url]
    started = [await asyncio.create_subprocess_exec(*command, cwd=folder, stderr=PIPE) for _ in range(8)]
    ended = [(await process.communicate())[1].decode() for process in started]
    assert [process.returncode for process in started] == [0] * 8, ended
    assert server.run("SELECT number FROM versions") == [(1,)]
    assert server.run("SELECT count(*), count(DISTINCT row), count(DISTINCT bank) FROM memories") == [(8, 8, 1)]


async def test_one_connection_is_enough(engine: PostgresEngine) -> None:
    store = await engine.open(connections=1)
    await store.use_spaces([SPACE])

    async def one(number: int) -> None:
        scope = Scope(user_id=f"u{number % 5}")
        memory = a_memory(f"m{number} word", scope)
        async with store.transaction(scope) as tx:
            await tx.add(memory, words_in(memory.content))
            await tx.set_vectors(SPACE.name, {memory.id: np.eye(8, dtype=np.float32)[:1]})
            assert await tx.search_vector(SPACE.name, np.eye(8, dtype=np.float32)[0], where(), 5)
            assert await tx.vectors(SPACE.name, [memory.id])
        reader = store.reading(scope.bank)
        assert await reader.search_words(["word"], where(), 5)
        assert await reader.alike(SPACE.name, [memory.id], 3)
        async with store.snapshot(scope.bank) as still:
            assert await still.get([memory.id])
        await store.claim(Stage.INDEX, f"h{number}", TERMS)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert engine.rows("SELECT count(*) FROM memories") == [(20,)]


async def test_banks_do_not_wait_for_each_other(engine: PostgresEngine) -> None:
    one, other = await engine.open(), await engine.open(busy_timeout_ms=300)
    await put(one, a_memory("m"))
    async with one.transaction(ALICE) as tx:
        await tx.add(a_memory("n"), Marks())
        await put(one, a_memory("his", BOB), scope=BOB)
        await put(other, a_memory("his too", BOB), scope=BOB)
        with pytest.raises(Overloaded):
            await put(other, a_memory("hers"))
        assert await other.reading(ALICE.bank).count(where()) == 1
    await put(other, a_memory("hers"))


async def test_a_claim_lets_a_writer_go_first(engine: PostgresEngine) -> None:
    """The writer holds the claim's line and wants the memory's, the claim has it the other way round."""
    store, other = await engine.open(), await engine.open()
    (held,) = await put(store, a_memory("m"))
    await store.claim(Stage.INDEX, "gone", TERMS)
    async with store.transaction(ALICE) as tx:
        await tx.settle(Stage.INDEX, [], {held.id: Setback(reason="it chokes")})
        claimed = asyncio.create_task(other.claim(Stage.INDEX, "me", TERMS))
        await asyncio.sleep(0.1)
        await tx.change(held, importance=0.9)
        await tx.touch([held.id], NOON)
    assert [due.memory.content for due in await claimed] in (["m"], [])
    assert await store.due(Stage.INDEX, TERMS) == 1


async def test_writers_workers_and_a_change_of_model_do_not_end_each_other(engine: PostgresEngine) -> None:
    stores = [await engine.open(), await engine.open()]
    other = replace(SPACE, name="other")
    await stores[0].use_spaces([SPACE])

    async def write(number: int) -> None:
        scope = Scope(user_id=f"u{number % 3}")
        for turn in range(10):
            made = [a_memory(f"m{number} {turn} {n}", scope) for n in range(3)]
            async with stores[turn % 2].transaction(scope) as tx:
                for memory in made:
                    await tx.add(memory, words_in(memory.content))
                await tx.settle(Stage.INDEX, [], {made[0].id: Setback(reason="it chokes")})
            async with stores[number % 2].transaction(scope) as tx:
                await tx.settle(Stage.INDEX, [], {memory.id: Setback(tried=False) for memory in made})
                await tx.touch([memory.id for memory in reversed(made)], NOON)
                await tx.change(made[1], importance=0.9)
                await tx.erase([made[2].id])

    async def work(number: int) -> None:
        for _ in range(12):
            await stores[number % 2].claim(Stage.INDEX, f"h{number}", Terms(batch=9, attempts=99, lease_s=0))
            await stores[number % 2].renew(Stage.INDEX, f"h{number}", 1)
            await stores[number % 2].give_back(lambda holder: holder != f"h{number}")

    async def change() -> None:
        for turn in range(4):
            await stores[turn % 2].use_spaces([other if turn % 2 else SPACE])
            await stores[turn % 2].lead("r", f"h{turn}", 1)

    await asyncio.gather(*(write(n) for n in range(6)), *(work(n) for n in range(3)), change())
    assert engine.rows("SELECT count(*) FROM memories") == [(6 * 10 * 2,)]
    assert engine.rows(
        "SELECT count(*) FROM postings p WHERE NOT EXISTS (SELECT 1 FROM memories m"
        " WHERE m.bank = p.bank AND m.row = p.row)"
    ) == [(0,)]


async def test_a_lost_connection_is_replaced(engine: PostgresEngine, server: Server) -> None:
    store = await engine.open()
    (held,) = await put(store, a_memory("m"))
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hindsight-memory'"
    server.run(ended)
    assert await store.reading(ALICE.bank).get([held.id]) == [held]
    server.run(ended)
    await put(store, a_memory("n"))
    server.run(ended)
    assert len(await store.claim(Stage.INDEX, "me", TERMS)) == 2


async def test_a_transaction_whose_connection_is_lost_is_none(engine: PostgresEngine, server: Server) -> None:
    store = await engine.open()
    await put(store, a_memory("before"))
    with pytest.raises(Unavailable):
        await _cut_off(store, server)
    await put(store, a_memory("after"))
    assert await store.reading(ALICE.bank).count(where()) == 2


async def _cut_off(store: Store, server: Server) -> None:
    async with store.transaction(ALICE) as tx:
        await tx.add(a_memory("lost"), Marks())
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        await tx.add(a_memory("lost too"), Marks())


# Vectors


def vector(number: int) -> Any:
    """A direction of its own for each number."""
    made = np.random.default_rng(number).normal(size=8).astype(np.float32)
    return made / np.linalg.norm(made)


async def crowded(engine: PostgresEngine, size: int = 300, **settings: Any) -> tuple[Any, list[Memory]]:
    """A bank that is large enough for an index, every fiftieth memory with a tag."""
    store = await engine.open(hnsw_from=100, **settings)
    await store.use_spaces([SPACE])
    every = [a_memory(f"m{n}", tags=("rare",) if n % 50 == 0 else ()) for n in range(size)]
    await put(store, *every)
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors(SPACE.name, {memory.id: vector(n)[None] for n, memory in enumerate(every)})
    return store, every


async def nearest(store: Store, limit: int = 10, narrowed: Where | None = None) -> list[tuple[str, float]]:
    found = await store.reading(ALICE.bank).search_vector(SPACE.name, vector(7_777), narrowed or where(), limit)
    return [(each.id, each.score) for each in found]


async def explained(engine: PostgresEngine, store: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the statement is carried out that finds the nearest."""
    from hindsight_memory.store import postgres_wire

    steps: list[str] = []
    run = postgres_wire.run

    async def watched(connection: Any, statement: Any) -> Any:
        if "<#>" in statement.sql:
            text = postgres_wire.translated(f"EXPLAIN {statement.sql}")
            cursor = await connection.execute(text, statement.params)
            steps.extend(row[0] for row in await cursor.fetchall())
        return await run(connection, statement)

    with monkeypatch.context() as patch:
        patch.setattr(postgres_wire, "run", watched)
        await nearest(store)
    return "\n".join(steps)


async def test_a_large_bank_is_searched_by_an_index_and_a_small_one_is_not(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.server.needs_superuser()
    store, every = await crowded(engine)
    others = "[" + ",".join(str(-number) for number in vector(7_777)) + "]"
    engine.server.run(  # so many that reading all of them is dear; they are as far away as can be
        "SET session_replication_role = replica; INSERT INTO vectors (bank, space, row, part, change, vector)"
        f" SELECT 1, 1, n, 0, 0, l2_normalize('{others}'::vector + array_fill(sin(n) / 9, ARRAY[8])::vector)"
        " FROM generate_series(1001, 9000) n; ANALYZE vectors"
    )
    exact = await nearest(store)
    await store._engine.indexes.done()
    told = await explained(engine, store, monkeypatch)
    assert "_near_1" in told
    assert "Sort" not in told
    assert "vectors_0" not in told or "vectors_1" not in told, "the part of its bank only"
    assert await nearest(store) == exact
    assert len(await store.reading(ALICE.bank).alike(SPACE.name, [every[-1].id], 5)) == 1

    small = await engine.open(hnsw_from=1_000)
    told = await explained(engine, small, monkeypatch)
    assert "_near_" not in told
    assert "halfvec" not in told
    assert await nearest(small) == exact
    assert await store.check() == []


async def test_an_index_gives_way_to_a_filter(engine: PostgresEngine) -> None:
    store, every = await crowded(engine, hnsw_ef_search=5)
    await nearest(store)
    await store._engine.indexes.done()
    rare = [memory.id for memory in every if memory.tags]
    found = await nearest(store, len(rare), where(tags=("rare",)))
    assert {memory_id for memory_id, _ in found} == set(rare)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len(await nearest(store, 299)) == 299


async def test_a_half_made_index_is_made_anew(engine: PostgresEngine) -> None:
    engine.server.needs_superuser()
    store, _ = await crowded(engine)
    await nearest(store)
    await store._engine.indexes.done()
    ((name,),) = engine.rows("SELECT relname FROM pg_class WHERE relname LIKE '%!_near!_%' ESCAPE '!'")
    engine.server.run(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{name}'::regclass")
    assert await store.check() == [f"the index {name} is unfinished"]
    again = await engine.open(hnsw_from=100)
    await nearest(again)
    await again._engine.indexes.done()
    assert await store.check() == []


# Statements


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SELECT :a, :a_b1", "SELECT %(a)s, %(a_b1)s"),
        ("SELECT 'at :a' || :a || 'it''s :a'", "SELECT 'at :a' || %(a)s || 'it''s :a'"),
        ("SELECT a % :a, '10%', b::TEXT", "SELECT a %% %(a)s, '10%%', b::TEXT"),
    ],
)
def test_parameters_are_written_as_the_driver_wants_them(ours: str, theirs: str) -> None:
    from hindsight_memory.store.postgres_wire import translated

    assert translated(ours) == theirs


async def test_every_statement_of_a_bank_names_it_and_is_looked_up_in_an_index(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading whole tables is made so dear that it is done only where no index answers."""
    from hindsight_memory.store import postgres_wire

    store = await engine.open()
    told = [a_turn(f"word w{n}", n, key=f"k.{n}", task="t", expires_at=day(3)) for n in range(6)]
    await store.use_spaces([SPACE])
    run = postgres_wire.run
    steps: list[tuple[str, str]] = []
    nameless: list[str] = []

    async def watched(connection: Any, statement: Any) -> Any:
        text = statement.sql
        if any(f" {table} " in f" {text} " for table in (*erasure.OF_A_BANK, "events")) and ":bank" not in text:
            nameless.append(text)
        if statement.many is None:
            await connection.execute("SET enable_seqscan = off")
            cursor = await connection.execute(postgres_wire.translated(f"EXPLAIN {text}"), statement.params or {})
            steps.extend((row[0], text) for row in await cursor.fetchall())
        return await run(connection, statement)

    monkeypatch.setattr(postgres_wire, "run", watched)
    async with store.transaction(ALICE) as tx:
        await tx.next_turn("s", 6)
        for memory in told:
            await tx.add(memory, Marks(tuple(memory.content.split()), ("a", "b"), (Window(day(0), day(1)),)))
            await tx.relate(Relation(type=RelationType.MENTIONS, from_id=memory.id, to_id="a", created_at=NOON))
        await tx.record([an_event(memory) for memory in told])
        await tx.set_vectors(SPACE.name, {memory.id: vector(n)[None] for n, memory in enumerate(told)})
        await tx.settle(Stage.INDEX, [told[0].id], {told[1].id: Setback(reason="it chokes")})
        first = await tx.change(told[0], words_in("word new"), content="word new")
        await tx.touch([first.id], NOON)
        await tx.put_desk(await tx.take_desk("s"), NOON)
    reader = store.reading(ALICE.bank)
    assert await reader.search_words(["word"], where(), 5)
    assert await reader.search_vector(SPACE.name, vector(1), where(), 5)
    assert await reader.search_time(Window(day(0), day(1)), where(), 5)
    assert await reader.search_graph({first.id: 1.0}, {"a": 1.0}, where(), 5)
    assert await reader.names_known(["a", "b"], where())
    assert await reader.relations([first.id])
    assert await reader.find(where(tasks=("t",), key="k.1"), 5)
    assert await reader.known(first.content_hash)
    assert await reader.happened(first.content_hash[:8], None)
    assert await reader.current("k.1")
    assert await reader.turns("s", 0, 9)
    assert await reader.events(first.id, 5)
    assert await reader.replay(Window(day(-1), day(9)), None, 9)
    assert await reader.sweep(0, 9)
    assert await reader.aged(Aged(by="expires", until=day(9)), 9)
    assert await reader.aged(Aged(by="used", until=day(9), tier=Tier.HOT), 9)
    assert await reader.record_of(replace(first, source=Source.AGENT, source_ref="r"), 9) == (0, 0)
    await reader.jobs(None, 3, 9)
    await reader.talks(day(9), 9)
    async with store.transaction(ALICE) as tx:
        await tx.erase([memory.id for memory in told])
        await tx.erase_bank()

    assert len(steps) > 300
    assert not nameless
    small = ("banks", "spaces", "spending", "leads", "upkeep", "versions")
    scans = {(step.strip(), text) for step, text in steps if "Seq Scan" in step}
    assert not [each for each in scans if not any(f"on {table}" in each[0] for table in small)]


# Errors


@pytest.mark.parametrize(
    ("change", "said", "hint"),
    [
        (("/memory?", "/nowhere?"), "does not exist", "createdb"),
        (("tester", "nobody"), "refuses the role", "user and password"),
        (("host=/", "host=/not/"), "does not answer", "host and port"),
        (("@/memory?host=", "@127.0.0.1:1/memory?x="), "cannot be read", "postgresql://"),
    ],
)
async def test_what_is_wrong_is_said_with_what_to_do(
    server: Server, clock: StoppedClock, change: tuple[str, str], said: str, hint: str
) -> None:
    from hindsight_memory.store.postgres import PostgresStore

    url = server.url.replace("tester:@", "tester:sesame@").replace(*change)
    if url == server.url:
        pytest.skip("another address than the wheel's")
    with pytest.raises(HindsightMemoryError) as refused:
        await PostgresStore.open(url, StoreSettings(), WordSettings(), clock)
    assert said in refused.value.message
    assert hint in refused.value.hint
    assert "sesame" not in str(refused.value)


async def test_a_newer_schema_is_left_as_it_is(engine: PostgresEngine) -> None:
    await engine.open()
    engine.server.run("INSERT INTO versions (number, name) VALUES (99, 'later')")
    with pytest.raises(Unavailable, match=r"is of schema 99; this program knows 1 and older\. Upgrade with"):
        await engine.open()
    engine.server.run("DELETE FROM versions WHERE number = 99")
    await engine.open()


async def test_another_programs_schema_is_not_taken(engine: PostgresEngine, server: Server) -> None:
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    server.run(f"CREATE SCHEMA {SCHEMA}; CREATE TABLE {SCHEMA}.theirs (a INTEGER)")
    try:
        with pytest.raises(Unavailable, match="of another program"):
            await engine.open()
        assert engine.tables() == ["theirs"]
    finally:
        server.run(f"DROP SCHEMA {SCHEMA} CASCADE")


async def test_without_the_extension_it_says_how_to_get_it(
    engine: PostgresEngine, server: Server, clock: StoppedClock
) -> None:
    server.needs_superuser()
    from hindsight_memory.store.postgres import PostgresStore

    server.run("CREATE DATABASE bare OWNER tester")
    try:
        with pytest.raises(Unavailable) as refused:
            await PostgresStore.open(server.url.replace("/memory?", "/bare?"), StoreSettings(), WordSettings(), clock)
        assert "CREATE EXTENSION vector" in refused.value.hint
    finally:
        server.run("DROP DATABASE bare WITH (FORCE)")


async def test_what_no_column_takes_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput):
        await put(store, a_memory("a\0b"))
    await put(store, a_memory("m"))


async def test_a_closed_store_says_so(engine: PostgresEngine) -> None:
    store = await engine.open()
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await store.reading(ALICE.bank).count(where())
    with pytest.raises(Unavailable, match="closed"):
        await put(store, a_memory("m"))
