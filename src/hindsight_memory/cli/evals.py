"""``eval``: how well memory finds what it was given, and what that is worth to an answer."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.errors import InvalidInput
from hindsight_memory.wire import to_wire

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from hindsight_memory.evals.asking import Progress, SetResult
    from hindsight_memory.evals.datasets import DataSet
    from hindsight_memory.settings import Settings

app: Final = typer.Typer(name="eval", help="Measure how well memory finds what it was given.", no_args_is_help=True)

Data = Annotated[list[Path], typer.Option("--data", metavar="FILE", help="Evaluation data; repeat for several.")]
Groups = Annotated[int | None, typer.Option(min=1, help="Only the first groups of each set.", show_default=False)]
Queries = Annotated[int | None, typer.Option(min=1, help="Only the first queries of each group.", show_default=False)]
Report = Annotated[
    Path | None, typer.Option(metavar="OUT.html", help="Write a page with plots too.", show_default=False)
]
_Measure = Callable[["Settings", Sequence[Any], "Progress"], Awaitable[list["SetResult"]]]

_MARK: Final = " without "
"""Stands between a set's name and the signal that was off."""
_PIPED_WIDTH: Final = 160
_COMPARED: Final = ("recall@1", "recall@5", "recall@10", "recall@20", "mrr", "stale_first")


@command(app, "recall", who=[])
def recall(  # noqa: PLR0913, PLR0917  # a parameter is an option
    at: Call,
    data: Data,
    baseline: Annotated[
        str | None, typer.Option(metavar="bm25|vector|hybrid-plain", help="Measure this instead.", show_default=False)
    ] = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Measure again without each signal.")] = False,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="Ask each group what only other groups know, too.")
    ] = False,
    limit_groups: Groups = None,
    limit_queries: Queries = None,
    per_question: Annotated[
        Path | None, typer.Option(metavar="OUT.jsonl", help="Write a line a question too.", show_default=False)
    ] = None,
    report: Report = None,
) -> None:
    """Measure what of the evidence is found. Run twice on one --database, it stores nothing again."""
    from hindsight_memory.evals.asking import line_of
    from hindsight_memory.evals.baselines import BASELINES
    from hindsight_memory.evals.recall import Wanted, measure

    if baseline is not None and baseline not in BASELINES:
        raise InvalidInput(f"{baseline!r} is not a baseline.", hint=f"Use {', '.join(BASELINES)}.", field="baseline")
    sets = _read(data, limit_groups, limit_queries)
    _begun(report, "report")
    kind: Any = baseline
    with _lines(per_question, "per_question") as write:

        async def run(settings: Settings, embedders: Sequence[Any], progress: Progress) -> list[SetResult]:
            wanted = Wanted(
                baseline=kind,
                ablate=ablate,
                foreign=foreign,
                each=lambda one: write(line_of(one)),
                progress=progress,
            )
            return await measure(sets, settings, embedders, wanted)

        results = _run(at, run)
    _answer(at, results, report, "Evidence recall")


@command(app, "ab", who=[])
def ab(  # noqa: PLR0913, PLR0917
    at: Call,
    data: Data,
    last: Annotated[int, typer.Option(min=1, help="Turns that the arm of the last turns sees.")] = 10,
    budget_tokens: Annotated[
        int | None, typer.Option(min=1, help="Longest block of memory.", show_default=False)
    ] = None,
    limit_groups: Groups = None,
    limit_queries: Queries = None,
    judgements: Annotated[
        Path | None,
        typer.Option(metavar="OUT.jsonl", help="Write each prompt, answer and judgement.", show_default=False),
    ] = None,
    report: Report = None,
) -> None:
    """Compare memory with none, and with the plain history."""
    from hindsight_memory.evals.ab import Trial, compare, model_of

    sets = _read(data, limit_groups, limit_queries)
    _begun(report, "report")
    with _lines(judgements, "judgements") as write:

        async def run(settings: Settings, embedders: Sequence[Any], progress: Progress) -> list[SetResult]:
            async with model_of(settings) as ask:
                if ask is None and judgements is not None:
                    hint = "Set HINDSIGHT_MEMORY_LLM, such as openai:MODEL."
                    raise InvalidInput("No language model is set, so nothing is judged.", hint=hint, field="judgements")
                trial = Trial(last=last, budget_tokens=budget_tokens, ask=ask, judged=write, progress=progress)
                return await compare(sets, settings, embedders, trial)

        results = _run(at, run)
    _answer(at, results, report, "With and without memory")


