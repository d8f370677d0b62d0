# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --published`: what was found, as a table for a mail and as JSON. Pure."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from duet.cli.measuring import format_duration
from duet.cli.results.keys import from_tree
from duet.cli.results.runs import PublishedResult, PublishedRow
from duet.lessons.load import LessonFolder
from duet.measure.compare import format_value
from duet.measure.model import ArmFacts, Report, Table
from duet.measure.published import RULE, Key, SeedRow, counts, interval_words, rows_of
from duet.measure.reports.text import WIDTH, plain

SHORT = 12
"""Digits of a build's key: it stands for the base, the config and all patches."""


@dataclass(slots=True)
class Work:
    """What is there by now."""

    command: str = "./duet measure --all --published"
    tables: dict[str, dict[Key, Table]] = field(default_factory=dict)
    troubles: dict[str, dict[Key, str]] = field(default_factory=dict)
    folders: list[LessonFolder] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    arms: dict[str, dict[str, ArmFacts]] = field(default_factory=dict)
    partial: str | None = None

    def learn(self, report: Report) -> None:
        """What its guests reported: kernels, QEMU."""
        self.host |= report.host
        self.arms.setdefault(report.lesson, {}).update({arm.name: arm for arm in report.arms})

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
    body = PublishedResult(
        rows=[from_tree(PublishedRow, row.as_dict()) for row in rows],
        counts=counts(rows),
        rule=RULE,
        skipped=work.skipped,
        host=work.host,
        kernels={slug: [asdict(a) for a in arms.values()] for slug, arms in work.arms.items()},
        seconds=round(seconds, 1),
        partial=work.partial,
    )
    return json.dumps(asdict(body), indent=2, ensure_ascii=False)


FORM = "  {:>8} {:>8} {:<7} {:>2}  {:<17} {}"


def table(work: Work, seconds: float) -> str:
    """Plain ASCII for a mail or a closing note."""
    rows = work.rows()
    lines = _wrap(f"PARTIAL: {work.partial}.", "!! ", "!!   ") if work.partial else []
    lines += ["Figures of the mails and of this machine: ratios, arm over reference", ""]
    lines += [FORM.format("mail", "ours", "clock", "n", "interval", "verdict"), "-" * WIDTH]
    for number, row in enumerate(rows):
        if not number or row.lesson != rows[number - 1].lesson:
            lines += ["", row.lesson, "=" * len(row.lesson)]
        lines += ["", *_row(row, work)]
    lines += ["", "-" * WIDTH]
    found = [f"{n} {name}" for name, n in counts(rows).items() if n]
    lines += _wrap(f"{', '.join(found) or 'nothing measured'}. {RULE}")
    lines += _wrap(
        "n is runs per arm. The interval is the 95 % bootstrap interval of the ratio on the wall "
        "clock, and the range over perturbed starts on the count clock (count/3: 8 ns an "
        "instruction)."
    )
    for slug, why in work.skipped.items():
        lines += _wrap(f"Skipped {slug}: {why}.")
    return "\n".join(plain(line) for line in [*lines, *_provenance(work, seconds)])


def _row(row: SeedRow, work: Work) -> list[str]:
    seed = row.seed
    clock = seed.clock if seed.clock == "wall" or not seed.shift else f"count/{seed.shift}"
    ours = "-" if row.ratio is None else _short(row.ratio)
    numbers = FORM.format(
        _short(seed.mail_ratio), ours, clock, row.n, interval_words(row), row.verdict
    )
    lines = [*_wrap(f"{seed.claim}: {seed.mail}"), numbers]
    lines += _wrap(f"here: {_here(row, work)}", "    ", "      ")
    return lines + (_wrap(f"because {row.because}.", "    ", "      ") if row.because else [])


def _here(row: SeedRow, work: Work) -> str:
    """'drop_last_us of after over before, containers n=800': what stands for the mail's figure."""
    seed = row.seed
    lesson = next(f.lesson for f in work.folders if f.slug == row.lesson)
    ours, theirs = (_knobs(k) for k in (seed.params, {**seed.params, **seed.to_params}))
    workload = seed.workload or next(iter(lesson.workloads))
    what = f"{lesson.metrics[seed.metric].title}, {workload}"
    if ours == theirs:
        return ", ".join(p for p in (what, ours, f"{seed.arm} over {seed.to}") if p)
    return f"{what}, {seed.arm} with {ours} over {seed.to} with {theirs}"


def _knobs(params: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in params.items())


def _short(ratio: float) -> str:
    return format_value(float(f"{ratio:.3g}"))


def _provenance(work: Work, seconds: float) -> list[str]:
    lines: list[str] = []
    for slug, arms in work.arms.items():
        kernels = ", ".join(dict.fromkeys(f"Linux {a.kernel}" for a in arms.values() if a.kernel))
        builds = ", ".join(f"{a.name} {a.key[:SHORT]}" for a in arms.values())
        lines += _wrap(
            f"Kernels of {slug}: {kernels or 'never booted'}; builds {builds}.", "", "  "
        )
    if work.host:
        host_words = ", ".join(f"{name} {value}" for name, value in work.host.items())
        lines += _wrap(f"Host: {host_words}.", "", "  ")
    return [*lines, f"Measured in {format_duration(seconds)}: {work.command}"]


def _wrap(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        plain(text), WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
