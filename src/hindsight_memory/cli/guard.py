"""The commands of the guards: policy, reveal, review, scan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.cli.people import plain, short
from hindsight_memory.cli.progress import Progress, bar
from hindsight_memory.domain import Policies, Review, ReviewListing, Scan, Scanned
from hindsight_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hindsight_memory.client import AsyncHindsightMemory

app: Final = typer.Typer()
_SHOWN: Final = 80
"""Characters of what was seen that are shown."""


@command(app, "policy")
def policy(
    at: Call,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE=HANDLING", help="Set a rule; TYPE= takes it back. Repeat for several.", show_default=False
        ),
    ] = None,
) -> None:
    """Show, or set, what becomes of personal data."""
    rules = dict(_rule(each) for each in rule or ())
    show(at.ask(lambda memory: memory.policy(rules)), _policies, as_json=at.as_json)


def _rule(text: str) -> tuple[str, str | None]:
    name, equals, handling = text.partition("=")
    if not equals:
        raise InvalidInput(f"{text!r} is no rule.", hint="Such as phone=allow.", field="rule")
    return name.strip(), handling.strip() or None


@command(app, "reveal")
def reveal(
    at: Call,
    vault_id: Annotated[str, typer.Argument(help="The id that stands in the text.")],
    reason: Annotated[str, typer.Option(help="Why, for the audit log.", show_default=False)] = "",
) -> None:
    """Show a value that was put into the vault."""
    found = at.ask(lambda memory: memory.reveal(vault_id, reason=reason))
    show(found, lambda one: typer.echo(plain(one.value)), as_json=at.as_json)


@command(app, "review", of=ReviewListing)
def review(at: Call) -> None:
    """List what waits for a person, and why."""
    show(at.ask(lambda memory: memory.review(**at.fields)), _review, as_json=at.as_json)


@command(app, "scan", of=Scan)
def scan(at: Call) -> None:
    """Screen again what is stored, to the end."""
    with bar("memories looked at", quiet=at.as_json) as progress:
        scanned = at.ask(lambda memory: _to_the_end(memory, Scan(**at.fields), progress))
    show(scanned, _scanned, as_json=at.as_json)


async def _to_the_end(memory: AsyncHindsightMemory, asked: Scan, progress: Progress) -> Scanned:
    total = Scanned(dry_run=asked.dry_run, looked=0)
    while True:
        step = await memory.scan(dry_run=asked.dry_run, limit=asked.limit, after=asked.after)
        total = Scanned(
            dry_run=step.dry_run,
            looked=total.looked + step.looked,
            found=dict(Counter(total.found) + Counter(step.found)),
            memory_ids=total.memory_ids + step.memory_ids,
            quarantined=total.quarantined + step.quarantined,
            session_ids=total.session_ids + step.session_ids,
        )
        progress(total.looked)
        if step.next is None:
            return total
        asked = replace(asked, after=step.next)


def _policies(policies: Policies) -> None:
    for kind, handling in policies.handling.items():
        typer.echo(f"{kind:20} {handling}")
    own = ", ".join(f"{kind}={handling}" for kind, handling in policies.own.items())
    say(f"Of its own: {own or 'none'}.")


def _scanned(scanned: Scanned) -> None:
    would = "would be " if scanned.dry_run else ""
    changed, waiting = len(scanned.memory_ids), len(scanned.quarantined)
    typer.echo(f"{scanned.looked} looked at, {changed} {would}changed, {waiting} {would}quarantined.")
    if scanned.session_ids:
        typer.echo(f"{len(scanned.session_ids)} running sessions {would}changed.")
    for kind, number in sorted(scanned.found.items()):
        typer.echo(f"{number:6} {kind}")


def _review(review: Review) -> None:
    """Each memory with what made it wait, and what of its text looks like an attack."""
    if not review.held:
        typer.echo("Nothing waits.")
    for each in review.held:
        typer.echo(f"{each.memory.id}  {each.suspicion:.2f}  {each.memory.status}  {short(each.memory)}")
        reasons = plain(", ".join(each.reasons)) or "no reason given"
        typer.echo(f"    {each.verb} by {plain(each.actor) or 'nobody'} on {each.at:%Y-%m-%d}: {reasons}")
        for seen in each.findings:
            typer.echo(f"    {seen.rule}: {plain(each.memory.content[seen.start : seen.end][:_SHOWN])}")
    if review.next is not None:
        say(f"More with --after {review.next}")
    elif review.held:
        say("restore lets one in, or stand; forget refuses it.")
