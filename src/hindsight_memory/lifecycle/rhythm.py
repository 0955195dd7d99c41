"""Tells whether something recurs, more regularly than the hours and days its person is active would make it.

People do things at some hours of some days, and whatever they do falls there. So the question is never whether
something happens at 14:00, but whether it does so more than the rest of what happened. Nothing else is assumed: of all
that happened in its span, as many as it occurred are drawn by chance, and how likely it is that as many of those would
fall around the expected moments is exact.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.lifecycle.chances import DAY, Activity, Hours, chance_in, lately
from hindsight_memory.lifecycle.periods import PERIODS, Period
from hindsight_memory.settings import HabitSettings

_WIDTHS: Final = (1.0, 3.0, 12.0, 36.0)
"""Hours before and after the expected moment that are still on time."""
_ANCHORS: Final = 8
"""Latest occurrences that are tried as the moment that comes again."""
_MISSED: Final = 0.25
"""Weight of the missed occasions where two rhythms explain the same: much more, and a habit that is often missed loses
to a chance finding that never is."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Something recurs at ``hour`` of the days that belong together with ``day``, give or take ``width`` hours.

    ``hits`` are the places of the occurrences that fit. ``p_value`` is how likely as clear a rhythm is in as many
    occurrences of anything, with all that was tried on these taken into account.
    """

    period: Period
    day: int
    hour: float
    width: float
    hits: tuple[int, ...]
    p_value: float

    def moments(self, first: int, last: int) -> Hours:
        """When it is expected from one day to another."""
        return _at(self.period, self.day, self.hour, (first, last))


def rhythm_of(times: Hours, activity: Activity, settings: HabitSettings) -> Rhythm | None:
    """The clearest rhythm of something, if it has one.

    Args:
        times: When it occurred, in order, once a day at most.
        activity: All that happened, this included.
        settings: How often it must have occurred, and how regularly.
    """
    if len(times) < settings.least:
        return None
    pools = activity.pools(times[0], times[-1])
    found = (_weighed(rhythm, times, pools) for rhythm in _candidates(times, settings))
    best = min(found, key=lambda rhythm: _oddness(rhythm, times), default=None)
    if best is None:
        return None
    late = nearest(best.moments(*_span(times)), times[list(best.hits)])[0]
    return replace(best, hour=best.hour + float(np.median(late)))


def nearest(moments: Hours, times: Hours) -> tuple[Hours, NDArray[np.intp]]:
    """How late each time is, early below 0, for the moment next to it, and which moment that is."""
    after = np.minimum(np.searchsorted(moments, times), len(moments) - 1)
    before = np.maximum(after - 1, 0)
    places = np.where(np.abs(times - moments[before]) <= np.abs(times - moments[after]), before, after)
    return times - moments[places], places


def _candidates(times: Hours, settings: HabitSettings) -> Iterator[Rhythm]:
    """Every period around each of the latest occurrences that is regular enough, its chances not yet weighed."""
    anchors = times[-_ANCHORS:]
    for period in PERIODS:
        widths = [width for width in _WIDTHS if 2 * width < DAY * period.gap]
        tried = len(anchors) * len(widths) / period.share
        for anchor in anchors:
            day, hour = divmod(float(anchor), DAY)
            moments = _at(period, int(day), hour, _span(times))
            if len(moments) < settings.least:
                continue
            late, places = nearest(moments, times)
            for width in widths:
                hits = np.flatnonzero(np.abs(late) <= width)
                if len(hits) >= settings.least and _is_regular(_occasions(places[hits]), settings):
                    yield Rhythm(period, int(day), hour, width, tuple(hits.tolist()), tried)


def _at(period: Period, day: int, hour: float, span: tuple[int, int]) -> Hours:
    return period.days(day, *span).astype(np.float64) * DAY + hour


def _span(times: Hours) -> tuple[int, int]:
    # A day more at both ends, for what comes a little before midnight of the first or after that of the last.
    return int(times[0] // DAY) - 1, int(times[-1] // DAY) + 1


def _occasions(places: NDArray[np.intp]) -> list[bool]:
    """Of each moment from the first that was met to the last, whether it was; by the places of those met, in order."""
    occasions = np.zeros(places[-1] - places[0] + 1, bool)
    occasions[places - places[0]] = True
    return occasions.tolist()  # type: ignore[no-any-return]  # the shape says so


def _is_regular(occasions: list[bool], settings: HabitSettings) -> bool:
    """Whether enough of the moments were met, and enough of the latest."""
    times, of = lately(occasions)
    return times >= settings.coverage * of and sum(occasions) >= settings.least


def _weighed(rhythm: Rhythm, times: Hours, pools: tuple[Hours, Hours]) -> Rhythm:
    moments = rhythm.moments(*_span(times))
    share = 2 * rhythm.width * len(moments) / (moments[-1] - moments[0] + DAY * rhythm.period.gap)
    # The occurrence that the moments were taken from is a hit by itself: the others are what chance draws.
    hits, drawn = len(rhythm.hits) - 1, len(times) - 1
    marked = (np.abs(nearest(moments, pool)[0]) <= rhythm.width for pool in pools)
    p_value = max(chance_in(pool, hits, drawn, share) for pool in marked)
    return replace(rhythm, p_value=min(1.0, rhythm.p_value * p_value))


def _oddness(rhythm: Rhythm, times: Hours) -> float:
    """How well chance explains the occurrences (a logarithm), and worse for what the rhythm does not explain.

    What happens every other week happens in every second week too, and chance explains the one hardly better than the
    other; but the weeks that were missed are explained by the first alone.
    """
    places = nearest(rhythm.moments(*_span(times)), times[list(rhythm.hits)])[1]
    occasions = _occasions(places)
    met, of = sum(occasions), len(occasions)
    by_rhythm = met * math.log(met / of) + ((of - met) * math.log(1 - met / of) if met < of else 0.0)
    return math.log(max(rhythm.p_value, sys.float_info.min)) - _MISSED * by_rhythm
