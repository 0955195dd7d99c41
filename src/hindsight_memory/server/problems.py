"""Errors as HTTP carries them: RFC 9457 problem details, the same fields at every status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.wire import to_wire

PROBLEM_JSON: Final = "application/problem+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong (RFC 9457), with the error's ``code``, what to do (``hint``) and the ``field`` that is wrong."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    message: str
    hint: str = ""
    field: str | None = None


class JSON(Response):
    """A value of the domain as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body; half of a surrogate pair that an echoed name holds stays the escape it came as."""
        text = json.dumps(to_wire(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def problem(
    error: HindsightMemoryError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The reply that an error becomes; ``status`` says more than the error's own where HTTP has a word for it."""
    number = status or error.status
    body = Problem(
        type=f"urn:hindsight-memory:{error.code}",
        title=HTTPStatus(number).phrase,
        status=number,
        detail=str(error),
        code=error.code,
        message=error.message,
        hint=error.hint,
        field=error.field,
    )
    return JSON(body, status_code=number, headers=dict(headers or {}), media_type=PROBLEM_JSON)
