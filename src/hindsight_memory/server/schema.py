"""JSON schemas of the tools, flat and plain: one schema a provider dislikes would make it refuse all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from hindsight_memory.domain import Who
from hindsight_memory.server.call import required

_PLAIN: Final = {str: "string", datetime: "string", int: "integer", float: "number", bool: "boolean"}
_LAST: Final = frozenset(get_type_hints(Who))

MEANINGS: Final[Mapping[str, str]] = {
    "content": "The text, in the language of its speaker; one self-contained fact, event or instruction.",
    "kind": "semantic: what is so; episodic: what happened; procedural: how to do it; working: for this task only.",
    "key": "What it is about, as domain.attribute, such as preference.drink; a key has one current value.",
    "tags": "Labels; a search that names several wants them all.",
    "metadata": "Any further fields; a search wants those it names to be equal.",
    "source": "Who it comes from: what the user said, your own inference (agent), a tool, a document.",
    "source_ref": "Where exactly it came from: a file, an address, a message.",
    "visibility": "shared: every agent of this user may see it; private: only you.",
    "importance": "How much it matters, above 0 up to 1; 0.5 when left out.",
    "pinned": "Whether it is to be kept for good.",
    "speaker": "The name of who said it.",
    "occurred_at": "When it happened, in ISO 8601 with a zone, such as 2026-05-04T09:00:00Z.",
    "valid_from": "From when it is so, in ISO 8601 with a zone.",
    "valid_until": "Until when it is so, in ISO 8601 with a zone.",
    "expires_at": "When it may be thrown away, in ISO 8601 with a zone.",
    "outcome": "How what happened ended.",
    "task": "The task it belongs to.",
    "tools": "The tools that were used.",
    "relations": "Edges to other memories or names, each TYPE:TARGET, such as derived_from:MEMORY_ID or mentions:Kafka;"
    " types: derived_from, supports, contradicts, follows, depends_on, mentions.",
    "wait": "stored: return when it is safe; indexed: return when it is found by meaning too.",
    "messages": "The turns in their order.",
    "role": "Who speaks.",
    "id": "The host's own id of the message; a message sent twice with the same id is stored once.",
    "text": "What you want to know, in natural language.",
    "kinds": "Only memories of these kinds.",
    "session": "Only what was written in this session.",
    "except_session": "Nothing that was written in this session, such as the one you are in.",
    "agent": "Only what this agent wrote.",
    "since": "Only what happened at or after this time, in ISO 8601 with a zone.",
    "until": "Only what happened before this time, in ISO 8601 with a zone.",
    "as_of": "Answer from what was valid at this time, in ISO 8601 with a zone.",
    "limit": "The most results.",
    "cold": "Look among memories too that nobody has used for months.",
    "zone": "The user's time zone, such as Europe/Berlin: dates in the text, such as yesterday, are read in it.",
    "moment": "Where in a task you are: task_start brings what is so and how to do it first; stuck brings what happened"
    " with the same error, and what solved it.",
    "budget_tokens": "The longest block, in tokens.",
    "status": "Which memories: those that stand (active), or those superseded, quarantined or deleted.",
    "doubted": "Only those that were called wrong or outdated and still stand.",
    "after": "The next of the page before.",
    "memory_id": "The memory's id.",
    "version": "The version you read; the change is refused when it is no longer the current one.",
    "reason": "Why, for the record.",
    "verdict": "used: it went into an answer; helpful: it was what was needed; wrong: it is not so; outdated: it was.",
    "query": "The question that it was found for; the ranking learns from it.",
    "note": "Why, for the record.",
    "action": "get: the state and the latest messages; patch: change the state; append: say what was said, as content;"
    " end: promote the messages to lasting memory and clear the state.",
    "task_goal": "What the task is for.",
    "current_step": "What is being done now.",
    "confirmed_facts": "What is certain; entries are added to those that are there.",
    "open_questions": "What is still to be answered; entries are added.",
    "decisions": "What was decided; entries are added.",
    "discarded": "What was given up; entries are added here and leave the other lists.",
    "remove": "Entries to take away from whichever list has them, as they are written there.",
    "rules": "Whether goals, confirmed facts, questions and decisions are read off the messages into the state.",
    "discard": "Forget the messages instead of keeping them.",
    "key_id": "The API key's id.",
    "name": "What the key is called.",
    "grants": "What the key may do.",
    "users": "The users it may act for; all when left out.",
    "agents": "The agents it may act as; agents of its own when left out.",
    "namespace": "The namespace; the caller's own when left out.",
    "overlap_hours": "How many hours longer the old key works.",
    "user_id": "Whose memory: a person, a project, a team. Leave it out for the usual one.",
    "agent_id": "Who you are, when several agents share this memory.",
    "session_id": "The conversation or task run this belongs to.",
}
"""What each field means, in one line."""


def input_schema(kind: type[Any], left_out: Collection[str] = ()) -> dict[str, Any]:
    """The schema of a request: optional fields are simply not required, and nothing may be null."""
    hints = get_type_hints(kind)
    named = [each for each in fields(kind) if each.name not in left_out]
    named.sort(key=lambda each: (not required(each), each.name in _LAST))
    return {
        "type": "object",
        "properties": {each.name: {**_schema(hints[each.name]), "description": MEANINGS[each.name]} for each in named},
        "required": [each.name for each in named if required(each)],
        "additionalProperties": False,
    }


def output_schema(kind: type[Any]) -> dict[str, Any]:
    """The schema of a reply: what it always holds. Fields that may be null are sent and not described."""
    properties = {name: _outline(hint) for name, hint in get_type_hints(kind).items() if not _nullable(hint)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _schema(hint: Any) -> dict[str, Any]:
    args = [each for each in get_args(hint) if each is not NoneType]
    if _nullable(hint):
        return _schema(args[0])
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(args[0])}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {"type": "string", "enum": [each.value for each in hint]}
    if isinstance(hint, type) and is_dataclass(hint):
        return input_schema(hint)
    return {"type": _PLAIN.get(hint, "object")}


def _outline(hint: Any) -> dict[str, Any]:
    """The first level of a value; what a memory holds need not be said nine times."""
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _outline(get_args(hint)[0])}
    return {"type": "object"} if is_dataclass(hint) else _schema(hint)


def _nullable(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)
