"""Remote: the verbs of a service behind an address, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hindsight_memory import errors
from hindsight_memory.domain import (
    ApiKey,
    Appended,
    AuditCheck,
    Audited,
    AuditListing,
    AuditPage,
    Changes,
    Check,
    Consolidated,
    Consolidation,
    Context,
    Contradiction,
    Desk,
    Draft,
    Ended,
    Erased,
    Export,
    History,
    Hit,
    ImportReport,
    IssuedKey,
    Jobs,
    Judgement,
    KeyListing,
    KeyPage,
    Listing,
    MaintainReport,
    Maintenance,
    Memory,
    Message,
    Moved,
    NewKey,
    Outlook,
    Page,
    Policies,
    Query,
    Ranking,
    Receipt,
    Recorded,
    Reflection,
    Replay,
    Revealed,
    Review,
    ReviewListing,
    Scan,
    Scanned,
    Scope,
    Session,
    SessionState,
    Span,
    StatePatch,
    Step,
    Suggestion,
    Wait,
)
from hindsight_memory.wire import from_wire, to_wire

if TYPE_CHECKING:
    import httpx

_WAIT_S = 60.0
_LONG_S = 900.0
"""How long an answer is waited for, and that of maintenance, which may have a model read for a minute and more."""
_KINDS = {kind.code: kind for kind in errors.HindsightMemoryError.__subclasses__()}


class Remote:
    """The same verbs, types and errors as ``Service``; the namespace is the key's.

    Args:
        address: ``http://HOST:PORT`` of a running service.
        api_key: Its key, where it asks for one.
        transport: For tests: what carries the requests instead of the network.
    """

    def __init__(self, address: str, api_key: str = "", transport: httpx.AsyncBaseTransport | None = None) -> None:
        try:
            import httpx  # noqa: PLC0415  # an extra: the embedded memory needs no HTTP
        except ImportError as error:
            hint = "Install it: pip install 'hindsight-memory[client]'"
            raise errors.Unavailable("A connection needs httpx, which is not installed.", hint=hint) from error
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(base_url=address, headers=headers, timeout=_WAIT_S, transport=transport)
        self._failure = httpx.HTTPError

    async def close(self) -> None:
        """See ``Service.close``."""
        await self._client.aclose()

    async def write(self, draft: Draft, scope: Scope, wait: Wait = Wait.STORED) -> Receipt:
        """See ``Service.write``."""
        return from_wire(Receipt, await self._post("write", draft, scope, wait=wait))

    async def write_many(self, drafts: Sequence[Draft], scope: Scope, wait: Wait = Wait.STORED) -> list[Receipt]:
        """See ``Service.write_many``."""
        reply = await self._post("write_many", None, scope, drafts=drafts, wait=wait)
        return [from_wire(Receipt, each) for each in reply["receipts"]]

    async def write_conversation(
        self, messages: Sequence[Message], scope: Scope, wait: Wait = Wait.STORED
    ) -> list[Receipt]:
        """See ``Service.write_conversation``."""
        reply = await self._post("write_conversation", None, scope, messages=messages, wait=wait)
        return [from_wire(Receipt, each) for each in reply["receipts"]]

    async def import_file(
        self,
        path: Path,  # noqa: ARG002
        scope: Scope,  # noqa: ARG002
        wait: Wait,  # noqa: ARG002
        progress: Callable[[int], None],  # noqa: ARG002
    ) -> ImportReport:
        """Not over HTTP: a file stands on the caller's machine."""
        raise errors.InvalidInput("A file is imported where the database is.", hint="Run it there.", field="path")

    async def export(self, asked: Export, scope: Scope) -> AsyncIterator[bytes]:
        """See ``Service.export``."""
        body = to_wire(asked) | {"user_id": scope.user_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
        request = self._client.build_request("POST", "/v1/export", json=body, timeout=_LONG_S)
        try:
            reply = await self._client.send(request, stream=True)
            if not reply.is_success:
                await reply.aread()
                _opened(reply)
        except self._failure as error:
            raise _unanswered(error) from error
        return self._pieces(reply)

    async def _pieces(self, reply: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for piece in reply.aiter_raw():
                yield piece
        except self._failure as error:
            raise _unanswered(error) from error
        finally:
            await reply.aclose()

    async def import_archive(
        self,
        path: Path,  # noqa: ARG002
        *,
        passphrase: str | None = None,  # noqa: ARG002
        users: Sequence[str | None] = (),  # noqa: ARG002
        progress: Callable[[int], None] = lambda _: None,  # noqa: ARG002
    ) -> Moved:
        """Not over HTTP: a file stands on the caller's machine."""
        raise errors.InvalidInput("An archive is imported where the database is.", hint="Run it there.", field="path")

    async def search(self, query: Query, scope: Scope) -> list[Hit]:
        """See ``Service.search``."""
        reply = await self._post("search", query, scope)
        return [from_wire(Hit, each) for each in reply["hits"]]

    async def context(self, query: Query, scope: Scope, budget_tokens: int | None = None) -> Context:
        """See ``Service.context``."""
        return from_wire(Context, await self._post("context", query, scope, budget_tokens=budget_tokens))

    async def explain(self, query: Query, memory_id: str, scope: Scope) -> Hit:
        """See ``Service.explain``."""
        return from_wire(Hit, await self._post("explain", query, scope, memory_id=memory_id))

    async def get(self, memory_id: str, scope: Scope) -> Memory:
        """See ``Service.get``."""
        return from_wire(Memory, await self._post("get", None, scope, memory_id=memory_id))

    async def update(self, memory_id: str, changes: Changes, scope: Scope) -> Memory:
        """See ``Service.update``."""
        return from_wire(Memory, await self._post("update", changes, scope, memory_id=memory_id))

    async def forget(self, memory_id: str, scope: Scope, reason: str = "") -> Memory:
        """See ``Service.forget``."""
        return from_wire(Memory, await self._post("forget", None, scope, memory_id=memory_id, reason=reason))

    async def restore(self, memory_id: str, scope: Scope) -> Memory:
        """See ``Service.restore``."""
        return from_wire(Memory, await self._post("restore", None, scope, memory_id=memory_id))

    async def history(self, memory_id: str, scope: Scope) -> History:
        """See ``Service.history``."""
        return from_wire(History, await self._post("history", None, scope, memory_id=memory_id))

    async def contradictions(self, scope: Scope, limit: int = 20) -> list[Contradiction]:
        """See ``Service.contradictions``."""
        found = await self._post("contradictions", None, scope, limit=limit)
        return [from_wire(Contradiction, each) for each in found["contradictions"]]

    async def resolve(self, keep: str, over: str, scope: Scope) -> Memory:
        """See ``Service.resolve``."""
        return from_wire(Memory, await self._post("resolve", None, scope, keep=keep, over=over))

    async def feedback(self, memory_id: str, judgement: Judgement, scope: Scope) -> Memory:
        """See ``Service.feedback``."""
        return from_wire(Memory, await self._post("feedback", judgement, scope, memory_id=memory_id))

    async def refit(self, scope: Scope, reset: bool = False) -> Ranking:
        """See ``Service.refit``."""
        return from_wire(Ranking, await self._post("refit", None, scope, reset=reset))

    async def get_session(self, scope: Scope, budget_tokens: int | None = None) -> Session:
        """See ``Service.get_session``."""
        return from_wire(Session, await self._post("get_session", None, scope, budget_tokens=budget_tokens))

    async def put_session(self, state: SessionState, scope: Scope, version: int | None = None) -> Desk:
        """See ``Service.put_session``."""
        return from_wire(Desk, await self._post("put_session", state, scope, version=version))

    async def patch_session(self, patch: StatePatch, scope: Scope) -> Desk:
        """See ``Service.patch_session``."""
        return from_wire(Desk, await self._post("patch_session", patch, scope))

    async def append_session(self, messages: Sequence[Message], scope: Scope, *, rules: bool = True) -> Appended:
        """See ``Service.append_session``."""
        return from_wire(Appended, await self._post("append_session", None, scope, messages=messages, rules=rules))

    async def end_session(self, scope: Scope, *, discard: bool = False) -> Ended:
        """See ``Service.end_session``."""
        return from_wire(Ended, await self._post("end_session", None, scope, discard=discard))

    async def record_step(self, step: Step, scope: Scope) -> Recorded:
        """See ``Service.record_step``."""
        return from_wire(Recorded, await self._post("record_step", step, scope))

    async def reflect(self, scope: Scope, task: str = "") -> Reflection:
        """See ``Service.reflect``."""
        return from_wire(Reflection, await self._post("reflect", None, scope, task=task))

    async def suggest(self, outlook: Outlook, scope: Scope) -> list[Suggestion]:
        """See ``Service.suggest``."""
        reply = await self._post("suggest", outlook, scope)
        return [from_wire(Suggestion, each) for each in reply["suggestions"]]

    async def consolidate(self, asked: Consolidation, scope: Scope) -> Consolidated:
        """See ``Service.consolidate``."""
        return from_wire(Consolidated, await self._post("consolidate", asked, scope))

    async def replay(self, span: Span, scope: Scope) -> Replay:
        """See ``Service.replay``."""
        return from_wire(Replay, await self._post("replay", span, scope))

    async def maintain(
        self,
        asked: Maintenance,
        progress: Callable[[int], None] = lambda _: None,  # noqa: ARG002  # the server has no way to tell
    ) -> MaintainReport:
        """See ``Service.maintain``."""
        return from_wire(MaintainReport, await self._post("maintain", asked, None, wait_s=_LONG_S))

    async def jobs(
        self,
        scope: Scope,
        *,
        retry: bool = False,
        run: bool = False,
        within_s: int = 60,
        progress: Callable[[int], None] = lambda _: None,  # noqa: ARG002
    ) -> Jobs:
        """See ``Service.jobs``."""
        wait_s = _WAIT_S + within_s if run else _WAIT_S
        reply = await self._post("jobs", None, scope, wait_s=wait_s, retry=retry, run=run, within_s=within_s)
        return from_wire(Jobs, reply)

    async def purge(self, memory_id: str, scope: Scope, reason: str = "") -> Erased:
        """See ``Service.purge``."""
        return from_wire(Erased, await self._post("purge", None, scope, memory_id=memory_id, reason=reason))

    async def forget_all(self, scope: Scope, confirm: str) -> Erased:
        """See ``Service.forget_all``."""
        return from_wire(Erased, await self._post("forget_all", None, scope, confirm=confirm))

    async def verify_audit(self, asked: AuditCheck, scope: Scope) -> Audited:
        """See ``Service.verify_audit``."""
        return from_wire(Audited, await self._post("verify_audit", asked, scope, wait_s=_LONG_S))

    async def export_audit(self, asked: AuditListing, scope: Scope) -> AuditPage:
        """See ``Service.export_audit``."""
        return from_wire(AuditPage, await self._post("export_audit", asked, scope))

    async def policy(self, scope: Scope, rules: Mapping[str, Any] = MappingProxyType({})) -> Policies:
        """See ``Service.policy``."""
        return from_wire(Policies, await self._post("policy", None, scope, rules=rules))

    async def reveal(self, vault_id: str, scope: Scope, reason: str = "") -> Revealed:
        """See ``Service.reveal``."""
        return from_wire(Revealed, await self._post("reveal", None, scope, vault_id=vault_id, reason=reason))

    async def review(self, listing: ReviewListing, scope: Scope) -> Review:
        """See ``Service.review``."""
        return from_wire(Review, await self._post("review", listing, scope))

    async def scan(self, asked: Scan, scope: Scope) -> Scanned:
        """See ``Service.scan``."""
        return from_wire(Scanned, await self._post("scan", asked, scope, wait_s=_LONG_S))

    async def create_key(self, asked: NewKey) -> IssuedKey:
        """See ``Service.create_key``."""
        return from_wire(IssuedKey, await self._post("create_key", asked, None))

    async def list_keys(self, asked: KeyListing) -> KeyPage:
        """See ``Service.list_keys``."""
        return from_wire(KeyPage, await self._post("list_keys", asked, None))

    async def rotate_key(self, key_id: str, overlap_hours: float = 24.0) -> IssuedKey:
        """See ``Service.rotate_key``."""
        reply = await self._post("rotate_key", None, None, key_id=key_id, overlap_hours=overlap_hours)
        return from_wire(IssuedKey, reply)

    async def revoke_key(self, key_id: str, reason: str = "") -> ApiKey:
        """See ``Service.revoke_key``."""
        return from_wire(ApiKey, await self._post("revoke_key", None, None, key_id=key_id, reason=reason))

    async def doctor(
        self,
        progress: Callable[[int], None] = lambda _: None,  # noqa: ARG002  # the server has no way to tell
    ) -> list[Check]:
        """See ``Service.doctor``."""
        reply = await self._post("doctor", None, None, wait_s=_LONG_S)
        return [from_wire(Check, each) for each in reply["checks"]]

    async def _post(
        self, verb: str, value: Any, scope: Scope | None, *, wait_s: float = _WAIT_S, **more: Any
    ) -> Mapping[str, Any]:
        body = {} if value is None else to_wire(value)
        if scope is not None:
            body |= {"user_id": scope.user_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
        body |= {name: to_wire(each) for name, each in more.items()}
        try:
            reply = await self._client.post(f"/v1/{verb}", json=body, timeout=wait_s)
        except self._failure as error:
            raise _unanswered(error) from error
        return _opened(reply)

    async def list(self, listing: Listing, scope: Scope) -> Page:
        """See ``Service.list``."""
        return from_wire(Page, await self._post("list", listing, scope))


def _unanswered(error: Exception) -> errors.Unavailable:
    hint = "Check the address, and that the server runs."
    return errors.Unavailable(f"The service did not answer: {error!r}", hint=hint)


def _opened(reply: httpx.Response) -> Mapping[str, Any]:
    try:
        data: Mapping[str, Any] = json.loads(reply.content)
    except ValueError:
        data = {"message": f"The service answered {reply.status_code} and no JSON.", "hint": "Check the address."}
    if reply.is_success:
        return data
    kind = _KINDS.get(data.get("code", ""), errors.Unavailable)
    raise kind(str(data.get("message", "The service failed.")), hint=str(data.get("hint", "")), field=data.get("field"))
