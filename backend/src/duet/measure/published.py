# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures published in mails, and the measurements that they need. Pure."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.base.files import write
from duet.lessons.load import LessonFolder
from duet.lessons.schema import PublishedFigure
from duet.measure.compare import compare, format_value, why_refused
from duet.measure.curves import curve_plans
from duet.measure.model import ArmFacts, Comparison, Condition, Series, Table
from duet.measure.plan import PERTURBED, MeasurePlan, default_repeats
from duet.measure.verdicts import Interval, Judged, Verdict, judge, judge_exponent

Key = tuple[str, Clock, int, tuple[tuple[str, int], ...]]
"""Workload, clock, shift and knobs. Rows with equal keys share runs."""


def key_of(folder: LessonFolder, figure: PublishedFigure, of_reference: bool = False) -> Key:
    """Return the condition under which one side of a published ratio is measured."""
    knobs = {**figure.params, **(figure.to_params if of_reference else {})}
    params = folder.check_params(knobs, figure.clock, measured=True)
    shift = figure.shift if figure.clock == "count" else 0
    workload = figure.workload or next(iter(folder.lesson.workloads))
    return workload, figure.clock, shift, tuple(params.items())


def plan_key(plan: MeasurePlan) -> Key:
    """Return the condition that a plan measures. The plan has one shift and no sweep."""
    return plan.workload, plan.clock, plan.shifts[0], tuple(plan.params.items())


def host_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def published_plans(folder: LessonFolder, *, every: bool = False) -> dict[Key, MeasurePlan]:
    """Return the measurements that a lesson's published figures need, one per condition.

    Count-clock measurements are first, because other work on the host does not disturb them. A
    measurement has only the arms that its figures need. If the measurement's condition is also a
    point of a curve, the measurement includes the curve's arms.

    Args:
        every: whether to include measurements that need more CPUs than this host has.
    """
    most = sys.maxsize if every else host_cpus()
    arms: dict[Key, set[str]] = {}
    metrics: dict[Key, set[str]] = {}
    for figure in folder.lesson.published:
        if figure.needs_cpus > most:
            continue
        sides = ((figure.arm, False), (figure.to, True))
        for arm, of_reference in sides:
            if arm is not None and figure.metric is not None:
                key = key_of(folder, figure, of_reference)
                arms.setdefault(key, set()).add(arm)
                metrics.setdefault(key, set()).add(figure.metric)
    for plan in curve_plans(folder):
        key = plan_key(plan)
        if key in arms:
            arms[key].update(plan.arms)
            metrics[key].update(plan.metrics or ())
    return {
        key: MeasurePlan(
            folder=folder,
            arms=tuple(arm.name for arm in folder.lesson.arms if arm.name in arms[key]),
            workload=key[0],
            clock=key[1],
            params=dict(key[3]),
            repeats=default_repeats(key[1]),
            shifts=(key[2],),
            perturbed=PERTURBED if key[1] == "count" else 0,
            metrics=frozenset(metrics[key]),
        )
        for key in sorted(arms, key=lambda key: key[1] != "count")
    }


def needed_cpus(folder: LessonFolder) -> dict[Key, int]:
    """Return the number of CPUs that a host needs for each measurement of published figures."""
    found: dict[Key, int] = {}
    for figure in folder.lesson.published:
        if figure.metric is not None:
            for key in (key_of(folder, figure), key_of(folder, figure, True)):
                found[key] = min(found.get(key, figure.needs_cpus), figure.needs_cpus)
    return found


# Make a row for each published figure, with the mail's figure, our figure, and a verdict. Pure.

