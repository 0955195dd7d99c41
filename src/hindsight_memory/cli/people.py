"""Answers as people read them on a terminal; stored text is shown as it is, never read as markup."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from hindsight_memory.cli.demo import TOP, Demonstration
from hindsight_memory.domain import (
    Check,
    Consolidated,
    Context,
    Contradiction,
    Desk,
    Ended,
    Erased,
    History,
    Hit,
    ImportReport,
    Jobs,
    MaintainReport,
    Memory,
    Page,
    Ranking,
    Receipt,
    Replay,
    Session,
    Stop,
    Suggestion,
    is_shared,
)

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


def history(found: History) -> None:
    """The versions, the oldest first, and why one replaced the other."""
    why = {edge.to_id: edge for edge in found.relations}
    for version in found.versions:
        typer.echo(f"{version.occurred_at:%Y-%m-%d} {version.status:<10} {version.id}  {short(version)}")
        if version.id in why:
            edge = why[version.id]
            typer.echo(f"           {edge.type} by {edge.from_id} {edge.metadata.get('rule', '')}".rstrip())


def contradictions(found: Sequence[Contradiction]) -> None:
    """Each pair, the later one first."""
    if not found:
        typer.echo("Nothing contradicts anything.")
    for each in found:
        typer.echo(f"{each.new.id}  {short(each.new)}")
        typer.echo(f"  against {each.old.id}  {short(each.old)}")


def explained(hit: Hit) -> None:
    """One result with every number that made its score."""
    from rich.table import Table

    console = _console()
    _hit(console, "-", hit)
    if hit.why.shares:
        table = Table("signal", "rank", "value", "amount", "weight")
        for share in hit.why.shares:
            numbers = (f"{share.value:.4f}", f"{share.amount:+.4f}", f"{share.weight:.3f}")
            table.add_row(share.signal, str(share.rank or "-"), *numbers)
        console.print(table)
    for factor in hit.why.factors:
        console.print(f"x {factor.value:.3f}  {factor.name}: {plain(factor.because)}")
    for doubt in hit.why.doubts:
        console.print(f"{'withheld' if doubt.withheld else 'disputed'}: {doubt.rule}: {plain(doubt.because)}")
    for signal in hit.why.inactive:
        console.print(f"inactive: {plain(signal)}", style="dim")


def suggestions(found: Sequence[Suggestion]) -> None:
    """What is expected, from when to when, with the reason below."""
    if not found:
        typer.echo("Nothing is usual about now.")
    console = _console()
    for each in found:
        span = f"{each.window.since:%Y-%m-%d %H:%M} to {each.window.until:%m-%d %H:%M} UTC"
        console.print(_line(f"{span}  {each.confidence:.0%}  {each.memory_id}  ", plain(each.what)))
        console.print(f"    {plain(each.why)}", style="dim")


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


def ranking(one: Ranking) -> None:
    """What feedback made of each signal."""
    typer.echo(f"{one.pairs} comparisons; {'these weights' if one.weights else 'the ranking is as it was shipped'}.")
    for signal, weight in one.weights.items():
        typer.echo(f"{weight:.3f}  {signal}")


def erased(one: Erased) -> None:
    """What was removed for good, counted, and what a search of the files found."""
    counts = one.counted().items()
    typer.echo("Removed for good: " + ", ".join(f"{count} {name}" for name, count in counts) + ".")
    if one.proof is None or not one.proof.samples:
        return
    proof = one.proof
    found = f"{proof.found} of them found" if proof.found else "none of them found"
    size = f"{proof.files} files, {proof.bytes / 1_000_000:,.1f} MB"
    compacted = " The file was compacted." if proof.compacted else ""
    typer.echo(f"Looked for {proof.samples} samples of it in all bytes of {size}: {found}.{compacted}")
    if proof.note:
        typer.echo(proof.note)


def replay(one: Replay) -> None:
    """A line an event: when, what, who, and the memory it is about as far as it may be seen."""
    if not one.lines:
        typer.echo("Nothing happened.")
    console = _console()
    for line in one.lines:
        event = line.event
        text = short(line.memory) if line.memory is not None else event.memory_id or ""
        why = f"  ({plain(event.reason)})" if event.reason else ""
        console.print(_line(f"{date(event.at)}  {event.verb:12} {plain(event.actor)}  ", f"{text}{why}"))
    if one.next is not None:
        console.print(f"More: --after {one.next}", style="dim")


def maintained(report: MaintainReport) -> None:
    """What each routine did, or would do, with the first of its changes."""
    console = _console()
    would = " would be" if report.dry_run else ""
    done = ", ".join(f"{count} {name}" for name, count in report.totals.items() if count) or "nothing"
    console.print(f"{report.banks} users looked at;{would} done: {plain(done)}.")
    for line in report.upkeep:
        user = "everybody" if line.user_id is None else plain(line.user_id)
        passed = f", {line.passed} left alone" if line.passed else ""
        console.print(f"{line.routine}: {line.changes} of {user}{passed}{f': {line.stopped}' if line.stopped else ''}")
        for change in line.examples:
            console.print(_line(f"  {change.memory_id}  {plain(change.why)}"))
    if report.more:
        console.print(f"and {report.more} more lines", style="dim")


_ENDED: Final = {
    None: "",
    Stop.TIME: " The time was up; run it again for the rest.",
    Stop.DAY: " What language models may do in a day is done; the rest waits until tomorrow (UTC).",
    Stop.MODEL: " The language model does not answer; what was not read waits.",
}


def jobs(found: Jobs) -> None:
    """How many memories are in which state, and what went wrong, a line a job with its reason below."""
    if found.retried:
        typer.echo(f"{found.retried} to be tried again.")
    if found.read or found.stopped:
        typer.echo(f"{found.read} read now.{_ENDED[found.stopped]}")
    typer.echo(f"{found.queued} queued, {found.running} running, {found.done} done, {found.failed} failed.")
    for job in found.latest:
        again = f", next at {date(job.next)}" if job.next is not None else ""
        typer.echo(f"{job.state:8} {job.memory_id}  {job.attempts} tries{again}")
        typer.echo(f"         {plain(job.reason)}")


def consolidated(report: Consolidated) -> None:
    """What was concluded, with how often that came up, and how to take it back."""
    console = _console()
    if not report.conclusions:
        typer.echo("Nothing new came up often enough.")
    for each in report.conclusions:
        line = " ".join(plain(each.content).split())
        console.print(_line(f"{each.action:9} {each.memory_id}  {each.kind:10}  ", f"{line}  ({each.why})"))
    if report.more:
        console.print(f"and {report.more} more", style="dim")
    if report.conclusions and not report.dry_run:
        console.print(f"Take it back: --undo {report.run.isoformat()}", style="dim")


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


def desk(one: Desk) -> None:
    """A session's state: its texts, then the entries of each list."""
    from hindsight_memory.wire import to_wire

    until = f", open until {date(one.expires_at)}" if one.expires_at else ", not open"
    typer.echo(f"{plain(one.session_id)}: version {one.version}{until}")
    for name, value in to_wire(one.state).items():
        if isinstance(value, str) and value:
            typer.echo(f"{name}: {plain(value)}")
        elif value:
            typer.echo("\n".join([f"{name}:", *(f"  - {plain(entry)}" for entry in value)]))


def session(one: Session) -> None:
    """A session's state, and its latest messages."""
    desk(one)
    if one.left_out:
        typer.echo(f"({one.left_out} earlier messages)")
    for message in one.messages:
        typer.echo(short(message if message.speaker else replace(message, speaker=message.source)))


def ended(one: Ended) -> None:
    """What became of a session's messages."""
    typer.echo(f"{plain(one.session_id)} ended: {one.promoted} promoted, {one.forgotten} forgotten.")


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
    shared = "  shared" if is_shared(hit.memory.bank_id) else ""
    numbers = f"score {hit.score:.4f}  {sure}  {date(hit.memory.occurred_at)}  {hit.memory.id}{shared}"
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
