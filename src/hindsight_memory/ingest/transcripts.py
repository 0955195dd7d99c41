"""Reads conversation exports, whichever program wrote them, into transcripts; it stores nothing."""

from __future__ import annotations

import codecs
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hindsight_memory.domain import Skipped
from hindsight_memory.errors import InvalidInput
from hindsight_memory.ingest.formats import Record, Records, of_document, of_record, read_document, read_records
from hindsight_memory.ingest.markdown import read_markdown
from hindsight_memory.ingest.turns import Transcript

__all__ = ["Transcript", "detect", "read"]

LARGEST_DOCUMENT: Final = 512_000_000
LARGEST_ARCHIVE: Final = 2_000_000_000
LONGEST_LINE: Final = 20_000_000
_BOMB_RATIO: Final = 200  # conversations compress about tenfold
_LINES_TO_TELL: Final = 1_000
_LINES: Final = frozenset({".jsonl", ".ndjson"})
_MARKDOWN: Final = frozenset({".md", ".markdown"})
_SUPPORTED: Final = _LINES | _MARKDOWN | {".json", ".zip"}
_EXPECTED: Final = (
    "Expected a ChatGPT or Claude export (conversations.json or its .zip), a Claude Code or Codex .jsonl transcript, "
    "a Markdown chat log or note (.md), or messages as .jsonl or .json with role and content."
)
_UNREADABLE: Final = (
    OSError,
    EOFError,
    RuntimeError,  # encrypted member; also recursion and "not implemented" compression
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def detect(path: Path) -> str:
    """Tell the format of one file; raises ``InvalidInput`` that says what was expected."""
    _must_exist(path)
    try:
        return _detected(path)
    except _UNREADABLE as error:
        raise _unsupported(path.name, f"could not be read ({error})") from error


def read(path: Path) -> Iterator[Transcript | Skipped]:
    """Yield the conversations of a file or of all files below a folder, and a line for each part left out.

    Times without a zone are taken as UTC. Only a path that does not exist is an error.
    """
    _must_exist(path)
    return _folder(path, "") if path.is_dir() else _file(path, _shown(path))


def _shown(path: Path) -> str:
    return path.name.encode("utf-8", "replace").decode()  # names that are not UTF-8 hold half surrogates


def _must_exist(path: Path) -> None:
    if not path.exists():
        raise InvalidInput(f"There is no file or folder {path}.", hint=_EXPECTED, field="path")


def _unsupported(name: str, why: str) -> InvalidInput:
    return InvalidInput(f"{name} {why}.", hint=_EXPECTED, field="path")


def _folder(folder: Path, prefix: str) -> Iterator[Transcript | Skipped]:
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(prefix or folder.name, f"The folder could not be read: {error.strerror or error}.")
        return
    for entry in entries:
        name = prefix + _shown(entry)
        if not entry.is_dir():
            yield from _file(entry, name)
        elif entry.is_symlink():
            yield Skipped(name, "A link to a folder is not followed.")
        elif entry.name.startswith("."):
            yield Skipped(name, "A hidden folder; give its own path to import it.")
        else:
            yield from _folder(entry, f"{name}/")


def _file(path: Path, name: str) -> Iterator[Transcript | Skipped]:
    try:
        yield from _parsed(path, name)
    except InvalidInput as error:
        yield Skipped(name, str(error))
    except _UNREADABLE as error:
        yield Skipped(name, f"Could not be read: {error}.")


def _parsed(path: Path, name: str) -> Iterator[Transcript | Skipped]:
    suffix = _suffix(path, name)
    if suffix == ".zip":
        yield from _archive(path, name)
    elif suffix in _MARKDOWN:
        text, notes = _decoded(_bytes(path, name), name)
        yield from notes
        yield from read_markdown(text, name)
    else:
        yield from _json(path, name)


def _detected(path: Path) -> str:
    suffix = _suffix(path, path.name)
    if suffix in _MARKDOWN:
        return "markdown"
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            document, _ = _member(archive, _members(archive, path.name)[0], path.name)
        return _document_format(document, path.name)
    format_name, _, _ = _json_format(path, path.name)
    return format_name


def _suffix(path: Path, name: str) -> str:
    suffix = path.suffix.lower()
    if path.is_dir():
        raise _unsupported(name, "is a folder; its files have a format each")
    if not path.is_file():
        raise _unsupported(name, "is not a regular file")
    if suffix not in _SUPPORTED:
        raise _unsupported(name, "is not of a kind that is read")
    if path.stat().st_size == 0:
        raise _unsupported(name, "is empty")
    return suffix


def _json(path: Path, name: str) -> Iterator[Transcript | Skipped]:
    format_name, document, notes = _json_format(path, name)
    yield from notes
    if document is None:
        yield from read_records(_records(path, name), format_name, name)
    else:
        yield from read_document(document, format_name, name)


def _json_format(path: Path, name: str) -> tuple[str, object, list[Skipped]]:
    """Tell the format of a JSON file, and load its document; ``None`` is one that has a record a line."""
    if path.suffix.lower() in _LINES and (format_name := _lines_format(path)):
        return format_name, None, []
    try:
        document, notes = _loaded(_bytes(path, name), name)
    except InvalidInput:
        # Lines of JSON are often named .json.
        if format_name := _lines_format(path):
            return format_name, None, []
        raise
    return _document_format(document, name), document, notes


def _document_format(document: object, name: str) -> str:
    format_name = of_document(document)
    if format_name is None:
        raise _unsupported(name, "holds no conversation that is known")
    return format_name


def _lines_format(path: Path) -> str | None:
    for number, record in enumerate(_records(path, path.name)):
        if isinstance(record, Record) and (format_name := of_record(record.data)):
            return format_name
        if number >= _LINES_TO_TELL:
            break
    return None


def _records(path: Path, name: str) -> Records:
    """Yield the records of a file that has one a line, one at a time; a broken line is reported."""
    number = 0
    with path.open("rb") as file:
        encoding = _encoding(file.read(4))
    with path.open(encoding=encoding, errors="replace") as lines:
        while line := lines.readline(LONGEST_LINE + 1):
            number += 1
            where = f"{name}:{number}"
            if len(line) > LONGEST_LINE:
                while line and not line.endswith("\n"):
                    line = lines.readline(LONGEST_LINE)
                yield Skipped(where, f"The line is over {LONGEST_LINE:,} characters long.")
            elif line.strip("\0 \t\r\n"):
                yield from _replaced(line, where)
                yield _record(line, where)


def _record(line: str, where: str) -> Record | Skipped:
    try:
        data = _parse(line)
    except ValueError as error:
        return Skipped(where, f"Not valid JSON: {error}.")
    return Record(where, data) if isinstance(data, dict) else Skipped(where, "Not a JSON object.")


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _loaded(data: bytes, name: str) -> tuple[object, list[Skipped]]:
    text, notes = _decoded(data, name)
    try:
        return _parse(text), notes
    except ValueError as error:
        raise _unsupported(name, f"is not valid JSON ({error})") from error


def _bytes(path: Path, name: str) -> bytes:
    size = path.stat().st_size
    if size > LARGEST_DOCUMENT:
        raise _unsupported(name, f"has {size:,} bytes, more than the {LARGEST_DOCUMENT:,} that are read at once")
    return path.read_bytes()


def _encoding(start: bytes) -> str:
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _decoded(data: bytes, name: str) -> tuple[str, list[Skipped]]:
    text = data.decode(_encoding(data[:4]), errors="replace")
    if text.count("\ufffd") * 10 > len(text):
        raise _unsupported(name, "is not text in UTF-8 or UTF-16; save it as UTF-8")
    return text, list(_replaced(text, name))


def _replaced(text: str, where: str) -> Iterator[Skipped]:
    if lost := text.count("\ufffd"):
        yield Skipped(where, f"{lost} characters could not be read and stand as U+FFFD.")


def _archive(path: Path, name: str) -> Iterator[Transcript | Skipped]:
    with zipfile.ZipFile(path) as archive:
        members = _members(archive, name)
        others = sum(not entry.is_dir() for entry in archive.infolist()) - len(members)
        if others:
            yield Skipped(name, f"Not conversations, so not read: {others} other files in the archive.")
        for member in members:
            inner = f"{name}/{member.filename}"
            try:
                document, notes = _member(archive, member, inner)
                format_name = _document_format(document, inner)
            except InvalidInput as error:
                yield Skipped(inner, str(error))
                continue
            except _UNREADABLE as error:
                yield Skipped(inner, f"Could not be read: {error}.")
                continue
            yield from notes
            yield from read_document(document, format_name, inner)


def _members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """List the archive's conversations; large exports number them (``conversations-000.json``)."""
    members = [
        entry
        for entry in archive.infolist()
        if entry.filename.rsplit("/", 1)[-1].startswith("conversations") and entry.filename.endswith(".json")
    ]
    if not members:
        raise _unsupported(name, "holds no conversations.json")
    if sum(member.file_size for member in members) > LARGEST_ARCHIVE:
        raise _unsupported(name, f"unpacks to more than {LARGEST_ARCHIVE:,} bytes")
    return sorted(members, key=lambda member: member.filename)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> tuple[object, list[Skipped]]:
    # What is read never exceeds the declared size, so checking that one is enough.
    if member.file_size > LARGEST_DOCUMENT or member.file_size > _BOMB_RATIO * max(member.compress_size, 5_000):
        raise _unsupported(name, f"unpacks to {member.file_size:,} bytes, which is refused")
    return _loaded(archive.read(member), name)
