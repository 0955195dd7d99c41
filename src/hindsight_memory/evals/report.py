"""The figures as one HTML page that needs nothing else: tables, and plots drawn as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from hindsight_memory.evals.asking import SetResult
from hindsight_memory.evals.metrics import Bin

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430;
  background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .25rem .7rem; border-bottom: 1px solid #dde2e8;
  text-align: right; } th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
figure { margin: 1rem 0; } figcaption { color: #5a6675; } .wide { overflow-x: auto; }
.bar { fill: #2f6fb2; } .dot { fill: #2f6fb2; } .line { stroke: #98a2ae; fill: none; } .whisker { stroke: #1c2430; }
@media (prefers-color-scheme: dark) { body { color: #e6e9ed; background: #14181d; } th, td { border-color: #303842; }
  figcaption { color: #9aa5b1; } .bar, .dot { fill: #6ba6e6; } .whisker { stroke: #e6e9ed; } }
"""
_WIDTH: Final = 640
_LABEL: Final = 170
_ROW: Final = 22
_PLOTTED: Final = (
    "recall@1",
    "recall@5",
    "recall@10",
    "recall@20",
    "hit@10",
    "session_recall@10",
    "coverage",
    "success",
)
_SIDE: Final = 320
_EDGE: Final = 40


def page(results: Sequence[SetResult], title: str) -> str:
    """The whole report. Every text of the data is escaped, and nothing is fetched from anywhere."""
    parts = [_overview(results), *(_section(result) for result in results)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{''.join(parts)}</body></html>\n"
    )


def bars(values: Mapping[str, float], whiskers: Mapping[str, tuple[float, float]], caption: str) -> str:
    """Horizontal bars of percentages; a whisker is a 95 % interval."""
    room = _WIDTH - _LABEL - 60
    rows = []
    for place, (name, value) in enumerate(values.items()):
        top = place * _ROW
        length = room * min(max(value, 0), 100) / 100
        rows.append(
            f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end">{escape(_cut(name))}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{top + 4}" width="{length:.1f}" height="14" rx="2"/>'
            f'<text x="{_WIDTH - 52}" y="{top + 15}">{value:g}</text>'
        )
        if name in whiskers:
            low, high = (_LABEL + room * min(max(end, 0), 100) / 100 for end in whiskers[name])
            rows.append(f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{top + 11}" y2="{top + 11}"/>')
    return _figure("".join(rows), _WIDTH, max(len(values), 1) * _ROW + 4, caption)


def reliability_plot(bins: Sequence[Bin], caption: str) -> str:
    """Confidence across, the share that was right upwards; on the diagonal it means what it says."""
    most = max((each.n for each in bins), default=1)
    left, bottom = _EDGE, _SIDE + 10
    parts = [
        f'<rect class="line" x="{left}" y="10" width="{_SIDE}" height="{_SIDE}"/>',
        f'<line class="line" x1="{left}" y1="{bottom}" x2="{left + _SIDE}" y2="10" stroke-dasharray="4 4"/>',
    ]
    for each in bins:
        across, up = left + _SIDE * each.confidence, bottom - _SIDE * each.right
        size = 3 + 9 * (each.n / most) ** 0.5
        said = f"{each.n} results, confidence {each.confidence:.2f}, right {each.right:.2f}"
        parts.append(
            f'<circle class="dot" cx="{across:.1f}" cy="{up:.1f}" r="{size:.1f}"><title>{said}</title></circle>'
        )
    for tick in (0, 0.5, 1):
        parts.append(f'<text x="{left + _SIDE * tick}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{left - 8}" y="{bottom - _SIDE * tick + 4}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<text x="{left + _SIDE / 2}" y="{bottom + 34}" text-anchor="middle">confidence</text>')
    return _figure("".join(parts), left + _SIDE + 20, bottom + 42, caption)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    cells = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>\n'


def _overview(results: Sequence[SetResult]) -> str:
    names = list(dict.fromkeys(name for result in results for name in result.metrics))
    rows = [[result.name, str(result.n), *(_number(result.metrics.get(name)) for name in names)] for result in results]
    note = "Shares are percentages; MRR, AUROC and the calibration error lie between 0 and 1. Sets are never pooled."
    return f"<p>{note}</p>{table(['set', 'questions', *names], rows)}"


def _section(result: SetResult) -> str:
    times = ", ".join(f"{name} {value:g} ms" for name, value in result.latency_ms.items() if value is not None)
    facts = [f"{result.memories} memories in {result.groups} groups", f"{result.n} questions"]
    facts += [times] if times else []
    facts += [f"at most {result.memory_mb:g} MB resident"] if result.memory_mb is not None else []
    plotted = {name: result.metrics[name] for name in _PLOTTED if name in result.metrics}
    parts = [f"<h2>{escape(result.name)}</h2><p>{escape('; '.join(facts))}.</p>"]
    parts.append(
        bars(plotted, result.intervals, "Percent; the line is a 95 % interval over groups, where there are two.")
    )
    for kind, values in result.by.items():
        parts.append(_by(kind, values))
    if result.reliability:
        caption = "Each point is a tenth of confidence; above the dashed line it is too modest, below it too sure."
        parts.append(reliability_plot(result.reliability, caption))
    return "".join(parts)


def _by(kind: str, values: Mapping[str, Mapping[str, float]]) -> str:
    names = list(dict.fromkeys(name for part in values.values() for name in part))
    rows = [[part, *(_number(numbers.get(name)) for name in names)] for part, numbers in values.items()]
    measure = next((name for name in ("recall@10", "coverage") if name in names), None)
    plot = {part: numbers[measure] for part, numbers in values.items() if measure and measure in numbers}
    return bars(plot, {}, f"{measure} by {kind}, percent") * bool(plot) + table([kind, *names], rows)


def _figure(drawn: str, width: float, height: float, caption: str) -> str:
    return (
        f'<figure><svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(caption)}">{drawn}</svg><figcaption>{escape(caption)}</figcaption></figure>\n'
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _cut(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
