"""What can be asked over a wire: each verb's fields, how they are read, and what answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight_memory.check import Limits
from hindsight_memory.domain import (
    Changes,
    Check,
    Consolidated,
    Consolidation,
    Context,
    Contradiction,
    Draft,
    Erased,
    History,
    Hit,
    Jobs,
    Judgement,
    Listing,
    MaintainReport,
    Maintenance,
    Memory,
    Message,
    Outlook,
    Page,
    Query,
    Ranking,
    Receipt,
    Replay,
    Scope,
    Span,
    Suggestion,
    Wait,
    Who,
    Work,
)
from hindsight_memory.server.audit_calls import AUDIT_CALLS
from hindsight_memory.server.call import Call, all_of, part
from hindsight_memory.server.guard_calls import GUARD_CALLS
from hindsight_memory.server.key_calls import KEY_CALLS
from hindsight_memory.server.session_calls import SESSION_CALLS
from hindsight_memory.server.task_calls import TASK_CALLS

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class Waiting(Who):
    """What every write says besides its content."""

    wait: Wait = Wait.STORED


@dataclass(frozen=True, kw_only=True)
class WriteBody(Draft, Waiting):
    """What ``write`` takes."""


@dataclass(frozen=True, kw_only=True)
class WriteManyBody(Waiting):
    """What ``write_many`` takes."""

    drafts: tuple[Draft, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "drafts", all_of(Draft, "drafts", self.drafts))
        object.__setattr__(self, "wait", part(self, Waiting).wait)


@dataclass(frozen=True, kw_only=True)
class WriteConversationBody(Waiting):
    """What ``write_conversation`` takes."""

    messages: tuple[Message, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", all_of(Message, "messages", self.messages))
        object.__setattr__(self, "wait", part(self, Waiting).wait)


@dataclass(frozen=True, kw_only=True)
class SearchBody(Query, Who):
    """What ``search`` takes."""


@dataclass(frozen=True, kw_only=True)
class ContextBody(Query, Who):
    """What ``context`` takes."""

    budget_tokens: int | None = field(default=None, metadata=Limits(least=1, most=1_000_000))


@dataclass(frozen=True, kw_only=True)
class NamedBody(Who):
    """What ``get`` and ``restore`` take."""

    memory_id: str


@dataclass(frozen=True, kw_only=True)
class ExplainBody(Query, NamedBody):
    """What ``explain`` takes."""


@dataclass(frozen=True, kw_only=True)
class ListBody(Listing, Who):
    """What ``list`` takes."""


@dataclass(frozen=True, kw_only=True)
class UpdateBody(Changes, NamedBody):
    """What ``update`` takes."""


@dataclass(frozen=True, kw_only=True)
class ContradictionsBody(Who):
    """What ``contradictions`` takes."""

    limit: int = field(default=20, metadata=Limits(least=1, most=200))


@dataclass(frozen=True, kw_only=True)
class ResolveBody(Who):
    """What ``resolve`` takes."""

    keep: str
    over: str


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Pairs of memories that contradict each other and both still stand."""

    contradictions: tuple[Contradiction, ...]


@dataclass(frozen=True, kw_only=True)
class ForgetBody(NamedBody):
    """What ``forget`` takes."""

    reason: str = field(default="", metadata=Limits(most=2_000))


@dataclass(frozen=True, kw_only=True)
class FeedbackBody(Judgement, NamedBody):
    """What ``feedback`` takes."""


@dataclass(frozen=True, kw_only=True)
class RefitBody(Who):
    """What ``refit`` takes."""

    reset: bool = False


@dataclass(frozen=True, kw_only=True)
class MaintainBody(Maintenance, Who):
    """What ``maintain`` takes."""


@dataclass(frozen=True, kw_only=True)
class JobsBody(Work, Who):
    """What ``jobs`` takes."""


@dataclass(frozen=True, kw_only=True)
class ForgetAllBody(Who):
    """What ``forget_all`` takes."""

    confirm: str = field(metadata=Limits(most=200))


@dataclass(frozen=True, kw_only=True)
class SuggestBody(Outlook, Who):
    """What ``suggest`` takes."""


@dataclass(frozen=True, kw_only=True)
class ConsolidateBody(Consolidation, Who):
    """What ``consolidate`` takes."""


@dataclass(frozen=True, kw_only=True)
class ReplayBody(Span, Who):
    """What ``replay`` takes."""


@dataclass(frozen=True, slots=True)
class Receipts:
    """What became of several drafts, in their order."""

    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The memories found, best first."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What usually happens soon, the soonest first."""

    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class Checks:
    """The lines of a health report."""

    checks: tuple[Check, ...]


async def _write(service: Service, body: WriteBody, scope: Scope) -> Receipt:
    return await service.write(part(body, Draft), scope, body.wait)


async def _write_many(service: Service, body: WriteManyBody, scope: Scope) -> Receipts:
    return Receipts(tuple(await service.write_many(body.drafts, scope, body.wait)))


async def _write_conversation(service: Service, body: WriteConversationBody, scope: Scope) -> Receipts:
    return Receipts(tuple(await service.write_conversation(body.messages, scope, body.wait)))


