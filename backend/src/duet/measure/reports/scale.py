# SPDX-License-Identifier: GPL-2.0-or-later
"""Format a report like will-it-scale's results: CSV by tasks, then before and after. Pure.

will-it-scale writes one file per kernel, with columns for processes and threads. Here each arm is a
column.
"""

from __future__ import annotations

from duet.measure.model import Report, Series, Table, unlike
from duet.measure.reports.text import (
    WIDTH,
    Block,
    alarms,
    blocks,
    head,
    metric_title,
    percent,
    plain,
    provenance,
    setting,
    verdicts,
    whole,
    wrap,
)

HEADING = "nr"
"""Heading of the first column if no knob sets the number of parallel tasks."""


def render(report: Report) -> str:
    """For each shift, format a CSV block per metric, and the arms' changes at each knob value."""
    body: list[str] = []
    for tables in by_shift(report):
        body += [*setting(report, tables[0], swept=True), ""]
        param, values = axis(report, tables)
        for metric in dict.fromkeys(b.first.metric for t in tables for b in blocks(report, t)):
            rows = [
                (value, block)
                for value, table in zip(values, tables, strict=True)
                for block in blocks(report, table)
                if block.first.metric == metric
            ]
            body += [*wrap(metric_title(rows[0][1].first)), *_csv(report, param, rows), ""]
            for value, block in rows:
                body += [*_before_after(f"{param} {value}", block), *verdicts(block), ""]
    return whole(alarms(report), head(report), body, provenance(report))


def by_shift(report: Report) -> list[list[Table]]:
    """Group tables by shift, so that a group differs only in the swept knob."""
    groups: dict[int | None, list[Table]] = {}
    for table in report.tables:
        groups.setdefault(table.condition.shift, []).append(table)
    return list(groups.values())


def axis(report: Report, tables: list[Table]) -> tuple[str, list[int]]:
    """Return the name of the knob for the first column, and the knob's value in each table."""
    if report.sweep:
        name = report.sweep[0]
    else:
        params = tables[0].condition.params
        name = report.tasks if report.tasks is not None and report.tasks in params else HEADING
    return name, [table.condition.params.get(name, 1) for table in tables]


def _csv(report: Report, param: str, rows: list[tuple[int, Block]]) -> list[str]:
    arms = [arm.name for arm in report.arms]
    heading = ",".join([param, *(plain(arm).replace(",", " ") for arm in arms)])
    higher = rows[0][1].first.better == "higher"
    # The column `linear` extrapolates the smallest value's rate, so all hosts must be alike.
    higher = higher and not (report.wall and unlike(report.hosts))
    least = next(((v, m) for v, b in rows if v and (m := _median(b, arms[0])) is not None), None)
    lines = []
    for value, block in rows:
        cells = [_cell(_median(block, arm)) for arm in arms]
        if higher:
            cells.append(_cell(least[1] / least[0] * value if least else None))
        lines.append(",".join([str(value), *cells]))
    words = [heading + (",linear" if higher else ""), *lines]
    if any(len(line) > WIDTH for line in words):  # if names are long, use one line per arm
        words = [f"{param},arm,median"]
        words += [f"{v},{plain(a)[:40]},{_cell(_median(b, a))}" for v, b in rows for a in arms]
    return words


def _before_after(at: str, block: Block) -> list[str]:
    lines = []
    for one in block.series:
        found = block.comparison(one.arm)
        change = ""
        if found is not None and found.change_percent is not None:
            proven = found.verdict != "no difference proven"
            change = f" ({percent(found.change_percent)})" if proven else " (none proven)"
        span = ""
        if len(one.starts) > 1:
            low, high = _cell(min(one.starts)), _cell(max(one.starts))
            span = f", min {low}, max {high}" if low != high else ", all equal"
            span += f", n = {len(one.starts)}"
        value = "-" if one.figure is None else _cell(one.figure)
        lines += wrap(f"{one.arm}: {value}{change}{span}", "    ")
    return [f"[{at}]", *lines]


def _median(block: Block, arm: str) -> float | None:
    one: Series | None = next((s for s in block.series if s.arm == arm), None)
    return one.figure if one is not None else None


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
