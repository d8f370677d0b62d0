# SPDX-License-Identifier: GPL-2.0-or-later
"""What the text formats share: ASCII, wrapping, columns, numbers, names. Pure."""

from __future__ import annotations

import re
import shlex
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from duet.guests.sharing import sharing_words
from duet.guests.types import Clock
from duet.measure.compare import format_value
from duet.measure.model import Comparison, Report, Series, Summary, Table
from duet.measure.stats import summary

WIDTH = 75
SIGNS = str.maketrans(
    {
        "\u00b5": "u",
        "\u03bc": "u",
        "\u00d7": "x",
        "\u00b1": "+-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2026": "...",
        "\u2192": "->",
        "\u00ae": "(R)",
        "\u2122": "(TM)",
    }
)
DIRECTION = {
    "higher": "HIGHER is better",
    "lower": "LOWER is better",
    "neither": "neither is better",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One metric of a table over all arms, in the order of the arms; the first is the reference."""

    table: Table
    series: tuple[Series, ...]

    @property
    def first(self) -> Series:
        """Of the reference arm."""
        return self.series[0]

    def summary(self, one: Series) -> Summary | None:
        """None where there is no number."""
        return summary(one.starts, self.table.condition.clock)

    def comparison(self, arm: str) -> Comparison | None:
        """Of that arm against the reference."""
        named = (c for c in self.table.comparisons if c.metric == self.first.metric)
        return next((c for c in named if c.arm == arm), None)


def blocks(report: Report, table: Table) -> list[Block]:
    """The metrics of a table; the headline first. What is static is shown with the first table."""
    again = report.tables[:1] != [table]
    order = {arm.name: number for number, arm in enumerate(report.arms)}
    metrics: dict[str, list[Series]] = {}
    for one in table.series:
        if one.evidence == "static" and again:
            continue
        metrics.setdefault(one.metric, []).append(one)
    return [
        Block(table, tuple(sorted(held, key=lambda s: order.get(s.arm, len(order)))))
        for held in metrics.values()
    ]


def plain(text: str) -> str:
    """ASCII on one line; what has no likeness becomes '?'."""
    near = unicodedata.normalize("NFKD", text.translate(SIGNS).expandtabs())
    ascii_only = "".join(c for c in near if not unicodedata.combining(c))
    ascii_text = ascii_only.encode("ascii", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in ascii_text).rstrip()


def wrap(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Lines of at most WIDTH columns.

    Args:
        first: indent of the first line, where it differs.
    """
    return textwrap.wrap(
        plain(text),
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def labelled(label: str, text: str, width: int = 11) -> list[str]:
    """'Workload:  ...' with its further lines under the first."""
    return wrap(text, " " * width, f"{label}:".ljust(width)) if text else []


def command(text: str) -> list[str]:
    """A command line; continued with backslashes, no word broken, values beside their options."""
    try:
        words = [_shell_word(word) for word in shlex.split(text)]
    except ValueError:  # an open quote: no command line
        words = plain(text).split()
    parts: list[str] = []
    for word in words:
        if parts and re.fullmatch(r"--[\w-]+", parts[-1]) and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + 1 + len(part) > WIDTH - 6:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
    ends = [" \\"] * (len(lines) - 1) + [""]
    starts = ["  ", *["    "] * len(lines)]
    return [start + line + end for start, line, end in zip(starts, lines, ends, strict=False)]


def _shell_word(word: str) -> str:
    """Quoted for a shell, on one line of ASCII: bash and POSIX of 2024 know the second form."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in word.replace("\n", "\0").encode(errors="surrogateescape")
    )
    return f"$'{safe}'".replace("\\x00", "\\n")


def number(value: float) -> str:
    """At most ten characters where that can be."""
    ascii_text = format_value(value)
    return ascii_text if len(ascii_text) <= 10 else f"{value:.4g}"


def percent(value: float) -> str:
    """'-78.2 %', '+1,234.5 %'."""
    return f"{value:+,.1f} %" if abs(value) < 1e6 else f"{value:+.3g} %"


def columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ", gap: str = "  "
) -> list[str]:
    """The first column to the left, the others to the right.

    Where that is too wide, the first column stands on a line of its own above the others.
    """
    cells = [[plain(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    one_line = len(indent) + sum(widths) + len(gap) * (len(widths) - 1) <= WIDTH
    lines = []
    for row in cells:
        rest = gap.join(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))
        if one_line:
            lines.append(f"{indent}{row[0].ljust(widths[0])}{gap}{rest}".rstrip())
        else:
            lines += [*wrap(row[0], indent), f"{indent}{gap}{rest}".rstrip()]
    return lines


def metric_title(one: Series) -> str:
    """'umounts (ops_per_s), umounts/s; HIGHER is better; measured'."""
    extra = "; shown, not judged" if one.extra else ""
    return f"{one.title} ({one.metric}), {one.unit}; {DIRECTION[one.better]}; {one.evidence}{extra}"


def params_words(table: Table, sweep: tuple[str, tuple[int, ...]] | None = None) -> str:
    """'name=9 other=10'; a swept knob with all its values."""
    params: dict[str, object] = dict(table.condition.params)
    if sweep is not None:
        params[sweep[0]] = ",".join(str(value) for value in sweep[1])
    return " ".join(f"{name}={value}" for name, value in params.items())


def clock_words(table: Table) -> str:
    """Which clock, and what its numbers are."""
    if table.condition.clock is Clock.WALL:
        return "wall; untraced runs, the arms interleaved A B B A"
    shift = table.condition.shift or 0
    return (
        f"count; {sharing_words(table.condition.sharing)}, {1 << shift} ns per instruction "
        f"(shift {shift}); times are counted instructions, not seconds"
    )


def pairs(report: Report) -> list[tuple[str, str]]:
    """(arm, reference) for every arm but the first."""
    names = [arm.name for arm in report.arms]
    return [(name, names[0]) for name in names[1:]]
