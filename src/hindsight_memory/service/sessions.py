"""The verbs of a session while it runs: its state, its latest messages, its end."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_memory.domain import (
    Appended,
    Desk,
    Ended,
    Message,
    Scope,
    Session,
    SessionState,
    StatePatch,
    Status,
    Visibility,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.conversation import session_of
from hindsight_memory.recall.window import window
from hindsight_memory.service.base import Verbs, own


class Sessions(Verbs):
    """Verbs of a session while it runs. The scope's ``session_id`` is the session."""

    async def get_session(self, scope: Scope, budget_tokens: int | None = None) -> Session:
        """A session's state, and its latest messages within what a token budget leaves beside it.

        A session that was never begun, has ended or has expired is empty.
        """
        require(self.principal, "get", scope)
        session_id, now = session_of(scope), self._parts.clock()
        settings = self.settings.session
        budget = settings.budget_tokens if budget_tokens is None else budget_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidInput("budget_tokens must be a whole number, at least 1.", field="budget_tokens")
        reader = self._parts.store.reading(scope.bank)
        desk = (await reader.desk(session_id)).at(now)
        messages = [
            memory
            for memory in await reader.working(session_id, settings.messages)
            if memory.status is Status.ACTIVE
            and (memory.expires_at is None or memory.expires_at > now)
            and (memory.visibility is Visibility.SHARED or memory.agent_id == scope.agent_id)
        ]
        return window(desk, messages, budget, settings)

    async def put_session(self, state: SessionState, scope: Scope, version: int | None = None) -> Desk:
        """Replace a session's state.

        Raises ``Conflict`` when ``version`` is given and the state has changed since.
        """
        require(self.principal, "write", scope)
        return await self._parts.sessions.put(state, scope, self._actor(scope), version)

    async def patch_session(self, patch: StatePatch, scope: Scope) -> Desk:
        """Change a session's state; patches at the same time all count."""
        require(self.principal, "write", scope)
        return await self._parts.sessions.patch(patch, scope, self._actor(scope))

    async def append_session(self, messages: Sequence[Message], scope: Scope, *, rules: bool = True) -> Appended:
        """Append messages to a session, each one working memory; ``rules`` keep its state by what they say.

        A language model, where there is one for it, adds to the state behind this call.
        """
        require(self.principal, "write", scope)
        appended = await self._parts.sessions.append(
            own(messages), scope, self._actor(scope), rules=rules, most=self._most(scope)
        )
        self._parts.indexer.wake()
        return appended

    async def end_session(self, scope: Scope, *, discard: bool = False) -> Ended:
        """End a session: its messages become episodic memory, or are forgotten with ``discard``, and its state goes.

        Ending it twice is ending it once.
        """
        require(self.principal, "forget" if discard else "write", scope)
        return await self._parts.sessions.end(scope, self._actor(scope), forget=discard)
