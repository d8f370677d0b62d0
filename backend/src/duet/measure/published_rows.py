# SPDX-License-Identifier: GPL-2.0-or-later
"""One row for each figure of the mails: the mail's, ours, and a verdict. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.schema import PublishedFigure
from duet.measure.compare import compare, format_value, why_refused
from duet.measure.model import Comparison, Series, Table
from duet.measure.published import Key, key_of
from duet.measure.verdicts import Interval, Judged, Verdict, judge, judge_exponent

UNMEASURED = Judged(Verdict.NOT_MEASURED, Verdict.NOT_MEASURED)
REFUSED = Judged(Verdict.NOTHING, Verdict.NOTHING)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of a mail beside ours.

    Args:
        interval: 95 % of the ratio (wall), or the range over perturbed starts (count).
        because: why it is not simply reproduced; "" where it is.
    """

    lesson: str
    figure: PublishedFigure
    ratio: float | None
    n: int
    interval: Interval | None
    judged: Judged
    because: str

    def as_dict(self) -> dict[str, object]:
        """The documented keys."""
        figure, tested = self.figure, self.figure.measured
        count = tested and figure.clock == "count"
        return {
            "lesson": self.lesson,
            "claim": figure.claim,
            "mail": figure.mail,
            "value": figure.value,
            "base": figure.base,
            "unit": figure.unit,
            "context": figure.context,
            "link": figure.link,
            "mail_ratio": figure.ratio,
            "mail_interval": list(figure.mail_interval) if figure.mail_interval else None,
            "exponent": figure.exponent,
            "ratio": self.ratio,
            "arm": figure.arm,
            "to": figure.to,
            "metric": figure.metric,
            "clock": figure.clock if tested else None,
            "shift": figure.shift if count else None,
            "n": self.n,
            "interval": list(self.interval) if self.interval else None,
            "verdict": str(self.judged.verdict),
            "words": self.judged.words,
            "times": self.judged.times,
            "because": self.because,
        }


def rows_of(
    folder: LessonFolder, tables: Mapping[Key, Table], troubles: Mapping[Key, str] | None = None
) -> list[FigureRow]:
    """A row for each figure of the lesson, measured or not.

    Args:
        troubles: why there is no table, or no whole one, for a key.
    """
    return [row_of(folder, one, tables, troubles or {}) for one in folder.lesson.published]


def row_of(
    folder: LessonFolder,
    figure: PublishedFigure,
    tables: Mapping[Key, Table],
    troubles: Mapping[Key, str],
) -> FigureRow:
    """One figure."""
    row = _measured_row(folder, figure, tables, troubles)
    if not figure.not_testable:
        return row
    judged = Judged(Verdict.NOT_TESTABLE, Verdict.NOT_TESTABLE)
    because = figure.not_testable.rstrip(".")
    return FigureRow(folder.slug, figure, row.ratio, row.n, row.interval, judged, because)


def _measured_row(
    folder: LessonFolder,
    figure: PublishedFigure,
    tables: Mapping[Key, Table],
    troubles: Mapping[Key, str],
) -> FigureRow:
    def without(judged: Judged, because: str, n: int = 0) -> FigureRow:
        return FigureRow(folder.slug, figure, None, n, None, judged, because)

    if figure.metric is None or figure.arm is None or figure.to is None:
        return without(UNMEASURED, "")
    keys = (key_of(folder, figure), key_of(folder, figure, True))
    table, other = tables.get(keys[0]), tables.get(keys[1])
    trouble = next((troubles[key] for key in keys if key in troubles), None)
    ours = table.of(figure.metric, figure.arm) if table else None
    theirs = other.of(figure.metric, figure.to) if other else None
    if table is None or other is None or ours is None or theirs is None:
        return without(UNMEASURED if trouble is None else REFUSED, trouble or "")
    busy = next(iter([*table.refusals, *other.refusals]), None)
    found = compare(ours, theirs, table.condition, busy)
    ratio, why = _ratio(ours, theirs, table, found)
    n = min(ours.n, theirs.n)
    if ratio is None:
        return without(REFUSED, trouble or (why or "").rstrip("."), n)
    interval = found.ci or found.range
    judged = _judge(figure, ratio, interval)
    because = "" if judged.verdict is Verdict.REPRODUCED else figure.because.rstrip(".")
    return FigureRow(folder.slug, figure, ratio, n, interval, judged, because)


def _judge(figure: PublishedFigure, ratio: float, interval: Interval | None) -> Judged:
    if figure.exponent is not None and figure.scaled is not None:
        return judge_exponent(figure.exponent, figure.scaled, ratio, interval)
    if figure.ratio is None:
        return Judged(Verdict.NOTHING, "no verdict: the mail gives no ratio")
    return judge(figure.ratio, ratio, interval, figure.mail_interval)


def _ratio(
    ours: Series, theirs: Series, table: Table, found: Comparison
) -> tuple[float | None, str | None]:
    """The ratio, or None and why there is none."""
    n = min(ours.n, theirs.n)
    counted_once = ours.evidence == "counted" and n > 0 and not (ours.refused or theirs.refused)
    if found.ratio is None and counted_once and table.condition.clock is Clock.WALL:
        # Events of one traced run: exact for that run; no time of it enters.
        base = statistics.median(theirs.samples)
        if base:
            return statistics.median(ours.samples) / base, None
    return found.ratio, why_refused(found)


def interval_words(row: FigureRow) -> str:
    """'0.20..0.24'; '-' where there is none."""
    if row.interval is None:
        return "-"
    return "..".join(format_value(float(f"{end:.3g}")) for end in row.interval)


def counts(rows: Iterable[FigureRow]) -> dict[str, int]:
    """How many rows have which verdict."""
    found = {str(verdict): 0 for verdict in Verdict}
    for row in rows:
        found[str(row.judged.verdict)] += 1
    return found
