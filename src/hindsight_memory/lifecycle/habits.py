"""From the times of what happened: what is usual, and when it is to be expected next.

A habit is what recurs, or what usually follows something else, in a person's life; the routines of ``maintain`` are
another thing. Nothing is stored: habits are read off the memories whenever somebody asks, so that what is forgotten
or corrected counts no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from hindsight_memory.domain import Evidence, Memory, Source, Suggestion, Window
from hindsight_memory.lifecycle.chances import DAY, Activity, Hours, corrected, ended, lately, one_a_day
from hindsight_memory.lifecycle.habit_words import is_chinese, line_of, said_gap, said_period, said_why
from hindsight_memory.lifecycle.likeness import Happening, grouped
from hindsight_memory.lifecycle.rhythm import Rhythm, nearest, rhythm_of
from hindsight_memory.lifecycle.sequels import Sequel, sequels_of
from hindsight_memory.settings import HabitSettings

_ROUNDS: Final = 3
"""Rhythms of one thing: it may come on Tuesdays and on Thursdays."""
_LEAST_SPREAD: Final = 0.5
"""Hours before and after the usual moment that are expected at least."""
_SPREAD: Final = 90
"""Percentile of how early or late it came, that is still expected."""


@dataclass(frozen=True)
class Thing:
    """Something that happens again and again: its memories and their times, in order."""

    memories: Sequence[Memory]
    times: Hours

    @property
    def line(self) -> str:
        """What it is: a line of the latest."""
        return line_of(self.memories[-1].content)


@dataclass(frozen=True)
class Habits:
    """What is usual up to the moment ``now``: the things, their rhythms, and the pairs that follow each other."""

    things: Sequence[Thing]
    rhythms: Sequence[tuple[int, Rhythm]]
    sequels: Sequence[Sequel]
    activity: Activity
    now: datetime
    zone: ZoneInfo
    settings: HabitSettings


def happens(memory: Memory) -> bool:
    """Whether a memory is of something that happened: not an answer of the assistant's, nor what a document tells."""
    if memory.turn is not None:
        return memory.source is Source.USER
    return memory.source is not Source.DOCUMENT


def habits_of(memories: Iterable[Memory], now: datetime, zone: ZoneInfo, settings: HabitSettings) -> Habits:
    """What is usual, as these memories show it up to ``now``; a second's work where there are thousands."""
    ordered = sorted(memories, key=lambda memory: (memory.occurred_at, memory.id))
    times = np.array([_hours(memory.occurred_at, zone) for memory in ordered], np.float64)
    activity = Activity.of(times)
    things = []
    for group in grouped([Happening(memory) for memory in ordered]):
        if len(group.members) >= settings.least:
            # On the wall's clock an hour comes twice when summer time ends, and what was later may stand earlier.
            places = sorted(group.members, key=lambda place: times[place])
            things.append(Thing([ordered[place] for place in places], times[places]))
    things.sort(key=lambda thing: (-len(one_a_day(thing.times)), thing.times[0]))
    things = things[: settings.groups]
    found = list(_rhythms(things, activity, settings))
    habits = Habits(things, found, (), activity, now, zone, settings)
    # What has its own time needs no other reason for it.
    led = frozenset(number for number, rhythm in found if _standing(habits, things[number], rhythm))
    return replace(habits, sequels=sequels_of([thing.times for thing in things], led, activity, settings))


def expected(habits: Habits, until: datetime) -> list[Suggestion]:
    """What is expected from ``now`` on, beginning before ``until``, the soonest first; each thing once."""
    found: dict[str, Suggestion] = {}
    for each in (*_recurring(habits, until), *_following(habits, until)):
        known = found.get(each.memory_id)
        if known is None or each.window.since < known.window.since:
            found[each.memory_id] = each
    return sorted(found.values(), key=lambda each: (each.window.since, -each.confidence, each.memory_id))


def _rhythms(things: Sequence[Thing], activity: Activity, settings: HabitSettings) -> Iterator[tuple[int, Rhythm]]:
    """The rhythms that are no chance findings, each with the number of its thing."""
    rests = [one_a_day(thing.times) for thing in things]
    tried = sum(len(rest) >= settings.least for rest in rests)
    for _ in range(_ROUNDS):
        found = [rhythm_of(thing.times[rest], activity, settings) for thing, rest in zip(things, rests, strict=True)]
        sure = corrected([1.0 if each is None else each.p_value for each in found], tried)
        for number, (rhythm, p_value) in enumerate(zip(found, sure, strict=True)):
            if rhythm is None or p_value > settings.error:
                rests[number] = []
                continue
            hits = tuple(rests[number][place] for place in rhythm.hits)
            rests[number] = sorted(set(rests[number]).difference(hits))
            yield number, replace(rhythm, hits=hits, p_value=p_value)


@dataclass(frozen=True, slots=True)
class _Standing:
    """How usual something is now: how many of its latest occasions were met, all its hits, and how wide they spread."""

    met: int
    of: int
    hits: Sequence[Any]
    spread: float


