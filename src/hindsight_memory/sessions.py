"""Sessions as the faces have them: their verbs with keywords, and one session in hand as a context manager."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack

from hindsight_memory.check import parse_choice
from hindsight_memory.domain import (
    Appended,
    Desk,
    Ended,
    Memory,
    Message,
    Outcome,
    Receipt,
    Recorded,
    Reflection,
    Role,
    Session,
    SessionState,
    StatePatch,
    Step,
    Visibility,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.face import Face

T = TypeVar("T")
D = TypeVar("D", bound=Desk)


class BankFields(TypedDict, total=False):
    """Whose memory, and who acts: what a call may say instead of the object's own."""

    user_id: str | None
    agent_id: str | None


class WhoFields(BankFields, total=False):
    """The same with the conversation or task run."""

    session_id: str | None


class PatchFields(WhoFields, total=False):
    """The fields of a ``StatePatch``."""

    task_goal: str | None
    current_step: str | None
    confirmed_facts: Sequence[str]
    open_questions: Sequence[str]
    decisions: Sequence[str]
    discarded: Sequence[str]
    remove: Sequence[str]


class StepFields(WhoFields, total=False):
    """The fields of a ``Step`` besides its tool, its input and its outcome."""

    error: str
    output: str
    task: str | None
    id: str | None
    occurred_at: datetime | str | None
    visibility: Visibility | str


class AsyncSessions(Face):
    """The verbs of sessions, and of the tasks that run in them; ``AsyncHindsightMemory`` has them."""

    def session(self, session_id: str, **who: Unpack[BankFields]) -> AsyncSession:
        """A session in hand: ``async with memory.session("s1") as session: …``.

        Leaving the block ends the session, and its messages become episodic memory. Leaving it by an error keeps the
        session as it is until it expires, so that it can be taken up again.
        """
        return AsyncSession(self, {**who, "session_id": session_id})

    async def get_session(self, *, budget_tokens: int | None = None, **who: Unpack[WhoFields]) -> Session:
        """A session's state, and its latest messages within a token budget; empty where none is open."""
        return await (await self._opened()).get_session(self._split(who)[0], budget_tokens)

    async def put_session(self, state: SessionState, *, version: int | None = None, **who: Unpack[WhoFields]) -> Desk:
        """Replace a session's state; ``version`` makes it fail when someone else changed it first."""
        return await (await self._opened()).put_session(state, self._split(who)[0], version)

    async def patch_session(self, **fields: Unpack[PatchFields]) -> Desk:
        """Change a session's state: texts replace, entries are appended, those under ``remove`` go.

        Patches at the same time all count.
        """
        scope, values = self._split(fields)
        return await (await self._opened()).patch_session(StatePatch(**values), scope)

    async def append_session(
        self, messages: Sequence[Message | Mapping[str, Any]], *, rules: bool = True, **who: Unpack[WhoFields]
    ) -> Appended:
        """Append messages (``role``, ``content``, …) to a session, each one working memory.

        Args:
            messages: What was said, in its order.
            rules: Whether goals, confirmed facts, questions and decisions are read off them into the state.
            **who: The session, and whose memory it is.
        """
        whole = [message_of(message) for message in listed("messages", messages)]
        return await (await self._opened()).append_session(whole, self._split(who)[0], rules=rules)

    async def end_session(self, *, discard: bool = False, **who: Unpack[WhoFields]) -> Ended:
        """End a session: its messages become episodic memory, or are forgotten with ``discard``, and its state goes."""
        return await (await self._opened()).end_session(self._split(who)[0], discard=discard)

    async def record_step(
        self,
        tool: str,
        input: str,  # noqa: A002
        outcome: Outcome | str,
        **fields: Unpack[StepFields],
    ) -> Recorded:
        """Record one call of a tool and what came of it, as the next turn of the session.

        Args:
            tool: Its name.
            input: What it was given, as text.
            outcome: ``success`` or ``failure``.
            **fields: ``error`` and ``output`` as texts, the ``task``, the host's own ``id``, and so on.

        Returns:
            Whether the task is stuck, and when it becomes so, what is remembered of its error.
        """
        scope, values = self._split(fields)
        step = Step(tool=tool, input=input, outcome=parse_choice("outcome", outcome, Outcome), **values)
        return await (await self._opened()).record_step(step, scope)

    async def reflect(self, *, task: str = "", **who: Unpack[WhoFields]) -> Reflection:
        """Look back over the session, or over a task's steps, and keep what it teaches; twice is once."""
        return await (await self._opened()).reflect(self._split(who)[0], task)


