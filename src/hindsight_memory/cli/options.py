"""Options of the commands, read off the domain's dataclasses so that none is missing or named otherwise."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from datetime import datetime
from enum import StrEnum
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin, get_type_hints

import typer

from hindsight_memory.domain import Who
from hindsight_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hindsight_memory.client import AsyncHindsightMemory

T = TypeVar("T")

WHO: Final = tuple(field.name for field in fields(Who))

HELP: Final[Mapping[str, str]] = {
    # who
    "user_id": "Whose memory it is.",
    "agent_id": "Who writes or asks.",
    "session_id": "The conversation or task run.",
    # a draft, and what an update changes
    "content": "What to remember; - reads it from standard input.",
    "kind": "What sort of knowledge it is.",
    "key": "What it is about, as domain.attribute; one current value a key.",
    "tags": "A tag; repeat for several, '' for none.",
    "metadata": "An object of your own.",
    "source": "Who it comes from.",
    "source_ref": "Where exactly it comes from.",
    "visibility": "Which agents of the user see it.",
    "importance": "How much it matters, 0 to 1.",
    "pinned": "Never let it fade.",
    "speaker": "Who said it.",
    "occurred_at": "When it happened.",
    "valid_from": "From when it is so.",
    "valid_until": "Until when it is so.",
    "expires_at": "When it ends.",
    "outcome": "How it ended.",
    "task": "The task it belongs to.",
    "tools": "A tool that was used; repeat for several.",
    "relations": "An edge as TYPE:TARGET, a memory's id or a name; repeat for several.",
    "version": "Fail unless the memory is at this version.",
    # a session's state
    "task_goal": "What the task is for.",
    "current_step": "What is being done now.",
    "confirmed_facts": "What is certain; repeat for several.",
    "open_questions": "What is still to be answered; repeat for several.",
    "decisions": "What was decided; repeat for several.",
    "discarded": "What was given up; it leaves the other lists. Repeat for several.",
    "remove": "An entry to take away; repeat for several.",
    # a step of a task
    "error": "What went wrong, as the tool said it.",
    "output": "What it gave.",
    "id": "Your own id of it: recorded twice, it is one.",
    # a filter
    "kinds": "Only this kind; repeat for several.",
    "session": "Only from this session.",
    "except_session": "Nothing from this session.",
    "agent": "Only what this agent wrote.",
    "since": "Only what happened then or later.",
    "until": "Only what happened before.",
    "as_of": "Answer from what was valid at that moment.",
    "limit": "Most results.",
    "at": "The moment to look ahead from; now by default.",
    "horizon_hours": "How many hours ahead.",
    "cold": "Also what went cold because nobody used it.",
    "zone": "Time zone of the asker, such as Europe/Berlin: what yesterday means.",
    "spaces": "An embedding space to search; repeat for several.",
    "moment": "Where in a task it is asked.",
    # maintenance
    "dry_run": "Only say what would be done.",
    "due": "Leave out what was done a short while ago.",
    "beyond_half": "Even where it takes more than half of a user's memories out of sight.",
    "routines": "Only this routine; repeat for several.",
    "users": "Only this user's memory; repeat for several.",
    # an API key
    "grants": "What it may do: read, write, vouch, shared, purge, vault, admin; repeat for several.",
    "agents": "As this agent, and no other; repeat for several. Left out, it has agents of its own.",
    "namespace": "Its namespace.",
    "status": "Only memories of this status.",
    "doubted": "Only those that feedback called wrong or outdated and that still stand.",
    "after": "Continue after this id: the next of the page before.",
    # language models
    "retry": "Try once more what failed.",
    "run": "Have what waits read now.",
    "within_s": "How many seconds that may take.",
    # consolidation
    "propose": "Lay new conclusions before a person: restore accepts one, forget refuses it.",
    "undo": "Take back the run of that time, and do nothing else.",
    # an archive
    "vectors": "With the vectors, which are made anew otherwise.",
    "stamp": "Saying when it was made.",
    # the audit log
    "head": "NUMBER:SEAL of an earlier look, kept elsewhere: finds a log that was written anew too.",
    # a judgement
    "query": "The question it was found for.",
    "note": "Why, for the audit log.",
}


@dataclass(frozen=True, slots=True)
class Call:
    """What each command is given: where and whose the memory is, how to answer, and the fields that were said."""

    as_json: bool
    database: str | None
    who: Mapping[str, str | None]
    fields: Mapping[str, Any]

    def ask(self, verb: Callable[[AsyncHindsightMemory], Awaitable[T]]) -> T:
        """Run one verb, or several, on the memory that is meant, and close it."""
        from hindsight_memory.client import AsyncHindsightMemory

        async def asked() -> T:
            memory = AsyncHindsightMemory(self.database, **dict[str, Any](self.who))
            try:
                return await verb(memory)
            finally:
                await memory.close()

        return asyncio.run(asked())


def command(
    app: typer.Typer, name: str, *, of: type | None = None, without: Sequence[str] = (), who: Sequence[str] = WHO
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function of a ``Call`` and its own parameters as a command.

    Args:
        app: Where to register it.
        name: The command's name.
        of: A dataclass of the domain; each of its fields becomes an option.
        without: Fields that the function takes itself.
        who: The parts of ``Who`` that mean something here.
    """

    def register(run: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
        described = [] if of is None else [_parameter(*each) for each in _hinted(of) if each[0].name not in without]
        parameters = [*own, *described, *_common(who)]

        def entry(**given: Any) -> None:
            mine = {parameter.name: given.pop(parameter.name) for parameter in own}
            run(_call(given), **mine)

        entry.__doc__ = run.__doc__
        entry.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        entry.__dict__["__signature__"] = inspect.Signature(parameters)
        app.command(name)(entry)
        return run

    return register


def text_of(value: str, field: str) -> str:
    """The argument, or standard input where it is ``-``."""
    if value != "-":
        return value
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{field} is not UTF-8.", hint="Convert it to UTF-8.", field=field) from error


def object_of(text: str, field: str) -> Any:
    """The JSON value in an argument."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{field} is not JSON: {error}.", hint='Such as {"team": "blue"}.', field=field) from error


def _call(given: dict[str, Any]) -> Call:
    as_json, database = given.pop("as_json"), given.pop("database")
    shared = given.pop("shared", False)
    who = {name: value for name in WHO if (value := given.pop(name, None)) is not None}
    if shared and "user_id" in who:
        raise InvalidInput("user_id and --shared exclude each other.", hint="Give one of them.", field="user_id")
    if shared:
        who["user_id"] = None
    said = {name: value for name, value in given.items() if value not in (None, [])}
    return Call(as_json, database, who, {name: _value(name, value) for name, value in said.items()})


def _value(name: str, value: Any) -> Any:
    if name == "metadata":
        return object_of(value, name)
    return [each for each in value if each] if isinstance(value, list) else value


def _hinted(cls: type) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(cls)
    return ((field, hints[field.name]) for field in fields(cls))


def _parameter(field: Field[Any], hint: Any) -> inspect.Parameter:
    optional = NoneType in get_args(hint)
    kind = next(arg for arg in get_args(hint) if arg is not NoneType) if optional else hint
    spelled = f"--{field.name.replace('_', '-')}"
    annotation, names, metavar = _form(kind, spelled, optional=optional)
    text = f"{HELP[field.name]}{_default(field)}"
    option = typer.Option(None, *names, help=text, metavar=metavar, show_default=False)
    return _named(field.name, annotation, option)


def _form(kind: Any, spelled: str, *, optional: bool) -> tuple[Any, Sequence[str], str | None]:
    """The type Typer reads, the option's names, and what stands for its value in the help."""
    if get_origin(kind) is tuple:
        item, _ = get_args(kind)
        return list[str] | None, tuple(dict.fromkeys((spelled.removesuffix("s"), spelled))), _metavar(item)
    if kind is bool:
        # Only an optional flag has three answers: yes, no, and not said.
        return bool | None, (f"{spelled}/--no-{spelled[2:]}" if optional else spelled,), None
    if kind in (int, float):
        return kind | None, (spelled,), "NUMBER"
    return str | None, (spelled,), _metavar(kind)  # the domain reads it, so that every door says the same of it


def _metavar(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return "|".join(kind)
    return {str: "TEXT", datetime: "TIME"}.get(kind, "JSON")


def _default(field: Field[Any]) -> str:
    silent = field.default in (MISSING, None, ()) or field.default is False
    said = ", ".join(field.default) if isinstance(field.default, tuple) else field.default
    return "" if silent else f" [default: {said}]"


def _common(who: Sequence[str]) -> Iterator[inspect.Parameter]:
    for name in who:
        spelled = (f"--{name.replace('_', '-')}", *(("--user",) if name == "user_id" else ()))
        option = typer.Option(None, *spelled, help=HELP[name], metavar="TEXT", show_default=False)
        yield _named(name, str | None, option)
    if "user_id" in who:
        flag = typer.Option(False, "--shared", help="The shared bank of all users.", show_default=False)
        yield _named("shared", bool, flag)
    where = "sqlite:///PATH, a path, postgresql://…, or http://HOST:PORT of a running service."
    url = typer.Option(None, "--database", help=where, metavar="URL", show_default=False)
    yield _named("database", str | None, url)
    flag = typer.Option(False, "--json", help="Answer as JSON, the same as REST does.", show_default=False)
    yield _named("as_json", bool, flag)


def _named(name: str, annotation: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=annotation)
