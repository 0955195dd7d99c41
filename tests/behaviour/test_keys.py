"""API keys: what they may do, for whom, until when; nothing tells a caller what it may not see."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import Conflict, InvalidInput, NotAllowed, NotFound
from hindsight_memory.domain import ApiKey, Draft, Grant, KeyListing, Listing, Maintenance, NewKey, Query, Scope, Span
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.guard.access import FIRST, LOCAL, NOBODY, Principal, principal_of, within
from hindsight_memory.guard.secrets import mint
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from samples import NOON

ANN = Scope(user_id="ann", agent_id="the agent/coder")  # one of the key's own
BOB = Scope(user_id="bob")
SHARED = Scope(user_id=None)


async def acting(service: Service, *grants: str, **fields: Any) -> Service:
    """The service for who shows a new key with these grants."""
    issued = await service.create_key(NewKey(name="the agent", **({"grants": grants} if grants else {}), **fields))
    principal = await service.caller(issued.secret)
    assert principal is not None
    return service.acting_as(principal)


# The secret


async def test_a_secret_is_shown_once_and_kept_nowhere(service: Service, database: Path) -> None:
    issued = await service.create_key(NewKey(name="the agent"))
    assert issued.secret.startswith("hm_")
    assert len(issued.secret) >= 40
    assert issued.secret.startswith(issued.key.prefix)
    assert issued.secret not in repr(issued)
    (listed,) = (await service.list_keys(KeyListing())).keys
    assert listed == issued.key
    await service.close()
    kept = b"".join(path.read_bytes() for path in database.parent.glob("memory.db*"))
    assert issued.key.prefix.encode() in kept
    assert issued.secret[len(issued.key.prefix) :].encode() not in kept


def test_secrets_differ_and_their_digests_do_not_show_them() -> None:
    minted = [mint() for _ in range(200)]
    assert len({each.secret for each in minted}) == len({each.digest for each in minted}) == 200
    assert not any(each.secret[3:] in each.digest for each in minted)


async def test_what_is_no_secret_opens_nothing(service: Service) -> None:
    issued = await service.create_key(NewKey(name="the agent"))
    for wrong in ("", issued.key.prefix, issued.key.id, issued.secret[:-1], f"{issued.secret} ", issued.secret.upper()):
        assert await service.caller(wrong) is None
    assert await service.caller("\udcff") is None
    assert await service.caller(issued.secret) is not None


# Ends


async def test_a_key_works_until_it_expires(service: Service, clock: StoppedClock) -> None:
    assert not await service.keyed()
    issued = await service.create_key(NewKey(name="short", expires_at=clock.now + timedelta(hours=1)))
    assert await service.keyed()
    clock.advance(minutes=59)
    assert await service.caller(issued.secret) is not None
    clock.advance(minutes=1)
    assert await service.caller(issued.secret) is None
    assert not await service.keyed()
    with pytest.raises(InvalidInput) as refused:
        await service.create_key(NewKey(name="late", expires_at=clock.now))
    assert refused.value.field == "expires_at"


async def test_a_revoked_key_is_refused_at_once_by_every_process(
    service: Service, database: Path, clock: StoppedClock
) -> None:
    issued = await service.create_key(NewKey(name="lost"))
    other = await open_service(database, clock=clock, embedder=HashEmbedder())
    assert await other.caller(issued.secret) is not None
    gone = await service.revoke_key(issued.key.id, "it was lost")
    assert gone.revoked_at == clock.now
    assert await other.caller(issued.secret) is None
    clock.advance(hours=1)
    assert await service.revoke_key(issued.key.id) == gone
    await other.close()


async def test_a_rotated_key_works_until_the_overlap_ends(service: Service, clock: StoppedClock) -> None:
    old = await service.create_key(NewKey(name="agent", users=("ann",), expires_at=clock.now + timedelta(days=30)))
    clock.advance(days=10)
    new = await service.rotate_key(old.key.id, 2)
    assert (new.key.name, new.key.grants, new.key.users) == (old.key.name, old.key.grants, old.key.users)
    assert new.key.expires_at == clock.now + timedelta(days=30)
    assert new.secret != old.secret
    first, second = (await service.list_keys(KeyListing())).keys
    assert (first.id, first.replaced_by, first.expires_at) == (old.key.id, second.id, clock.now + timedelta(hours=2))
    clock.advance(hours=1, minutes=59)
    assert await service.caller(old.secret) is not None
    assert await service.caller(new.secret) is not None
    clock.advance(minutes=1)
    assert await service.caller(old.secret) is None
    assert await service.caller(new.secret) is not None


async def test_an_overlap_makes_no_key_live_longer(service: Service, clock: StoppedClock) -> None:
    end = clock.now + timedelta(hours=1)
    old = await service.create_key(NewKey(name="agent", expires_at=end))
    clock.advance(seconds=1)
    await service.rotate_key(old.key.id, 24)
    assert (await service.list_keys(KeyListing())).keys[0].expires_at == end
    plain = await service.create_key(NewKey(name="agent"))
    await service.rotate_key(plain.key.id, 0)
    assert await service.caller(plain.secret) is None


async def test_what_has_ended_or_been_replaced_is_not_rotated(service: Service, clock: StoppedClock) -> None:
    one, two = [await service.create_key(NewKey(name="agent")) for _ in range(2)]
    await service.rotate_key(one.key.id)
    await service.revoke_key(two.key.id)
    for key in (one.key, two.key):
        with pytest.raises(Conflict) as refused:
            await service.rotate_key(key.id)
        assert refused.value.field == "key_id"
    for wrong in (-1, 1e9, float("nan"), True, "2"):
        with pytest.raises(InvalidInput):
            await service.rotate_key(one.key.id, wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await service.rotate_key("nobody")
    assert len((await service.list_keys(KeyListing())).keys) == 3


async def test_use_is_noted_to_the_hour(service: Service, clock: StoppedClock) -> None:
    issued = await service.create_key(NewKey(name="agent"))
    clock.advance(minutes=25)
    assert await service.caller(issued.secret) is not None
    await service._flush()
    used = (await service.list_keys(KeyListing())).keys[0].last_used_at
    assert used is not None
    assert (used.hour, used.minute) == (clock.now.hour, 0)
    assert await service.caller(issued.secret) is not None
    assert not service._parts.used  # the same hour is not written again


# What it may do


@pytest.mark.parametrize(
    ("grants", "allowed"),
    [
        (("read",), {"search", "list"}),
        (("write",), {"write"}),
        (("read", "write"), {"search", "list", "write"}),
        (("purge",), {"forget_all"}),
        (("shared",), set()),
        (("admin",), {"search", "list", "write", "forget_all", "maintain", "create_key"}),
    ],
)
async def test_a_grant_allows_its_verbs_and_no_other(service: Service, grants: Any, allowed: set[str]) -> None:
    mine = await acting(service, *grants)
    asks = {
        "search": lambda: mine.search(Query(text="milk"), ANN),
        "list": lambda: mine.list(Listing(), ANN),
        "write": lambda: mine.write(Draft(content="oat milk"), ANN),
        "forget_all": lambda: mine.forget_all(ANN, "ann"),
        "maintain": lambda: mine.maintain(Maintenance(dry_run=True)),
        "create_key": lambda: mine.create_key(NewKey(name="another")),
        "doctor": mine.doctor,
    }
    done = set()
    for name, ask in asks.items():
        try:
            await ask()
            done.add(name)
        except NotAllowed:
            continue
    assert done == allowed


async def test_a_key_acts_for_its_users_only(service: Service) -> None:
    await service.write(Draft(content="Bob takes oat milk"), BOB)
    mine = await acting(service, users=("ann", "böb"))
    assert (await mine.write(Draft(content="Ann takes oat milk"), ANN)).created
    for name in ("bob", "Ann", "ann ", "an", "ann/x", "bo\u0308b", "nobody", "а\u006e\u006e"):
        for ask in (mine.search(Query(text="milk"), Scope(user_id=name)), mine.list(Listing(), Scope(user_id=name))):
            with pytest.raises(NotAllowed) as refused:
                await ask
            assert refused.value.field == "user_id"
            assert name not in str(refused.value)
    assert await mine.search(Query(text="milk"), Scope(user_id="böb")) == []


async def test_a_key_acts_as_its_agents_only(service: Service) -> None:
    await service.write(Draft(content="the coder's own", visibility="private"), ANN)
    mine = await acting(service, agents=("reviewer",))
    assert (await mine.list(Listing(), Scope(user_id="ann", agent_id="reviewer"))).memories == ()
    for agent in ("coder", None, "Reviewer"):
        with pytest.raises(NotAllowed) as refused:
            await mine.list(Listing(), Scope(user_id="ann", agent_id=agent))
        assert refused.value.field == "agent_id"
    whole = await acting(service, "admin", agents=("reviewer",))
    with pytest.raises(NotAllowed):
        await whole.forget_all(Scope(user_id="ann", agent_id="reviewer"), "ann")


async def test_the_shared_bank_is_read_by_all_and_written_with_a_grant(service: Service) -> None:
    await service.write(Draft(content="Offices close at six"), SHARED)
    reader = await acting(service, "read", "write", users=("ann",))
    assert len((await reader.list(Listing(), SHARED)).memories) == 1
    (held,) = (await reader.list(Listing(), SHARED)).memories
    for ask in (reader.write(Draft(content="Offices close at two"), SHARED), reader.forget(held.id, SHARED)):
        with pytest.raises(NotAllowed, match="shared bank"):
            await ask
    writer = await acting(service, "read", "write", "shared", users=("ann",))
    assert (await writer.write(Draft(content="Offices open at nine"), SHARED)).created
    with pytest.raises(NotAllowed):
        await (await acting(service, "read", "shared")).write(Draft(content="Offices open at ten"), SHARED)


async def test_a_key_never_leaves_its_namespace(service: Service) -> None:
    await service.write(Draft(content="Ann takes oat milk"), ANN)
    theirs = await acting(service, "admin", namespace="theirs")
    for scope in (ANN, BOB, SHARED):
        with pytest.raises(NotAllowed):
            await theirs.list(Listing(), scope)
    hers = Scope(namespace="theirs", user_id="ann")
    assert (await theirs.list(Listing(), hers)).memories == ()
    with pytest.raises(NotAllowed):
        await theirs.create_key(NewKey(name="back door", namespace="default"))
    assert (await theirs.maintain(Maintenance(dry_run=True))).banks == 1  # its shared bank, where the log of keys is


async def test_keys_of_another_namespace_are_not_there(service: Service) -> None:
    mine = await service.create_key(NewKey(name="mine"))
    theirs = await acting(service, "admin", namespace="theirs")
    assert [key.namespace for key in (await theirs.list_keys(KeyListing())).keys] == ["theirs"]
    with pytest.raises(NotAllowed):
        await theirs.list_keys(KeyListing(namespace="default"))
    said = []
    for key_id in (mine.key.id, "nobody"):
        for ask in (theirs.revoke_key(key_id), theirs.rotate_key(key_id)):
            with pytest.raises(NotFound) as refused:
                await ask
            said.append(str(refused.value).replace(key_id, "ID"))
    assert len(set(said)) == 1
    assert await service.caller(mine.secret) is not None
    assert len((await service.list_keys(KeyListing())).keys) == 2
    assert len((await service.list_keys(KeyListing(limit=1))).keys) == 1


async def test_a_key_of_some_users_makes_no_other_keys(service: Service) -> None:
    some = await acting(service, "admin", users=("ann",))
    for ask in (some.create_key(NewKey(name="all")), some.maintain(Maintenance()), some.list_keys(KeyListing())):
        with pytest.raises(NotAllowed):
            await ask
    assert (await some.list(Listing(), ANN)).memories == ()


@pytest.mark.parametrize(
    "fields", [{"grants": ()}, {"users": ()}, {"agents": ()}, {"grants": ("all",)}, {"users": "a"}]
)
def test_a_key_that_could_do_nothing_is_refused(fields: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        NewKey(name="agent", **fields)
    assert refused.value.field in fields


# The log


async def test_the_log_says_who_did_what_to_which_key(service: Service) -> None:
    boss = await acting(service, "admin")
    made = await boss.create_key(NewKey(name="agent", users=("ann",)))
    await boss.rotate_key(made.key.id)
    await boss.revoke_key(made.key.id, "it was lost")
    lines = [line.event for line in (await boss.replay(Span(), SHARED)).lines][1:]
    assert [event.verb for event in lines] == ["create_key", "rotate_key", "revoke_key"]
    assert {event.actor for event in lines} == {"the agent"}
    assert lines[0].detail["users"] == ["ann"]
    assert lines[2].reason == "it was lost"
    assert made.secret not in str(lines)


async def test_other_callers_do_not_read_of_keys_in_the_log(service: Service) -> None:
    await service.write(Draft(content="Offices close at six"), SHARED)
    reader = await acting(service, "read", users=("ann",))
    await service.create_key(NewKey(name="agent", users=("someone secret",)))
    told = await reader.replay(Span(), SHARED)
    assert [line.event.verb for line in told.lines] == ["write"]
    assert "someone secret" not in str(told)
    page = await reader.replay(Span(limit=1), SHARED)
    assert page.next is not None
    assert (await reader.replay(Span(after=page.next), SHARED)).lines == ()


# What a caller from outside means


def test_the_one_user_and_agent_of_a_key_are_meant_where_none_is_named() -> None:
    one = Principal("k", "ns", users=frozenset({"ann"}), agents=frozenset({"coder"}))
    assert within(one, Scope()) == Scope(namespace="ns", user_id="ann", agent_id="coder")
    said = Scope(namespace="other", user_id="bob", agent_id="x", session_id="s")
    assert within(one, said) == Scope(namespace="ns", user_id="bob", agent_id="x", session_id="s")
    assert within(one, SHARED).user_id is None
    two = Principal("k", "ns", users=frozenset({"ann", "bob"}), agents=frozenset({"a", "b"}))
    assert within(two, Scope()) == Scope(namespace="ns")
    for whole in (LOCAL, FIRST):
        assert within(whole, Scope()) == Scope()


async def test_nobody_may_do_anything(service: Service) -> None:
    nobody = service.acting_as(NOBODY)
    with pytest.raises(HindsightMemoryError):
        await nobody.list(Listing(), within(NOBODY, ANN))
    assert {(check.note, check.hint) for check in await nobody.ready()} == {("", "")}
    assert all(check.note for check in await service.ready())
    assert set(Grant) == {"read", "write", "vouch", "shared", "purge", "vault", "admin"}


# Agents of a key's own

NAMED = st.one_of(
    st.sampled_from(["a", "a/b", "a%2Fb", "b", "a/", "/", "%", "coder", "a/coder"]), st.text("a/%b", min_size=1)
)


def keyed(name: str, **fields: Any) -> Principal:
    """Whom a key of this name speaks for."""
    made: dict[str, Any] = {"id": name, "prefix": "hm_", "grants": (Grant.READ, Grant.WRITE), "created_by": "x"}
    return principal_of(ApiKey(**made | {"name": name, "namespace": "default", "created_at": NOON} | fields))


@given(one=NAMED, other=NAMED, agents=st.tuples(NAMED, NAMED))
def test_agents_of_two_keys_are_never_one(one: str, other: str, agents: tuple[str, str]) -> None:
    first, second = [
        within(keyed(name), Scope(agent_id=agent)).agent_id for name, agent in zip((one, other), agents, strict=True)
    ]
    assert (first != second) or one == other
    assert within(keyed(one), Scope(agent_id=first)).agent_id == first, "what is shown can be said again"


def test_who_lists_agents_or_administers_means_the_names_it_gives() -> None:
    for principal in (keyed("k", agents=("coder",)), keyed("k", grants=(Grant.ADMIN,)), FIRST, LOCAL):
        assert within(principal, Scope(agent_id="coder")).agent_id == "coder"
    assert within(keyed("k"), Scope()).agent_id is None
    assert within(keyed("k"), Scope(agent_id="coder")).agent_id == "k/coder"
    with pytest.raises(InvalidInput):
        within(keyed("k" * 100), Scope(agent_id="a" * 100))


async def test_no_door_can_forget_it(service: Service) -> None:
    with pytest.raises(NotAllowed):
        await service.acting_as(keyed("k")).list(Listing(), Scope(agent_id="coder"))
    assert (await service.acting_as(keyed("k")).list(Listing(), Scope(agent_id="k/coder"))).memories == ()
