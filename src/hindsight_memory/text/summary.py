"""Shortens a long text to those of its own sentences that say most of it, in English and Chinese, without a model.

TextRank (Mihalcea and Tarau, «TextRank: Bringing Order into Texts», 2004): a sentence matters when it shares words with
sentences that matter.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Final

from hindsight_memory.text.clauses import asks, sentence_spans
from hindsight_memory.text.names import names_in
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.tokens import count_tokens, index_words, truncate

MOST_READ: Final = 400
"""Sentences of one text that are read; of more, every second, third … is."""

MOST_COMPARED: Final = 100
"""Sentences that are compared with each other, those of the commonest words: the work grows with the square."""

_DAMPING: Final = 0.85
_ROUNDS: Final = 20
_ALONE: Final = 0.5
"""What a sentence is worth that shares nothing: «the code of the door is 4711» matters all the same."""
_NUMBER: Final = 0.5
_NAME: Final = 0.3
_FIRST: Final = 0.5
_ERROR: Final = 3.0
"""A line of a log that tells of an error, against those that are all alike."""
_QUESTION: Final = 0.5
_IDLE: Final = 1 / 3
"""Share of the best sentence's weight below which one is not worth its place: a summary need not fill its budget."""
_SAME: Final = 0.8
"""Share of a sentence's words in one that is taken already, from which it only repeats."""
_FEW: Final = 5
"""Words below which a sentence says little, and would seem near to every other."""
_BREVITY: Final = 0.4
"""How much a long sentence pays for its length: three good ones beat one that fills the budget."""

_FENCE: Final = Lazy(r"\s*(?:```|~~~)")
_TABLE: Final = Lazy(r"\s*\|.*\|\s*$|[^\t\n]+\t[^\t\n]*\S")
_RECORD: Final = Lazy(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b"
    r"|Traceback \()"
)
_LOG: Final = Lazy(
    rf"{_RECORD.source}"
    r"|\s*(?:File \"[^\"]*\", line \d|at [\w.$<>]+\(|[\w.]+(?:Error|Exception|Interrupt|Exit)(?::|\s*$))"
)
_ITEM: Final = Lazy(r"\s*(?:[-*+•·]|\(?\d{1,3}[.)、]|[一二三四五六七八九十]、)\s*\S")
_INDENTED: Final = Lazy(r"(?: {2,}|\t)\s*\S")
_LEAD: Final = Lazy(r".*[:：]\s*$")
_WRAP: Final = Lazy(r"(?<=[^\n]{40})\n(?=[a-z])")
_DIGIT: Final = Lazy(r"\d|[一二两三四五六七八九十百千万]+(?:年|月|日|号|点|天|岁|元|块|个|次|倍)")
_FAILED: Final = Lazy(r"(?i)(?<![a-z])[a-z]*(?:error|exception|fatal|failed)(?![a-z])")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text that is taken whole or not at all."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    tokens: int


