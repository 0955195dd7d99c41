"""What each signal measures of a candidate: a table with one row a candidate and one column a measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.recall.pool import Column, Pool
from hindsight_memory.recall.retrievers import RRF_K
from hindsight_memory.recall.trees import Table
from hindsight_memory.text.names import fold_name

SIGNALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "words": "the words it says, by BM25",
        "vector": "what it means",
        "surroundings": "how well the turns around it and its session answer",
        "time": "whether it happened in the time asked about, or mentions it",
        "recency": "how long before the question it happened",
        "names": "whether it is from whom, and mentions whom and what numbers, the question names",
        "graph": "what leads to it: names, neighbouring turns, relations",
        "feedback": "how like it is to the best first findings",
        "parts": "how well it answers a part, or another wording, of the question",
        "form": "its length, whether it asks, whether it says that something changed, when, or how many",
    }
)
"""The signals by name, each with what it looks at; any of them can be switched off."""

_TOP: Final = 20
_OF_SESSION: Final = 3
_SAME_TIME: Final = 60.0
"""Seconds within which neither of two memories is the newer one."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WHEN: Final = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|year|month|time)\b|\bhow long\b|哪[天年]|什么时候|几号|何时|几月|多久", re.IGNORECASE
)
_SAYS_WHEN: Final = frozenset(
    re.findall(
        r"\w+",
        "yesterday today tonight tomorrow last next ago week weekend month year monday tuesday wednesday thursday"
        " friday saturday sunday january february march april may june july august september october november december",
    )
)
_UNITS: Final = re.compile(
    "[a-z]+|[0-9]+|[昨今明前后去][天年日]|[上下本这][周月]|周[一二三四五六日末]|[一二三四五六七八九十][月日号]"
)
_HOW_MANY: Final = re.compile(r"\bhow (?:many|much|often)\b|多少|几[个次岁只件家本]", re.IGNORECASE)
_NOW: Final = re.compile(
    r"\b(?:now|current(?:ly)?|these days|latest|at the moment|still|today)\b"
    r"|现在|目前|当前|如今|最新|最近|还在",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:used to|previous(?:ly)?|before|originally|at first|first|earlier|formerly)\b"
    r"|之前|以前|曾经|原来|最早|最初|过去|历史|变化",
    re.IGNORECASE,
)
_CHANGES: Final = re.compile(
    r"no longer|any ?more|instead|switched|changed|moved (?:on|to)|stopped|gave up|finally|decided|replaced"
    r"|not going to"
)
_CHANGES_ZH: Final = re.compile(
    r"不再|不.{0,4}了|改[为成用策主]|换[成了]|放弃|最终|决定|取消|已经|升[到为级]|涨到|搬[到了]"
)
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "用户", "助手"})

Measures = dict[str, Column]


def measured(pool: Pool) -> Table:
    """The table of ``MEASURES`` for a pool's candidates; a signal that is off, or has nothing to say, is NaN."""
    basic = _words(pool) | _vector(pool)
    ranks = [basic[name] for name in ("words_rank", "vector_rank") if name in basic]
    basic["agreed"] = np.nansum([_fused(each) for each in ranks], axis=0)
    found = dict(basic)
    for signal, measure in _MEASURE.items():
        if signal not in pool.plan.off:
            found |= measure(pool, basic)
    found |= _asked(pool, basic)
    blank = pool.blank()
    columns = [found.get(name, blank) if signal not in pool.plan.off else blank for name, signal in MEASURES.items()]
    return np.stack(columns, axis=1).astype(np.float32)


def deviations(pool: Pool, space: str) -> Column:
    """Cosine to the question in one space, in deviations above that space's background."""
    cosine = pool.scores(f"vector:{space}", absent=np.nan)
    if space == pool.space and pool.vectors:
        # Products row by row, as in the store: the threads of a product of matrices would slow the next embedding down.
        # What was not among the nearest has a cosine too; of a long text its best part counts, where that was found.
        cosine = np.fmax(cosine, np.vecdot(pool.matrix, pool.brought.vectors[space][0]))
    background = next((each.calibration for each in pool.plan.embedders if each.space == space), {})
    return (cosine - background.get("mean", 0.0)) / (background.get("deviation") or 1.0)


