"""HindsightMemory: the same verbs, blocking, for code that is not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from hindsight_memory.client import (
    AsyncHindsightMemory,
    ListFields,
    SearchFields,
    UpdateFields,
    WhoFields,
    WriteFields,
    unheard,
)
from hindsight_memory.domain import (
    Check,
    Context,
    Draft,
    Hit,
    ImportReport,
    Memory,
    Message,
    Page,
    Query,
    Receipt,
    Wait,
    utc_now,
)
from hindsight_memory.errors import Unavailable

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

    def doctor(self) -> list[Check]:
        """See ``AsyncHindsightMemory.doctor``."""
        return self._wait(self._memory.doctor())

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
