"""Every verb of the service as one call with whatever it is given: what tests of isolation and grants go through.

A new verb is not covered until it stands here; a test says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from hindsight_memory.domain import (
    AuditCheck,
    AuditListing,
    Changes,
    Consolidation,
    Draft,
    Export,
    Judgement,
    KeyListing,
    Listing,
    Maintenance,
    Message,
    NewKey,
    Outlook,
    Query,
    ReviewListing,
    Scan,
    Scope,
    SessionState,
    Span,
    StatePatch,
    Step,
)
from hindsight_memory.lifecycle.packing import zstd
from hindsight_memory.service import Service

NO_VERBS: Final = frozenset({"start", "close", "ready", "caller", "keyed"})
"""What a program does with a service, and no caller."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a caller says: texts, ids of memories and fields of filters, as a stranger might choose them."""

    text: str = "milk"
    ids: tuple[str, str] = ("one", "two")
    filters: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    word: str = "word"
    path: Path = Path("nowhere")


Ask = Callable[[Service, Scope, Case], Awaitable[Any]]


def _query(case: Case) -> Query:
    return Query(text=case.text, limit=50, cold=True, **case.filters)


def _in_session(scope: Scope, case: Case) -> Scope:
    return scope if scope.session_id is not None else replace(scope, session_id=case.word)


def _message(case: Case) -> Message:
    return Message(content=f"{case.text} {case.word}", id=case.word, metadata=case.metadata)


async def _exported(service: Service, scope: Scope) -> list[bytes]:
    """The lines of an archive."""
    packed = b"".join([piece async for piece in await service.export(Export(), scope)])
    return zstd.decompress(packed).splitlines()


ASKS: Final[Mapping[str, Ask]] = {
    "write": lambda s, scope, c: s.write(
        Draft(content=f"{c.text} written", key=c.word, source_ref=c.word, task=c.word, metadata=c.metadata), scope
    ),
    "write_many": lambda s, scope, c: s.write_many(
        [Draft(content=f"{c.text} {n}", relations=(f"mentions:{c.word}",), metadata=c.metadata) for n in range(2)],
        scope,
    ),
    "write_conversation": lambda s, scope, c: s.write_conversation([_message(c)], _in_session(scope, c)),
    "import_file": lambda s, scope, c: s.import_file(c.path, scope),
    "import_archive": lambda s, scope, c: s.import_archive(c.path),
    "export": lambda s, scope, c: _exported(s, scope),
    "search": lambda s, scope, c: s.search(_query(c), scope),
    "context": lambda s, scope, c: s.context(_query(c), scope, 5_000),
    "explain": lambda s, scope, c: s.explain(_query(c), c.ids[0], scope),
    "get": lambda s, scope, c: s.get(c.ids[0], scope),
    "list": lambda s, scope, c: s.list(Listing(limit=200, **c.filters), scope),
    "update": lambda s, scope, c: s.update(
        c.ids[0], Changes(content=f"{c.text} corrected", metadata=c.metadata), scope
    ),
    "forget": lambda s, scope, c: s.forget(c.ids[0], scope, c.word),
    "restore": lambda s, scope, c: s.restore(c.ids[0], scope),
    "purge": lambda s, scope, c: s.purge(c.ids[0], scope, c.word),
    "forget_all": lambda s, scope, c: s.forget_all(scope, scope.user_id or "shared"),
    "history": lambda s, scope, c: s.history(c.ids[0], scope),
    "contradictions": lambda s, scope, c: s.contradictions(scope, 200),
    "resolve": lambda s, scope, c: s.resolve(*c.ids, scope),
    "feedback": lambda s, scope, c: s.feedback(c.ids[0], Judgement(verdict="wrong", query=c.text, note=c.word), scope),
    "refit": lambda s, scope, c: s.refit(scope),
    "get_session": lambda s, scope, c: s.get_session(_in_session(scope, c)),
    "put_session": lambda s, scope, c: s.put_session(SessionState(task_goal=c.text), _in_session(scope, c)),
    "patch_session": lambda s, scope, c: s.patch_session(StatePatch(decisions=(c.word,)), _in_session(scope, c)),
    "append_session": lambda s, scope, c: s.append_session([_message(c)], _in_session(scope, c)),
    "end_session": lambda s, scope, c: s.end_session(_in_session(scope, c)),
    "record_step": lambda s, scope, c: s.record_step(
        Step(tool="deploy", input=c.text, outcome="failure", error=c.text, task=c.word), _in_session(scope, c)
    ),
    "reflect": lambda s, scope, c: s.reflect(_in_session(scope, c), c.word),
    "suggest": lambda s, scope, c: s.suggest(Outlook(horizon_hours=48), scope),
    "consolidate": lambda s, scope, c: s.consolidate(Consolidation(), scope),
    "replay": lambda s, scope, c: s.replay(Span(limit=500), scope),
    "maintain": lambda s, scope, c: s.maintain(Maintenance(users=(c.word,))),
    "jobs": lambda s, scope, c: s.jobs(scope, retry=True),
    "create_key": lambda s, scope, c: s.create_key(NewKey(name=c.word, users=(c.word,))),
    "list_keys": lambda s, scope, c: s.list_keys(KeyListing()),
    "rotate_key": lambda s, scope, c: s.rotate_key(c.ids[0]),
    "revoke_key": lambda s, scope, c: s.revoke_key(c.ids[0]),
    "verify_audit": lambda s, scope, c: s.verify_audit(AuditCheck(), scope),
    "export_audit": lambda s, scope, c: s.export_audit(AuditListing(limit=500), scope),
    "policy": lambda s, scope, c: s.policy(scope),
    "reveal": lambda s, scope, c: s.reveal(c.ids[0], scope, c.word),
    "review": lambda s, scope, c: s.review(ReviewListing(), scope),
    "scan": lambda s, scope, c: s.scan(Scan(), scope),
    "doctor": lambda s, scope, c: s.doctor(),
}
"""Each verb by its name."""

OF_NO_SCOPE: Final = frozenset(
    {"maintain", "create_key", "list_keys", "rotate_key", "revoke_key", "doctor", "import_archive"}
)
"""Verbs that take no scope: they are about a namespace, or about everything."""


def verbs() -> set[str]:
    """The verbs that the service has."""
    found = {name for name, each in inspect.getmembers(Service) if inspect.iscoroutinefunction(each)}
    return {name for name in found if not name.startswith("_")} - NO_VERBS
