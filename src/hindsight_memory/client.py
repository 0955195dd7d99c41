"""AsyncHindsightMemory: the verbs with keywords, over a service in this process or one behind an address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from hindsight_memory.auditing import AsyncAuditing
from hindsight_memory.check import parse_choice
from hindsight_memory.domain import (
    Changes,
    Check,
    Consolidated,
    Consolidation,
    Context,
    Contradiction,
    Draft,
    Feedback,
    History,
    Hit,
    ImportReport,
    Jobs,
    Judgement,
    Kind,
    Listing,
    MaintainReport,
    Maintenance,
    Memory,
    Message,
    Moment,
    Outcome,
    Outlook,
    Page,
    Query,
    Ranking,
    Receipt,
    Replay,
    Scope,
    Source,
    Span,
    Status,
    Suggestion,
    Visibility,
    Wait,
    utc_now,
)
from hindsight_memory.face import unheard as unheard
from hindsight_memory.guarding import AsyncGuarding
from hindsight_memory.keyring import AsyncKeys
from hindsight_memory.moving import AsyncMoving
from hindsight_memory.sessions import AsyncSessions, WhoFields, listed, message_of

if TYPE_CHECKING:
    from hindsight_memory.remote import Remote
    from hindsight_memory.service import Service


class WriteFields(WhoFields, total=False):
    """The fields of a ``Draft`` besides its content."""

    kind: Kind | str
    key: str | None
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    source: Source | str
    source_ref: str | None
    visibility: Visibility | str
    importance: float
    pinned: bool
    speaker: str | None
    occurred_at: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    outcome: Outcome | str | None
    task: str | None
    tools: Sequence[str]
    relations: Sequence[str]


class FilterFields(WhoFields, total=False):
    """The fields of a ``Filter``."""

    kinds: Sequence[Kind | str]
    tags: Sequence[str]
    key: str | None
    session: str | None
    except_session: str | None
    agent: str | None
    since: datetime | str | None
    until: datetime | str | None
    as_of: datetime | str | None
    metadata: Mapping[str, Any]


class SearchFields(FilterFields, total=False):
    """The fields of a ``Query`` besides its text."""

    limit: int
    zone: str | None
    cold: bool
    spaces: Sequence[str]
    moment: Moment | str | None


class ListFields(FilterFields, total=False):
    """The fields of a ``Listing``."""

    status: Status | str
    doubted: bool
    limit: int
    after: str | None


class UpdateFields(WhoFields, total=False):
    """The fields of ``Changes``."""

    content: str
    key: str
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    importance: float
    pinned: bool
    occurred_at: datetime | str
    valid_until: datetime | str
    expires_at: datetime | str
    outcome: Outcome | str
    source: Source | str
    version: int


class FeedbackFields(WhoFields, total=False):
    """The fields of a ``Judgement`` besides its verdict."""

    query: str | None
    note: str
    source: Source | str | None


class SuggestFields(WhoFields, total=False):
    """The fields of an ``Outlook``."""

    at: datetime | str | None
    horizon_hours: float
    zone: str | None
    limit: int


class MaintainFields(TypedDict, total=False):
    """The fields of ``Maintenance``."""

    dry_run: bool
    due: bool
    beyond_half: bool
    routines: Sequence[str]
    users: Sequence[str]


class ConsolidateFields(WhoFields, total=False):
    """The fields of a ``Consolidation``."""

    dry_run: bool
    propose: bool
    undo: datetime | str | None


class ReplayFields(WhoFields, total=False):
    """The fields of a ``Span``."""

    since: datetime | str | None
    until: datetime | str | None
    limit: int
    after: str | None


class AsyncHindsightMemory(AsyncSessions, AsyncKeys, AsyncAuditing, AsyncGuarding, AsyncMoving):
    """Long-term memory for agents.

    Use it as ``async with AsyncHindsightMemory() as memory: …``, or call ``open`` and ``close``.

    Args:
        database: ``sqlite:///PATH``, a path, ``postgresql://USER:PASSWORD@HOST/NAME``, or ``http://HOST:PORT`` of a
            running service. By default what ``HINDSIGHT_MEMORY_DATABASE_URL`` says, else a file in the user's data
            folder.
        user_id: Whose memory it is, where a call does not say.
        agent_id: Who writes and asks, where a call does not say.
        session_id: The conversation or task run, where a call does not say.
        api_key: Key of the service, when ``database`` is an address.
        clock: Where the time comes from.
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
        self.scope = Scope(user_id=user_id, agent_id=agent_id, session_id=session_id)
        self._database = None if database is None else str(database)
        self._api_key = api_key
        self._clock = clock
        self._opening = asyncio.Lock()
        self._service: Service | Remote | None = None

    @classmethod
    def connect(cls, address: str, *, api_key: str | None = None, user_id: str | None = "default") -> Self:
        """The memory behind a running service's address: the same verbs, types and errors."""
        return cls(address, api_key=api_key, user_id=user_id)

    async def open(self) -> Self:
        """Open the database or the connection; the first call does it otherwise."""
        await self._opened()
        return self

    async def close(self) -> None:
        """Finish what was written here and let go of the database."""
        if self._service is not None:
            service, self._service = self._service, None
            await service.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def write(
        self, content: str | Draft, *, wait: Wait | str = Wait.STORED, **fields: Unpack[WriteFields]
    ) -> Receipt:
        """Remember something; it is durable and found by words when this returns.

        Args:
            content: What to remember, or a whole ``Draft``.
            wait: ``indexed`` waits for its vector too.
            **fields: Fields of the ``Draft``; ``user_id``, ``agent_id`` and ``session_id`` say where it belongs.

        Raises:
            InvalidInput: A field is wrong; ``field`` names it and nothing was stored.
        """
        scope, values = self._split(fields)
        draft = content if isinstance(content, Draft) else Draft(content=content, **values)
        return await (await self._opened()).write(draft, scope, parse_choice("wait", wait, Wait))

    async def write_many(
        self, drafts: Sequence[Draft | str], *, wait: Wait | str = Wait.STORED, **who: Unpack[WhoFields]
    ) -> list[Receipt]:
        """Remember several things, all or none; the receipts come in their order."""
        scope, _ = self._split(who)
        whole = [draft if isinstance(draft, Draft) else Draft(content=draft) for draft in listed("drafts", drafts)]
        return await (await self._opened()).write_many(whole, scope, parse_choice("wait", wait, Wait))

    async def write_conversation(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        wait: Wait | str = Wait.STORED,
        **who: Unpack[WhoFields],
    ) -> list[Receipt]:
        """Append messages (``role``, ``content``, …) to the session, each one episodic memory among its neighbours."""
        scope, _ = self._split(who)
        whole = [message_of(message) for message in listed("messages", messages)]
        return await (await self._opened()).write_conversation(whole, scope, parse_choice("wait", wait, Wait))

    async def import_file(
        self,
        path: str | Path,
        *,
        wait: Wait | str = Wait.STORED,
        progress: Callable[[int], None] = unheard,
        **who: Unpack[WhoFields],
    ) -> ImportReport:
        """Read a conversation export, or a folder of them. Run twice, it adds nothing.

        Args:
            path: A ChatGPT or Claude export, a Claude Code or Codex transcript, Markdown, or JSON lines of messages.
            wait: ``indexed`` waits for the vectors too, which take far longer than the reading.
            progress: Called with the number of turns read so far.
            **who: Whose memory it becomes.
        """
        scope, _ = self._split(who)
        waited = parse_choice("wait", wait, Wait)
        return await (await self._opened()).import_file(Path(path), scope, waited, progress)

    async def search(self, text: str | Query, **fields: Unpack[SearchFields]) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons."""
        query, scope = self._query(text, fields)
        return await (await self._opened()).search(query, scope)

    async def context(
        self, text: str | Query, *, budget_tokens: int | None = None, **fields: Unpack[SearchFields]
    ) -> Context:
        """What is worth knowing for a query, as one prompt block; place it right before the user's message."""
        query, scope = self._query(text, fields)
        return await (await self._opened()).context(query, scope, budget_tokens)

    async def explain(self, text: str | Query, memory_id: str, **fields: Unpack[SearchFields]) -> Hit:
        """How one memory fares with a query, whether or not it is among the results."""
        query, scope = self._query(text, fields)
        return await (await self._opened()).explain(query, memory_id, scope)

    async def get(self, memory_id: str, **who: Unpack[WhoFields]) -> Memory:
        """One memory. Raises ``NotFound``."""
        return await (await self._opened()).get(memory_id, self._split(who)[0])

    async def update(self, memory_id: str, **fields: Unpack[UpdateFields]) -> Memory:
        """Change fields of a memory; ``version`` makes it fail when someone else changed it first.

        Other words of who is trusted less, such as an agent's for the user's, are kept beside it as a memory of their
        own, which contradicts it: the answer is then that one. ``source="user"`` is an agent that passes on the user's.
        """
        scope, values = self._split(fields)
        return await (await self._opened()).update(memory_id, Changes(**values), scope)

    async def forget(self, memory_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Memory:
        """Take a memory out of sight; ``restore`` brings it back."""
        return await (await self._opened()).forget(memory_id, self._split(who)[0], reason)

    async def restore(self, memory_id: str, **who: Unpack[WhoFields]) -> Memory:
        """Bring a forgotten memory back."""
        return await (await self._opened()).restore(memory_id, self._split(who)[0])

    async def history(self, memory_id: str, **who: Unpack[WhoFields]) -> History:
        """What a memory replaced and what replaced it, the oldest first, with the reasons and the log."""
        return await (await self._opened()).history(memory_id, self._split(who)[0])

    async def contradictions(self, *, limit: int = 20, **who: Unpack[WhoFields]) -> list[Contradiction]:
        """Pairs of memories that contradict each other and both still stand; settle one with ``resolve``."""
        return await (await self._opened()).contradictions(self._split(who)[0], limit)

    async def resolve(self, *, keep: str, over: str, **who: Unpack[WhoFields]) -> Memory:
        """Settle a contradiction: the memory ``keep`` replaces ``over``, which stays in its history."""
        return await (await self._opened()).resolve(keep, over, self._split(who)[0])

    async def feedback(self, memory_id: str, verdict: Feedback | str, **fields: Unpack[FeedbackFields]) -> Memory:
        """Say that a memory was ``used``, ``helpful``, ``wrong`` or ``outdated``; ``restore`` undoes the last two.

        Args:
            memory_id: The memory's id.
            verdict: What it turned out to be worth.
            **fields: ``query`` is the question it was found for, ``note`` says why, ``source`` who judges: the user,
                or the agent, which it is where an ``agent_id`` is named and ``source`` is not.
        """
        scope, values = self._split(fields)
        verdict = parse_choice("verdict", verdict, Feedback)
        return await (await self._opened()).feedback(memory_id, Judgement(verdict=verdict, **values), scope)

    async def refit(self, *, reset: bool = False, **who: Unpack[WhoFields]) -> Ranking:
        """Fit the ranking of this bank to its feedback now, or ``reset`` it; returns the weights in force."""
        return await (await self._opened()).refit(self._split(who)[0], reset)

    async def suggest(self, **fields: Unpack[SuggestFields]) -> list[Suggestion]:
        """What usually happens soon, or follows what just happened, the soonest first, with the evidence."""
        scope, values = self._split(fields)
        return await (await self._opened()).suggest(Outlook(**values), scope)

    async def consolidate(self, **fields: Unpack[ConsolidateFields]) -> Consolidated:
        """Conclude from what came up again and again: what is usually so, and how tasks are done.

        Args:
            **fields: ``dry_run`` only says what would be concluded, ``propose`` has it wait until ``restore`` accepts
                it or ``forget`` refuses it, ``undo`` takes back the run of that time.
        """
        scope, values = self._split(fields)
        return await (await self._opened()).consolidate(Consolidation(**values), scope)

    async def replay(self, **fields: Unpack[ReplayFields]) -> Replay:
        """What happened, oldest first, each event with the memory it is about, a page at a time."""
        scope, values = self._split(fields)
        return await (await self._opened()).replay(Span(**values), scope)

    async def maintain(
        self, *, progress: Callable[[int], None] = unheard, **fields: Unpack[MaintainFields]
    ) -> MaintainReport:
        """Let go of what has had its time, in the banks of all users; ``dry_run`` only says what would be done.

        A language model, where there is one, reads what waits for it; ``progress`` is told how many memories it has.
        """
        asked = Maintenance(**fields)  # type: ignore[arg-type]  # read by Checked
        return await (await self._opened()).maintain(asked, progress)

    async def jobs(
        self,
        *,
        retry: bool = False,
        run: bool = False,
        within_s: int = 60,
        progress: Callable[[int], None] = unheard,
        **who: Unpack[WhoFields],
    ) -> Jobs:
        """How far language models are with what was written, and what went wrong.

        ``retry`` tries that again, ``run`` has what waits read now, for ``within_s`` seconds at most; ``progress`` is
        told how many memories were read.
        """
        service, scope = await self._opened(), self._split(who)[0]
        return await service.jobs(scope, retry=retry, run=run, within_s=within_s, progress=progress)

    async def doctor(self, *, progress: Callable[[int], None] = unheard) -> list[Check]:
        """What this memory runs on, and whether it is well; ``progress`` is told how many banks were looked at."""
        return await (await self._opened()).doctor(progress)

    async def _opened(self) -> Service | Remote:
        if self._service is not None:
            return self._service
        async with self._opening:  # two first calls at once open it once
            return await self._open()

    async def _open(self) -> Service | Remote:
        if self._service is None:
            from hindsight_memory.build import build, settings_from  # noqa: PLC0415  # numpy comes with it: 0.2 s
            from hindsight_memory.remote import Remote  # noqa: PLC0415

            settings = settings_from(database=self._database)
            if settings.database.startswith(("http://", "https://")):
                self._service = Remote(settings.database, self._api_key or settings.server.api_key)
            else:
                service = await build(settings, self._clock)
                await service.start()
                self._service = service
        return self._service

    def _query(self, text: str | Query, fields: SearchFields) -> tuple[Query, Scope]:
        scope, values = self._split(fields)
        return (text if isinstance(text, Query) else Query(text=text, **values)), scope

    def _split(self, fields: Mapping[str, Any]) -> tuple[Scope, dict[str, Any]]:
        values = dict(fields)
        named = {name: values.pop(name) for name in WhoFields.__annotations__ if name in values}
        return replace(self.scope, **named), values

    async def list(self, **fields: Unpack[ListFields]) -> Page:
        """Memories by filter, newest first, a page at a time."""
        scope, values = self._split(fields)
        return await (await self._opened()).list(Listing(**values), scope)
