"""The verbs of tasks: record a step of one, and look back over it."""

from __future__ import annotations

from contextlib import suppress

from hindsight_memory.check import parse_text
from hindsight_memory.domain import Hit, Moment, Query, Recorded, Reflection, Scope, Step
from hindsight_memory.errors import HindsightMemoryError, InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.steps import Taken
from hindsight_memory.service.base import Verbs
from hindsight_memory.text.steps import is_step

_LONGEST_TASK = 2_000
_WIDE = 20
"""Findings among which help is looked for."""


class Reflecting(Verbs):
    """Verbs of tasks."""

    async def record_step(self, step: Step, scope: Scope) -> Recorded:
        """Record one call of a tool and what came of it, as the next turn of the session.

        Two failures in a row, or the second of one error while its aim is not reached, and the task is stuck. When it
        becomes stuck, the answer holds what is remembered of that error: lessons, and what solved it before.
        """
        require(self.principal, "record_step", scope)
        taken = await self._parts.steps(step, scope, self._actor(scope))
        self._parts.indexer.wake()
        return Recorded(
            receipt=taken.receipt,
            stuck=taken.stuck,
            failures=taken.failures,
            help=await self._help(taken, scope) if taken.fresh else (),
        )

    async def reflect(self, scope: Scope, task: str = "") -> Reflection:
        """Look back over a task: what was tried, what failed with which error, what worked in the end, and why.

        What it teaches is written as lessons, found again when the error comes again. The task is the scope's session,
        or the steps of ``task`` in it, or in all sessions where none is named. Looking back twice writes nothing new.
        """
        require(self.principal, "reflect", scope)
        task = await self._parts.screener.text(parse_text("task", task, _LONGEST_TASK).strip(), scope.bank)  # as stored
        if scope.session_id is None and not task:
            hint = "Give session_id, or the task that its steps name."
            raise InvalidInput("A look back needs a session or a task.", hint=hint, field="session_id")
        reflection = await self._parts.reflector(scope, task, self._parts.assistant, self._actor(scope))
        self._parts.indexer.wake()
        return reflection

    async def _help(self, taken: Taken, scope: Scope) -> tuple[Hit, ...]:
        """What is remembered of a step's error, but for this run's own steps; nothing for who may not search."""
        query = Query(text=taken.step.error or taken.step.deed, moment=Moment.STUCK, limit=_WIDE)
        hits: list[Hit] = []
        with suppress(HindsightMemoryError):  # the step is stored, whatever becomes of this
            require(self.principal, "search", scope)
            hits = await self._parts.finder(query, scope, self._beside(scope))
        others = (hit for hit in hits if hit.memory.session_id != scope.session_id or not is_step(hit.memory))
        helpful = [hit for hit in others if hit.sure and _bears_on(hit)][: self.settings.reflect.helped_by]
        self._touch(helpful)
        return tuple(helpful)


def _bears_on(hit: Hit) -> bool:
    """Whether a finding is about the error, or a way out of it: the moment has raised it."""
    return any(factor.name == "moment" and factor.value > 1 for factor in hit.why.factors)
