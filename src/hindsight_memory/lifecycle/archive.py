"""An archive written: banks line by line, in one order, counted and hashed, packed and if asked encrypted.

    {"archive": {"format": "hindsight-memory", "version": 1, "vectors": false}}
    {"bank": {…}}                 a bank begins
    {"event": {…}} …              its lines, part by part, in the order of their keys
    {"end": {"lines": {"event": 3, …}, "sha256": "…"}}
    {"manifest": {"banks": 1, "lines": 9, "sha256": "…"}}

Two archives of the same memory are the same bytes, whichever engine it stood in.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from hindsight_memory.domain import Scope
from hindsight_memory.guard.passphrase import Encryptor
from hindsight_memory.lifecycle.packing import Packer
from hindsight_memory.store.base import Reader, Store
from hindsight_memory.store.cells import to_json
from hindsight_memory.store.parts import PARTS, VECTOR, Line, Part

FORMAT: Final = "hindsight-memory"
VERSION: Final = 1
HEADER: Final = "archive"
BANK: Final = "bank"
END: Final = "end"
MANIFEST: Final = "manifest"
PAGE: Final = 200
"""Lines read and handed on at once."""


class Book:
    """Hashes and counts lines as they come, of one bank and of all."""

    def __init__(self) -> None:
        self.banks = 0
        self.lines = 0
        self.counts: Counter[str] = Counter()
        self._all = hashlib.sha256()
        self._bank = hashlib.sha256()

    def begin(self) -> None:
        """A bank begins."""
        self.banks += 1
        self.counts = Counter()
        self._bank = hashlib.sha256()

    def add(self, data: bytes, name: str = "", lines: int = 1) -> None:
        """Take down lines as they are written, each with its end; those of a part by its ``name``."""
        self._all.update(data)
        self._bank.update(data)
        self.lines += lines
        if name:
            self.counts[name] += lines

    def end(self) -> dict[str, Any]:
        """What the line at the end of a bank says."""
        return {"lines": dict(self.counts), "sha256": self._bank.hexdigest()}

    def manifest(self) -> dict[str, Any]:
        """What the last line says."""
        return {"banks": self.banks, "lines": self.lines, "sha256": self._all.hexdigest()}


def written(name: str, values: Iterable[Mapping[str, Any]]) -> bytes:
    """Lines as an archive has them."""
    return "".join(f"{to_json({name: value})}\n" for value in values).encode()


def parts_of(*, vectors: bool) -> Sequence[Part]:
    """What a bank is written as, part by part."""
    return (*PARTS, VECTOR) if vectors else PARTS


async def pages(reader: Reader, part: Part) -> AsyncIterator[list[Line]]:
    """All lines of a part, in the order of their keys."""
    page = await reader.lines(part, None, PAGE)
    while page:
        yield page
        page = await reader.lines(part, part.key_of(page[-1]), PAGE) if len(page) == PAGE else []


async def bank_lines(reader: Reader, parts: Sequence[Part], book: Book) -> AsyncIterator[bytes]:
    """The lines of a bank from its first to before its end, taken down in a book; none for one that does not exist."""
    head = await reader.head()
    if head is None:
        return
    book.begin()
    data = written(BANK, [head])
    book.add(data)
    yield data
    for part in parts:
        async for page in pages(reader, part):
            data = await asyncio.to_thread(written, part.name, page)
            book.add(data, part.name, len(page))
            yield data


async def plain_archive(
    store: Store, scopes: AsyncIterator[Scope], *, vectors: bool, stamp: str = ""
) -> AsyncGenerator[bytes, None]:
    """The lines of an archive of these banks, each as it is at one moment; ``stamp`` says when it was made."""
    book = Book()
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "vectors": vectors}
    data = written(HEADER, [header | ({"made_at": stamp} if stamp else {})])
    book.add(data)
    yield data
    parts = parts_of(vectors=vectors)
    async for scope in scopes:
        before = book.banks
        async with store.snapshot(scope.bank) as reader:
            async for data in bank_lines(reader, parts, book):
                yield data
        if book.banks > before:
            data = written(END, [book.end()])
            book.add(data)
            yield data
    yield written(MANIFEST, [book.manifest()])


async def packed(lines: AsyncGenerator[bytes, None], passphrase: str | None) -> AsyncIterator[bytes]:
    """Lines compressed, and with a passphrase encrypted."""
    packer = Packer()
    sealer = None if passphrase is None else await asyncio.to_thread(Encryptor, passphrase)
    async with aclosing(lines):  # who has enough of it lets go of the database too
        async for data in lines:
            piece = await asyncio.to_thread(packer.add, data)
            if piece := piece if sealer is None else sealer.add(piece):
                yield piece
    rest = packer.end()
    yield rest if sealer is None else sealer.add(rest) + sealer.end()


async def digest(reader: Reader, *, vectors: bool = True) -> tuple[str, int]:
    """What a bank hashes to, and how many lines it has; the same in every database that holds it."""
    book = Book()
    async for _ in bank_lines(reader, parts_of(vectors=vectors), book):
        pass
    return str(book.end()["sha256"]), book.lines
