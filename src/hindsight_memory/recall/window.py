"""A session's state and its latest messages within a token budget."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hindsight_memory.domain import Desk, Memory, Session
from hindsight_memory.settings import SessionSettings
from hindsight_memory.text.tokens import count_tokens, truncate
from hindsight_memory.wire import to_wire


def window(desk: Desk, messages: Sequence[Memory], budget: int, settings: SessionSettings) -> Session:
    """The session as it is shown: the state whole, then messages within what the budget leaves, oldest first.

    The oldest and least important are left out first, and before them what is too long to fit beside the state at all.
    """
    tokens = _state_tokens(desk)
    room = budget - tokens
    newest = max(map(_turn, messages), default=0)
    kept: list[Memory] = []
    for memory in sorted(messages, key=lambda each: _worth(each, newest, settings), reverse=True):
        line = _line(memory)
        if truncate(line, max(room, 0)) != line:
            continue
        cost = count_tokens(line)
        if tokens + cost > budget:
            break
        kept.append(memory)
        tokens += cost
    return Session(
        session_id=desk.session_id,
        state=desk.state,
        given=desk.given,
        version=desk.version,
        expires_at=desk.expires_at,
        messages=tuple(sorted(kept, key=_turn)),
        left_out=len(messages) - len(kept),
        tokens=tokens,
    )


def _worth(memory: Memory, newest: int, settings: SessionSettings) -> tuple[float, int]:
    """How much a message matters now: it fades with what was said since. Of two that matter alike, the later one."""
    aside = settings.aside if memory.context_only else 1.0
    faded = 0.5 ** ((newest - _turn(memory)) / settings.half_life)
    return memory.importance * aside * faded, _turn(memory)


def _turn(memory: Memory) -> int:
    return memory.turn or 0


def _line(memory: Memory) -> str:
    return f"{memory.speaker or memory.source}: {memory.content}"


def _state_tokens(desk: Desk) -> int:
    said = {name: value for name, value in to_wire(desk.state).items() if value}
    return count_tokens(json.dumps(said, ensure_ascii=False)) if said else 0
