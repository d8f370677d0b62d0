# SPDX-License-Identifier: GPL-2.0-or-later
"""Format a report like the kernel test robot's: '%stddev  %change  %stddev'. Pure."""

from __future__ import annotations

from duet.measure.model import Report, Series, Table
from duet.measure.reports.text import (
    WIDTH,
    Block,
    alarms,
    blocks,
    head,
    metric_title,
    pairs,
    plain,
    provenance,
    setting,
    verdicts,
    whole,
    wrap,
)

RULE = "=" * WIDTH
HEAD = (
    f"{'-' * 16} {'-' * 27}",
    "         %stddev     %change         %stddev",
    "             \\          |                \\",
)
NAME = 46
"""Column where metric names begin."""


def render(report: Report) -> str:
    """Format one comparison per arm and table, with means as in LKP reports."""
    body: list[str] = []
    for table in report.tables:
        body += _axes(report, table)
        for arm, to in pairs(report):
            body += ["", f"{plain(to)[:30]:>16} {plain(arm)[:30]}", *HEAD]
            for block in blocks(report, table):
                body += _line(block, arm)
        body += ["", *_legend(report, table), ""]
    return whole(alarms(report), head(report), body, provenance(report))


def _axes(report: Report, table: Table) -> list[str]:
    condition = table.condition
    names = ["lesson", "workload", "clock", *condition.params]
    values = [report.lesson, condition.workload, condition.clock]
    values += [str(value) for value in condition.params.values()]
    if condition.shift is not None:
        names.append("shift")
        values.append(str(condition.shift))
    axes = [*wrap("/".join(names) + ":"), *wrap("/".join(values), "  ")]
    return [RULE, *axes, "", *setting(report, table)]


def _line(block: Block, arm: str) -> list[str]:
    one = next((s for s in block.series if s.arm == arm), None)
    if one is None:
        return []
    cells = f"{_cell(block, block.first)}{_change(block, one):>10}{_cell(block, one, 11)}  "
    name = plain(one.metric)
    if len(name) <= WIDTH - NAME:
        return [f"{cells:<{NAME}}{name}"]
    return [cells.rstrip(), *wrap(name, "      ")]


def _cell(block: Block, one: Series, width: int = 10) -> str:
    found = block.summary(one)
    if found is None:
        return f"{'-':>{width}}      "
    if found.mean == int(found.mean) and abs(found.mean) < 1e10:
        words = f"{found.mean:.0f}"
    else:
        words = f"{found.mean:.0f}" if 1e4 <= abs(found.mean) < 1e10 else f"{found.mean:.4g}"
    spread = 100 * found.stddev / abs(found.mean) if found.stddev and found.mean else 0
    # LKP omits a spread that rounds to 1 % or less. This code omits only a spread below 0.5 %.
    noise = f" +-{min(spread, 999):2.0f}%" if spread >= 0.5 else ""
    return f"{words:>{width}}{noise:<6}"


def _change(block: Block, one: Series) -> str:
    found, ours, theirs = block.comparison(one.arm), block.summary(one), block.summary(block.first)
    if found is not None and found.verdict == "refused":
        return "refused"
    if found is not None and found.verdict == "no difference proven":
        return "n.d."
    if found is None or ours is None or theirs is None or not theirs.mean:
        return "-"
    change = 100 * (ours.mean / theirs.mean - 1)
    return f"{change:+.1f}%" if abs(change) < 1e5 else f"{change:+.1e}%"


def _legend(report: Report, table: Table) -> list[str]:
    lines = [
        *wrap(
            "Numbers are means. n.d.: no difference proven. %change compares means, but "
            "verdicts compare medians:"
        )
    ]
    for block in blocks(report, table):
        words = ", ".join(f"{s.arm} n={s.n}" for s in block.series)
        lines += [*wrap(f"{metric_title(block.first)}; {words}"), *verdicts(block)]
    return lines
