# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --against-seeds`: what was found, as a table for a mail and as JSON. Pure."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field

from duet.cli.measuring import told_time
from duet.lessons.load import LessonFolder
from duet.measure import Table
from duet.measure.against import RULE, Key, SeedRow, counts, rows_of, told_interval
from duet.measure.compare import told_value

WIDTH = 75


@dataclass(slots=True)
class Work:
    """What is there by now."""

    command: str = "./duet measure --all --against-seeds"
    tables: dict[str, dict[Key, Table]] = field(default_factory=dict)
    troubles: dict[str, dict[Key, str]] = field(default_factory=dict)
    folders: list[LessonFolder] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    partial: str | None = None

    def rows(self) -> list[SeedRow]:
        """All figures of the lessons that were begun."""
        return [
            row
            for f in self.folders
            for row in rows_of(f, self.tables.get(f.slug, {}), self.troubles.get(f.slug))
        ]


def tree(work: Work, seconds: float) -> str:
    """The documented keys as JSON."""
    rows = work.rows()
    body = {
        "rows": [row.as_dict() for row in rows],
        "counts": counts(rows),
        "rule": RULE,
        "skipped": work.skipped,
        "host": work.host,
        "seconds": round(seconds, 1),
        "partial": work.partial,
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


FORM = "{:<20.20} {:>7} {:>7} {:<7} {:>2} {:<12} {}"


def table(work: Work, seconds: float) -> str:
    """Plain ASCII for a mail or a closing note."""
    rows = work.rows()
    lines = ["Figures of the mails and of this machine: ratios, arm over reference", ""]
    lines.append(FORM.format("claim", "mail", "ours", "clock", "n", "interval", "verdict"))
    lines.append("-" * WIDTH)
    slug = ""
    for row in rows:
        if row.lesson != slug:
            slug = row.lesson
            lines.append(slug)
        lines += _row(row)
    lines.append("-" * WIDTH)
    found = [f"{n} {name}" for name, n in counts(rows).items() if n]
    lines += textwrap.wrap(f"{', '.join(found) or 'nothing measured'}. {RULE}", WIDTH)
    lines += textwrap.wrap(
        "n is runs per arm. The interval is the 95 % bootstrap interval of the ratio on the wall "
        "clock, and the range over perturbed starts on the count clock (count/3: 8 ns an "
        "instruction).",
        WIDTH,
    )
    for slug, why in work.skipped.items():
        lines += textwrap.wrap(f"Skipped {slug}: {why}.", WIDTH)
    if work.partial:
        lines += textwrap.wrap(f"PARTIAL: {work.partial}.", WIDTH)
    if work.host:
        told = ", ".join(f"{name} {value}" for name, value in work.host.items())
        lines += textwrap.wrap(f"Host: {told}.", WIDTH, subsequent_indent="  ")
    lines.append(f"Measured in {told_time(seconds)}: {work.command}")
    return "\n".join(_ascii(line) for line in lines)


def _row(row: SeedRow) -> list[str]:
    seed = row.seed
    said = textwrap.wrap(f"{seed.claim} ({seed.mail})", 20) or [""]
    clock = seed.clock if seed.clock == "wall" or not seed.shift else f"count/{seed.shift}"
    ours = "-" if row.ratio is None else told_value(float(f"{row.ratio:.3g}"))
    mail = told_value(float(f"{seed.mail_ratio:.3g}"))
    first = FORM.format(said[0], mail, ours, clock, row.n, told_interval(row), row.verdict)
    lines = [first, *said[1:]]
    if row.because:
        indent = " " * 4
        lines += textwrap.wrap(
            f"because {row.because}.", WIDTH, initial_indent=indent, subsequent_indent=indent
        )
    return lines


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()
