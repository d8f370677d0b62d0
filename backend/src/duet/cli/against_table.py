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
from duet.lessons.schema import Lesson
from duet.measure.compare import format_value
from duet.measure.model import ArmFacts, Report, Table
from duet.measure.published import FigureRow, Key, counts, interval_words, rows_of
from duet.measure.reports.text import WIDTH, plain
from duet.measure.verdicts import RULE, Verdict

SHORT = 12
"""Digits of a build's key: it stands for the base, the config and all patches."""


@dataclass(slots=True)
class Work:
    """What is there by now."""

    command: str = "./duet measure --published"
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

    def rows(self) -> list[FigureRow]:
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
        mails={
            f.slug: {name: mail.model_dump() for name, mail in f.lesson.mails.items()}
            for f in work.folders
        },
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


def _row(row: FigureRow, work: Work) -> list[str]:
    figure = row.figure
    lines = _wrap(f"{figure.claim}: {figure.mail}")
    untested = row.judged.verdict is Verdict.NOT_TESTABLE
    if figure.measured:
        start = FORM.format(
            mail_words(row), "-" if row.ratio is None else short(row.ratio), clock_words(row),
            row.n, interval_words(row), "",
        )  # fmt: skip
        lines += _wrap(start.rstrip() + "  " + row.judged.words, "", "    ")
        lines += _wrap(f"here: {_here(row, work)}", "    ", "      ")
    elif not untested:
        lines += _wrap(row.judged.words, "    ", "      ")
    if untested:
        return lines + _wrap(f"{row.judged.words}: {row.because}.", "    ", "      ")
    return lines + (_wrap(f"because {row.because}.", "    ", "      ") if row.because else [])


def mail_words(row: FigureRow) -> str:
    """The mail's ratio, 'n^2' of a complexity, or '-'."""
    if row.figure.exponent is not None:
        return f"n^{row.figure.exponent:g}"
    return "-" if row.figure.ratio is None else short(row.figure.ratio)


def clock_words(row: FigureRow) -> str:
    """'wall', 'count', 'count/3'; '-' of what is not measured."""
    figure = row.figure
    if not figure.measured:
        return "-"
    return figure.clock if figure.clock == "wall" or not figure.shift else f"count/{figure.shift}"


def _here(row: FigureRow, work: Work) -> str:
    lesson = next(f.lesson for f in work.folders if f.slug == row.lesson)
    return here(row, lesson)


def here(row: FigureRow, lesson: Lesson) -> str:
    """'fifth drop_caches, containers, n=800, after over before': what stands for the figure."""
    figure = row.figure
    if figure.metric is None:
        return ""
    ours, theirs = (_knobs(k) for k in (figure.params, {**figure.params, **figure.to_params}))
    workload = figure.workload or next(iter(lesson.workloads))
    what = f"{lesson.metrics[figure.metric].title}, {workload}"
    if ours == theirs:
        return ", ".join(p for p in (what, ours, f"{figure.arm} over {figure.to}") if p)
    return f"{what}, {figure.arm} with {ours} over {figure.to} with {theirs}"


def _knobs(params: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in params.items())


def short(ratio: float) -> str:
    """Three digits that count."""
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
