"""What can be asked about tasks over a wire: record a step of one, and look back over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight_memory.check import Limits
from hindsight_memory.domain import Recorded, Reflection, Scope, Step, Who
from hindsight_memory.server.call import Call, part

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class RecordStepBody(Step, Who):
    """What ``record_step`` takes."""


@dataclass(frozen=True, kw_only=True)
class ReflectBody(Who):
    """What ``reflect`` takes."""

    task: str = field(default="", metadata=Limits(most=2_000))


async def _record_step(service: Service, body: RecordStepBody, scope: Scope) -> Recorded:
    return await service.record_step(part(body, Step), scope)


async def _reflect(service: Service, body: ReflectBody, scope: Scope) -> Reflection:
    return await service.reflect(scope, body.task)


TASK_CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "record_step": Call(RecordStepBody, Recorded, _record_step, changes=True),
        "reflect": Call(ReflectBody, Reflection, _reflect, changes=True),
    }
)
"""The verbs of tasks, by their names."""
