# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows and figures as cells of tables, and numbers as words."""

from __future__ import annotations

from collections.abc import Sequence

from tools.bench.speed.pairs import Figure, Row
from tools.bench.speed.results import StageResult

Cells = Sequence[Sequence[str]]
ROW_HEAD = (
    "work", "beside", "ratio", "quartiles", "clock", "ours: CPU", "wall", "peer: CPU", "wall",
    "ours a second", "peer a second", "target",
)  # fmt: skip
FIGURE_HEAD = ("figure", "value", "seen", "target")
TARGET_HEAD = ("stage", "what", "wanted", "found", "")


def row_cells(rows: Sequence[Row]) -> Cells:
    """Return the cells of a table of comparisons, below ROW_HEAD."""
    return [
        (
            row.case,
            row.peer,
            f"{ratio_text(row.ratio)}",
            f"{ratio_text(row.low)} to {ratio_text(row.high)}",
            row.clock,
            time_text(row.cpu_s),
            time_text(row.wall_s),
            time_text(row.peer_cpu_s),
            time_text(row.peer_wall_s),
            f"{rate_text(_rate(row, ours=True))} {row.unit}",
            rate_text(_rate(row, ours=False)),
            target_text(row),
        )
        for row in rows
    ]


def figure_cells(figures: Sequence[Figure]) -> Cells:
    """Return the cells of a table of figures, below FIGURE_HEAD."""
    return [
        (
            one.case,
            f"{number(one.value)} {one.unit}",
            f"{number(one.spread[0])} to {number(one.spread[1])}" if one.spread else "",
            target_text(one),
        )
        for one in figures
    ]


def target_cells(stages: Sequence[StageResult]) -> Cells:
    """Return the cells of the table of all targets, below TARGET_HEAD."""
    return [
        (stage.name, _what(one), _wanted(one), _found(one), _met(one))
        for stage in stages
        for one in stage.targets
    ]


def target_text(one: Row | Figure) -> str:
    """Say what was wanted and whether it was met; "" without a target."""
    return "" if one.target is None else f"{_wanted(one)}: {_met(one)}"


def notes(stage: StageResult) -> list[str]:
    """Return the notes of a stage's rows and figures, each once, with the cases they describe."""
    found: dict[str, str] = {}
    for one in stage.measured:
        if one.note:
            about = one.peer if isinstance(one, Row) else one.case
            found.setdefault(one.note, about)
    return [f"{about}: {note}" for note, about in found.items()]


def line(result: Row | Figure) -> str:
    """Return one line about a result, printed as soon as it is ready."""
    target = f"; {target_text(result)}" if result.target is not None else ""
    if isinstance(result, Figure):
        return f"{result.case}: {number(result.value)} {result.unit}{target}"
    return (
        f"{result.case}, beside {result.peer}: ratio {ratio_text(result.ratio)} "
        f"({ratio_text(result.low)} to {ratio_text(result.high)}, {result.clock}), "
        f"{time_text(_time(result, ours=True))} and {time_text(_time(result, ours=False))}{target}"
    )


def text_table(head: Sequence[str], cells: Cells) -> list[str]:
    """Return the lines of a table for a terminal."""
    widths = [max(len(row[n]) for row in (head, *cells)) for n in range(len(head))]
    lines = [[text.ljust(width) for text, width in zip(row, widths, strict=True)] for row in cells]
    top = [text.ljust(width) for text, width in zip(head, widths, strict=True)]
    return ["  ".join(row).rstrip() for row in (top, ["-" * width for width in widths], *lines)]


def markdown_table(head: Sequence[str], cells: Cells) -> list[str]:
    """Return the lines of a table in Markdown."""
    rows = [head, ["---"] * len(head), *cells]
    return [f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |" for row in rows]


# Numbers as words.


def number(value: float) -> str:
    """Format a number with three digits, or whole from 1,000."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1 or not value else f"{value:.2g}"


def ratio_text(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def time_text(seconds: float) -> str:
    """Format a time in a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{seconds / 1e-6:.2g} µs"


def rate_text(value: float) -> str:
    """Format an amount a second, such as "10.4 M"."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return number(value)


def _time(row: Row, *, ours: bool) -> float:
    if row.clock == "cpu":
        return row.cpu_s if ours else row.peer_cpu_s
    return row.wall_s if ours else row.peer_wall_s


def _rate(row: Row, *, ours: bool) -> float:
    return row.work / max(_time(row, ours=ours), 1e-9)


def _what(one: Row | Figure) -> str:
    return f"{one.case}, beside {one.peer}" if isinstance(one, Row) else one.case


def _wanted(one: Row | Figure) -> str:
    assert one.target is not None
    if isinstance(one, Row):
        return f"at least {number(one.target)}"
    return f"at {'most' if one.most else 'least'} {number(one.target)} {one.unit}"


def _found(one: Row | Figure) -> str:
    return ratio_text(one.ratio) if isinstance(one, Row) else f"{number(one.value)} {one.unit}"


def _met(one: Row | Figure) -> str:
    if one.met:
        return "met"
    assert one.target is not None
    found = one.ratio if isinstance(one, Row) else one.value
    by = abs(found - one.target) / one.target if one.target else 1.0
    return f"MISSED by {by:.0%}".replace("%", " %")
