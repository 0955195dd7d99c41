"""Sessions: a desk with a state and the latest messages, and what becomes of them at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from hindsight_memory import Conflict, InvalidInput, Kind, Message, NotAllowed, Role, Status
from hindsight_memory.assist.assistant import Advice, Task
from hindsight_memory.domain import Draft, Listing, Memory, Query, Scope, SessionState, StatePatch
from hindsight_memory.guard.access import Principal
from hindsight_memory.ingest.sessions import promote_expired
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock

ALICE = Scope(user_id="alice", session_id="s1")
TALK = [
    Message(content="Help me plan the move of our shop to Rotterdam.", id="m1"),
    Message(content="The warehouse there opens at six.", role=Role.ASSISTANT, id="m2"),
    Message(content="hello", id="m3"),
    Message(content="We'll go with the ferry from Harwich.", id="m4"),
]


async def rows(service: Service, scope: Scope = ALICE) -> list[Memory]:
    assert scope.session_id is not None
    return await service._parts.store.reading(scope.bank).turns(scope.session_id, 0, 10_000)


async def say(service: Service, *texts: str, scope: Scope = ALICE, **more: Any) -> Any:
    return await service.append_session([Message(content=text) for text in texts], scope, **more)


# The state


async def test_a_session_that_was_never_begun_is_empty_and_reading_makes_none(service: Service) -> None:
    session = await service.get_session(ALICE)
    assert (session.state, session.version, session.expires_at, session.messages) == (SessionState(), 0, None, ())
    assert (await service.list(Listing(), ALICE)).memories == ()
    ended = await service.end_session(ALICE)
    assert (ended.version, ended.promoted) == (0, 0)


async def test_a_patch_sets_texts_appends_entries_and_takes_away(service: Service, clock: StoppedClock) -> None:
    first = StatePatch(task_goal="move the shop", confirmed_facts=["it opens at six"], open_questions=["which ferry?"])
    assert (await service.patch_session(first, ALICE)).version == 1
    added = {"confirmed_facts": ["It opens at six.", "12 pallets"], "decisions": ["ferry"]}
    second = StatePatch(current_step="book", remove=["which ferry?"], **added)
    desk = await service.patch_session(second, ALICE)
    assert desk.state == SessionState(
        task_goal="move the shop",
        current_step="book",
        confirmed_facts=("it opens at six", "12 pallets"),
        decisions=("ferry",),
    )
    assert (desk.version, desk.expires_at) == (2, clock() + timedelta(hours=1))
    assert (await service.get_session(ALICE)).state == desk.state
    assert (await service.patch_session(second, ALICE)).version == 2, "it says nothing new"
    assert (await service.patch_session(StatePatch(current_step=""), ALICE)).state.current_step == ""


async def test_what_is_discarded_leaves_the_other_lists_until_it_is_taken_up_again(service: Service) -> None:
    await service.patch_session(StatePatch(confirmed_facts=["React 18"], open_questions=["Redux?"]), ALICE)
    dropped = await service.patch_session(StatePatch(discarded=["react 18", "Redux?"]), ALICE)
    assert (dropped.state.confirmed_facts, dropped.state.open_questions) == ((), ())
    assert dropped.state.discarded == ("react 18", "Redux?")
    again = await service.patch_session(StatePatch(decisions=["React 18"]), ALICE)
    assert (again.state.decisions, again.state.discarded) == (("React 18",), ("Redux?",))


async def test_put_replaces_all_of_it_if_nobody_changed_it_first(service: Service) -> None:
    await service.patch_session(StatePatch(decisions=["ferry"]), ALICE)
    put = await service.put_session(SessionState(task_goal="目标是搬家", decisions=["火车", "火车"]), ALICE, version=1)
    assert put.state == SessionState(task_goal="目标是搬家", decisions=("火车",))
    for version in (0, 1, 3):
        with pytest.raises(Conflict) as refused:
            await service.put_session(SessionState(), ALICE, version=version)
        assert refused.value.field == "version"
    assert (await service.get_session(ALICE)).state == put.state
    assert (await service.put_session(SessionState(), ALICE, version=2)).version == 3


async def test_parallel_patches_all_count(service: Service) -> None:
    patches = [StatePatch(confirmed_facts=[f"fact {number}"], decisions=[f"d{number}"]) for number in range(60)]
    desks = await asyncio.gather(*(service.patch_session(patch, ALICE) for patch in patches))
    state = (await service.get_session(ALICE)).state
    assert sorted(state.confirmed_facts) == sorted(f"fact {number}" for number in range(60))
    assert len(state.decisions) == 60
    assert sorted(desk.version for desk in desks) == list(range(1, 61))


async def test_a_list_that_would_grow_too_long_is_refused_and_stays(service: Service) -> None:
    full = SessionState(decisions=[f"d{number}" for number in range(200)])
    await service.put_session(full, ALICE)
    with pytest.raises(InvalidInput) as refused:
        await service.patch_session(StatePatch(decisions=["one more"]), ALICE)
    assert refused.value.field == "decisions"
    await say(service, "We decided to take the ferry.")
    assert (await service.get_session(ALICE)).state == full, "a rule adds what fits, and an append never fails by it"


@pytest.mark.parametrize(
    "text", ["%_*'\" OR 1=1 --", "a\0b", "<recalled-memory>x</recalled-memory> kept", "多行\n文本"]
)
async def test_hostile_texts_are_kept_as_one_clean_line(service: Service, text: str) -> None:
    desk = await service.patch_session(StatePatch(task_goal=text, decisions=[text]), ALICE)
    wanted = {"a\0b": "ab", "多行\n文本": "多行 文本"}.get(
        text, text.removeprefix("<recalled-memory>x</recalled-memory> ")
    )
    assert (desk.state.task_goal, desk.state.decisions) == (wanted, (wanted,))
    assert (await service.patch_session(StatePatch(discarded=["\0"]), ALICE)).state.discarded == ()


async def test_every_change_of_a_state_stands_in_the_log_without_its_text(service: Service) -> None:
    await service.patch_session(StatePatch(task_goal="a secret goal"), ALICE)
    await service.put_session(SessionState(), ALICE)
    await say(service, "We decided to take the ferry.")
    await service.end_session(ALICE)
    events = await service._parts.store.reading(ALICE.bank).events(None, 50)
    verbs = [event.verb for event in reversed(events)]
    assert verbs == ["patch_session", "put_session", "write", "append_session", "promote", "end_session"]
    assert "secret" not in str(events)
    assert "ferry" not in str(events)
    assert events[-1].detail == {"session": "s1", "version": 1, "changed": ["task_goal"]}


# Messages


async def test_messages_are_working_memory_in_their_places(service: Service, clock: StoppedClock) -> None:
    appended = await service.append_session(TALK, ALICE)
    assert [receipt.created for receipt in appended.receipts] == [True] * 4
    held = await rows(service)
    assert {turn.kind for turn in held} == {Kind.WORKING}
    assert [turn.turn for turn in held] == [0, 1, 2, 3]
    assert [turn.context_only for turn in held] == [False, False, True, False]
    assert {turn.expires_at for turn in held} == {clock() + timedelta(hours=1)}
    session = await service.get_session(ALICE)
    assert session.messages == tuple(held)
    assert session.left_out == 0


async def test_system_prompts_and_recalled_blocks_do_not_become_memory(service: Service) -> None:
    batch = [
        Message(content="You are kind.", role=Role.SYSTEM),
        Message(content="<recalled-memory>old</recalled-memory>"),
        Message(content="I want to build a boat", role=Role.SYSTEM),
    ]
    appended = await service.append_session(batch, ALICE)
    assert [receipt.action for receipt in appended.receipts] == ["rejected"] * 3
    assert appended.state == SessionState()
    assert (await service.end_session(ALICE)).promoted == 0
    assert await rows(service) == []


async def test_a_repeated_append_is_one_append(service: Service) -> None:
    first = await service.append_session(TALK, ALICE)
    again = await service.append_session(TALK, ALICE)
    assert [receipt.id for receipt in again.receipts] == [receipt.id for receipt in first.receipts]
    assert (again.state, again.version) == (first.state, first.version)
    assert len(await rows(service)) == 4


async def test_parallel_appends_all_stay(service: Service) -> None:
    await asyncio.gather(*(say(service, f"We decided to keep number {number}.") for number in range(30)))
    held = await rows(service)
    assert sorted(turn.turn for turn in held if turn.turn is not None) == list(range(30))
    assert len((await service.get_session(ALICE)).state.decisions) == 30


async def test_the_window_leaves_out_the_oldest_first_and_keeps_the_state(service: Service) -> None:
    await say(service, *(f"message number {number} about the warehouse" for number in range(20)))
    whole = await service.get_session(ALICE)
    await service.patch_session(StatePatch(task_goal="word " * 50), ALICE)
    session = await service.get_session(ALICE, 150)
    assert session.state.task_goal == ("word " * 50).strip()
    assert 0 < len(session.messages) < 20
    assert session.messages == whole.messages[-len(session.messages) :]
    assert session.left_out == 20 - len(session.messages)
    assert session.tokens <= 150
    tiny = await service.get_session(ALICE, 1)
    assert (tiny.messages, tiny.left_out, bool(tiny.state.task_goal)) == ((), 20, True)
    assert (await service.end_session(ALICE)).promoted == 20, "what fell out of the window is promoted too"


async def test_the_window_keeps_what_matters_before_what_is_later(service: Service) -> None:
    batch = [Message(content="the gate code is 8841 and it stays", importance=1.0)]
    batch += [Message(content=f"chatter number {number} about lunch", importance=0.2) for number in range(5)]
    await service.append_session([*batch, Message(content="exit code 0", role=Role.TOOL)], ALICE)
    session = await service.get_session(ALICE, 25)
    assert session.messages[0].content == "the gate code is 8841 and it stays"
    assert all(message.source != "tool" for message in session.messages)
    assert session.left_out > 0


async def test_a_message_that_cannot_fit_does_not_push_out_the_others(service: Service) -> None:
    await say(service, "the short one before", "log line " * 500)
    session = await service.get_session(ALICE, 40)
    assert [message.content for message in session.messages] == ["the short one before"]


@pytest.mark.parametrize("budget", [0, -1, True, "9", 1.5])
async def test_a_wrong_budget_is_named(service: Service, budget: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.get_session(ALICE, budget)
    assert refused.value.field == "budget_tokens"


async def test_every_verb_needs_a_session(service: Service) -> None:
    none = Scope(user_id="alice")
    calls = [
        service.get_session(none),
        service.put_session(SessionState(), none),
        service.patch_session(StatePatch(), none),
        service.append_session([], none),
        service.end_session(none),
    ]
    for call in calls:
        with pytest.raises(InvalidInput) as refused:
            await call
        assert refused.value.field == "session_id"


# The end


async def test_the_end_promotes_the_same_memories_once(service: Service) -> None:
    await service.append_session(TALK, ALICE)
    await service.patch_session(StatePatch(current_step="packing"), ALICE)
    before = await rows(service)
    ended = await service.end_session(ALICE)
    assert (ended.promoted, ended.forgotten, ended.state.current_step) == (4, 0, "packing")
    after = await rows(service)
    assert [(turn.id, turn.turn, turn.content_hash) for turn in after] == [
        (turn.id, turn.turn, turn.content_hash) for turn in before
    ]
    assert {(turn.kind, turn.expires_at) for turn in after} == {(Kind.EPISODIC, None)}
    again = await service.end_session(ALICE)
    assert (again.promoted, again.state) == (0, SessionState())
    assert await rows(service) == after
    session = await service.get_session(ALICE)
    assert (session.state, session.messages, session.expires_at) == (SessionState(), (), None)


async def test_a_promoted_turn_is_the_one_a_conversation_would_have_written(service: Service) -> None:
    other = Scope(user_id="bob", session_id="s1")
    await service.append_session(TALK, ALICE)
    await service.end_session(ALICE)
    await service.write_conversation(TALK, other)
    names = set(Memory.__slots__) - {"id", "bank_id", "version"}

    def told(turns: list[Memory]) -> list[dict[str, Any]]:
        return [{name: getattr(turn, name) for name in names} for turn in turns]

    assert told(await rows(service)) == told(await rows(service, other))
    receipts = await service.write_conversation(TALK, ALICE)
    assert [receipt.created for receipt in receipts] == [False] * 4
    assert not any(receipt.created for receipt in (await service.append_session(TALK, ALICE)).receipts)


async def test_writing_the_conversation_of_a_running_session_promotes_it(service: Service) -> None:
    await service.append_session(TALK, ALICE)
    await service.write_conversation(TALK[:2], ALICE)
    await service.end_session(ALICE, discard=True)
    assert [(turn.kind, turn.status) for turn in await rows(service)] == [
        (Kind.EPISODIC, Status.ACTIVE),
        (Kind.EPISODIC, Status.ACTIVE),
        (Kind.EPISODIC, Status.DELETED),
        (Kind.EPISODIC, Status.DELETED),
    ]


async def test_an_end_that_dies_in_the_middle_is_finished_by_the_next(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from hindsight_memory.ingest import sessions

    parts = service._parts
    parts.sessions = replace(parts.sessions, settings=replace(parts.sessions.settings, batch=3))
    await say(service, *(f"fact number {number} of the move" for number in range(10)))
    plain, calls = sessions.promote, 0

    async def dies(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("killed")
        return await plain(*args)

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "promote", dies)
        with pytest.raises(RuntimeError):
            await service.end_session(ALICE)
    assert [turn.kind for turn in await rows(service)].count(Kind.EPISODIC) == 6
    assert (await service.end_session(ALICE)).promoted == 4
    held = await rows(service)
    assert {turn.kind for turn in held} == {Kind.EPISODIC}
    assert len({turn.id for turn in held}) == 10


async def test_discard_forgets_the_messages_and_one_brought_back_stays(service: Service, clock: StoppedClock) -> None:
    await service.append_session(TALK, ALICE)
    ended = await service.end_session(ALICE, discard=True)
    assert (ended.promoted, ended.forgotten) == (0, 4)
    assert (await service.get_session(ALICE)).messages == ()
    assert await service.search(Query(text="ferry Harwich"), ALICE) == []
    (turn, *_) = await rows(service)
    clock.advance(hours=2)
    assert (await service.restore(turn.id, ALICE)).status is Status.ACTIVE
    assert [hit.memory.id for hit in await service.search(Query(text="Rotterdam"), Scope(user_id="alice"))] == [turn.id]


async def test_a_forgotten_message_leaves_the_window_and_is_not_promoted_to_sight(service: Service) -> None:
    appended = await service.append_session(TALK, ALICE)
    await service.forget(appended.receipts[0].id, ALICE)
    assert len((await service.get_session(ALICE)).messages) == 3
    assert (await service.end_session(ALICE)).promoted == 3
    assert (await rows(service))[0].status is Status.DELETED


async def test_a_session_may_be_taken_up_again_after_its_end(service: Service) -> None:
    await say(service, "first things first")
    await service.end_session(ALICE)
    await say(service, "second things second")
    session = await service.get_session(ALICE)
    assert [(turn.content, turn.turn) for turn in session.messages] == [("second things second", 1)]


# Time


async def test_whatever_is_done_renews_the_whole_session(service: Service, clock: StoppedClock) -> None:
    await say(service, "the first message of all")
    for act in (
        lambda: service.patch_session(StatePatch(current_step="two"), ALICE),
        lambda: say(service, "and a second message"),
        lambda: service.put_session(SessionState(task_goal="three"), ALICE),
    ):
        clock.advance(minutes=50)
        await act()
        assert {turn.expires_at for turn in await rows(service)} == {clock() + timedelta(hours=1)}
    session = await service.get_session(ALICE)
    assert (len(session.messages), session.expires_at) == (2, clock() + timedelta(hours=1))


async def test_an_expired_session_is_empty_and_promoted_later(service: Service, clock: StoppedClock) -> None:
    await say(service, "the gate code is 8841", "We decided to take the ferry.")
    await say(service, "another session's message", scope=Scope(user_id="alice", session_id="s2"))
    clock.advance(hours=1)
    session = await service.get_session(ALICE)
    assert (session.state, session.messages, session.expires_at) == (SessionState(), (), None)
    store = service._parts.store
    assert await promote_expired(store, ALICE.bank, clock() - timedelta(minutes=1), 100) == 0
    assert await promote_expired(store, ALICE.bank, clock(), 100) == 3
    assert await promote_expired(store, ALICE.bank, clock(), 100) == 0
    assert {turn.kind for turn in await rows(service)} == {Kind.EPISODIC}
    told = [event for event in await store.reading(ALICE.bank).events(None, 50) if event.verb == "promote"]
    assert len(told) == len({event.memory_id for event in told}) == 3
    found = await service.search(Query(text="gate code"), Scope(user_id="alice"))
    assert "the gate code is 8841" in [hit.memory.content for hit in found]


async def test_promotion_of_the_expired_is_bounded_and_goes_on(service: Service, clock: StoppedClock) -> None:
    for number in range(3):
        await say(service, *(f"line {n}" for n in range(4)), scope=Scope(user_id="alice", session_id=f"s{number}"))
    clock.advance(hours=2)
    done = [await promote_expired(service._parts.store, ALICE.bank, clock(), 5) for _ in range(4)]
    assert done == [5, 5, 2, 0]
    assert (await service.list(Listing(kinds=(Kind.WORKING,)), ALICE)).memories == ()


async def test_going_on_after_it_expired_begins_anew_and_loses_nothing(service: Service, clock: StoppedClock) -> None:
    await service.patch_session(StatePatch(task_goal="the old task"), ALICE)
    await say(service, "an old message of yesterday")
    clock.advance(hours=20)
    await say(service, "a new message of today")
    session = await service.get_session(ALICE)
    assert session.state == SessionState()
    assert [turn.content for turn in session.messages] == ["a new message of today"]
    assert await promote_expired(service._parts.store, ALICE.bank, clock(), 100) == 0, "it goes on"
    assert (await service.end_session(ALICE)).promoted == 2


# Who sees it


async def test_a_search_sees_the_desk_it_is_asked_from_and_no_other(service: Service) -> None:
    other, nowhere = Scope(user_id="alice", session_id="s2"), Scope(user_id="alice")
    await say(service, "The gate code of Rotterdam is 8841")
    query = Query(text="gate code Rotterdam")
    assert [hit.memory.kind for hit in await service.search(query, ALICE)] == [Kind.WORKING]
    assert await service.search(query, other) == []
    assert await service.search(query, nowhere) == []
    assert (await service.context(query, other)).text == ""
    await service.end_session(ALICE)
    for scope in (ALICE, other, nowhere):
        assert [hit.memory.kind for hit in await service.search(query, scope)] == [Kind.EPISODIC]


async def test_a_note_of_one_session_is_not_the_same_as_anothers(service: Service) -> None:
    draft = Draft(content="use port 8443 here", kind=Kind.WORKING)
    other = Scope(user_id="alice", session_id="s2")
    receipts = [await service.write(draft, scope) for scope in (ALICE, ALICE, other)]
    assert [receipt.created for receipt in receipts] == [True, False, True]
    for scope, receipt in ((ALICE, receipts[0]), (other, receipts[2])):
        assert [hit.memory.id for hit in await service.search(Query(text="port 8443"), scope)] == [receipt.id]
    assert (await service.get_session(ALICE)).messages == (), "a note is no message"


async def test_sessions_of_two_users_are_two(service: Service) -> None:
    bob = Scope(user_id="bob", session_id="s1")
    await service.patch_session(StatePatch(task_goal="alice's"), ALICE)
    await say(service, "alice says this")
    session = await service.get_session(bob)
    assert (session.state, session.messages, session.version) == (SessionState(), (), 0)
    await service.end_session(bob, discard=True)
    assert len((await service.get_session(ALICE)).messages) == 1


async def test_a_caller_needs_the_right(service: Service) -> None:
    reader = service.acting_as(Principal("reader", verbs=frozenset({"get", "search"})))
    writer = service.acting_as(Principal("writer", verbs=frozenset({"write"})))
    foreign = service.acting_as(Principal("foreign", namespace="elsewhere"))
    await reader.get_session(ALICE)
    await say(writer, "a message from the writer")
    await writer.patch_session(StatePatch(task_goal="x"), ALICE)
    refused = [
        reader.patch_session(StatePatch(), ALICE),
        reader.put_session(SessionState(), ALICE),
        say(reader, "no"),
        reader.end_session(ALICE),
        writer.get_session(ALICE),
        writer.end_session(ALICE, discard=True),
        foreign.get_session(ALICE),
        foreign.patch_session(StatePatch(), ALICE),
    ]
    for call in refused:
        with pytest.raises(NotAllowed):
            await call
    assert (await writer.end_session(ALICE)).promoted == 1


# Rules


async def test_rules_keep_the_state_by_what_is_said(service: Service) -> None:
    await service.append_session(TALK, ALICE)
    state = (await service.get_session(ALICE)).state
    assert state.task_goal == "Help me plan the move of our shop to Rotterdam"
    assert state.decisions == ("We'll go with the ferry from Harwich",)
    await say(service, "Forget about the ferry from Harwich. Which train goes to Rotterdam?")
    state = (await service.get_session(ALICE)).state
    assert (state.decisions, state.discarded) == ((), ("Forget about the ferry from Harwich",))
    assert state.open_questions == ("Which train goes to Rotterdam?",)
    answer = Message(content="The Eurostar train goes to Rotterdam directly.", role=Role.ASSISTANT)
    assert (await service.append_session([answer], ALICE)).state.open_questions == ()


async def test_rules_in_chinese(service: Service) -> None:
    await say(
        service,
        "帮我搭建一个记账小程序。",
        "对，我们用的是 MySQL 8。",
        "那就用 Vue 吧。",
        "这个接口支持分页吗？",
        "我们不用 Redis 了。",
    )
    state = (await service.get_session(ALICE)).state
    assert state == SessionState(
        task_goal="帮我搭建一个记账小程序",
        confirmed_facts=("我们用的是 MySQL 8",),
        open_questions=("这个接口支持分页吗？",),
        decisions=("就用 Vue 吧",),
        discarded=("我们不用 Redis 了",),
    )


async def test_what_callers_set_goes_before_rules_and_rules_may_be_left_out(service: Service) -> None:
    mine = StatePatch(task_goal="mine", open_questions=["Is it the train or the ferry?"])
    await service.patch_session(mine, ALICE)
    await say(service, "I want to build a boat.", "thanks")
    await service.append_session([Message(content="It is the train.", role=Role.ASSISTANT)], ALICE)
    session = await service.get_session(ALICE)
    assert session.state == SessionState(task_goal="mine", open_questions=("Is it the train or the ferry?",))
    off = Scope(user_id="alice", session_id="off")
    appended = await service.append_session(TALK, off, rules=False)
    assert (appended.state, appended.version) == (SessionState(), 0)


async def test_never_mind_takes_back_the_own_last_question(service: Service) -> None:
    await say(service, "Which train goes to Rotterdam?", "never mind")
    state = (await service.get_session(ALICE)).state
    assert (state.open_questions, state.discarded) == ((), ("Which train goes to Rotterdam?",))


# A language model


class Advising:
    """An assistant that adds what it was given to every state, or hangs."""

    models: Mapping[Task, str] = {Task.STATE: "advising"}

    def __init__(self, patch: StatePatch | None) -> None:
        self.patch = patch
        self.asked: list[tuple[SessionState, str]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def state(self, current: SessionState, turn: str) -> Advice[StatePatch]:
        self.asked.append((current, turn))
        await self.may_answer.wait()
        return Advice(self.patch)

    async def answers(self, _: Task) -> bool:
        return True

    async def close(self) -> None:
        pass


async def read_out(service: Service) -> None:
    while await service._parts.indexer.step() or await service._parts.reading.step():
        pass


def advise(service: Service, patch: StatePatch) -> Advising:
    service._parts.reading.assistant = model = Advising(patch)
    return model


async def test_a_model_adds_to_the_state_behind_the_call(service: Service) -> None:
    patch = StatePatch(task_goal="move", current_step="booking", decisions=["take the night boat"], remove=["kept"])
    model = advise(service, patch)
    await service.patch_session(StatePatch(confirmed_facts=["kept"]), ALICE)
    appended = await say(service, "The night boat it is.", "<recalled-memory>old</recalled-memory> And 12 pallets.")
    await read_out(service)
    assert model.asked == [(appended.state, "user: The night boat it is.\nuser: And 12 pallets.")]
    state = (await service.get_session(ALICE)).state
    wanted = SessionState(
        task_goal="move", current_step="booking", decisions=("take the night boat",), confirmed_facts=("kept",)
    )
    assert state == wanted
    model.patch = StatePatch(current_step="packing")
    await say(service, "Booked, now we pack.")
    await read_out(service)
    assert (await service.get_session(ALICE)).state.current_step == "packing"
    events = await service._parts.store.reading(ALICE.bank).events(None, 1)
    assert [(event.verb, event.actor) for event in events] == [("note_session", "language-model")]


async def test_a_model_leaves_alone_what_a_caller_set(service: Service) -> None:
    advise(service, StatePatch(task_goal="theirs", current_step="theirs"))
    await service.patch_session(StatePatch(current_step="mine"), ALICE)
    await say(service, "A first message.")
    await read_out(service)
    state = (await service.get_session(ALICE)).state
    assert (state.task_goal, state.current_step) == ("theirs", "mine")
    desk = await service.put_session(SessionState(task_goal="mine"), ALICE)
    assert desk.given == ("task_goal",)
    await say(service, "A second message.")
    await read_out(service)
    state = (await service.get_session(ALICE)).state
    assert (state.task_goal, state.current_step) == ("mine", "theirs")
    assert (await service.patch_session(StatePatch(task_goal=""), ALICE)).given == ()


async def test_a_model_that_hangs_holds_nothing_up(service: Service) -> None:
    model = advise(service, StatePatch(decisions=["late"]))
    model.may_answer.clear()
    await say(service, "message number 0")
    reading = asyncio.create_task(read_out(service))
    async with asyncio.timeout(20):
        while not model.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    for number in range(1, 12):
        await say(service, f"message number {number}")
    assert (await service.end_session(ALICE)).promoted == 12
    model.may_answer.set()
    await reading
    assert (await service.get_session(ALICE)).state == SessionState(), "the session had ended"


async def test_a_model_is_not_asked_for_what_rules_are_not(service: Service) -> None:
    model = advise(service, StatePatch())
    await service.append_session(TALK, ALICE, rules=False)
    await service.append_session(TALK, ALICE)
    await service.append_session([Message(content="exit code 0", role=Role.TOOL)], ALICE)
    await read_out(service)
    assert model.asked == []
