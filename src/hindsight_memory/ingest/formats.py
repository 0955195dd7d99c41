"""The JSON formats conversations are exported in, each turned into transcripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hindsight_memory.domain import Role, Skipped
from hindsight_memory.ingest.turns import Session, Transcript, Turn, label, without_tags, word


class Record(NamedTuple):
    """One JSON object of a file and its place there."""

    where: str
    data: Mapping[str, Any]


Records: TypeAlias = Iterable[Record | Skipped]
Found: TypeAlias = Iterator[Transcript | Skipped]

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "用户"), Role.USER),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "agent", "助手"), Role.ASSISTANT),
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
    **dict.fromkeys(("tool", "function"), Role.TOOL),
}
_HOST_TAGS: Final = (
    "system-reminder", "command-name", "command-message", "command-args", "command-contents",
    "local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout",
    "bash-stderr", "user-prompt-submit-hook", "session-start-hook", "task-notification", "ide_opened_file",
    "ide_selection", "ide_diagnostics", "new-diagnostics", "user-memory-input",
)  # fmt: skip
_CODEX_TAGS: Final = (
    "environment_context", "user_instructions", "permissions instructions", "collaboration_mode",
    "user_shell_command", "turn_aborted", "skills_instructions", "skill", "INSTRUCTIONS",
)  # fmt: skip
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]]*\]")
_CODEX_REQUEST: Final = "## My request for Codex:"
_CODEX_CALLS: Final = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}
_CODEX_RESULTS: Final = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
_UUID_AT_END: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl?$)")
_CHATGPT_REASONING: Final = {"thoughts", "reasoning_recap"}
_CHATGPT_PROFILE: Final = {"user_editable_context", "model_editable_context"}


def of_record(data: Mapping[str, Any]) -> str | None:
    """Tell the format a single record belongs to, where it shows."""
    kind, content = word(data, "type"), data.get("content")
    spoken = kind in {"user", "assistant"} and isinstance(data.get("message"), dict)
    if spoken or ("type" in data and ("sessionId" in data or "leafUuid" in data or "snapshot" in data)):
        return "claude-code"
    begins = "instructions" in data and "timestamp" in data and "role" not in data
    if begins or isinstance(data.get("payload"), dict) or "record_type" in data:
        return "codex"
    if kind == "message" and isinstance(content, list):
        return "codex"
    if "content" in data or ("text" in data and ("role" in data or "speaker" in data)):
        return "messages"
    return None


def of_document(document: object) -> str | None:
    """Tell the format of a whole JSON document."""
    if isinstance(document, dict) and isinstance(document.get("sessions"), list):
        return "example"
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        return "messages"
    for entry in _entries(document):
        if isinstance(entry, dict):
            if isinstance(entry.get("mapping"), dict):
                return "chatgpt"
            if isinstance(entry.get("chat_messages"), list):
                return "claude"
            if found := of_record(entry):
                return found
    return None


def read_document(document: object, format_name: str, name: str) -> Found:
    """Yield the conversations of a whole JSON document."""
    match format_name:
        case "chatgpt":
            yield from _conversations(document, name, "mapping", _chatgpt)
        case "claude":
            yield from _conversations(document, name, "chat_messages", _claude)
        case "example" if isinstance(document, dict):
            yield from _sessions(document["sessions"], name)
        case _ if isinstance(document, dict) and "messages" in document:
            yield from _sessions([document], name)
        case _:
            yield from read_records(_located(_entries(document), name), format_name, name)


def read_records(records: Records, format_name: str, name: str) -> Found:
    """Yield the conversations of a file that is a series of records; those it mixes are told apart."""
    readers: dict[str, Callable[[Session, Record], None]] = {"claude-code": _claude_code, "codex": _codex}
    reader = readers.get(format_name, _message)
    sessions: dict[str, Session] = {}
    for record in records:
        if isinstance(record, Skipped):
            yield record
            continue
        own = "" if format_name == "codex" else _session_id(record.data)
        reader(sessions.setdefault(own, Session(where=name, id=own)), record)
    if format_name == "codex" and (found := _UUID_AT_END.search(name)):
        for session in sessions.values():
            session.id = session.id or found.group()
    yield from _finished(sessions, name)


def _finished(sessions: Mapping[str, Session], name: str) -> Found:
    spoken = [session for session in sessions.values() if session.messages] or [Session(where=name)]
    for session in sessions.values():
        if not session.messages:
            # A title or book-keeping that names no conversation belongs to the file, so to its first one.
            spoken[0].title = spoken[0].title or session.title
            spoken[0].noise.update(session.noise)
            spoken[0].notes.extend(session.notes)
    for position, session in enumerate(spoken, 1):
        yield from session.finish(name, position)


def _entries(document: object) -> list[Any]:
    if isinstance(document, dict):
        listed = document.get("conversations")
        return listed if isinstance(listed, list) else [document]
    return document if isinstance(document, list) else []


def _located(entries: list[Any], name: str) -> Records:
    for number, entry in enumerate(entries, 1):
        where = f"{name}, message {number}"
        yield Record(where, entry) if isinstance(entry, dict) else Skipped(where, "Not a JSON object.")


def _first(data: Mapping[str, Any], *names: str) -> Any:
    return next((data[name] for name in names if data.get(name) is not None), None)


def _session_id(data: Mapping[str, Any]) -> str:
    return label(_first(data, "session_id", "sessionId", "session"))


def _conversations(
    document: object, name: str, key: str, reader: Callable[[Session, Mapping[str, Any]], None]
) -> Found:
    entries = _entries(document)
    for number, entry in enumerate(entries, 1):
        where = f"{name}, conversation {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get(key), dict | list):
            yield Skipped(where, f"Not a conversation: it has no {key!r}.")
            continue
        own = label(_first(entry, "conversation_id", "uuid", "id"))
        session = Session(where=where, id=own, title=label(_first(entry, "title", "name"), 300))
        session.starts(_first(entry, "create_time", "created_at"))
        reader(session, entry)
        yield from session.finish(name, number)


def _chatgpt(session: Session, conversation: Mapping[str, Any]) -> None:
    mapping = conversation["mapping"]
    if not isinstance(mapping, dict):
        return session.note(session.where, "Its 'mapping' is not an object.")
    branch = _branch(mapping, conversation.get("current_node"))
    whole = sum(1 for node in mapping.values() if isinstance(node, dict) and node.get("message"))
    session.noise["message on another branch"] = whole - len(branch)
    for number, message in enumerate(branch, 1):
        where = f"{session.where}, message {number}"
        if isinstance(message, dict):
            _chatgpt_message(session, message, where)
        else:
            session.note(where, "Not a JSON object.")
    return None


def _branch(mapping: Mapping[str, Any], current: object) -> list[Any]:
    """List the messages from the root to the current node; without one, to the node written last."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    if not isinstance(current, str) or current not in nodes:
        current = max(nodes, key=lambda name: _written(nodes[name]), default=None)
    branch: list[Any] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        if message := nodes[current].get("message"):
            branch.append(message)
        current = nodes[current].get("parent")
    return branch[::-1]