def _words(pool: Pool) -> Measures:
    share, own = pool.scores("words"), pool.own("words")
    return {"words": share, "words_own": own, "words_rank": _rank(share), "words_gap": share - _most(share)}


def _vector(pool: Pool) -> Measures:
    columns = [deviations(pool, space) for space in pool.brought.vectors]
    if not columns:
        return {}
    above = np.fmax.reduce(columns)
    return {"vector": above, "vector_rank": _rank(above), "vector_gap": above - _most(above)}


def _surroundings(pool: Pool, basic: Measures) -> Measures:
    words, above = basic["words_own"], basic.get("vector", pool.blank())
    found = {}
    for name, column in (("words", words), ("vector", above)):
        for step, where in ((-2, "before2"), (-1, "before"), (1, "after"), (2, "after2")):
            found[f"{where}_{name}"] = pool.beside(column, step)
    for name, column in (("words", basic["words"]), ("vector", above)):
        found[f"session_{name}"], found[f"session3_{name}"] = _of_session(pool, column)
    counts = np.bincount(pool.sessions)
    found["session_share"] = counts[pool.sessions] / len(pool)
    return found


def _of_session(pool: Pool, column: Column) -> tuple[Column, Column]:
    """The best value among a candidate's session, and the mean of the best three (missing ones count as the least)."""
    if not np.isfinite(column).any():
        return column, column
    known = np.nan_to_num(column, nan=np.nanmin(column))
    order = np.lexsort((-known, pool.sessions))
    sessions = pool.sessions[order]
    counts = np.bincount(pool.sessions)
    place = np.arange(len(pool)) - np.searchsorted(sessions, sessions)
    first = place < _OF_SESSION
    sums = np.bincount(sessions[first], known[order][first], len(counts))
    three = (sums + known.min() * np.maximum(_OF_SESSION - counts, 0)) / _OF_SESSION
    best = np.empty(len(counts))
    best[sessions[place == 0]] = known[order][place == 0]
    return best[pool.sessions], three[pool.sessions]


def _time(pool: Pool, _: Measures) -> Measures:
    windows = pool.plan.windows
    if not windows:
        return {}
    spans = [(window.since.timestamp(), window.until.timestamp()) for window in windows]
    inside = np.zeros(len(pool))
    length = pool.blank()
    for since, until in spans:
        within = (pool.happened >= since) & (pool.happened < until)
        inside[within] = 1.0
        length[within] = np.fmin(length[within], np.log1p((until - since) / 86_400))
    near = np.min([np.maximum(since - pool.happened, pool.happened - until) for since, until in spans], axis=0)
    away = np.log1p(np.maximum(near, 0.0) / 86_400)
    score = pool.scores("time")
    return {
        "inside": inside,
        "window": length,
        "away": away,
        "time": score,
        "outside": (score == 0) * (score.max() > 0),
    }


def _recency(pool: Pool, basic: Measures) -> Measures:
    days = np.maximum(pool.plan.moment.timestamp() - pool.happened, 0.0) / 86_400
    found: Measures = {f"recent{span}": np.exp(-days / span) for span in (3, 14, 60)}
    top = _first(basic)
    newer = pool.happened[top][None, :] - pool.happened[:, None] > _SAME_TIME
    found["newer"] = newer.mean(axis=1)
    # Whether something newer answers as well: of what changed, the last word counts.
    for name in ("words_own", "vector"):
        if name in basic:
            found[f"newer_{name}"] = _max(np.where(newer, basic[name][top], np.nan)) - basic[name]
    return found


