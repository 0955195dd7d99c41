"""The commands of API keys: create, list, rotate, revoke."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.cli.people import plain
from hindsight_memory.domain import ApiKey, IssuedKey, KeyListing, KeyPage, NewKey

app: Final = typer.Typer(name="keys", help="Make, list, replace or revoke API keys.", no_args_is_help=True)

KeyId = Annotated[str, typer.Argument(help="The key's id.")]


@command(app, "create", of=NewKey, without=["name"], who=[])
def create(at: Call, name: Annotated[str, typer.Argument(help="What the key is called.")]) -> None:
    """Make an API key, and show its secret this once."""
    show(at.ask(lambda memory: memory.create_key(name, **at.fields)), _issued, as_json=at.as_json)


@command(app, "list", of=KeyListing, who=[])
def list_(at: Call) -> None:
    """List the API keys, without their secrets."""
    show(at.ask(lambda memory: memory.list_keys(**at.fields)), _page, as_json=at.as_json)


@command(app, "rotate", who=[])
def rotate(
    at: Call,
    key_id: KeyId,
    overlap_hours: Annotated[float, typer.Option(help="How many hours longer the old one works.")] = 24.0,
) -> None:
    """Replace a key by a new one that may do the same."""
    show(at.ask(lambda memory: memory.rotate_key(key_id, overlap_hours=overlap_hours)), _issued, as_json=at.as_json)


@command(app, "revoke", who=[])
def revoke(
    at: Call,
    key_id: KeyId,
    reason: Annotated[str, typer.Option(help="Why, for the audit log.", show_default=False)] = "",
) -> None:
    """End a key at once."""
    show(at.ask(lambda memory: memory.revoke_key(key_id, reason=reason)), _line, as_json=at.as_json)


def _issued(issued: IssuedKey) -> None:
    _line(issued.key)
    say("This is the secret. It is shown this once, and kept nowhere:")
    typer.echo(issued.secret)


def _page(page: KeyPage) -> None:
    if not page.keys:
        typer.echo("There are no keys.")
    for key in page.keys:
        _line(key)
    if page.next is not None:
        typer.echo(f"More: --after {page.next}")


def _line(key: ApiKey) -> None:
    users = "all users" if key.users is None else ", ".join(map(plain, key.users))
    agents = "" if key.agents is None else f" as {', '.join(map(plain, key.agents))}"
    typer.echo(f"{key.id}  {key.prefix}…  {plain(key.name)}")
    typer.echo(f"  {', '.join(key.grants)} of {users}{agents} in {plain(key.namespace)}; {_state(key)}")


def _state(key: ApiKey) -> str:
    used = "never used" if key.last_used_at is None else f"last used {key.last_used_at:%Y-%m-%d %H}h UTC"
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d %H:%M} UTC, {used}"
    ends = "no end" if key.expires_at is None else f"until {key.expires_at:%Y-%m-%d %H:%M} UTC"
    return f"{ends}, {used}"
