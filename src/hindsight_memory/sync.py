"""HindsightMemory: the same verbs, blocking, for code that is not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from hindsight_memory.client import (
    AsyncHindsightMemory,
    ConsolidateFields,
    FeedbackFields,
    ListFields,
    MaintainFields,
    ReplayFields,
    SearchFields,
    SuggestFields,
    UpdateFields,
    WriteFields,
    unheard,
)
from hindsight_memory.domain import (
    ApiKey,
    Appended,
    Audited,
    AuditPage,
    Check,
    Consolidated,
    Context,
    Contradiction,
    Desk,
    Draft,
    Ended,
    Erased,
    Feedback,
    Handling,
    History,
    Hit,
    ImportReport,
    IssuedKey,
    Jobs,
    KeyPage,
    MaintainReport,
    Memory,
    Message,
    Moved,
    Outcome,
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
    Scanned,
    Session,
    SessionState,
    Suggestion,
    Wait,
    utc_now,
)
from hindsight_memory.errors import Unavailable
from hindsight_memory.keyring import KeyFields, KeyListFields
from hindsight_memory.sessions import BankFields, BlockingSession, PatchFields, StepFields, WhoFields

T = TypeVar("T")


class HindsightMemory:
    """Long-term memory for agents: ``AsyncHindsightMemory`` on an event loop in a thread of its own.

    It may be used from several threads. Use it as ``with HindsightMemory() as memory: …``, or call ``close``. The
    arguments are those of ``AsyncHindsightMemory``.
    """

    def __init__(
        self,
        database: str | Path | None = None,
        *,
        user_id: str | None = "default",
        agent_id: str | None = None,
        session_id: str | None = None,
        api_key: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._memory = AsyncHindsightMemory(
            database, user_id=user_id, agent_id=agent_id, session_id=session_id, api_key=api_key, clock=clock
        )
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="hindsight-memory", daemon=True)
        self._thread.start()
        try:
            self._wait(self._memory.open())
        except BaseException:
            self._end()
            raise

    @classmethod
    def connect(cls, address: str, *, api_key: str | None = None, user_id: str | None = "default") -> Self:
        """See ``AsyncHindsightMemory.connect``."""
        return cls(address, api_key=api_key, user_id=user_id)

    def close(self) -> None:
        """See ``AsyncHindsightMemory.close``."""
        if not self._loop.is_closed():
            try:
                self._wait(self._memory.close())
            finally:
                self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, content: str | Draft, *, wait: Wait | str = Wait.STORED, **fields: Unpack[WriteFields]) -> Receipt:
        """See ``AsyncHindsightMemory.write``."""
        return self._wait(self._memory.write(content, wait=wait, **fields))

    def write_many(
        self, drafts: Sequence[Draft | str], *, wait: Wait | str = Wait.STORED, **who: Unpack[WhoFields]
    ) -> list[Receipt]:
        """See ``AsyncHindsightMemory.write_many``."""
        return self._wait(self._memory.write_many(drafts, wait=wait, **who))

    def write_conversation(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        wait: Wait | str = Wait.STORED,
        **who: Unpack[WhoFields],
    ) -> list[Receipt]:
        """See ``AsyncHindsightMemory.write_conversation``."""
        return self._wait(self._memory.write_conversation(messages, wait=wait, **who))

    def import_file(
        self,
        path: str | Path,
        *,
        wait: Wait | str = Wait.STORED,
        progress: Callable[[int], None] = unheard,
        **who: Unpack[WhoFields],
    ) -> ImportReport:
        """See ``AsyncHindsightMemory.import_file``."""
        return self._wait(self._memory.import_file(path, wait=wait, progress=progress, **who))

    def search(self, text: str | Query, **fields: Unpack[SearchFields]) -> list[Hit]:
        """See ``AsyncHindsightMemory.search``."""
        return self._wait(self._memory.search(text, **fields))

    def context(
        self, text: str | Query, *, budget_tokens: int | None = None, **fields: Unpack[SearchFields]
    ) -> Context:
        """See ``AsyncHindsightMemory.context``."""
        return self._wait(self._memory.context(text, budget_tokens=budget_tokens, **fields))

    def explain(self, text: str | Query, memory_id: str, **fields: Unpack[SearchFields]) -> Hit:
        """See ``AsyncHindsightMemory.explain``."""
        return self._wait(self._memory.explain(text, memory_id, **fields))

    def get(self, memory_id: str, **who: Unpack[WhoFields]) -> Memory:
        """See ``AsyncHindsightMemory.get``."""
        return self._wait(self._memory.get(memory_id, **who))

    def update(self, memory_id: str, **fields: Unpack[UpdateFields]) -> Memory:
        """See ``AsyncHindsightMemory.update``."""
        return self._wait(self._memory.update(memory_id, **fields))

    def forget(self, memory_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Memory:
        """See ``AsyncHindsightMemory.forget``."""
        return self._wait(self._memory.forget(memory_id, reason=reason, **who))

    def restore(self, memory_id: str, **who: Unpack[WhoFields]) -> Memory:
        """See ``AsyncHindsightMemory.restore``."""
        return self._wait(self._memory.restore(memory_id, **who))

    def history(self, memory_id: str, **who: Unpack[WhoFields]) -> History:
        """See ``AsyncHindsightMemory.history``."""
        return self._wait(self._memory.history(memory_id, **who))

    def contradictions(self, *, limit: int = 20, **who: Unpack[WhoFields]) -> list[Contradiction]:
        """See ``AsyncHindsightMemory.contradictions``."""
        return self._wait(self._memory.contradictions(limit=limit, **who))

    def resolve(self, *, keep: str, over: str, **who: Unpack[WhoFields]) -> Memory:
        """See ``AsyncHindsightMemory.resolve``."""
        return self._wait(self._memory.resolve(keep=keep, over=over, **who))

    def feedback(self, memory_id: str, verdict: Feedback | str, **fields: Unpack[FeedbackFields]) -> Memory:
        """See ``AsyncHindsightMemory.feedback``."""
        return self._wait(self._memory.feedback(memory_id, verdict, **fields))

    def refit(self, *, reset: bool = False, **who: Unpack[WhoFields]) -> Ranking:
        """See ``AsyncHindsightMemory.refit``."""
        return self._wait(self._memory.refit(reset=reset, **who))

    def session(self, session_id: str, **who: Unpack[BankFields]) -> BlockingSession:
        """See ``AsyncHindsightMemory.session``."""
        return BlockingSession(self._memory.session(session_id, **who), self._wait)

    def get_session(self, *, budget_tokens: int | None = None, **who: Unpack[WhoFields]) -> Session:
        """See ``AsyncHindsightMemory.get_session``."""
        return self._wait(self._memory.get_session(budget_tokens=budget_tokens, **who))

    def put_session(self, state: SessionState, *, version: int | None = None, **who: Unpack[WhoFields]) -> Desk:
        """See ``AsyncHindsightMemory.put_session``."""
        return self._wait(self._memory.put_session(state, version=version, **who))

    def patch_session(self, **fields: Unpack[PatchFields]) -> Desk:
        """See ``AsyncHindsightMemory.patch_session``."""
        return self._wait(self._memory.patch_session(**fields))

    def append_session(
        self, messages: Sequence[Message | Mapping[str, Any]], *, rules: bool = True, **who: Unpack[WhoFields]
    ) -> Appended:
        """See ``AsyncHindsightMemory.append_session``."""
        return self._wait(self._memory.append_session(messages, rules=rules, **who))

    def end_session(self, *, discard: bool = False, **who: Unpack[WhoFields]) -> Ended:
        """See ``AsyncHindsightMemory.end_session``."""
        return self._wait(self._memory.end_session(discard=discard, **who))

    def record_step(
        self,
        tool: str,
        input: str,  # noqa: A002
        outcome: Outcome | str,
        **fields: Unpack[StepFields],
    ) -> Recorded:
        """See ``AsyncHindsightMemory.record_step``."""
        return self._wait(self._memory.record_step(tool, input, outcome, **fields))

    def reflect(self, *, task: str = "", **who: Unpack[WhoFields]) -> Reflection:
        """See ``AsyncHindsightMemory.reflect``."""
        return self._wait(self._memory.reflect(task=task, **who))

    def suggest(self, **fields: Unpack[SuggestFields]) -> list[Suggestion]:
        """See ``AsyncHindsightMemory.suggest``."""
        return self._wait(self._memory.suggest(**fields))

    def consolidate(self, **fields: Unpack[ConsolidateFields]) -> Consolidated:
        """See ``AsyncHindsightMemory.consolidate``."""
        return self._wait(self._memory.consolidate(**fields))

    def replay(self, **fields: Unpack[ReplayFields]) -> Replay:
        """See ``AsyncHindsightMemory.replay``."""
        return self._wait(self._memory.replay(**fields))

    def maintain(
        self, *, progress: Callable[[int], None] = unheard, **fields: Unpack[MaintainFields]
    ) -> MaintainReport:
        """See ``AsyncHindsightMemory.maintain``."""
        return self._wait(self._memory.maintain(progress=progress, **fields))

    def jobs(
        self,
        *,
        retry: bool = False,
        run: bool = False,
        within_s: int = 60,
        progress: Callable[[int], None] = unheard,
        **who: Unpack[WhoFields],
    ) -> Jobs:
        """See ``AsyncHindsightMemory.jobs``."""
        return self._wait(self._memory.jobs(retry=retry, run=run, within_s=within_s, progress=progress, **who))

    def purge(self, memory_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Erased:
        """See ``AsyncHindsightMemory.purge``."""
        return self._wait(self._memory.purge(memory_id, reason=reason, **who))

    def forget_all(self, *, confirm: str, **who: Unpack[WhoFields]) -> Erased:
        """See ``AsyncHindsightMemory.forget_all``."""
        return self._wait(self._memory.forget_all(confirm=confirm, **who))

    def verify_audit(self, *, head: str | None = None, **who: Unpack[WhoFields]) -> Audited:
        """See ``AsyncHindsightMemory.verify_audit``."""
        return self._wait(self._memory.verify_audit(head=head, **who))

    def export_audit(self, *, after: int = 0, limit: int = 100, **who: Unpack[WhoFields]) -> AuditPage:
        """See ``AsyncHindsightMemory.export_audit``."""
        return self._wait(self._memory.export_audit(after=after, limit=limit, **who))

    def policy(self, rules: Mapping[str, Handling | str | None] | None = None, **who: Unpack[WhoFields]) -> Policies:
        """See ``AsyncHindsightMemory.policy``."""
        return self._wait(self._memory.policy(rules, **who))

    def reveal(self, vault_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Revealed:
        """See ``AsyncHindsightMemory.reveal``."""
        return self._wait(self._memory.reveal(vault_id, reason=reason, **who))

    def review(self, *, limit: int = 50, after: str | None = None, **who: Unpack[WhoFields]) -> Review:
        """See ``AsyncHindsightMemory.review``."""
        return self._wait(self._memory.review(limit=limit, after=after, **who))

    def scan(
        self, *, dry_run: bool = False, limit: int = 500, after: str | None = None, **who: Unpack[WhoFields]
    ) -> Scanned:
        """See ``AsyncHindsightMemory.scan``."""
        return self._wait(self._memory.scan(dry_run=dry_run, limit=limit, after=after, **who))

    def export(
        self,
        *,
        all_users: bool = False,
        vectors: bool = False,
        stamp: bool = False,
        passphrase: str | None = None,
        **who: Unpack[WhoFields],
    ) -> Iterator[bytes]:
        """See ``AsyncHindsightMemory.export``."""
        asked: dict[str, Any] = {"all_users": all_users, "vectors": vectors, "stamp": stamp, "passphrase": passphrase}
        return self._each(self._wait(self._memory.export(**asked, **who)))

    def import_archive(
        self,
        path: str | Path,
        *,
        passphrase: str | None = None,
        users: Sequence[str | None] = (),
        progress: Callable[[int], None] = unheard,
    ) -> Moved:
        """See ``AsyncHindsightMemory.import_archive``."""
        return self._wait(self._memory.import_archive(path, passphrase=passphrase, users=users, progress=progress))

    def create_key(self, name: str, **fields: Unpack[KeyFields]) -> IssuedKey:
        """See ``AsyncHindsightMemory.create_key``."""
        return self._wait(self._memory.create_key(name, **fields))

    def list_keys(self, **fields: Unpack[KeyListFields]) -> KeyPage:
        """See ``AsyncHindsightMemory.list_keys``."""
        return self._wait(self._memory.list_keys(**fields))

    def rotate_key(self, key_id: str, *, overlap_hours: float = 24.0) -> IssuedKey:
        """See ``AsyncHindsightMemory.rotate_key``."""
        return self._wait(self._memory.rotate_key(key_id, overlap_hours=overlap_hours))

    def revoke_key(self, key_id: str, *, reason: str = "") -> ApiKey:
        """See ``AsyncHindsightMemory.revoke_key``."""
        return self._wait(self._memory.revoke_key(key_id, reason=reason))

    def doctor(self, *, progress: Callable[[int], None] = unheard) -> list[Check]:
        """See ``AsyncHindsightMemory.doctor``."""
        return self._wait(self._memory.doctor(progress=progress))

    def _each(self, pieces: AsyncIterator[bytes]) -> Iterator[bytes]:
        async def following() -> bytes | None:
            return await anext(pieces, None)

        try:
            while (piece := self._wait(following())) is not None:
                yield piece
        finally:
            if isinstance(pieces, AsyncGenerator):
                with suppress(Unavailable):
                    self._wait(pieces.aclose())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise Unavailable("The memory is closed.", hint="Open another one.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def list(self, **fields: Unpack[ListFields]) -> Page:
        """See ``AsyncHindsightMemory.list``."""
        return self._wait(self._memory.list(**fields))
