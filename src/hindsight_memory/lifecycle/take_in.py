"""An archive taken into a database: read through before anything is stored, then each bank in one transaction.

A process that dies in the middle leaves whole banks and none by halves; the same import again goes on. What can be made
anew (words, names, times) is made here, whatever the file says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindsight_memory.domain import MovedBank, Scope
from hindsight_memory.errors import Conflict, InvalidInput
from hindsight_memory.ingest.enrich import marks_of
from hindsight_memory.lifecycle.archive import digest
from hindsight_memory.lifecycle.archived import Closed, Item, Opened, Page, read
from hindsight_memory.store.base import Marks, Reader, Store, Tx
from hindsight_memory.store.moving import memory_of
from hindsight_memory.store.parts import EVENT, MEMORY, VECTOR, Line, Part

_FORGOTTEN: Final = "All of it was forgotten here since, and an archive does not bring that back."
MOVED: Final = "moved"
KNOWN: Final = "known"


@dataclass(frozen=True, slots=True)
class Held:
    """A bank of an archive, as a look through all of it found it."""

    scope: Scope
    head: Line
    closed: Closed


def contents(path: Path, passphrase: str | None, progress: Callable[[int], None]) -> list[Held]:
    """The banks of an archive, every line of it checked. Raises ``InvalidInput`` where one is wrong."""
    found: list[Held] = []
    opened: Opened | None = None
    lines = 0
    for item in read(path, passphrase):
        match item:
            case Opened():
                opened = item
            case Page():
                lines += len(item.lines)
                progress(lines)
            case Closed() if opened is not None:
                found.append(Held(opened.scope, opened.head, item))
    return found


async def take_in(
    store: Store, path: Path, passphrase: str | None, wanted: Mapping[str, Held], progress: Callable[[int], None]
) -> list[MovedBank]:
    """Store those banks of an archive that are wanted, by their ids, in its order; what is known stays as it is.

    Raises ``Conflict`` before anything is stored where a bank has something else in it.
    """
    known = {bank: note for bank, held in wanted.items() if (note := await _known(store, held)) is not None}
    taker = _Taker(store, progress)
    items = read(path, passphrase)
    found: list[MovedBank] = []
    while (item := await asyncio.to_thread(next, items, None)) is not None:
        if not isinstance(item, Opened) or item.scope.bank not in wanted:
            continue
        held = wanted[item.scope.bank]
        if item.scope.bank in known:
            found.append(_moved(held, KNOWN, known[item.scope.bank]))
        else:
            await taker.take(held, items)
            found.append(_moved(held, MOVED, held.closed.note))
    return found


def _moved(held: Held, outcome: str, note: str) -> MovedBank:
    scope = held.scope
    return MovedBank(
        namespace=scope.namespace, user_id=scope.user_id, outcome=outcome, lines=held.closed.lines, note=note
    )


@dataclass(slots=True)
class _Taker:
    """Stores banks of an archive, and says how many lines it has stored."""

    store: Store
    progress: Callable[[int], None]
    lines: int = 0

    async def take(self, held: Held, items: Iterator[Item]) -> None:
        """Store the bank that has just begun, to its end, in one transaction."""
        async with self.store.transaction(held.scope) as tx:
            if not _is_empty(await tx.head()):
                raise _taken(held.scope)
            await tx.set_head(held.head)
            while not isinstance(item := await asyncio.to_thread(_next, items), Closed):
                if isinstance(item, tuple):
                    await self._put(*item, tx)
            if item.sha256 != held.closed.sha256:
                hint = "Import it again; nothing of this user was stored."
                raise InvalidInput("The archive was changed while it was read.", hint=hint, field="path")
            await tx.settle_vectors()

    async def _put(self, page: Page, marks: list[Marks], tx: Tx) -> None:
        await put(tx, page.part, page.lines, marks)
        self.lines += len(page.lines)
        self.progress(self.lines)


def _next(items: Iterator[Item]) -> tuple[Page, list[Marks]] | Opened | Closed:
    """The next of an archive, memories with what they are found by: that takes a while, so it is done on a thread."""
    item = next(items)
    if not isinstance(item, Page):
        return item
    return item, marks_of_lines(item.part, item.lines)


def marks_of_lines(part: Part, lines: Collection[Line]) -> list[Marks]:
    """What the memories of these lines are found by; nothing for lines of any other part."""
    return [marks_of(memory_of(line)) for line in lines] if part is MEMORY else []


async def put(tx: Tx, part: Part, lines: Sequence[Line], marks: Sequence[Marks]) -> None:
    """Store lines of a part, memories with what they are found by."""
    if part is MEMORY:
        await tx.put_memories(list(zip(lines, marks, strict=True)))
    else:
        await tx.put_lines(part, lines)


async def _known(store: Store, held: Held) -> str | None:
    """What is to be said of a bank that is here already; ``None`` where there is none.

    Raises ``Conflict`` where there is one that is not of the same past.
    """
    reader = store.reading(held.scope.bank)
    head = await reader.head()
    if _is_empty(head):
        return None
    assert head is not None
    if not await _goes_on(reader, head, held.head) and await _sha256(store, held) != held.closed.sha256:
        raise _taken(held.scope)
    return _FORGOTTEN if head["log_first"] >= held.head["next_event"] > 1 else ""


def _is_empty(head: Line | None) -> bool:
    return head is None or (head["next_row"], head["next_event"]) == (1, 1)


async def _goes_on(reader: Reader, head: Line, earlier: Line) -> bool:
    """Whether the log of a bank holds the last line of another, by its seal: then it is the same bank, further on."""
    last: str = earlier["log_seal"]
    return bool(last) and await seal_at(reader, head, earlier["next_event"] - 1) == last


async def seal_at(reader: Reader, head: Line, number: int) -> str | None:
    """The seal of the line with this number, in base64; ``None`` where the log has none."""
    if number == head["log_first"] - 1:
        return str(head["log_base"])
    if not head["log_first"] <= number < head["next_event"]:
        return None
    found = await reader.lines(EVENT, (number - 1,), 1)
    return str(found[0]["seal"]) if found and found[0]["number"] == number else None


async def _sha256(store: Store, held: Held) -> str:
    async with store.snapshot(held.scope.bank) as reader:
        sha256, _ = await digest(reader, vectors=VECTOR.name in held.closed.lines)
    return sha256


def _taken(scope: Scope) -> Conflict:
    whose = "The shared bank" if scope.user_id is None else f"The user {scope.user_id[:80]!r}"
    hint = "Import into a database that has nothing of this user, or leave the user out."
    message = f"{whose} of namespace {scope.namespace[:80]!r} has another memory here; nothing was stored."
    return Conflict(message, hint=hint, field="path")
