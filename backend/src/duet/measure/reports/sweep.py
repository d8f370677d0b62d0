# SPDX-License-Identifier: GPL-2.0-or-later
"""Format a row per value of the swept knob, with each arm's median and ratio. Pure."""

from __future__ import annotations

from duet.measure.model import Report, Series
from duet.measure.reports.scale import axis, by_shift
from duet.measure.reports.text import (
    WIDTH,
    Block,
    alarms,
    blocks,
    head,
    metric_title,
    number,
    plain,
    provenance,
    setting,
    verdicts,
    whole,
    wrap,
)

GAP = "  "


def render(report: Report) -> str:
    """Format one table of medians for each clock setting and metric."""
    body: list[str] = []
    for tables in by_shift(report):
        body += [*setting(report, tables[0], swept=True), ""]
        param, values = axis(report, tables)
        found: dict[str, list[tuple[int, Block]]] = {}
        for value, table in zip(values, tables, strict=True):
            for block in blocks(report, table):
                found.setdefault(block.first.metric, []).append((value, block))
        for rows in found.values():
            body += [*metric(report, param, rows), ""]
    return whole(alarms(report), head(report), body, provenance(report))


def metric(report: Report, param: str, rows: list[tuple[int, Block]]) -> list[str]:
    """Format medians and ratios. Arms that do not fit into the width get a block below."""
    first, *others = [arm.name for arm in report.arms]
    base = _column(first, [_value(block, first) for _, block in rows])
    values = _column(param, [str(value) for value, _ in rows])
    lines = wrap(f"{metric_title(rows[0][1].first)}; medians")
    shown: list[list[str]] = []
    for arm in others:
        pair = [
            _column(arm, [_value(block, arm) for _, block in rows]),
            _column("ratio", [_ratio(block, arm) for _, block in rows]),
        ]
        if shown and _width([values, base, *shown, *pair]) > WIDTH:
            lines += [*_rows([values, base, *shown]), ""]
            shown = []
        shown += pair
    lines += _rows([values, base, *shown])
    if any(_ratio(block, arm) == "n.d." for _, block in rows for arm in others):
        lines.append("n.d.: no difference proven")
    for value, block in rows:
        words = verdicts(block)
        lines += ([f"{param} = {value}"] if len(rows) > 1 else []) + words if words else []
    return lines


def _value(block: Block, arm: str) -> str:
    one: Series | None = next((s for s in block.series if s.arm == arm), None)
    found = block.summary(one) if one is not None else None
    return number(found.median) if found else "-"


def _ratio(block: Block, arm: str) -> str:
    found = block.comparison(arm)
    if found is None or found.verdict == "refused":
        return "-" if found is None else "refused"
    if found.verdict == "no difference proven":
        return "n.d."
    return f"{found.ratio:.3g}" if found.ratio is not None else "-"


def _column(title: str, cells: list[str]) -> list[str]:
    named = plain(title)
    if len(named) > 20:  # five arms with long names must fit into the width
        named = named[:19] + "~"
    width = max(len(named), *(len(cell) for cell in cells))
    return [cell.rjust(width) for cell in (named, *cells)]


def _width(columns: list[list[str]]) -> int:
    return sum(len(column[0]) + len(GAP) for column in columns)


def _rows(columns: list[list[str]]) -> list[str]:
    return [GAP + GAP.join(row) for row in zip(*columns, strict=True)]