async def _search(service: Service, body: SearchBody, scope: Scope) -> Hits:
    return Hits(tuple(await service.search(part(body, Query), scope)))


async def _context(service: Service, body: ContextBody, scope: Scope) -> Context:
    return await service.context(part(body, Query), scope, body.budget_tokens)


async def _explain(service: Service, body: ExplainBody, scope: Scope) -> Hit:
    return await service.explain(part(body, Query), body.memory_id, scope)


async def _get(service: Service, body: NamedBody, scope: Scope) -> Memory:
    return await service.get(body.memory_id, scope)


async def _list(service: Service, body: ListBody, scope: Scope) -> Page:
    return await service.list(part(body, Listing), scope)


async def _update(service: Service, body: UpdateBody, scope: Scope) -> Memory:
    return await service.update(body.memory_id, part(body, Changes), scope)


async def _forget(service: Service, body: ForgetBody, scope: Scope) -> Memory:
    return await service.forget(body.memory_id, scope, body.reason)


async def _history(service: Service, body: NamedBody, scope: Scope) -> History:
    return await service.history(body.memory_id, scope)


async def _contradictions(service: Service, body: ContradictionsBody, scope: Scope) -> Contradictions:
    return Contradictions(tuple(await service.contradictions(scope, body.limit)))


async def _resolve(service: Service, body: ResolveBody, scope: Scope) -> Memory:
    return await service.resolve(body.keep, body.over, scope)


async def _restore(service: Service, body: NamedBody, scope: Scope) -> Memory:
    return await service.restore(body.memory_id, scope)


async def _feedback(service: Service, body: FeedbackBody, scope: Scope) -> Memory:
    return await service.feedback(body.memory_id, part(body, Judgement), scope)


async def _refit(service: Service, body: RefitBody, scope: Scope) -> Ranking:
    return await service.refit(scope, body.reset)


async def _maintain(service: Service, body: MaintainBody, scope: Scope) -> MaintainReport:  # noqa: ARG001  # many banks
    return await service.maintain(part(body, Maintenance))


async def _jobs(service: Service, body: JobsBody, scope: Scope) -> Jobs:
    return await service.jobs(scope, retry=body.retry, run=body.run, within_s=body.within_s)


async def _purge(service: Service, body: ForgetBody, scope: Scope) -> Erased:
    return await service.purge(body.memory_id, scope, body.reason)


async def _forget_all(service: Service, body: ForgetAllBody, scope: Scope) -> Erased:
    return await service.forget_all(scope, body.confirm)


async def _suggest(service: Service, body: SuggestBody, scope: Scope) -> Suggestions:
    return Suggestions(tuple(await service.suggest(part(body, Outlook), scope)))


async def _consolidate(service: Service, body: ConsolidateBody, scope: Scope) -> Consolidated:
    return await service.consolidate(part(body, Consolidation), scope)


async def _replay(service: Service, body: ReplayBody, scope: Scope) -> Replay:
    return await service.replay(part(body, Span), scope)


async def _doctor(service: Service, body: Who, scope: Scope) -> Checks:  # noqa: ARG001  # it is about the whole store
    return Checks(tuple(await service.doctor()))


CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "write": Call(WriteBody, Receipt, _write, changes=True),
        "write_many": Call(WriteManyBody, Receipts, _write_many, changes=True),
        "write_conversation": Call(WriteConversationBody, Receipts, _write_conversation, changes=True),
        "search": Call(SearchBody, Hits, _search),
        "context": Call(ContextBody, Context, _context),
        "explain": Call(ExplainBody, Hit, _explain),
        "get": Call(NamedBody, Memory, _get),
        "list": Call(ListBody, Page, _list),
        "update": Call(UpdateBody, Memory, _update, changes=True),
        "forget": Call(ForgetBody, Memory, _forget, changes=True),
        "restore": Call(NamedBody, Memory, _restore, changes=True),
        "history": Call(NamedBody, History, _history),
        "contradictions": Call(ContradictionsBody, Contradictions, _contradictions),
        "resolve": Call(ResolveBody, Memory, _resolve, changes=True),
        "feedback": Call(FeedbackBody, Memory, _feedback, changes=True),
        "refit": Call(RefitBody, Ranking, _refit, changes=True),
        **SESSION_CALLS,
        **TASK_CALLS,
        "suggest": Call(SuggestBody, Suggestions, _suggest),
        "consolidate": Call(ConsolidateBody, Consolidated, _consolidate, changes=True),
        "replay": Call(ReplayBody, Replay, _replay),
        "maintain": Call(MaintainBody, MaintainReport, _maintain, changes=True),
        "jobs": Call(JobsBody, Jobs, _jobs, changes=True),
        "purge": Call(ForgetBody, Erased, _purge, changes=True),
        "forget_all": Call(ForgetAllBody, Erased, _forget_all, changes=True),
        **AUDIT_CALLS,
        **KEY_CALLS,
        **GUARD_CALLS,
        "doctor": Call(Who, Checks, _doctor),
    }
)
"""Every verb that has a door, by its name."""