def _standing(habits: Habits, thing: Thing, rhythm: Rhythm) -> _Standing | None:
    """How usual it is by now; ``None`` when it was once."""
    now = _hours(habits.now, habits.zone)
    moments = rhythm.moments(int(thing.times[rhythm.hits[0]] // DAY) - 1, int(now // DAY) + 1)
    late, places = nearest(moments, thing.times)
    fits = np.flatnonzero(np.abs(late) <= rhythm.width)
    past = moments[moments + rhythm.width < now]
    met = [bool(each) for each in np.isin(np.arange(len(past)), places[fits])]
    start = met.index(True) if True in met else len(met)
    half = DAY * rhythm.period.gap / 2
    # In a week in which nothing happened at all, the person was away: it says nothing of this habit.
    told = [hit or habits.activity.any(at - half, at + half) for hit, at in zip(met, past, strict=True)]
    there = [hit for hit, told_of in zip(met, told, strict=True) if told_of]
    times, of = lately(met[start:])
    if ended(there) or times < habits.settings.coverage * of or not of:
        return None
    spread = float(np.percentile(np.abs(late[fits]), _SPREAD))
    return _Standing(times, of, fits.tolist(), min(max(spread, _LEAST_SPREAD), rhythm.width))


def _recurring(habits: Habits, until: datetime) -> Iterator[Suggestion]:
    now = _hours(habits.now, habits.zone)
    last = int(_hours(until, habits.zone) // DAY) + 1
    for number, rhythm in habits.rhythms:
        thing = habits.things[number]
        standing = _standing(habits, thing, rhythm)
        if standing is None:
            continue
        moments = rhythm.moments(int(now // DAY) - 2, last)
        ahead = moments[moments + standing.spread >= now]
        waiting = [moment for moment in ahead if not np.any(np.abs(thing.times - moment) <= rhythm.width)]
        if waiting:
            window = _window(waiting[0] - standing.spread, waiting[0] + standing.spread, habits.zone)
            period = said_period(rhythm, chinese=is_chinese(thing.line))
            memories = [thing.memories[place] for place in standing.hits]
            evidence = _evidence(memories, standing, rhythm.p_value, habits.settings)
            if window.since < until:
                yield _suggestion(thing, window, period, evidence)


def _following(habits: Habits, until: datetime) -> Iterator[Suggestion]:
    now = _hours(habits.now, habits.zone)
    for sequel in habits.sequels:
        first, then = habits.things[sequel.first], habits.things[sequel.then]
        low, usual, high = sequel.gap
        spread = max(_LEAST_SPREAD, (high - low) / 2)
        begun = float(first.times[-1])
        since, last = begun + max(0.0, min(low, usual - spread)), begun + max(high, usual + spread)
        if ended(sequel.met) or then.times[-1] > begun or last < now:
            continue
        window = _window(since, last, habits.zone)
        period = said_gap(usual, first.line, chinese=is_chinese(then.line))
        memories = [each for one, two in sequel.hits for each in (first.memories[one], then.memories[two])]
        standing = _Standing(*lately(sequel.met), sequel.hits, spread)
        evidence = _evidence(memories, standing, sequel.p_value, habits.settings)
        if window.since < until:
            yield _suggestion(then, window, period, evidence)


def _evidence(memories: Sequence[Memory], standing: _Standing, p_value: float, settings: HabitSettings) -> Evidence:
    latest = reversed(memories[-settings.evidence :])
    return Evidence(
        memory_ids=tuple(dict.fromkeys(memory.id for memory in latest)),
        times=len(standing.hits),
        met=standing.met,
        of=standing.of,
        p_value=p_value,
        window=Window(memories[0].occurred_at, memories[-1].occurred_at),
    )


def _suggestion(thing: Thing, window: Window, period: str, evidence: Evidence) -> Suggestion:
    chinese = is_chinese(thing.line)
    return Suggestion(
        what=thing.line,
        memory_id=thing.memories[-1].id,
        window=window,
        period=period,
        # How likely it is the next time, by the rule of succession.
        confidence=round((evidence.met + 1) / (evidence.of + 2), 3),
        why=said_why(period, evidence, chinese=chinese),
        evidence=evidence,
    )


def _hours(moment: datetime, zone: ZoneInfo) -> float:
    """A moment on the clock of a wall in the zone."""
    local = moment.astimezone(zone)
    return local.toordinal() * DAY + local.hour + local.minute / 60 + (local.second + local.microsecond / 1e6) / 3600


def _window(since: float, until: float, zone: ZoneInfo) -> Window:
    return Window(_moment(since, zone), _moment(until, zone))


def _moment(hours: float, zone: ZoneInfo) -> datetime:
    """The time at which a wall's clock in the zone shows so many hours, to the minute."""
    day, hour = divmod(hours, DAY)
    shown = datetime.fromordinal(int(day)) + timedelta(minutes=round(hour * 60))
    return shown.replace(tzinfo=zone).astimezone(UTC)