@command(app, "fit", who=[])
def fit(
    at: Call,
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write rank.json and confidence.json.")],
    limit_groups: Groups = None,
    limit_queries: Queries = None,
    report: Report = None,
) -> None:
    """Fit the weights of the ranking anew; its figures are of questions kept aside."""
    from hindsight_memory.evals.fit import fit as fitted

    sets = _read(data, limit_groups, limit_queries)
    _begun(report, "report")
    out.mkdir(parents=True, exist_ok=True)

    async def run(settings: Settings, embedders: Sequence[Any], progress: Progress) -> list[SetResult]:
        def keep(name: str, text: str) -> None:
            (out / f"{name}.json").write_text(text, encoding="utf-8")

        return await fitted(sets, settings, embedders, keep, progress)

    _answer(at, _run(at, run), report, "Fitted, on questions kept aside")


@command(app, "conflicts", who=[])
def conflicts(at: Call, data: Data, report: Report = None) -> None:
    """Measure which statements supersede which; give pairs with a relation."""
    from hindsight_memory.evals import pairs

    _pairs(at, data, report, (pairs.read_conflicts, pairs.conflicts), "Superseding")


@command(app, "duplicates", who=[])
def duplicates(at: Call, data: Data, report: Report = None) -> None:
    """Measure which statements are merged; give pairs that are duplicates or not."""
    from hindsight_memory.evals import pairs

    _pairs(at, data, report, (pairs.read_duplicates, pairs.duplicates), "Merging")


@command(app, "pii", who=[])
def pii(at: Call, data: Data, report: Report = None) -> None:
    """Measure which personal data and secrets are found; give texts with labelled spans."""
    from hindsight_memory.evals.pii import read, read_items, summarise

    sets = [(path.stem, read_items(path)) for path in data]
    _begun(report, "report")
    with _progress(quiet=at.as_json) as progress:
        results = [summarise(name, read(items, progress)) for name, items in sets]
    _answer(at, results, report, "Personal data and secrets")


@command(app, "poison", who=[])
def poison(
    at: Call,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="FILE", help="Conversations with questions to attack; otherwise our templates."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "--limit-queries", min=1, help="Only so many questions of each set.", show_default=False
        ),
    ] = None,
    limit_groups: Groups = None,
    seed: Annotated[int, typer.Option(min=0, help="Which questions of the data, and which false answers.")] = 0,
    report: Report = None,
) -> None:
    """Attack questions with false passages of documents and tools, and see what of them reaches a prompt."""
    from hindsight_memory.evals.poison import poison as attacked
    from hindsight_memory.evals.poison_data import poison_data

    sets = _read(data or [], limit_groups, None)
    _begun(report, "report")

    async def run(settings: Settings, embedders: Sequence[Any], progress: Progress) -> list[SetResult]:
        if data is None:
            return await attacked(settings, embedders, progress, limit)
        return await poison_data(sets, settings, embedders, progress, seed=seed, most=limit)

    _answer(at, _run(at, run), report, "Poisoning")


@command(app, "guard", who=[])
def guard(
    at: Call,
    data: Data,
    ordinary: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Sets without attacks: all of it should pass.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Measure both halves: these items are new to it.")] = False,
    fit: Annotated[
        Path | None,
        typer.Option(metavar="OUT.json", help="Fit the weights anew first, on one half.", show_default=False),
    ] = None,
    report: Report = None,
) -> None:
    """Measure which attacks on memory are stopped, and what harmless text with them."""
    from hindsight_memory.evals import guard as guards
    from hindsight_memory.evals.guard_fit import fit as fitted
    from hindsight_memory.evals.guard_items import lessons, own_items, read_items
    from hindsight_memory.guard.injection_weights import parse, shipped, written

    _begun(report, "report")
    turns = guards.ordinary(_read(ordinary or [], None, None))
    sets = [(path.stem, read_items(path)) for path in data]
    own = own_items()
    with _progress(quiet=at.as_json) as progress:
        if fit is None:
            heads = shipped()
        else:
            _begun(fit, "fit")
            text = written(fitted([row for _, rows in sets for row in rows] + own + lessons() + turns, progress))
            _written(fit, text, "fit")
            heads = parse(text)
        results = [each for name, rows in sets for each in guards.measure(name, rows, heads, progress, whole=whole)]
        results += guards.measure("our sentences", own, heads, progress)
        results += guards.measure("ordinary", turns, heads, progress, whole=True) if turns else []
    _answer(at, results, report, "Attacks on memory")


