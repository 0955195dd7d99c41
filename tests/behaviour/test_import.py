"""import: a whole history, once, with its own times, and a report of what was left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, Listing
from hindsight_memory.domain import Scope
from hindsight_memory.service import Service

ALICE = Scope(user_id="alice")


@pytest.fixture(params=["en", "zh"])
def example(request: pytest.FixtureRequest) -> Iterator[Path]:
    with resources.as_file(resources.files("hindsight_memory.examples") / f"{request.param}.json") as path:
        yield path


def contents_of(example: Path) -> Any:
    return json.loads(example.read_text(encoding="utf-8"))


async def everything(service: Service) -> list[Any]:
    """All turns; what the worker reads off them comes when it comes."""
    page = await service.list(Listing(limit=1_000), ALICE)
    return [memory for memory in page.memories if memory.turn is not None]


async def test_the_examples_come_in_whole_with_their_times(
    memory: AsyncHindsightMemory, service: Service, example: Path
) -> None:
    data = contents_of(example)
    messages = {each["id"]: each for session in data["sessions"] for each in session["messages"]}
    seen: list[int] = []
    report = await memory.import_file(example, progress=seen.append)
    assert (report.format, report.sessions, report.turns) == ("example", len(data["sessions"]), len(messages))
    assert (report.created, report.known, report.skipped) == (len(messages), 0, ())
    assert seen[-1] == len(messages)
    held = await everything(service)
    assert Counter(turn.source_ref for turn in held) == Counter(list(messages))
    for turn in held:
        told = messages[turn.source_ref]
        assert turn.occurred_at == datetime.fromisoformat(told["occurred_at"])
        assert turn.speaker == told["speaker"]
        assert turn.content == told["content"]
    sessions = {turn.session_id for turn in held}
    assert len(sessions) == len(data["sessions"])
    for session in sessions:
        places = sorted((turn.turn, turn.occurred_at) for turn in held if turn.session_id == session)
        assert [place for place, _ in places] == list(range(len(places)))
        assert [time for _, time in places] == sorted(time for _, time in places)


async def test_twice_adds_nothing(memory: AsyncHindsightMemory, service: Service, example: Path) -> None:
    first = await memory.import_file(example)
    before = [(turn.id, turn.content) for turn in await everything(service)]
    again = await memory.import_file(example)
    assert (again.created, again.known, again.turns) == (0, first.turns, first.turns)
    assert [(turn.id, turn.content) for turn in await everything(service)] == before


async def test_what_was_forgotten_is_not_imported_again(
    memory: AsyncHindsightMemory, service: Service, example: Path
) -> None:
    await memory.import_file(example)
    gone = (await everything(service))[0]
    await memory.forget(gone.id)
    assert (await memory.import_file(example)).created == 0
    assert gone.id not in {turn.id for turn in await everything(service)}


async def test_a_file_that_grew_adds_its_new_turns(
    memory: AsyncHindsightMemory, service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    lines = [json.dumps({"role": "user", "content": f"fact number {number}"}) for number in range(250)]
    path.write_text("\n".join(lines[:240]))
    assert (await memory.import_file(path)).created == 240
    path.write_text("\n".join(lines))
    report = await memory.import_file(path)
    assert (report.created, report.known) == (10, 240)
    assert [turn.turn for turn in sorted(await everything(service), key=lambda turn: turn.turn)] == list(range(250))


async def test_texts_without_ids_that_repeat_are_kept_as_often_as_they_were_said(
    memory: AsyncHindsightMemory, service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join([json.dumps({"role": "user", "content": "Is the build green now?"})] * 3))
    for created in (3, 0):
        assert (await memory.import_file(path)).created == created
    assert len(await everything(service)) == 3


async def test_two_users_import_the_same_file_each(memory: AsyncHindsightMemory, example: Path) -> None:
    first = await memory.import_file(example)
    second = await memory.import_file(example, user_id="bob")
    assert first.created == second.created > 0


async def test_what_is_left_out_is_said(memory: AsyncHindsightMemory, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"role": "user", "content": "kept"}\nnot json\n')
    (tmp_path / "b.txt").write_text("not a kind that is read")
    (tmp_path / "c.json").write_text("{}")
    report = await memory.import_file(tmp_path)
    assert (report.format, report.created) == ("folder", 1)
    assert {skip.where.partition(":")[0] for skip in report.skipped} >= {"a.jsonl", "b.txt", "c.json"}
    assert all(skip.reason for skip in report.skipped)


async def test_a_path_that_is_not_there_is_named(memory: AsyncHindsightMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.import_file(tmp_path / "nothing.json")
    assert refused.value.field == "path"