UNMEASURED = Judged(Verdict.NOT_MEASURED, Verdict.NOT_MEASURED)
REFUSED = Judged(Verdict.NOTHING, Verdict.NOTHING)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A published figure, and the figure that we measured.

    Args:
        interval: the ratio's 95 % interval (wall clock), or its range over perturbed starts (count
            clock).
        because: why the figure is not reproduced; "" if it is reproduced.
        on: name of the host that measured our figure; "" for this host.
    """

    lesson: str
    figure: PublishedFigure
    ratio: float | None
    n: int
    interval: Interval | None
    judged: Judged
    because: str
    on: str = ""

    def as_dict(self) -> dict[str, object]:
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
            "on": self.on,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """A host that measured figures.

    Args:
        cpus: number of the host's CPUs. A figure that needs more CPUs is not testable there.
        on: the host's name; "" for this host.
    """

    cpus: int
    on: str = ""


def rows_of(
    folder: LessonFolder,
    tables: Mapping[Key, Table],
    troubles: Mapping[Key, str] | None = None,
    place: Place | None = None,
) -> list[FigureRow]:
    """Return a row for each published figure of the lesson, even if the figure was not measured.

    Args:
        troubles: key -> why the table with this key is missing or incomplete.
        place: host that measured the figures; None means this host.
    """
    where = place or Place(host_cpus())
    return [row_of(folder, one, tables, troubles or {}, where) for one in folder.lesson.published]


def row_of(
    folder: LessonFolder,
    figure: PublishedFigure,
    tables: Mapping[Key, Table],
    troubles: Mapping[Key, str],
    place: Place,
) -> FigureRow:
    row = replace(_measured_row(folder, figure, tables, troubles), on=place.on)
    because = figure.not_testable.rstrip(".")
    if not because and row.ratio is None and figure.needs_cpus > place.cpus:
        because = f"needs {figure.needs_cpus} CPUs, and this host has {place.cpus}"
    if not because:
        return row
    judged = Judged(Verdict.NOT_TESTABLE, Verdict.NOT_TESTABLE)
    return replace(row, judged=judged, because=because)


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
    """Return (the ratio, None), or (None, the reason why no ratio is known)."""
    n = min(ours.n, theirs.n)
    counted_once = ours.evidence == "counted" and n > 0 and not (ours.refused or theirs.refused)
    if found.ratio is None and counted_once and table.condition.clock == "wall":
        # The event counts of a traced run are exact, and no times are involved.
        base = statistics.median(theirs.samples)
        if base:
            return statistics.median(ours.samples) / base, None
    return found.ratio, why_refused(found)


def interval_words(row: FigureRow) -> str:
    """Return text such as '0.20..0.24', or '-' if the row has no interval."""
    if row.interval is None:
        return "-"
    return "..".join(format_value(float(f"{end:.3g}")) for end in row.interval)


def counts(rows: Iterable[FigureRow]) -> dict[str, int]:
    """Count the rows by verdict."""
    found = {str(verdict): 0 for verdict in Verdict}
    for row in rows:
        found[str(row.judged.verdict)] += 1
    return found


# Store the measured tables of published figures in one JSON file.
#
# The file contains samples and no verdicts. Rows are judged when they are printed, so a change to
# the rule or to a published figure needs no new measurement.


VERSION = 1


class StoredTable(BaseModel):
    """Results of one condition, with their provenance.

    Args:
        at: time of the measurement in UTC, as ISO 8601.
        host: host fingerprint, as in a report.
        arms: facts about the arms that ran, with their hashes.
        on: name of the host that measured the table; "" for this host.
    """

    model_config = ConfigDict(extra="forbid")
    lesson: str
    workload: str
    clock: Clock
    shift: int
    params: dict[str, int]
    at: str
    host: dict[str, str]
    arms: list[ArmFacts]
    series: list[Series]
    refusals: list[str] = []
    on: str = ""

    @property
    def key(self) -> Key:
        return self.workload, self.clock, self.shift, tuple(self.params.items())

    def table(self) -> Table:
        shift = self.shift if self.clock == "count" else None
        condition = Condition(self.clock, shift, self.workload, self.params)
        series = [replace(one) for one in self.series]
        return Table(condition, series=series, refusals=list(self.refusals))

    def has(self, arms: Mapping[str, str], metrics: Iterable[str]) -> bool:
        """Whether the table has numbers for all these metrics on these kernels (arm -> key)."""
        keys = {arm.name: arm.key for arm in self.arms}
        return all(keys.get(arm) == key for arm, key in arms.items()) and all(
            any(s.metric == m and s.arm == a and s.samples for s in self.series)
            for m in metrics
            for a in arms
        )


class Stored(BaseModel):
    """Contents of a file with stored tables."""

    model_config = ConfigDict(extra="forbid")
    version: int = VERSION
    tables: list[StoredTable] = []

    def of(self, lesson: str, on: str = "") -> dict[Key, StoredTable]:
        """Return one lesson's tables by key, from the host with that name."""
        return {t.key: t for t in self.tables if t.lesson == lesson and t.on == on}

    def places(self) -> list[Place]:
        """Return the hosts that have tables: first this host, then the others by number of CPUs."""
        found = {t.on: Place(int(t.host.get("cpus", 1)), t.on) for t in self.tables}
        here = found.pop("", Place(host_cpus()))
        return [here, *sorted(found.values(), key=lambda place: (-place.cpus, place.on))]

    def fitted(self, knobs: Mapping[str, Mapping[str, int]]) -> Stored:
        """Add default values for knobs that were added to lessons after the measurement.

        Args:
            knobs: lesson -> knob -> the knob's default. A table with a removed knob stays
                unchanged.
        """
        tables = []
        for table in self.tables:
            usual = knobs.get(table.lesson, {})
            if set(table.params) <= set(usual):
                now = {name: table.params.get(name, value) for name, value in usual.items()}
                table = table.model_copy(update={"params": now})
            tables.append(table)
        return Stored(tables=tables)

    def put(self, table: StoredTable) -> None:
        """Insert a table in order. It replaces an older table of the same condition and host."""
        same = (table.lesson, table.on, table.key)
        others = [one for one in self.tables if (one.lesson, one.on, one.key) != same]
        self.tables = sorted(
            [*others, table],
            key=lambda t: (t.on, t.lesson, t.workload, t.clock, t.shift, str(t.params)),
        )


def stored_table(
    lesson: str, table: Table, arms: Iterable[ArmFacts], host: Mapping[str, str], at: str
) -> StoredTable:
    """Return the part of a table that is stored in the file."""
    condition = table.condition
    return StoredTable(
        lesson=lesson,
        workload=condition.workload,
        clock=condition.clock,
        shift=condition.shift or 0,
        params=condition.params,
        at=at,
        host=dict(host),
        arms=list(arms),
        series=list(table.series),
        refusals=table.refusals,
    )


def read_stored(path: Path) -> Stored:
    """Read stored tables. If the file does not exist, return an empty Stored.

    Raises:
        InputError: the file cannot be read, or has other contents.
    """
    try:
        return Stored.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Stored()
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            f"wanted results for published figures in {path.name}, but the file has other "
            "contents.",
            remedy="Name another file, or delete this file to measure everything again.",
        ) from error


def write_stored(path: Path, stored: Stored) -> None:
    """Write the file atomically."""
    tree = stored.model_dump(mode="json", exclude_defaults=True)
    text = json.dumps({"version": VERSION, **tree}, indent=1, ensure_ascii=False)
    write(path, f"{text}\n".encode())
