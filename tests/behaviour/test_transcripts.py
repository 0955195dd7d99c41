"""Reading conversation exports: every format, what is left out and said to be, and nothing that raises."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_memory.domain import Message, Role, Skipped
from hindsight_memory.errors import InvalidInput
from hindsight_memory.ingest import transcripts
from hindsight_memory.ingest.transcripts import Transcript, detect, read
from hindsight_memory.ingest.turns import pieces, read_time

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
COLON = "\uff1a"


def put(path: Path, content: object) -> Path:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    elif path.suffix == ".jsonl" and isinstance(content, list):
        path.write_text("".join(json.dumps(line) + "\n" for line in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")
    return path


def parts(path: Path) -> tuple[list[Transcript], list[Skipped]]:
    found = list(read(path))
    return [p for p in found if isinstance(p, Transcript)], [p for p in found if isinstance(p, Skipped)]


def only(path: Path) -> Transcript:
    (transcript,), _ = parts(path)
    return transcript


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.role.value, message.content) for message in transcript.messages]


def reasons(skipped: list[Skipped]) -> str:
    return "\n".join(f"{skip.where}: {skip.reason}" for skip in skipped)


def node(name: str, parent: str | None, role: str, *texts: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    content = {"content_type": more.pop("kind", "text"), "parts": list(texts)}
    message = {"id": f"m-{name}", "author": {"role": role}, "create_time": None, "content": content, **more}
    return name, {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: tuple[str, dict[str, Any]], current: str | None = None, **more: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}} | dict(nodes)
    return {"conversation_id": "c-1", "title": "Tea", "create_time": NOON.timestamp(), "mapping": mapping,
            "current_node": current or nodes[-1][0], **more}  # fmt: skip


class TestChatGPT:
    def test_follows_the_current_branch_and_says_what_it_left_out(self, tmp_path: Path) -> None:
        conversation = chatgpt(
            node("s", "root", "system", "You are helpful."),
            node("a", "s", "user", "I like tea", create_time=NOON.timestamp() + 60),
            node("old", "a", "assistant", "An answer that was regenerated"),
            node("call", "a", "assistant", "search('tea')", recipient="browser"),
            node("tool", "call", "tool", "results"),
            node("think", "tool", "assistant", kind="thoughts"),
            node("b", "think", "assistant", "用户喜欢喝茶。", create_time=NOON.timestamp() + 90),
            node("c", "b", "user", {"content_type": "image_asset_pointer"}, "This cup"),
            node("h", "c", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        )
        path = put(tmp_path / "conversations.json", [conversation])
        assert detect(path) == "chatgpt"
        (transcript,), skipped = parts(path)
        assert (transcript.session_id, transcript.title) == ("c-1", "Tea")
        assert said(transcript) == [("user", "I like tea"), ("assistant", "用户喜欢喝茶。"), ("user", "This cup")]
        assert [m.id for m in transcript.messages] == ["m-a", "m-b", "m-c"]
        assert transcript.messages[0].occurred_at == datetime(2024, 5, 1, 12, 1, tzinfo=UTC)
        assert transcript.messages[2].occurred_at == transcript.messages[1].occurred_at
        text = reasons(skipped)
        assert "conversations.json, conversation 1, message 7: A part (image_asset_pointer) is not text." in text
        for counted in ("1 × message on another branch", "1 × tool call", "1 × system message", "1 × hidden message"):
            assert counted in text

    def test_without_a_current_node_the_latest_message_ends_it(self, tmp_path: Path) -> None:
        early = node("a", "root", "user", "first", create_time=1.0)
        late = node("b", "a", "assistant", "second", create_time=2.0)
        path = put(tmp_path / "conversations.json", [chatgpt(late, early, current="gone")])
        assert [content for _, content in said(only(path))] == ["first", "second"]

    def test_a_cycle_ends(self, tmp_path: Path) -> None:
        path = put(tmp_path / "c.json", [chatgpt(node("a", "b", "user", "x"), node("b", "a", "user", "y"))])
        assert len(only(path).messages) == 2

    def test_a_conversation_without_a_time_of_its_own_messages_keeps_its_date(self, tmp_path: Path) -> None:
        path = put(tmp_path / "conversations.json", [chatgpt(node("a", "root", "user", "hello there"))])
        assert only(path).messages[0].occurred_at == NOON

    def test_a_broken_conversation_does_not_stop_the_next(self, tmp_path: Path) -> None:
        good = chatgpt(node("a", "root", "user", "hello"))
        path = put(tmp_path / "conversations.json", [None, {"title": "x"}, good, {"mapping": []}])
        (transcript,), skipped = parts(path)
        assert transcript.session_id == "c-1"
        assert [s.where.split(", ")[1] for s in skipped] == ["conversation 1", "conversation 2"] + [
            "conversation 4"
        ] * 2


CLAUDE = {
    "uuid": "u-1", "name": "搬家", "created_at": "2024-05-01T12:00:00Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "我要搬到良渚", "created_at": "2024-05-01T12:00:00.5Z",
         "content": [{"type": "text", "text": "我要搬到良渚"}],
         "attachments": [{"file_name": "plan.pdf", "extracted_content": "..."}], "files": []},
        {"uuid": "m2", "sender": "assistant", "text": "This block is not supported.",
         "content": [{"type": "thinking", "thinking": "…"}, {"type": "tool_use", "name": "search"},
                     {"type": "text", "text": "好的"}], "created_at": "2024-05-01T12:00:09Z"},
        {"uuid": "m3", "sender": "human", "text": "old form", "content": [], "created_at": None},
    ],
}  # fmt: skip


class TestClaude:
    def test_reads_blocks_before_text(self, tmp_path: Path) -> None:
        path = put(tmp_path / "conversations.json", [CLAUDE])
        assert detect(path) == "claude"
        (transcript,), skipped = parts(path)
        assert (transcript.session_id, transcript.title) == ("u-1", "搬家")
        assert said(transcript) == [("user", "我要搬到良渚"), ("assistant", "好的"), ("user", "old form")]
        assert transcript.messages[0].occurred_at == datetime(2024, 5, 1, 12, 0, 0, 500_000, tzinfo=UTC)
        assert "plan.pdf" in reasons(skipped)
        assert "1 × thinking block, 1 × tool call" in reasons(skipped)

    def test_an_archive_of_it(self, tmp_path: Path) -> None:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data/conversations.json", json.dumps([CLAUDE]))
            archive.writestr("data/users.json", "[]")
        assert detect(path) == "claude"
        (transcript,), skipped = parts(path)
        assert transcript.session_id == "u-1"
        assert "1 other files in the archive" in reasons(skipped)
        assert "export.zip/data/conversations.json, conversation 1" in reasons(skipped)

    def test_a_bomb_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", b" " * 5_000_000)
        found, skipped = parts(path)
        assert not found
        assert "refused" in reasons(skipped)

    def test_a_size_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transcripts, "LARGEST_DOCUMENT", 100)
        path = put(tmp_path / "conversations.json", [CLAUDE])
        assert "more than the 100" in reasons(parts(path)[1])

    @pytest.mark.parametrize("content", [b"PK\x03\x04 not a zip", b"nothing"])
    def test_a_broken_archive_is_reported(self, tmp_path: Path, content: bytes) -> None:
        path = put(tmp_path / "x.zip", content)
        assert "Could not be read" in reasons(parts(path)[1])
        with pytest.raises(InvalidInput, match="Expected a ChatGPT"):
            detect(path)

    def test_an_archive_of_something_else(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("photo.png", b"1")
        assert "holds no conversations.json" in reasons(parts(path)[1])


def cc(kind: str, content: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    return {"type": kind, "message": message, "uuid": f"u{number}", "sessionId": "s-1", "isSidechain": False,
            "timestamp": f"2024-05-01T12:00:{number:02d}.000Z", **more}  # fmt: skip


class TestClaudeCode:
    def test_only_what_was_said(self, tmp_path: Path) -> None:
        lines = [
            {"type": "summary", "summary": "Fix the port", "leafUuid": "x"},
            {"type": "file-history-snapshot", "snapshot": {}},
            cc("user", "Caveat: the messages below", 1, isMeta=True),
            cc("user", "<command-name>/clear</command-name>\n<command-args></command-args>", 2),
            cc("user", "Use port 8443<system-reminder>never say this</system-reminder>", 3),
            cc("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "好,用 8443。"}], 4),
            cc("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}], 5),
            cc("user", [{"type": "tool_result", "content": "ok"}], 6),
            cc("assistant", [{"type": "text", "text": "side"}], 7, isSidechain=True),
            cc("user", "This session is continued", 8, isCompactSummary=True),
            cc("user", [{"type": "text", "text": "[Request interrupted by user]"}], 9),
            cc("user", [{"type": "image", "source": {}}, {"type": "text", "text": "Is <system-reminder> a tag"}], 10),
        ]  # fmt: skip
        path = put(tmp_path / "s-1.jsonl", lines)
        assert detect(path) == "claude-code"
        (transcript,), skipped = parts(path)
        assert (transcript.session_id, transcript.title) == ("s-1", "Fix the port")
        expected = [
            ("user", "Use port 8443"),
            ("assistant", "好,用 8443。"),
            ("user", "Is <system-reminder> a tag"),
        ]
        assert said(transcript) == expected
        assert transcript.messages[0].id == "u3"
        text = reasons(skipped)
        assert "s-1.jsonl:12: A part (image) is not text." in text
        for counted in ("1 × tool call", "1 × tool result", "1 × side-task message", "2 × message of the host",
                        "4 × injected block", "1 × summary line", "1 × book-keeping line"):  # fmt: skip
            assert counted in text

    def test_broken_lines_are_reported_and_reading_goes_on(self, tmp_path: Path) -> None:
        lines = [
            json.dumps(cc("user", "one", 1)),
            '{"type": "user", "mess',
            "[1]",
            "",
            json.dumps(cc("user", "two", 2)),
        ]
        (transcript,), skipped = parts(put(tmp_path / "a.jsonl", "\n".join(lines)))
        assert [content for _, content in said(transcript)] == ["one", "two"]
        assert [s.where for s in skipped] == ["a.jsonl:2", "a.jsonl:3"]

    def test_two_sessions_of_one_file_stay_apart(self, tmp_path: Path) -> None:
        lines = [cc("user", "a", 1), cc("user", "b", 2, sessionId="s-2"), cc("user", "c", 3)]
        found, _ = parts(put(tmp_path / "a.jsonl", lines))
        assert [(t.session_id, len(t.messages)) for t in found] == [("s-1", 2), ("s-2", 1)]

    def test_a_subagent_file_holds_no_turns(self, tmp_path: Path) -> None:
        found, skipped = parts(put(tmp_path / "a.jsonl", [cc("user", "task", 1, isSidechain=True)]))
        assert not found
        assert "1 × side-task message" in reasons(skipped)

    def test_a_line_too_long_is_skipped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transcripts, "LONGEST_LINE", 1_000)
        lines = [cc("user", "one"), cc("user", "x" * 3_000), cc("user", "two")]
        (transcript,), skipped = parts(put(tmp_path / "a.jsonl", lines))
        assert [content for _, content in said(transcript)] == ["one", "two"]
        assert [s.where for s in skipped] == ["a.jsonl:2"]

    def test_our_own_context_is_not_read_back(self, tmp_path: Path) -> None:
        text = "<recalled-memory>\nold things\n</recalled-memory>\nWhat now?"
        assert said(only(put(tmp_path / "a.jsonl", [cc("user", text)]))) == [("user", "What now?")]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2024-05-01T12:00:05Z", "type": kind, "payload": payload}


def block(kind: str, *texts: str) -> list[dict[str, str]]:
    return [{"type": kind, "text": text} for text in texts]


class TestCodex:
    def test_the_newer_form(self, tmp_path: Path) -> None:
        lines = [
            codex("session_meta", id="x-1", timestamp="2024-05-01T12:00:00Z"),
            codex("response_item", type="message", role="developer", content=block("input_text", "rules")),
            codex("response_item", type="message", role="user", content=block(
                "input_text", "# AGENTS.md instructions for /x\n<INSTRUCTIONS>…</INSTRUCTIONS>",
                "<environment_context>\n<cwd>/x</cwd>\n</environment_context>")),
            codex("response_item", type="message", role="user", content=block(
                "input_text", "# Context from my IDE setup:\n## Open tabs: a.py\n## My request for Codex:\n修复端口")),
            codex("event_msg", type="user_message", message="修复端口"),
            codex("response_item", type="reasoning", summary=[]),
            codex("response_item", type="function_call", name="shell"),
            codex("response_item", type="function_call_output", output="ok"),
            codex("response_item", type="message", role="assistant", content=block("output_text", "Done.")),
        ]  # fmt: skip
        path = put(tmp_path / "rollout-1.jsonl", lines)
        assert detect(path) == "codex"
        (transcript,), skipped = parts(path)
        assert transcript.session_id == "x-1"
        assert said(transcript) == [("user", "修复端口"), ("assistant", "Done.")]
        assert "1 × tool result" in reasons(skipped)

    def test_the_older_form_has_the_session_s_time(self, tmp_path: Path) -> None:
        lines = [
            {"id": "y-1", "timestamp": "2024-05-01T12:00:00.000Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": block("input_text", "hello")},
            {"type": "function_call", "name": "shell"},
            {"type": "message", "role": "assistant", "content": block("output_text", "hi")},
        ]
        path = put(tmp_path / "rollout.jsonl", lines)
        assert detect(path) == "codex"
        transcript = only(path)
        assert transcript.session_id == "y-1"
        assert [m.occurred_at for m in transcript.messages] == [NOON, NOON]

    def test_the_file_name_names_it_where_nothing_else_does(self, tmp_path: Path) -> None:
        own = "019bce9f-0a40-79e2-8351-8818e8487fb6"
        line = {"type": "message", "role": "user", "content": block("input_text", "hello")}
        assert only(put(tmp_path / f"rollout-2026-01-18T02-01-28-{own}.jsonl", [line])).session_id == own


class TestMessages:
    def test_all_names_of_the_fields(self, tmp_path: Path) -> None:
        lines = [
            {"role": "system", "content": "You are a bot"},
            {"role": "user", "content": "I moved to Lisbon", "name": "Maya", "timestamp": 1714564800, "id": 7},
            {"role": "assistant", "content": "Noted", "created_at": 1714564800000, "id": "8"},
            {"role": "Leo", "content": "我也是", "time": "Wed, 01 May 2024 14:00:00 +0200"},
            {
                "role": "user",
                "speaker": "林晓",
                "content": [{"type": "text", "text": "好"}],
                "time": "2024-05-01 12:00:00",
            },
        ]
        path = put(tmp_path / "chat.jsonl", lines)
        assert detect(path) == "messages"
        (transcript,), skipped = parts(path)
        assert [(m.speaker, m.content, m.id) for m in transcript.messages] == [
            ("Maya", "I moved to Lisbon", "7"), (None, "Noted", "8"), ("Leo", "我也是", None), ("林晓", "好", None)
        ]  # fmt: skip
        assert {m.occurred_at for m in transcript.messages} == {NOON}
        assert "1 × system message" in reasons(skipped)

    @pytest.mark.parametrize("suffix", [".json", ".jsonl"])
    def test_sessions_are_told_apart_and_kept_in_order(self, tmp_path: Path, suffix: str) -> None:
        lines = [{"role": "user", "content": str(n), "session": f"s{n % 2}"} for n in range(6)]
        found, _ = parts(put(tmp_path / f"chat{suffix}", lines))
        assert [(t.session_id, [m.content for m in t.messages]) for t in found] == [
            ("s0", ["0", "2", "4"]), ("s1", ["1", "3", "5"])
        ]  # fmt: skip

    def test_an_object_with_messages_and_lines_in_a_json_file(self, tmp_path: Path) -> None:
        message = {"role": "user", "content": "hello"}
        assert only(put(tmp_path / "a.json", {"id": "s", "messages": [message]})).session_id == "s"
        assert len(only(put(tmp_path / "b.json", json.dumps(message) + "\n" + json.dumps(message))).messages) == 2

    def test_an_unreadable_time_keeps_the_message(self, tmp_path: Path) -> None:
        (transcript,), skipped = parts(put(tmp_path / "a.jsonl", [{"role": "user", "content": "x", "time": "soonish"}]))
        assert transcript.messages[0].occurred_at is None
        assert skipped == [Skipped("a.jsonl:1", "Its time, 'soonish', could not be read; kept without one.")]

    def test_text_that_no_store_can_hold_is_mended(self, tmp_path: Path) -> None:
        raw = '{"role": "user", "content": "a\\ud83d b\\u0000c \\ud83d\\ude00"}'
        assert said(only(put(tmp_path / "a.jsonl", raw))) == [("user", "a\ufffd bc 😀")]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_byte_order_marks(self, tmp_path: Path, encoding: str) -> None:
        line = json.dumps({"role": "user", "content": "年糕是橘猫"}, ensure_ascii=False)
        for name in ("a.jsonl", "a.json", "a.md"):
            raw = f"[{line}]" if name == "a.json" else "年糕是橘猫" if name == "a.md" else f"{line}\n{line}\n"
            assert only(put(tmp_path / name, raw.encode(encoding))).messages[0].content == "年糕是橘猫"

    def test_another_encoding_is_refused_not_garbled(self, tmp_path: Path) -> None:
        found, skipped = parts(put(tmp_path / "a.md", "用户喜欢喝拿铁".encode("gb18030")))
        assert not found
        assert "save it as UTF-8" in reasons(skipped)

    def test_a_long_message_keeps_its_speaker_in_every_piece(self, tmp_path: Path) -> None:
        long = "\n\n".join(f"段落 {n} " + "字" * 900 for n in range(250))
        lines = [{"role": "user", "speaker": "林晓", "content": long, "id": "m", "timestamp": NOON.isoformat()}]
        messages = only(put(tmp_path / "a.jsonl", lines)).messages
        assert [m.id for m in messages] == ["m", "m#2", "m#3"]
        assert {(m.speaker, m.occurred_at) for m in messages} == {("林晓", NOON)}
        assert "\n\n".join(m.content for m in messages) == long

    def test_ids_are_stable_and_tell_files_apart(self, tmp_path: Path) -> None:
        for folder, text in (("a", "hello"), ("b", "good day")):
            (tmp_path / folder).mkdir()
            put(tmp_path / folder / "chat.jsonl", [{"role": "user", "content": text}])
        first, again = list(read(tmp_path)), list(read(tmp_path))
        assert first == again
        a, b = parts(tmp_path)[0]
        assert a.session_id != b.session_id
        assert only(tmp_path / "a" / "chat.jsonl").session_id == a.session_id
        put(tmp_path / "a" / "chat.jsonl", [{"role": "user", "content": "hello"}, {"role": "user", "content": "more"}])
        assert only(tmp_path / "a" / "chat.jsonl").session_id == a.session_id

    def test_long_names_and_ids_stay_within_their_limits_and_distinct(self, tmp_path: Path) -> None:
        lines = [{"content": "x", "speaker": "n" * 900, "id": "i" * 900 + str(n), "session": "s" * 900} for n in (1, 2)]
        transcript = only(put(tmp_path / "a.jsonl", lines))
        assert len(transcript.session_id) <= 200
        assert len({m.id for m in transcript.messages}) == 2


class TestMarkdown:
    def test_headings(self, tmp_path: Path) -> None:
        text = "# Tea\n\n## 2024-05-01\n\n## User\n\nI like tea\n\n```\n# not a heading\n```\n\n"
        text += "## Assistant (12:30)\nNoted\n"
        path = put(tmp_path / "a.md", text)
        assert detect(path) == "markdown"
        transcript = only(path)
        assert transcript.title == "Tea"
        assert said(transcript) == [("user", "I like tea\n\n```\n# not a heading\n```"), ("assistant", "Noted")]
        times = [m.occurred_at for m in transcript.messages]
        assert times == [datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, 12, 30, tzinfo=UTC)]

    @pytest.mark.parametrize(
        "text",
        [
            "**Maya:** I like tea\nreally\n\n**Assistant:** Noted\n",
            "**Maya**: I like tea\nreally\n\n---\n\n**Assistant**: Noted\n",
            "Maya: I like tea\nreally\nAssistant: Noted\n",
        ],
    )
    def test_names(self, tmp_path: Path, text: str) -> None:
        messages = only(put(tmp_path / "a.md", f"---\ndate: 2024-05-01T12:00:00Z\ntitle: Tea\n---\n{text}")).messages
        assert [(m.role, m.speaker, m.content) for m in messages] == [
            (Role.USER, "Maya", "I like tea\nreally"), (Role.ASSISTANT, None, "Noted")
        ]  # fmt: skip
        assert messages[0].occurred_at == NOON

    def test_chinese_names_and_dates(self, tmp_path: Path) -> None:
        text = f"# 2024年5月1日 星期三\n\n林晓{COLON}我喝龙井\n阿杰:我喝咖啡\n林晓 (10:05){COLON}好\n阿杰: 嗯\n"
        messages = only(put(tmp_path / "聊天.md", text)).messages
        assert [(m.speaker, m.content) for m in messages] == [
            ("林晓", "我喝龙井"), ("阿杰", "我喝咖啡"), ("林晓", "好"), ("阿杰", "嗯")
        ]  # fmt: skip
        assert messages[0].occurred_at == datetime(2024, 5, 1, tzinfo=UTC)
        assert messages[2].occurred_at == datetime(2024, 5, 1, 10, 5, tzinfo=UTC)

    def test_bracketed_times(self, tmp_path: Path) -> None:
        turns = ("Ann: hi", "Bob: hello", "Ann: bye", "Bob: bye")
        text = "\n".join(f"[2024-05-01 12:0{minute}] {turn}" for minute, turn in enumerate(turns))
        messages = only(put(tmp_path / "a.md", text)).messages
        assert [(m.speaker, m.occurred_at.minute) for m in messages if m.occurred_at] == [
            ("Ann", 0), ("Bob", 1), ("Ann", 2), ("Bob", 3)
        ]  # fmt: skip

    def test_a_note_is_a_message_a_section(self, tmp_path: Path) -> None:
        text = "# Harbor\n\n## Server\nPort: 8443\nPath: /srv/harbor\n\n## May 4, 2024\n会议在三点\n"
        (transcript,), skipped = parts(put(tmp_path / "note.md", text))
        assert said(transcript) == [
            ("user", "Server\nPort: 8443\nPath: /srv/harbor"),
            ("user", "May 4, 2024\n会议在三点"),
        ]
        assert {m.speaker for m in transcript.messages} == {None}
        assert [m.occurred_at for m in transcript.messages] == [None, datetime(2024, 5, 4, tzinfo=UTC)]
        assert "1 × heading without text" in reasons(skipped)

    def test_a_daily_note_has_the_date_of_its_name(self, tmp_path: Path) -> None:
        assert only(put(tmp_path / "2024-05-01.md", "Met Ann")).messages[0].occurred_at == datetime(
            2024, 5, 1, tzinfo=UTC
        )


class TestFiles:
    def test_a_folder_is_read_in_order_and_nothing_passes_in_silence(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / ".git").mkdir()
        put(tmp_path / "b" / "z.md", "a note")
        put(tmp_path / "a.jsonl", [{"role": "user", "content": "hello", "session": "first"}])
        put(tmp_path / "photo.png", b"\x89PNG")
        put(tmp_path / "broken.json", '{"mapping": ')
        put(tmp_path / "empty.jsonl", "")
        found, skipped = parts(tmp_path)
        assert [t.session_id.split("#")[0] for t in found] == ["first", "z.md"]
        assert [s.where for s in skipped] == [".git", "broken.json", "empty.jsonl", "photo.png"]
        with pytest.raises(InvalidInput, match="folder"):
            detect(tmp_path)

    @pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.zip", "a.txt"])
    def test_detect_says_what_was_expected(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput, match="Expected a ChatGPT or Claude export") as caught:
            detect(put(tmp_path / name, '{"a": 1}'))
        assert caught.value.field == "path"
        assert len(parts(tmp_path / name)[1]) == 1

    def test_a_path_that_is_not_there_is_an_error_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            read(tmp_path / "nothing.json")
        assert caught.value.field == "path"

    def test_deep_nesting(self, tmp_path: Path) -> None:
        put(tmp_path / "a.json", "[" * 200_000)
        put(tmp_path / "b.jsonl", '{"role": "user", "content": "x"}\n' + "[" * 200_000)
        found, skipped = parts(tmp_path)
        assert len(found) == 1
        assert reasons(skipped).count("nested too deep") == 2


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "2024-05-01 12:00:00", "2024-05-01T12:00", 1714564800,
        1714564800.0, 1714564800000, "1714564800", "1714564800.0", "Wed, 01 May 2024 12:00:00 GMT",
        "2024/5/1 12:00", "2024年5月1日 12:00", "May 1, 2024 12:00 PM", "1 May 2024, 12:00",
    ],
)  # fmt: skip
def test_times(value: object) -> None:
    assert read_time(value) == NOON


@pytest.mark.parametrize("value", ["", "soon", True, [], "2024-13-01", "0000-00-00", 1e300, float("nan"), "9" * 400])
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_time(value)


@given(st.text(alphabet=st.sampled_from("a。. \n字"), max_size=200), st.integers(5, 40))
def test_pieces_lose_nothing_but_space(text: str, most: int) -> None:
    cut = list(pieces(text, most))
    assert all(len(piece) <= most for piece in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


KEYS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "message",
        "payload",
        "mapping",
        "chat_messages",
        "sessions",
        "messages",
        "text",
        "timestamp",
        "id",
        "sessionId",
        "parts",
        "author",
        "metadata",
        "current_node",
        "parent",
        "create_time",
        "sender",
        "attachments",
        "content_type",
        "recipient",
        "tool_calls",
        "speaker",
        "title",
    ]
)
WORDS = st.sampled_from(["user", "assistant", "message", "text", "session_meta", "response_item", "a", "2024-05-01"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5)
SHAPES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | WORDS, inner, max_size=5), max_leaves=25
)
CALM = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)


@CALM
@given(raw=st.binary(max_size=300), suffix=st.sampled_from([".jsonl", ".json", ".md", ".zip"]))
def test_any_bytes_are_reported_never_raised(tmp_path: Path, raw: bytes, suffix: str) -> None:
    assert list(read(put(tmp_path / f"x{suffix}", raw)))


@CALM
@given(data=SHAPES, suffix=st.sampled_from([".jsonl", ".json"]))
def test_any_json_is_reported_never_raised(tmp_path: Path, data: object, suffix: str) -> None:
    path = put(tmp_path / f"x{suffix}", json.dumps(data))
    found = list(read(path))
    assert found
    assert found == list(read(path))


@CALM
@given(text=st.text(alphabet=st.sampled_from(f"#* \n-:{COLON}[]()`_A用户2024年5月日Us er"), max_size=200))
def test_any_markdown_is_reported_never_raised(tmp_path: Path, text: str) -> None:
    assert list(read(put(tmp_path / "x.md", text or "-")))


@CALM
@given(at=st.integers(0, 400), byte=st.integers(0, 255))
def test_a_damaged_archive_is_reported_never_raised(tmp_path: Path, at: int, byte: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([CLAUDE]))
    raw = bytearray(path.read_bytes())
    raw[at % len(raw)] = byte
    assert list(read(put(path, bytes(raw))))


@pytest.mark.parametrize("language", ["en", "zh"])
class TestExamples:
    def test_shape(self, language: str, tmp_path: Path) -> None:
        example = json.loads(
            resources.files("hindsight_memory.examples").joinpath(f"{language}.json").read_text("utf-8")
        )
        assert example["language"] == language
        messages = [message for session in example["sessions"] for message in session["messages"]]
        assert 6 <= len(example["sessions"]) <= 8
        assert 70 <= len(messages) <= 110
        ids = [message["id"] for message in messages]
        assert len(set(ids)) == len(ids)
        assert len({session["id"] for session in example["sessions"]}) == len(example["sessions"])
        times = [Message(**message).occurred_at for message in messages]
        assert None not in times
        assert all(a < b for a, b in pairwise(times) if a and b)
        assert len(example["questions"]) == 12
        for question in example["questions"]:
            assert question["question"]
            assert question["answer"]
            assert question["evidence"]
            assert set(question["evidence"]) <= set(ids)

    def test_goes_through_the_same_door(self, language: str) -> None:
        with resources.as_file(resources.files("hindsight_memory.examples").joinpath(f"{language}.json")) as path:
            assert detect(path) == "example"
            found, skipped = parts(path)
            example = json.loads(path.read_text("utf-8"))
        assert not skipped
        assert [t.session_id for t in found] == [session["id"] for session in example["sessions"]]
        assert [m for t in found for m in t.messages] == [
            Message(**message) for session in example["sessions"] for message in session["messages"]
        ]