def _names(pool: Pool, _: Measures) -> Measures:
    asked = fold_name(pool.plan.text)
    folded = {speaker: fold_name(speaker).partition(" ")[0] for speaker in {m.speaker or "" for m in pool.memories}}
    speakers = [folded[memory.speaker or ""] for memory in pool.memories]
    named = {each for each in set(speakers) - _ROLES if each and _mentions(asked, each)}
    texts = pool.texts
    found = {}
    if named:
        found["speaker"] = np.array([1.0 if s in named else -1.0 if s and s not in _ROLES else 0.0 for s in speakers])
    others = [name for name in pool.plan.names if name not in named]
    if others:
        weights = np.array([1 / np.log2(2 + pool.plan.names[name]) for name in others])
        held = np.array([[name in text for name in others] for text in texts])
        found["named"] = held @ weights / weights.sum()
    numbers = set(_NUMBER.findall(pool.plan.text))
    if numbers:
        found["numbers"] = np.array([len(numbers & set(_NUMBER.findall(text))) / len(numbers) for text in texts])
    words = [word for word in pool.plan.asks[0].words if len(word) > 2 or _HAN.search(word)]
    if words:
        found["said"] = np.array([sum(word in text for word in words) / len(words) for text in texts])
    return found


def _graph(pool: Pool, _: Measures) -> Measures:
    score = pool.scores("graph")
    most = _most(score)
    return {"graph": score, "graph_rank": _rank(score), "graph_gap": score / most if most > 0 else pool.blank()}


def _feedback(pool: Pool, basic: Measures) -> Measures:
    top = _first(basic)
    if not pool.vectors or not len(top):
        return {}
    like = np.vecdot(pool.matrix[:, None], pool.matrix[top])
    like[top, np.arange(len(top))] = np.nan  # no memory is like itself
    if not np.isfinite(like).any():
        return {}
    like = (like - np.nanmean(like)) / (np.nanstd(like) + 1e-6)
    newer = pool.happened[top][None, :] - pool.happened[:, None]
    return {
        "like3": _mean(like[:, :3]),
        "like": _mean(like),
        "like_best": _max(like),
        "like_newer": _max(np.where(newer > _SAME_TIME, like, np.nan)),
        "like_older": _max(np.where(newer < -_SAME_TIME, like, np.nan)),
    }


def _parts(pool: Pool, _: Measures) -> Measures:
    if len(pool.plan.asks) == 1:
        return {}
    found = {"part_words": pool.scores("parts:words"), "part_words_rank": _rank(pool.scores("parts:words"))}
    if pool.space is not None and pool.vectors:
        asked = np.array(pool.brought.vectors[pool.space][1:])
        cosine = np.vecdot(pool.matrix[:, None], asked).max(axis=1)
        found |= {"part_vector_gap": cosine - _most(cosine), "part_vector_rank": _rank(cosine)}
    return found


def _form(pool: Pool, _: Measures) -> Measures:
    texts = pool.texts
    found = {
        "length": np.array([np.log1p(len(text) * (3 if _is_chinese(text) else 1)) for text in texts]),
        "asks": np.array([float(text.rstrip().endswith(("?", "？"))) for text in texts]),
        "says_change": np.array([float(_says_change(text)) for text in texts]),
        "opens": np.array([float(memory.turn == 0) for memory in pool.memories]),
    }
    if _WHEN.search(pool.plan.text):
        found["says_when"] = np.array([float(_says_when(text)) for text in texts])
    if _HOW_MANY.search(pool.plan.text):
        found["says_number"] = np.array([float(bool(_NUMBER.search(text))) for text in texts])
    return found


def _is_chinese(text: str) -> bool:
    """Whether more than a quarter of how a text begins is Chinese: a character of it says what three letters do."""
    begins = text[:200]
    return not begins.isascii() and len(_HAN.findall(begins)) > len(begins) / 4


def _says_change(text: str) -> bool:
    return bool(_CHANGES.search(text) or (not text.isascii() and _CHANGES_ZH.search(text)))


def _says_when(text: str) -> bool:
    """Whether a text has a word, or a number like a year, that tells when."""
    return any(
        len(unit) == 4 if unit.isdecimal() else not unit.isascii() or unit.removesuffix("s") in _SAYS_WHEN
        for unit in _UNITS.findall(text)
    )


def asks_past(text: str) -> bool:
    """Whether a question is about what was so before."""
    return _PAST.search(text) is not None


