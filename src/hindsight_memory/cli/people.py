"""Answers as people read them on a terminal; stored text is shown as it is, never read as markup."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from hindsight_memory.cli.demo import TOP, Demonstration
from hindsight_memory.domain import Check, Context, Hit, ImportReport, Memory, Page, Receipt

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE: Final = 160
_MOST_SKIPPED: Final = 20
_SHOWN: Final = 3


def receipts(given: Sequence[Receipt]) -> None:
    """What became of each draft, a line each."""
    for receipt in given:
        met = f"  (see {', '.join(receipt.related)})" if receipt.related else ""
        typer.echo(f"{receipt.action} {receipt.id}{met}")


def hits(found: Sequence[Hit]) -> None:
    """Results: rank, score, confidence, date and text, with the reasons below."""
    if not found:
        typer.echo("Nothing found.")
    console = _console()
    for rank, hit in enumerate(found, 1):
        _hit(console, str(rank), hit)


def explained(hit: Hit) -> None:
    """One result with every number that made its score."""
    from rich.table import Table

    console = _console()
    _hit(console, "-", hit)
    if hit.why.shares:
        table = Table("signal", "rank", "value", "amount")
        for share in hit.why.shares:
            table.add_row(share.signal, str(share.rank or "-"), f"{share.value:.4f}", f"{share.amount:+.4f}")
        console.print(table)
    for factor in hit.why.factors:
        console.print(f"x {factor.value:.3f}  {factor.name}: {plain(factor.because)}")
    for signal in hit.why.inactive:
        console.print(f"inactive: {plain(signal)}", style="dim")


def memory(one: Memory) -> None:
    """Every field of a memory that says something, its text last."""
    from hindsight_memory.wire import to_wire

    values: dict[str, Any] = to_wire(one)
    content = values.pop("content")
    width = max(map(len, values))
    for name, value in values.items():
        if value not in (None, [], {}, False):
            typer.echo(f"{name:{width}}  {plain(str(value))}")
    typer.echo(f"\n{plain(content)}")


def changed(one: Memory) -> None:
    """What state a memory is in now."""
    typer.echo(f"{one.status} {one.id}")


def page(one: Page) -> None:
    """A line a memory, and how to see more."""
    if not one.memories:
        typer.echo("Nothing here.")
    console = _console()
    for each in one.memories:
        console.print(_line(f"{each.id}  {date(each.occurred_at)}  {each.kind:10}  ", short(each)))
    if one.next is not None:
        console.print(f"More: --after {one.next}", style="dim")


def context(block: Context) -> None:
    """The block itself, to be piped into a prompt."""
    if block.text:
        typer.echo(plain(block.text))


def checks(given: Sequence[Check]) -> None:
    """A line a check, marked by whether it is well, with what to do."""
    well, ill = marks()
    for check in given:
        typer.echo(f"{well if check.ok else ill} {check.name:10} {plain(check.note)}")
        if check.hint:
            typer.echo(f"{'':{max(len(well), len(ill)) + 1}}{plain(check.hint)}")


def imported(report: ImportReport) -> None:
    """What an import did, and what it left out and why."""
    typer.echo(f"{report.format}: {report.turns} turns in {report.sessions} sessions.")
    typer.echo(f"{report.created} stored, {report.known} known already, {len(report.skipped)} parts skipped.")
    for part in report.skipped[:_MOST_SKIPPED]:
        typer.echo(f"  {plain(part.where)}: {plain(part.reason)}")
    if len(report.skipped) > _MOST_SKIPPED:
        typer.echo(f"  and {len(report.skipped) - _MOST_SKIPPED} more; --json lists all.")


def demonstration(shown: Demonstration) -> None:
    """Each question with its first results; those that were expected are marked."""
    well, ill = marks()
    console = _console()
    for each in shown.questions:
        console.print(f"\n{well if each.found else ill} {each.question}", style="bold")
        for rank, hit in enumerate(each.hits[:_SHOWN], 1):
            expected = well if hit.memory.source_ref in each.evidence else ""
            console.print(f"  {rank} {date(hit.memory.occurred_at)}  {short(hit.memory)} {expected}")
            console.print(f"    {plain(hit.why.sentence)}", style="dim")
    total = len(shown.questions)
    console.print(
        f"\n{shown.title}: {shown.turns} turns; {shown.answered} of {total} questions have an expected turn "
        f"among the first {TOP} results."
    )


def marks() -> tuple[str, str]:
    """What stands for well and ill, where the console can show it."""
    try:
        "✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "ok  ", "FAIL"
    return "✓", "✗"


def plain(text: str) -> str:
    """Text that cannot steer the terminal."""
    return _CONTROL.sub("\ufffd", text)


def short(one: Memory) -> str:
    """A memory on one line."""
    speaker = f"{one.speaker}: " if one.speaker else ""
    text = " ".join(plain(f"{speaker}{one.summary or one.content}").split())
    return text if len(text) <= _LINE else f"{text[: _LINE - 3]}..."


def date(moment: datetime) -> str:
    """A time to the minute, UTC."""
    return f"{moment:%Y-%m-%d %H:%M}Z"


def _hit(console: Console, rank: str, hit: Hit) -> None:
    sure = f"confidence {hit.confidence:.2f}{'' if hit.sure else ' (unsure)'}"
    numbers = f"score {hit.score:.4f}  {sure}  {date(hit.memory.occurred_at)}  {hit.memory.id}"
    console.print(_line(f"{rank:>2}  {numbers}"))
    console.print(f"    {short(hit.memory)}")
    console.print(f"    {plain(hit.why.sentence)}", style="dim")


def _line(faint: str, clear: str = "") -> Any:
    from rich.text import Text

    return Text.assemble((faint, "dim"), clear)


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # Rich would end the process; ``root`` says with which code

    return Piped(highlight=False, markup=False, emoji=False, soft_wrap=True)