class AsyncSession:
    """One session. ``state``, ``version`` and ``expires_at`` are as of the last call, ``messages`` of the last read."""

    def __init__(self, memory: AsyncSessions, who: WhoFields) -> None:
        self._memory = memory
        self._who = who
        self._desk = Desk(session_id=who["session_id"] or "")
        self.messages: tuple[Memory, ...] = ()

    @property
    def id(self) -> str:
        """The session's id."""
        return self._desk.session_id

    @property
    def state(self) -> SessionState:
        """What the task is about, and what stands."""
        return self._desk.state

    @property
    def version(self) -> int:
        """How often the state was changed."""
        return self._desk.version

    @property
    def expires_at(self) -> datetime | None:
        """When it expires unless something is done to it."""
        return self._desk.expires_at

    async def read(self, budget_tokens: int | None = None) -> Session:
        """The state and the latest messages, as they are now."""
        read = await self._memory.get_session(budget_tokens=budget_tokens, **self._who)
        self.messages = read.messages
        return self._took(read)

    async def append(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]],
        *,
        role: Role | str = Role.USER,
        rules: bool = True,
    ) -> list[Receipt]:
        """Append what was said: a text of this ``role``, a message, or several."""
        if isinstance(messages, str):
            messages = Message(content=messages, role=Role(role))
        several = [messages] if isinstance(messages, Message | Mapping) else messages
        return list(self._took(await self._memory.append_session(several, rules=rules, **self._who)).receipts)

    async def patch(self, **fields: Unpack[PatchFields]) -> SessionState:
        """Change the state; see ``patch_session``."""
        values: Any = {**fields, **self._who}
        return self._took(await self._memory.patch_session(**values)).state

    async def put(self, state: SessionState, *, version: int | None = None) -> SessionState:
        """Replace the state; see ``put_session``."""
        return self._took(await self._memory.put_session(state, version=version, **self._who)).state

    async def step(self, tool: str, given: str, outcome: Outcome | str, **fields: Unpack[StepFields]) -> Recorded:
        """Record a step of the task; see ``record_step``."""
        values: Any = {**fields, **self._who}
        return await self._memory.record_step(tool, given, outcome, **values)

    async def reflect(self, *, task: str = "") -> Reflection:
        """Look back over it; see ``AsyncHindsightMemory.reflect``."""
        return await self._memory.reflect(task=task, **self._who)

    async def end(self, *, discard: bool = False) -> Ended:
        """End it; see ``end_session``."""
        return self._took(await self._memory.end_session(discard=discard, **self._who))

    async def __aenter__(self) -> Self:
        await self.read()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.end()

    def _took(self, desk: D) -> D:
        self._desk = desk
        return desk


class BlockingSession:
    """``AsyncSession`` for code that is not asynchronous."""

    def __init__(self, session: AsyncSession, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._session = session
        self._wait = wait

    @property
    def id(self) -> str:
        """See ``AsyncSession.id``."""
        return self._session.id

    @property
    def state(self) -> SessionState:
        """See ``AsyncSession.state``."""
        return self._session.state

    @property
    def version(self) -> int:
        """See ``AsyncSession.version``."""
        return self._session.version

    @property
    def expires_at(self) -> datetime | None:
        """See ``AsyncSession.expires_at``."""
        return self._session.expires_at

    @property
    def messages(self) -> tuple[Memory, ...]:
        """See ``AsyncSession``."""
        return self._session.messages

    def read(self, budget_tokens: int | None = None) -> Session:
        """See ``AsyncSession.read``."""
        return self._done(self._session.read(budget_tokens))

    def append(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]],
        *,
        role: Role | str = Role.USER,
        rules: bool = True,
    ) -> list[Receipt]:
        """See ``AsyncSession.append``."""
        return self._done(self._session.append(messages, role=role, rules=rules))

    def patch(self, **fields: Unpack[PatchFields]) -> SessionState:
        """See ``AsyncSession.patch``."""
        return self._done(self._session.patch(**fields))

    def put(self, state: SessionState, *, version: int | None = None) -> SessionState:
        """See ``AsyncSession.put``."""
        return self._done(self._session.put(state, version=version))

    def step(self, tool: str, given: str, outcome: Outcome | str, **fields: Unpack[StepFields]) -> Recorded:
        """See ``AsyncSession.step``."""
        return self._done(self._session.step(tool, given, outcome, **fields))

    def reflect(self, *, task: str = "") -> Reflection:
        """See ``AsyncSession.reflect``."""
        return self._done(self._session.reflect(task=task))

    def end(self, *, discard: bool = False) -> Ended:
        """See ``AsyncSession.end``."""
        return self._done(self._session.end(discard=discard))

    def __enter__(self) -> Self:
        self.read()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.end()

    def _done(self, work: Coroutine[Any, Any, T]) -> T:
        result: T = self._wait(work)
        return result


def listed(name: str, value: Any) -> Sequence[Any]:
    """A list that a caller gave. Raises ``InvalidInput`` for a text, whose letters would become memories."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list.", field=name)
    return value


def message_of(value: Message | Mapping[str, Any]) -> Message:
    """A message that a caller gave, whole or as its fields."""
    if isinstance(value, Message):
        return value
    try:
        return Message(**value)
    except TypeError as error:
        hint = f"A message has the fields {', '.join(f.name for f in fields(Message))}."
        raise InvalidInput(f"A message could not be read: {error}.", hint=hint, field="messages") from error
