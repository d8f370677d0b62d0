# SPDX-License-Identifier: GPL-2.0-or-later
"""What a maintainer pastes into a mail. Pure."""

from __future__ import annotations

from duet.guests.types import Clock
from duet.measure.compare import shift_words
from duet.measure.model import Report, Series, Table
from duet.measure.reports.parts import alarms, head, provenance, setting, verdicts, whole
from duet.measure.reports.text import (
    Block,
    blocks,
    columns,
    metric_title,
    number,
    params_words,
    percent,
    plain,
    wrap,
)

MAX_LINES = 60
"""Verbatim lines per arm."""


def render(report: Report) -> str:
    """Alarms, then per condition the metrics, then provenance and the workload's own lines."""
    body: list[str] = []
    for count, table in enumerate(report.tables):
        if count:
            body += ["-" * 40, ""]
        body += [*setting(report, table), ""]
        for block in blocks(report, table):
            body += [*metric(block), ""]
        body += _events(table)
    lines = [line for table in report.tables for line in verbatim(report, table)]
    return whole(alarms(report), head(report), body, provenance(report), lines)


def metric(block: Block) -> list[str]:
    """One metric: its direction, a line per arm, the verdicts."""
    if block.first.extra and all(len(set(one.starts)) == 1 for one in block.series):
        return _aside(block)
    wall = block.table.condition.clock is Clock.WALL
    interval = "95 % CI of the mean" if wall else "lowest to highest"
    heading = ("arm", "n" if wall else "starts", "median", "mean", interval, "change")
    rows = [_row(block, one, wall=wall) for one in block.series]
    return [*wrap(metric_title(block.first)), *columns(heading, rows), *verdicts(block)]


def _aside(block: Block) -> list[str]:
    """A number that is not judged and the same in all runs of an arm: all of it on one line."""
    words = (f"{one.arm} {number(one.samples[0])} (n {one.n})" for one in block.series)
    return [*wrap(metric_title(block.first)), *wrap("; ".join(words), "  ")]


def _row(block: Block, one: Series, *, wall: bool) -> tuple[str, ...]:
    found = block.summary(one)
    if found is None:
        return one.arm, "0", "-", "-", "-", "-"
    span = found.ci if wall else _span(one)
    words = f"{number(span[0])} to {number(span[1])}" if span else "-"
    return (
        one.arm,
        str(found.n if wall else 1 + len(one.perturbed)),
        number(found.median),
        number(found.mean),
        words,
        change(block, one),
    )


def change(block: Block, one: Series) -> str:
    """In percent, only where the comparison stands."""
    found = block.comparison(one.arm)
    if found is None or found.change_percent is None:
        return "" if one is block.first else "-"
    if found.verdict == "no difference proven":
        return "none proven"
    if found.ratio == 1:
        return "same"
    return percent(found.change_percent)


def verbatim(report: Report, table: Table) -> list[str]:
    """The workload's own lines of the last run of each arm, as it wrote them."""
    lines: list[str] = []
    several = f", {params_words(table)}" if len(report.tables) > 1 else ""
    if table.condition.clock is Clock.COUNT:
        several += f", {shift_words(table.condition.shift)}"
    for arm, said in table.lines.items():
        runs = max(
            (s.n for s in table.series if s.arm == arm and s.evidence != "static"), default=1
        )
        each, rest = divmod(len(said), max(runs, 1))
        shown = said[-each:] if each and not rest else said
        of = f"the last of {runs} runs" if len(shown) < len(said) else "all its runs"
        if len(shown) > MAX_LINES:
            of, shown = f"its last {MAX_LINES} lines", shown[-MAX_LINES:]
        lines += ["", *wrap(f"Verbatim, {arm}{several} ({of}):"), *(f"| {plain(s)}" for s in shown)]
    return lines


def _span(one: Series) -> tuple[float, float] | None:
    return (min(one.starts), max(one.starts)) if one.perturbed else None


def _events(table: Table) -> list[str]:
    words = [f"{arm} {read:,} ({lost:,} lost)" for arm, (read, lost) in table.counted.items()]
    return [*wrap(f"Events of the counted runs: {', '.join(words)}."), ""] if words else []
