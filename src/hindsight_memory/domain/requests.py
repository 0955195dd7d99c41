"""What callers ask: whose memory is meant, what to remember, what to look for, what to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain.kinds import Feedback, Kind, Moment, Outcome, Role, Source, Status, Visibility


@dataclass(frozen=True, kw_only=True)
class Who(Checked):
    """Whose memory is meant, and who acts: the part of a scope that a caller says.

    ``user_id=None`` is the namespace's shared bank. ``agent_id`` is who writes or asks, ``session_id`` the
    conversation or task run it happens in.
    """

    user_id: str | None = field(default="default", metadata=Limits(least=1, most=200))
    agent_id: str | None = field(default=None, metadata=Limits(least=1, most=200))
    session_id: str | None = field(default=None, metadata=Limits(least=1, most=200))


@dataclass(frozen=True, kw_only=True)
class Scope(Who):
    """A caller's part of a scope within its namespace, the tenant. Namespace and user name the bank."""

    namespace: str = field(default="default", metadata=Limits(least=1, most=200))

    @property
    def bank(self) -> str:
        """The bank's id; two scopes have the same only when namespace and user are equal.

        Percent-encoding leaves no ``/`` in either part, so joining them cannot collide.
        """
        return f"{quote(self.namespace, safe='')}/{quote(self.user_id or '', safe='')}"

    @classmethod
    def of_bank(cls, bank: str) -> Scope:
        """The scope that a bank's id stands for."""
        namespace, _, user = bank.partition("/")
        return cls(namespace=unquote(namespace), user_id=unquote(user) if user else None)


def is_shared(bank: str) -> bool:
    """Whether a bank is the one that all users of its namespace share."""
    return bank.endswith("/")


@dataclass(frozen=True, kw_only=True)
class Draft(Checked):
    """What a caller asks to remember; ``relations`` are edges from it, each ``TYPE:TARGET`` with an id or a name."""

    content: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    kind: Kind = Kind.SEMANTIC
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    tags: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source = Source.USER
    source_ref: str | None = field(default=None, metadata=Limits(most=2_000))
    visibility: Visibility = Visibility.SHARED
    importance: float = field(default=0.5, metadata=Limits(least=0, most=1))
    pinned: bool = False
    speaker: str | None = field(default=None, metadata=Limits(most=200))
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None
    task: str | None = field(default=None, metadata=Limits(most=2_000))
    tools: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    relations: tuple[str, ...] = field(default=(), metadata=Limits(least=1, most=200, items=50))


@dataclass(frozen=True, kw_only=True)
class Message(Checked):
    """One turn of a conversation, as its host kept it.

    ``id`` is the host's own id, where it has one: the same id in the same session is the same turn.
    """

    content: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    role: Role = Role.USER
    speaker: str | None = field(default=None, metadata=Limits(most=200))
    occurred_at: datetime | None = None
    id: str | None = field(default=None, metadata=Limits(most=500))
    importance: float = field(default=0.5, metadata=Limits(least=0, most=1))
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Filter(Checked):
    """Which memories are meant. What is not given does not restrict; ``tags`` must all be present.

    ``session`` and ``agent`` are where and by whom it was written, ``except_session`` a session left out. ``since``
    and ``until`` bound ``occurred_at`` (``until`` is excluded). ``as_of`` answers from what was valid at that moment.
    ``metadata`` must be equal, value by value, at the top level.
    """

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    session: str | None = field(default=None, metadata=Limits(least=1, most=200))
    except_session: str | None = field(default=None, metadata=Limits(least=1, most=200))
    agent: str | None = field(default=None, metadata=Limits(least=1, most=200))
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Query(Filter):
    """What is asked of a bank: ``zone`` is where dates in it are read, ``spaces`` what embeddings are searched.

    ``cold`` looks among memories too that went cold because nobody used them.

    ``moment`` says where in a task it is asked: at its start what is so and how to do it comes first, when it is stuck
    what happened with the same error, and what solved it.
    """

    text: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    limit: int = field(default=10, metadata=Limits(least=1, most=200))
    zone: str | None = field(default=None, metadata=Limits(least=1, most=100, zone=True))
    cold: bool = False
    spaces: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=4))
    moment: Moment | None = None