def _written(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) and abs(time) < 1e15 else 0.0


def _chatgpt_message(session: Session, message: Mapping[str, Any], where: str) -> None:
    author, metadata, content = (_object(message.get(name)) for name in ("author", "metadata", "content"))
    kind, role = word(content, "content_type"), _ROLES.get(word(author, "role"), Role.SYSTEM)
    noise = None
    if role in {Role.SYSTEM, Role.TOOL}:
        noise = f"{role} message"
    elif metadata.get("is_visually_hidden_from_conversation") or kind in _CHATGPT_PROFILE:
        noise = "hidden message"
    elif kind in _CHATGPT_REASONING:
        noise = "thinking block"
    elif word(message, "recipient") not in {"", "all"}:
        noise = "tool call"
    if noise:
        session.noise[noise] += 1
        return
    parts = content.get("parts")
    texts = [_chatgpt_part(session, part, where) for part in (parts if isinstance(parts, list) else [content])]
    if not any(texts):
        session.noise["empty message"] += 1
    text = "\n\n".join(filter(None, texts))
    time = message.get("create_time")
    session.take(Turn(where=where, content=text, role=role, time=time, id=message.get("id")))


def _chatgpt_part(session: Session, part: object, where: str) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    if isinstance(text, str):
        return text
    kind = label(_object(part).get("content_type"), 60) or type(part).__name__
    session.note(where, f"A part ({kind}) is not text.")
    return ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _claude(session: Session, conversation: Mapping[str, Any]) -> None:
    for number, message in enumerate(conversation["chat_messages"], 1):
        where = f"{session.where}, message {number}"
        if not isinstance(message, dict):
            session.note(where, "Not a JSON object.")
            continue
        role = _ROLES.get(word(message, "sender"), Role.USER)
        # "text" repeats the blocks with a placeholder for each that is no text, so the blocks come first.
        texts = session.texts(message["content"], where) if message.get("content") else []
        if not texts and message.get("text"):
            texts = session.texts(message["text"], where)
        _claude_attachments(session, message, where)
        session.take(
            Turn(
                where=where,
                content="\n\n".join(texts),
                role=role,
                time=message.get("created_at"),
                id=message.get("uuid"),
            )
        )


def _claude_attachments(session: Session, message: Mapping[str, Any], where: str) -> None:
    for name in ("attachments", "files"):
        listed = message.get(name)
        for attached in listed if isinstance(listed, list) else ():
            file_name = label(_object(attached).get("file_name"), 100) or "without a name"
            session.note(where, f"The attached file {file_name} is not part of the conversation.")