def summary_of(text: str, budget: int) -> str:
    """A summary of at most ``budget`` tokens: whole sentences as they stand, in their order.

    Sentences with numbers, dates or names are preferred. A block of code, a table, a short list or log comes whole or
    not at all; of a long list or log, whole items and records are taken. Only where nothing whole fits, it is the
    beginning of the text, with «…» where it was cut.
    """
    if count_tokens(text) <= budget:
        return text
    spans = list(_spans(text, budget // 2))
    read = spans[:: -(-len(spans) // MOST_READ) or 1]
    pieces = _commonest([_piece(text, *span) for span in read])
    taken: list[_Piece] = []
    for piece in _best_first(pieces):
        cost = piece.tokens + 1  # with what joins it to the one before
        if cost <= budget and not any(_repeats(piece, other) for other in taken):
            taken.append(piece)
            budget -= cost
    return _joined(sorted(taken, key=lambda piece: piece.start), text) or truncate(text, budget)


def most_central(texts: Sequence[str]) -> int:
    """The place of the text that says most of what all of them say; 0 when there is none."""
    pieces = [replace(_piece(text, 0, len(text)), start=n) for n, text in enumerate(texts)]
    return next((piece.start for piece in _best_first(_commonest(pieces))), 0)


# Cutting


def _piece(text: str, start: int, end: int) -> _Piece:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    part = part.strip()
    return _Piece(start, start + len(part), part, frozenset(index_words(part)), count_tokens(part))


def _spans(text: str, whole: int) -> Iterator[tuple[int, int]]:
    """The parts of a text; a list or log is one of at most ``whole`` tokens, or else as many as it has entries."""
    for kind, start, end in _blocks(text):
        if (kind is _ITEM or kind is _LOG) and count_tokens(text[start:end]) > whole:
            yield from _entries(_RECORD if kind is _LOG else kind, text, start, end)
        elif kind is None:
            prose = _WRAP.pattern.sub(" ", text[start:end])
            yield from ((start + first, start + last) for first, last in sentence_spans(prose))
        else:
            yield start, end


def _blocks(text: str) -> Iterator[tuple[Lazy | None, int, int]]:
    """Runs of lines of one kind, and where each begins and ends; a line that leads to a list is part of it."""
    begun: int | None = None
    for kind, run in groupby(_lines(text), key=lambda line: line[0]):
        lines = list(run)
        start = lines[0][1] if begun is None or kind is None else begun
        if begun is not None and kind is None:
            yield None, begun, lines[0][1]
        begun = None
        if kind is None and _LEAD.pattern.match(text, lines[-1][1], lines[-1][2]):
            begun = lines.pop()[1]
        if lines:
            yield kind, start, lines[-1][2]
    if begun is not None:
        yield None, begun, len(text)


def _lines(text: str) -> Iterator[tuple[Lazy | None, int, int]]:
    """Each line that is not blank: what it is, where it begins and ends. What is indented belongs to what is above."""
    kind: Lazy | None = None
    fenced = False
    for line in _LINE.pattern.finditer(text):
        if _FENCE.pattern.match(text, line.start()):
            kind, fenced = _FENCE, not fenced
        elif not fenced:
            known = next((each for each in (_TABLE, _LOG, _ITEM) if each.pattern.match(text, *line.span())), None)
            under = kind in (_LOG, _ITEM) and _INDENTED.pattern.match(text, *line.span())
            kind = kind if known is None and under else known
        yield kind, *line.span()


_LINE: Final = Lazy(r"[^\n]*\S[^\n]*")


def _entries(mark: Lazy, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The items of a list, the records of a log: each with the lines under it, up to the next one."""
    begins = [
        line.start() for line in _LINE.pattern.finditer(text, start, end) if mark.pattern.match(text, line.start())
    ]
    begins[:1] = [start]
    return list(zip(begins, [*begins[1:], end], strict=True))


# Weighing


def _commonest(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces that are compared: those whose words are most shared, in their order."""
    if len(pieces) <= MOST_COMPARED:
        return pieces
    shared = Counter(word for piece in pieces for word in piece.words)
    of_all = sorted(pieces, key=lambda piece: -sum(shared[word] for word in piece.words) / (len(piece.words) + 5))
    return sorted(of_all[:MOST_COMPARED], key=lambda piece: piece.start)


def _best_first(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The pieces worth taking, in the order they are taken in."""
    ranks = _ranks(pieces)
    weights = [
        (_ALONE + rank) * _worth(piece, first=piece is pieces[0]) for piece, rank in zip(pieces, ranks, strict=True)
    ]
    least = _IDLE * max(weights, default=0.0)
    worth = [
        (weight / max(piece.tokens, _FEW) ** _BREVITY, piece)
        for piece, weight in zip(pieces, weights, strict=True)
        if weight and weight >= least
    ]
    return [piece for _, piece in sorted(worth, key=lambda pair: -pair[0])]


def _ranks(pieces: Sequence[_Piece]) -> list[float]:
    """How much each piece matters to the others; about 1 in the mean."""
    edges = _edges(pieces)
    out = [0.0] * len(pieces)
    for one, two, weight in edges:
        out[one] += weight
        out[two] += weight
    ranks = [1.0] * len(pieces)
    for _ in range(_ROUNDS):
        given = [0.0] * len(pieces)
        for one, two, weight in edges:
            given[two] += ranks[one] * weight / out[one]
            given[one] += ranks[two] * weight / out[two]
        ranks = [1 - _DAMPING + _DAMPING * each for each in given]
    return ranks


def _edges(pieces: Sequence[_Piece]) -> list[tuple[int, int, float]]:
    """Pairs of pieces that share words, and how much: rare words count, those that all of them hold do not."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        for word in piece.words:
            holders[word].append(number)
    shared: defaultdict[tuple[int, int], float] = defaultdict(float)
    for held in holders.values():
        rarity = math.log(len(pieces) / len(held))
        for pair in combinations(held, 2):
            shared[pair] += rarity
    lengths = [math.log(max(len(piece.words), _FEW)) for piece in pieces]
    return [(one, two, weight / (lengths[one] + lengths[two])) for (one, two), weight in shared.items() if weight]


def _worth(piece: _Piece, *, first: bool) -> float:
    """What a piece is worth beside its place among the others: facts more, small talk nothing."""
    if not piece.words or is_small_talk(piece.text):
        return 0.0
    worth = 1.0 + (_FIRST if first else 0.0)
    worth += _NUMBER if _DIGIT.pattern.search(piece.text) else 0.0
    worth += _NAME if names_in(piece.text) else 0.0
    worth += _ERROR if _LOG.pattern.match(piece.text) and _FAILED.pattern.search(piece.text) else 0.0
    return worth * min(len(piece.words) / _FEW, 1.0) * (_QUESTION if asks(piece.text) else 1.0)


def _repeats(piece: _Piece, other: _Piece) -> bool:
    return len(piece.words & other.words) >= _SAME * min(len(piece.words), len(other.words))


def _joined(pieces: Sequence[_Piece], text: str) -> str:
    """The pieces in one text: on lines of their own where they were, otherwise as sentences follow each other."""
    parts: list[str] = []
    for number, piece in enumerate(pieces):
        if number:
            between = text[pieces[number - 1].end : piece.start]
            parts.append("\n" if "\n" in between else " " if parts[-1][-1].isascii() else "")
        parts.append(piece.text)
    return "".join(parts)