@dataclass(frozen=True, kw_only=True)
class Listing(Filter):
    """A page of memories, newest first; ``after`` is the ``next`` of the page before.

    ``doubted`` asks for those only that feedback called wrong or outdated and that still stand as they were.
    """

    status: Status = Status.ACTIVE
    doubted: bool = False
    limit: int = field(default=50, metadata=Limits(least=1, most=1_000))
    after: str | None = field(default=None, metadata=Limits(most=200))


@dataclass(frozen=True, kw_only=True)
class Changes(Checked):
    """What an update may change; what is ``None`` stays as it is.

    ``source`` is who says so, and no field of the memory: left out, it is the agent where the scope names one, and the
    user where it does not. ``version`` is a condition.
    """

    content: str | None = field(default=None, metadata=Limits(least=1, most=100_000, prose=True))
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    tags: tuple[str, ...] | None = field(default=None, metadata=Limits(most=200, items=50))
    metadata: Mapping[str, Any] | None = None
    importance: float | None = field(default=None, metadata=Limits(least=0, most=1))
    pinned: bool | None = None
    occurred_at: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None
    source: Source | None = None
    version: int | None = field(default=None, metadata=Limits(least=1, most=2**53))

    def given(self) -> dict[str, Any]:
        """The fields to change; ``source`` and ``version`` are none of them."""
        beside = {"source", "version"}
        return {f.name: v for f in fields(self) if f.name not in beside and (v := getattr(self, f.name)) is not None}


@dataclass(frozen=True, kw_only=True)
class Judgement(Checked):
    """What somebody says of a memory: the verdict, the question it was found for, and why.

    ``source`` is who judges. Left out, it is the agent where the scope names one, and the user where it does not.
    """

    verdict: Feedback
    query: str | None = field(default=None, metadata=Limits(least=1, most=100_000, prose=True))
    note: str = field(default="", metadata=Limits(most=2_000))
    source: Source | None = None


@dataclass(frozen=True, kw_only=True)
class Maintenance(Checked):
    """What maintenance is to do: by default every routine, in every bank the caller may act in, whenever last done.

    ``dry_run`` only says what would be done, ``due`` leaves out what was done a short while ago, ``beyond_half`` lets a
    routine take more than half of a bank out of sight.
    """

    dry_run: bool = False
    due: bool = False
    beyond_half: bool = False
    routines: tuple[str, ...] = field(default=(), metadata=Limits(most=50, items=20))
    users: tuple[str, ...] = field(default=(), metadata=Limits(least=1, most=200, items=1_000))


@dataclass(frozen=True, kw_only=True)
class Work(Checked):
    """What is to be done about what waits for language models: by default nothing, it is only told of.

    ``retry`` tries once more what was given up, ``run`` has what waits read now, for ``within_s`` seconds at most.
    """

    retry: bool = False
    run: bool = False
    within_s: int = field(default=60, metadata=Limits(least=1, most=86_400))


@dataclass(frozen=True, kw_only=True)
class Consolidation(Checked):
    """What consolidation is to do: ``dry_run`` only says what it would, ``propose`` lays it before a person.

    ``undo`` is the time of an earlier run: what that one did is taken back, and nothing else is done.
    """

    dry_run: bool = False
    propose: bool = False
    undo: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Span(Checked):
    """A page of what happened; ``until`` is excluded, ``after`` is the ``next`` of the page before."""

    since: datetime | None = None
    until: datetime | None = None
    limit: int = field(default=100, metadata=Limits(least=1, most=1_000))
    after: str | None = field(default=None, metadata=Limits(most=60))


@dataclass(frozen=True, kw_only=True)
class Outlook(Checked):
    """How far ahead is looked, and from when: ``at`` is now by default, ``zone`` the person's own time zone."""

    at: datetime | None = None
    horizon_hours: float = field(default=24.0, metadata=Limits(least=0, most=24 * 31))
    zone: str | None = field(default=None, metadata=Limits(least=1, most=100, zone=True))
    limit: int = field(default=5, metadata=Limits(least=1, most=50))