def _claude_code(session: Session, record: Record) -> None:
    data = record.data
    kind, message = word(data, "type"), _object(data.get("message"))
    if kind in {"summary", "custom-title", "ai-title"}:
        session.title = label(_first(data, "summary", "customTitle", "aiTitle", "title"), 300) or session.title
        session.noise["summary line"] += 1
    elif kind not in {"user", "assistant"}:
        session.noise["book-keeping line"] += 1
    elif data.get("isSidechain"):
        session.noise["side-task message"] += 1
    elif data.get("isMeta") or data.get("isCompactSummary") or data.get("isApiErrorMessage"):
        session.noise["message of the host"] += 1
    else:
        role = _ROLES.get(word(message, "role"), Role(kind))
        _said(session, record, role, message.get("content"), _HOST_TAGS, data.get("uuid"))


def _said(session: Session, record: Record, role: Role, content: object, tags: tuple[str, ...], own_id: object) -> None:
    """Take what was said in a coding assistant's record, without what its host put in."""
    texts: list[str] = []
    for text in session.texts(content, record.where):
        said, injected = without_tags(text, tags)
        said, interrupted = _INTERRUPTED.subn("", said)
        session.noise["injected block"] += injected + interrupted
        texts.append(said)
    time = record.data.get("timestamp")
    text = "\n\n".join(filter(str.strip, texts))
    session.take(Turn(where=record.where, content=text, role=role, time=time, id=own_id))


def _codex(session: Session, record: Record) -> None:
    data = record.data
    inner = data.get("payload")
    payload, kind = (inner if isinstance(inner, dict) else data), word(data, "type")
    if kind == "session_meta" or (not kind and "role" not in data and "record_type" not in data):
        session.id = session.id or label(payload.get("id"))
        session.starts(_first(payload, "timestamp") or data.get("timestamp"))
    elif kind in {"event_msg", "turn_context", "compacted"} or "record_type" in data:
        session.noise["book-keeping line"] += 1
    elif word(payload, "type") == "message" or "role" in payload:
        _codex_message(session, record, payload)
    else:
        session.noise[_codex_noise(word(payload, "type"))] += 1


def _codex_message(session: Session, record: Record, payload: Mapping[str, Any]) -> None:
    role = _ROLES.get(word(payload, "role"), Role.SYSTEM)
    if role in {Role.SYSTEM, Role.TOOL}:
        session.noise[f"{role} message"] += 1
        return
    content = payload.get("content")
    blocks = content if isinstance(content, list) else [content]
    own = [_codex_request(block) for block in blocks]
    session.noise["injected block"] += own.count(None)
    if said := [block for block in own if block is not None]:
        _said(session, record, role, said, (*_CODEX_TAGS, *_HOST_TAGS), payload.get("id"))


def _codex_request(block: Any) -> Any:
    """Strip what the host wrote around the user's words; ``None`` when nothing else is in the block."""
    text = block.get("text") if isinstance(block, dict) else block
    if not isinstance(text, str):
        return block
    if text.lstrip().startswith("# AGENTS.md instructions"):
        return None
    if text.lstrip().startswith("# Context from my IDE setup:") and _CODEX_REQUEST in text:
        return {"type": "text", "text": text.split(_CODEX_REQUEST, 1)[1]}
    return block


def _codex_noise(kind: str) -> str:
    if kind in _CODEX_CALLS:
        return "tool call"
    if kind in _CODEX_RESULTS:
        return "tool result"
    return "thinking block" if kind == "reasoning" else "book-keeping line"


def _sessions(listed: list[Any], name: str) -> Found:
    if not listed:
        yield Skipped(name, "It holds no sessions.")
    for number, entry in enumerate(listed, 1):
        where = f"{name}, session {number}"
        messages = _object(entry).get("messages")
        if not isinstance(messages, list):
            yield Skipped(where, "Not a conversation: it has no list of messages.")
            continue
        own = _session_id(entry) or label(entry.get("id"))
        session = Session(where=where, id=own, title=label(entry.get("title"), 300))
        session.starts(_first(entry, "occurred_at", "created_at", "timestamp"))
        for record in _located(messages, where):
            if isinstance(record, Skipped):
                session.notes.append(record)
            else:
                _message(session, record)
        yield from session.finish(name, number)


def _message(session: Session, record: Record) -> None:
    data = record.data
    said_by, speaker = _first(data, "role", "sender"), _first(data, "speaker", "name")
    role = _ROLES.get(label(said_by).lower())
    if role in {Role.SYSTEM, Role.TOOL}:
        session.noise[f"{role} message"] += 1
        return
    if role is None:
        # Chats among several people put a person's name here.
        role, speaker = Role.USER, speaker or said_by
    if data.get("tool_calls"):
        session.noise["tool call"] += 1
    content = _first(data, "content", "text")
    texts = session.texts(content, record.where) if content or not data.get("tool_calls") else []
    session.take(
        Turn(
            where=record.where,
            content="\n\n".join(texts),
            role=role,
            speaker=speaker,
            time=_first(data, "occurred_at", "timestamp", "created_at", "time", "create_time", "date"),
            id=_first(data, "id", "uuid"),
        )
    )
