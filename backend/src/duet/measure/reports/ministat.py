# SPDX-License-Identifier: GPL-2.0-or-later
"""Format a report like ministat(1): dot plot, N Min Max Median Avg Stddev, Student's t. Pure.

Readers of ministat expect Student's t, so it is printed next to our own verdict.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from duet.measure.model import MIN_RUNS, Report, Series
from duet.measure.reports.text import (
    WIDTH,
    Block,
    alarms,
    blocks,
    head,
    metric_title,
    plain,
    provenance,
    setting,
    verdicts,
    whole,
    wrap,
)

SYMBOLS = "x+*%#"
BOTH = "@"
"""Symbol at places where two arms overlap. (ministat uses '*', which is an arm's symbol here.)"""
INNER = WIDTH - 2
CONFIDENCE = 0.95
TINY = 2e-9
"""A spread below this share of the value is rounding, not noise."""


def render(report: Report) -> str:
    """Format every metric of every table."""
    body: list[str] = []
    for table in report.tables:
        body += [*setting(report, table), ""]
        for block in blocks(report, table):
            body += [*metric(block), ""]
    return whole(alarms(report), head(report), body, provenance(report))


def metric(block: Block) -> list[str]:
    """Format legend, plot, table and differences."""
    held = [(SYMBOLS[n % len(SYMBOLS)], s) for n, s in enumerate(block.series) if s.samples]
    lines = wrap(metric_title(block.first))
    lines += [f"{symbol} {plain(one.arm)[: WIDTH - 2]}" for symbol, one in held]
    if held:
        lines += [*plot([(symbol, one.starts) for symbol, one in held]), TITLE]
    lines += [table_row(symbol, one.starts) for symbol, one in held]
    if held and held[0][1] is block.first:
        if block.table.condition.clock != "wall" or block.first.evidence != "measured":
            lines += ["No Student's t: these are counts, not samples of noise"]
        else:
            lines += [line for _, one in held[1:] for line in difference(block, one)]
    return lines + verdicts(block)


TITLE = "    N " + " ".join(f"{word:>13}" for word in ("Min", "Max", "Median", "Avg", "Stddev"))


def table_row(symbol: str, samples: Sequence[float]) -> str:
    """Format one series as a row with ministat's columns."""
    spread = statistics.stdev(samples) if len(samples) > 1 else 0.0
    cells = (
        min(samples),
        max(samples),
        statistics.median(samples),
        statistics.fmean(samples),
        spread,
    )
    words = (f"{cell:13.7g}" for cell in cells)
    fits = (t if len(t) <= 13 else f"{c:13.5g}" for t, c in zip(words, cells, strict=True))
    return f"{symbol} {len(samples):3d} " + " ".join(fits)


def difference(block: Block, one: Series) -> list[str]:
    """Return ministat's sentences about a difference if there are enough samples."""
    ours, theirs = one.samples, block.first.samples
    found = block.comparison(one.arm)
    if min(len(ours), len(theirs)) < MIN_RUNS or found is None or found.verdict == "refused":
        return [f"No Student's t for {plain(one.arm)}: see the verdict"[:WIDTH]]
    from scipy import stats

    result = stats.ttest_ind(ours, theirs, equal_var=True)
    interval = result.confidence_interval(CONFIDENCE)
    delta = statistics.fmean(ours) - statistics.fmean(theirs)
    error = (float(interval.high) - float(interval.low)) / 2
    if not abs(delta) > error:
        return [f"No difference proven at 95.0% confidence ({plain(one.arm)[:30]})"]
    base = statistics.fmean(theirs)
    freedom = len(ours) + len(theirs) - 2
    squares = statistics.variance(ours) * (len(ours) - 1)
    squares += statistics.variance(theirs) * (len(theirs) - 1)
    return [
        f"Difference at 95.0% confidence ({plain(one.arm)[:30]})",
        f"        {delta:g} +/- {error:g}",
        f"        {100 * delta / base:g}% +/- {100 * error / abs(base):g}%",
        f"        (Student's t, pooled s = {(squares / freedom) ** 0.5:g})",
    ]


def plot(sets: Sequence[tuple[str, Sequence[float]]]) -> list[str]:
    """Plot samples as stacked dots. Below the dots, draw each arm's mean and deviation as a bar."""
    bounds = [edge for _, samples in sets for edge in _edges(samples)]
    low, high = min(bounds), max(bounds)
    if high - low <= TINY * max(abs(low), abs(high)):
        margin = max(abs(low), abs(high)) / 100 or 1.0
        low, high = low - margin, high + margin

    def place(value: float) -> int:
        return min(INNER - 1, max(0, round((value - low) / (high - low) * (INNER - 1))))

    stacks: list[list[str]] = [[] for _ in range(INNER)]
    for symbol, samples in sets:
        height = [0] * INNER
        for value in samples:
            at = place(value)
            stack = stacks[at]
            if height[at] < len(stack):
                stack[height[at]] = BOTH
            else:
                stack.append(symbol)
            height[at] += 1
    edge = f"+{'-' * INNER}+"
    tall = max(len(stack) for stack in stacks)
    rows = [
        "".join(stack[level] if level < len(stack) else " " for stack in stacks)
        for level in range(tall - 1, -1, -1)
    ]
    rows += [_bar(samples, place) for _, samples in sets]
    return [edge, *(f"|{row}|" for row in rows), edge]


def _edges(samples: Sequence[float]) -> tuple[float, ...]:
    mean = statistics.fmean(samples)
    spread = statistics.stdev(samples) if len(samples) > 1 else 0.0
    return min(samples), max(samples), mean - spread, mean + spread


def _bar(samples: Sequence[float], place: object) -> str:
    assert callable(place)
    _, _, low, high = _edges(samples)
    cells = [" "] * INNER
    first, last = place(low), place(high)
    cells[first : last + 1] = "_" * (last + 1 - first)
    cells[first] = cells[last] = "|"
    cells[place(statistics.median(samples))] = "M"
    cells[place(statistics.fmean(samples))] = "A"
    return "".join(cells)