def _asked(pool: Pool, basic: Measures) -> Measures:
    """What is the same for all candidates: it lets the trees weigh the signals by the kind of question."""
    text = pool.plan.text
    values = {
        "asked_words": float(np.log1p(len(pool.plan.asks[0].words))),
        "asked_chinese": float(_is_chinese(text)),
        "asked_now": float(bool(_NOW.search(text))),
        "asked_past": float(asks_past(text)),
        "asked_when": float(bool(_WHEN.search(text))),
        "asked_time": float(bool(pool.plan.windows)),
        "best_words": _most(basic["words"]),
        "best_vector": _most(basic.get("vector", pool.blank())),
        "lead_vector": _lead(basic.get("vector", pool.blank())),
    }
    return {name: np.full(len(pool), value) for name, value in values.items()}


def _first(basic: Measures) -> NDArray[np.int64]:
    """Rows of the best candidates by words and meaning together, best first."""
    return np.argsort(-basic["agreed"], kind="stable")[:_TOP]


def _fused(ranks: Column) -> Column:
    return RRF_K / (RRF_K + ranks)


def _rank(scores: Column) -> Column:
    """Places from 1 among the candidates, equal ones by row; NaN where there is no score."""
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    ranks[np.isnan(scores)] = np.nan
    return ranks


def _most(column: Column) -> float:
    return float(np.nanmax(column)) if np.isfinite(column).any() else np.nan


def _lead(column: Column) -> float:
    """How far the best stands above the tenth."""
    known = np.sort(column[np.isfinite(column)])[::-1]
    return float(known[0] - known[min(9, len(known) - 1)]) if len(known) else np.nan


def _max(table: NDArray[np.float32]) -> Column:
    most: Column = np.fmax.reduce(table, axis=1, initial=np.nan)
    return most


def _mean(table: NDArray[np.float32]) -> Column:
    counts = np.isfinite(table).sum(axis=1)
    return np.where(counts > 0, np.nansum(table, axis=1) / np.maximum(counts, 1), np.nan)


def _mentions(text: str, name: str) -> bool:
    """Whether a folded text names a speaker, as a word of its own where words are written apart."""
    if _HAN.search(name):
        return name in text
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


_MEASURE: Final[Mapping[str, Callable[[Pool, Measures], Measures]]] = MappingProxyType(
    {
        "surroundings": _surroundings,
        "time": _time,
        "recency": _recency,
        "names": _names,
        "graph": _graph,
        "feedback": _feedback,
        "parts": _parts,
        "form": _form,
    }
)

MEASURES: Final[Mapping[str, str]] = MappingProxyType(
    {"words": "words", "words_own": "words", "words_rank": "words", "words_gap": "words"}
    | dict.fromkeys(("vector", "vector_rank", "vector_gap"), "vector")
    | {
        f"{where}_{name}": "surroundings"
        for where in ("before2", "before", "after", "after2", "session", "session3")
        for name in ("words", "vector")
    }
    | {"session_share": "surroundings"}
    | dict.fromkeys(("inside", "window", "away", "time", "outside"), "time")
    | dict.fromkeys(("recent3", "recent14", "recent60", "newer", "newer_words_own", "newer_vector"), "recency")
    | dict.fromkeys(("speaker", "named", "numbers", "said"), "names")
    | dict.fromkeys(("graph", "graph_rank", "graph_gap"), "graph")
    | dict.fromkeys(("like3", "like", "like_best", "like_newer", "like_older"), "feedback")
    | dict.fromkeys(("part_words", "part_words_rank", "part_vector_gap", "part_vector_rank"), "parts")
    | dict.fromkeys(("length", "asks", "opens", "says_change", "says_when", "says_number"), "form")
    | dict.fromkeys(
        ("asked_words", "asked_chinese", "asked_now", "asked_past", "asked_when", "asked_time", "best_words",
         "best_vector", "lead_vector", "agreed"),
        "question",
    )
)  # fmt: skip
"""The columns of the table, in order, each with the signal it belongs to; ``question`` is none of them."""
