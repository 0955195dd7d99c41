"""The commands around the verbs: import, doctor, serve, mcp, demo."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hindsight_memory.cli import moving, people
from hindsight_memory.cli.demo import Language, demonstrate
from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.cli.progress import bar
from hindsight_memory.domain import ImportReport, Scope, Wait

if TYPE_CHECKING:
    from hindsight_memory.service import Service

app: Final = typer.Typer()


@command(app, "import", who=["user_id", "agent_id"])
def import_(
    at: Call,
    path: Annotated[str, typer.Argument(help="An archive, a conversation export, Markdown, or a folder of them.")],
    wait: Annotated[Wait, typer.Option(help="Until when to wait: stored, or found by meaning too.")] = Wait.INDEXED,
    passphrase_file: moving.PassphraseFile = None,
) -> None:
    """Read an archive or a conversation export. Run twice, it adds nothing."""
    _announce(at)
    from hindsight_memory.service.moving import is_archive

    if is_archive(Path(path)):
        moving.take_in(at, Path(path), passphrase_file)
        return
    try:
        with bar("turns read", quiet=at.as_json) as progress:
            report: ImportReport = at.ask(lambda memory: memory.import_file(path, wait=wait, progress=progress))
    except KeyboardInterrupt:
        say("What was read so far is stored. Run the same import again to go on.")
        raise
    show(report, people.imported, as_json=at.as_json)


@command(app, "doctor", who=[])
def doctor(at: Call) -> None:
    """Say what the memory runs on, and whether it is well."""
    with bar("banks looked at", quiet=at.as_json) as progress:
        checks = at.ask(lambda memory: memory.doctor(progress=progress))
    show(checks, people.checks, as_json=at.as_json, name="checks")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


@command(app, "encrypt", who=[])
def encrypt(at: Call) -> None:
    """Encrypt a plain database, in its place."""
    from hindsight_memory.build import encrypt as encrypted
    from hindsight_memory.build import settings_from

    path = encrypted(settings_from(database=at.database))
    show({"encrypted": str(path)}, lambda _: say(f"{path} is encrypted. Whoever loses the key loses the memories."),
         as_json=at.as_json)  # fmt: skip


@command(app, "serve", who=[])
def serve(
    at: Call,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]", metavar="HOST")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. [default: 8765]", metavar="NUMBER")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that serve. [default: 1]", metavar="NUMBER")] = None,
) -> None:
    """Serve REST, MCP and the page."""
    from hindsight_memory.build import settings_from
    from hindsight_memory.cli import serving

    settings = settings_from(database=at.database)
    if workers is not None:
        settings = replace(settings, server=replace(settings.server, workers=workers))
    where = host or settings.server.host, settings.server.port if port is None else port
    with serving.installed("server"):
        serving.serve(settings, *where, as_json=at.as_json)


@command(app, "worker", who=[])
def worker(at: Call) -> None:
    """Do the work behind the writes, and answer nobody."""
    from hindsight_memory.build import settings_from
    from hindsight_memory.cli import serving

    asyncio.run(serving.work(settings_from(database=at.database)))


class Profile(StrEnum):
    """Which tools an MCP host is offered."""

    DEFAULT = "default"
    FULL = "full"


@command(app, "mcp")
def mcp(
    at: Call,
    profile: Annotated[
        Profile, typer.Option(help="Nine tools that every host takes, or memory_session too.")
    ] = Profile.DEFAULT,
) -> None:
    """Serve MCP on standard input and output."""
    from hindsight_memory.cli import serving

    async def open_service() -> Service:
        # Imported once the client has its first answer: what stands behind the verbs takes a while to load.
        from hindsight_memory.build import build, settings_from

        settings = settings_from(database=at.database)
        say(f"Database: {settings.place}")
        return await build(settings)

    with serving.installed("mcp"):
        with serving.quick_import():
            from hindsight_memory.server.stdio import run_stdio

        run_stdio(open_service, Scope(**dict[str, Any](at.who)), full=profile is Profile.FULL)


@command(app, "demo", who=["user_id"])
def demo(
    at: Call, language: Annotated[Language, typer.Option(help="Language of the sample conversation.")] = Language.EN
) -> None:
    """Import a sample conversation and answer its questions."""
    # In a database that is in use the sample is a user of its own, so that it joins nobody's memories.
    who = {"user_id": "demo", **at.who}
    with tempfile.TemporaryDirectory(prefix="hindsight-memory-demo-") as folder:
        database = at.database or f"sqlite:///{Path(folder, 'demo.db')}"
        _announce(at, database)
        with bar("turns stored", quiet=at.as_json) as progress:
            shown = asyncio.run(demonstrate(database, language, who, progress))
    show(shown, people.demonstration, as_json=at.as_json)


def _announce(at: Call, database: str | None = None) -> None:
    from hindsight_memory.build import settings_from

    database = settings_from(database=database or at.database).place
    if not at.as_json:
        say(f"Database: {database}")