def _pairs(at: Call, paths: Sequence[Path], report: Path | None, how: Any, title: str) -> None:
    from hindsight_memory.evals.pairs import outcomes

    read, summarise = how
    sets = [(path.stem, read(path)) for path in paths]
    _begun(report, "report")

    async def run(settings: Settings, embedders: Sequence[Any], progress: Progress) -> list[SetResult]:
        return [summarise(name, await outcomes(given, settings, embedders, progress)) for name, given in sets]

    _answer(at, _run(at, run), report, title)


def _read(paths: Sequence[Path], groups: int | None, queries: int | None) -> list[DataSet]:
    from hindsight_memory.evals.datasets import read_all

    return [data.cut(groups, queries) for data in read_all(paths)]


def _run(at: Call, measure: _Measure) -> list[SetResult]:
    """Measure on the database that is named, or on one that is gone afterwards."""
    from hindsight_memory.build import embedders_of, settings_from

    async def run(settings: Settings, progress: Progress) -> list[SetResult]:
        embedders, notes = await embedders_of(settings.embed)
        for note in notes:
            if not at.as_json:
                say(note)
        try:
            return await measure(settings, embedders, progress)
        finally:
            for embedder in embedders:
                await embedder.close()

    with ExitStack() as stack:
        database = at.database
        if database is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hindsight-memory-eval-"))
            database = f"sqlite:///{Path(folder, 'eval.db')}"
        if database.startswith(("http://", "https://")):
            hint = "Give a database; the figures would hold the network's time too."
            raise InvalidInput("An evaluation opens its database itself.", hint=hint, field="database")
        progress = stack.enter_context(_progress(quiet=at.as_json))
        try:
            return asyncio.run(run(settings_from(database=database), progress))
        except KeyboardInterrupt:
            if at.database is not None:
                say("What was stored so far is kept. Run the same command again to go on.")
            raise


def _answer(at: Call, results: list[SetResult], report: Path | None, title: str) -> None:
    if report is not None:
        from hindsight_memory.evals.report import page

        _written(report, page(results, title), "report")
    show(results, _people, as_json=at.as_json, name="sets")


def _begun(path: Path | None, field: str) -> None:
    """Find out at once, and not after an hour, that a file cannot be written."""
    if path is not None:
        _written(path, "", field)


def _written(path: Path, text: str, field: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise InvalidInput(message, hint="Name another file.", field=field) from error


@contextmanager
def _lines(path: Path | None, field: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Where lines of JSON go, each as soon as it is there; nowhere without a path."""
    if path is None:
        yield lambda _: None
        return
    _begun(path, field)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(to_wire(line), ensure_ascii=False) + "\n")

        yield write


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar on standard error, where someone watches; a new one when something else is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show_progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(people.plain(what), total=total)
            bar.update(tasks[what], completed=done, visible=done < total)

        yield show_progress


def _people(results: Sequence[SetResult]) -> None:
    """A table a set; then what each signal is worth, where that was measured."""
    console = _console()
    for result in results:
        if _MARK in result.name:
            continue
        console.print(_table(result))
        console.print(_facts(result), style="dim")
        without = [each for each in results if each.name.startswith(f"{result.name}{_MARK}")]
        if without:
            console.print(_differences(result, without))


def _table(result: SetResult) -> Table:
    """Each measure over all questions, with its interval over groups, and by category."""
    from rich.table import Table

    categories = result.by["category"] if len(result.by["category"]) > 1 else {}
    table = Table("", "all", "95 %", *map(people.plain, categories), title_justify="left")
    table.title = people.plain(result.name)
    table.add_row("questions", str(result.n), "", *(_number(values["n"]) for values in categories.values()))
    for name, value in result.metrics.items():
        between = "-".join(map(_number, result.intervals.get(name, ())))
        table.add_row(name, _number(value), between, *(_number(values.get(name)) for values in categories.values()))
    return table


def _facts(result: SetResult) -> str:
    facts = [f"{result.memories} memories in {result.groups} groups"]
    facts += [f"{name} {value:g} ms" for name, value in result.latency_ms.items() if value is not None]
    facts += [f"at most {result.memory_mb:g} MB resident"] if result.memory_mb is not None else []
    return ", ".join(facts)


def _differences(whole: SetResult, without: Sequence[SetResult]) -> Table:
    from rich.table import Table

    names = [name for name in _COMPARED if name in whole.metrics]
    table = Table("without", *names, title="Difference without a signal", title_justify="left")
    for result in without:
        changes = [f"{round(result.metrics[name] - whole.metrics[name], 3):+g}" for name in names]
        table.add_row(people.plain(result.name.removeprefix(f"{whole.name}{_MARK}")), *changes)
    return table


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # Rich would end the process; ``root`` says with which code

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Piped(width=width, highlight=False, markup=False, emoji=False)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
