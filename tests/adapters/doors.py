"""Bad input, and what every door must say to it."""

from __future__ import annotations

from typing import Any

BAD_WRITES: dict[str, tuple[dict[str, Any], str, str]] = {
    "empty": ({"content": ""}, "invalid_input", "content"),
    "blank": ({"content": " \n\t"}, "invalid_input", "content"),
    "nothing": ({}, "invalid_input", "content"),
    "only control characters": ({"content": "\0\0"}, "invalid_input", "content"),
    "1 MB": ({"content": "x" * 1_000_000}, "invalid_input", "content"),
    "lone surrogate": ({"content": "half \ud83d"}, "invalid_input", "content"),
    "lone surrogate in metadata": ({"content": "a", "metadata": {"a": "\udfff"}}, "invalid_input", "metadata"),
    "naive time": ({"content": "a", "occurred_at": "2026-05-04T09:00:00"}, "invalid_input", "occurred_at"),
    "no time": ({"content": "a", "valid_until": "soon"}, "invalid_input", "valid_until"),
    "unknown kind": ({"content": "a", "kind": "dream"}, "invalid_input", "kind"),
    "unknown field": ({"content": "a", "contents": "b"}, "invalid_input", "contents"),
    "text for a number": ({"content": "a", "importance": "0.5"}, "invalid_input", "importance"),
    "text for a flag": ({"content": "a", "pinned": "yes"}, "invalid_input", "pinned"),
    "text for a list": ({"content": "a", "tags": "one"}, "invalid_input", "tags"),
    "number for text": ({"content": 5}, "invalid_input", "content"),
    "list for an object": ({"content": "a", "metadata": ["b"]}, "invalid_input", "metadata"),
    "out of bounds": ({"content": "a", "importance": 7}, "invalid_input", "importance"),
    "far out of bounds": ({"content": "a", "importance": 10**400}, "invalid_input", "importance"),
    "unknown wait": ({"content": "a", "wait": "forever"}, "invalid_input", "wait"),
    "long user": ({"content": "a", "user_id": "u" * 201}, "invalid_input", "user_id"),
    "user of another type": ({"content": "a", "user_id": {"id": 1}}, "invalid_input", "user_id"),
}

BAD_CALLS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "unknown id": ("get", {"memory_id": "nobody"}, "not_found", "memory_id"),
    "forget an unknown id": ("forget", {"memory_id": "nobody"}, "not_found", "memory_id"),
    "no id": ("restore", {}, "invalid_input", "memory_id"),
    "id of another type": ("get", {"memory_id": 7}, "invalid_input", "memory_id"),
    "nothing to change": ("update", {"memory_id": "nobody"}, "invalid_input", "content"),
    "no text": ("search", {}, "invalid_input", "text"),
    "limit too high": ("search", {"text": "a", "limit": 1_000}, "invalid_input", "limit"),
    "naive since": ("search", {"text": "a", "since": "2026-05-04"}, "invalid_input", "since"),
    "unknown zone": ("search", {"text": "a", "zone": "Mars/Olympus"}, "invalid_input", "zone"),
    "a folder of zones": ("context", {"text": "a", "zone": "Europe"}, "invalid_input", "zone"),
    "zone of another type": ("search", {"text": "a", "zone": 8}, "invalid_input", "zone"),
    "unknown kinds": ("list", {"kinds": ["dream"]}, "invalid_input", "kinds"),
    "misspelt": ("search", {"text": "a", "limits": 3}, "invalid_input", "limits"),
    "a message wrong": (
        "write_conversation",
        {"session_id": "s", "messages": [{"content": "a"}, {"content": "b", "role": "king"}]},
        "invalid_input",
        "messages[1].role",
    ),
    "no session": ("write_conversation", {"messages": [{"content": "a"}]}, "invalid_input", "session_id"),
    "messages of another type": (
        "write_conversation",
        {"session_id": "s", "messages": "hello"},
        "invalid_input",
        "messages",
    ),
}

ODD_TEXTS = {
    "emoji": "I 👩‍👩‍👧‍👦 love 🍵",
    "right to left": "אני אוהב קפה \u202eabc",
    "injection": "\"' OR 1=1 --",
    "operators": 'a AND NOT (b* NEAR "c") :-^',
    "nul within": "coffee\0 with milk",
    "markup": "<script>alert('x')</script>",
}
