# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet run`: measures a lesson quickly.

Each arm gets some untraced runs for the rates, and one traced run for the waiting times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import DuetError
from duet.cli.keys import key, keys_text
from duet.cli.options import Arms, ClockOption, Json, Set, Slug, Workload
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.kernels import KernelSettings
    from duet.lessons.schema import Lesson
    from duet.measure import Progress, Report, Step
    from duet.session import LaneResult, RunSpec


@dataclass(frozen=True, slots=True)
class RunArm:
    """Results of one arm, as `--json` prints them."""

    arm: str
    ops: int | None
    median: float | None
    samples: Sequence[float]
    ops_per_s: float | None
    wait_ns: Mapping[str, float] | None = key(shape="{p50, p95, max, n}")
    cycles: int | None = key()
    events_read: int | None = key()
    events_lost: int | None = key()
    n: int = key()
    ops_per_s_all: Sequence[float] = key()
    kernel: str = key()
    accel: str = key()
    refused: str | None = key()
    lines: Sequence[str] = key()


@dataclass(frozen=True, slots=True)
class RunResult:
    lesson: str
    clock: str
    workload: str
    params: Mapping[str, int]
    at: str
    verdict: str
    metric: str
    title: str
    unit: str
    better: str
    arms: Sequence[RunArm]
    warnings: Sequence[str] = key("arms on different bases are more than one patch apart")


KEYS = keys_text(
    RunResult,
    "ops and median are medians of the untraced runs; median and samples are in unit. "
    "ops_per_s and "
    "ops_per_s_all are the same if unit is a rate, else null and empty. "
    "wait_ns, cycles (of the lesson's first track) and events_* come from the arm's traced run and "
    "are null with --no-trace.",
)


def run(
    lesson: Slug,
    arms: Arms = "",
    workload: Workload = "",
    clock: ClockOption = "",
    set: Set = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Untraced runs per arm.")] = 3,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Leave out the traced run.")] = False,
    as_json: Json = False,
) -> int:
    """Measure a lesson's arms quickly, one guest after another."""
    from duet.cli.arguments import read_request
    from duet.cli.building import build_optional
    from duet.kernels import KernelSettings

    settings = set or []
    traced = not no_trace
    spec = read_request(lesson, arms, workload, clock, settings)
    build_optional(spec.folder, spec.arms, KernelSettings.default())
    report, rows = asyncio.run(measure_request(spec, repeats, traced))
    if as_json:
        emit(result_of(report, rows))
    else:
        print_table(report, rows, spec.folder.lesson)
    errors = {arm: error for table in report.tables for arm, error in table.errors.items()}
    for arm, error in errors.items():
        note(f"error: {arm}: {error.sentence}\nremedy: {error.remedy}")
    return max((error.exit_code for error in errors.values()), default=0)


@dataclass(slots=True)
class RunRow:
    """Results of one arm. Pure.

    Args:
        samples: the headline metric of each untraced run.
        unit: the headline metric's unit.
    """

    arm: str
    ops: list[int] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)
    unit: str = ""
    wait_ns: dict[str, float] | None = None
    cycles: int | None = None
    events_read: int | None = None
    events_lost: int | None = None
    kernel: str = ""
    accel: str = ""
    lines: list[str] = field(default_factory=list)
    refused: str | None = None

    def add_untraced(self, lane: LaneResult) -> None:
        """Add the count that the workload itself reported in an untraced run."""
        self._learn(lane)
        if lane.error is None and not lane.status and lane.ops is not None:
            self.ops.append(lane.ops)

    def add_traced(self, lane: LaneResult) -> None:
        """Add the waits and counts from a traced run. If events were lost, add only the reason."""
        self._learn(lane)
        if lane.error is not None:
            return
        metrics = lane.metrics
        self.events_read, self.events_lost = metrics.events_read, metrics.events_lost
        if metrics.events_lost:
            self.refused = (
                f"{metrics.events_lost} events were lost in the traced run, "
                "so waits and cycles are not shown"
            )
            return
        self.cycles = metrics.cycles
        self.wait_ns = metrics.wait_ns.as_dict() if metrics.wait_ns else None

    def _learn(self, lane: LaneResult) -> None:
        self.kernel = lane.kernel or self.kernel
        if lane.facts:
            self.accel = str(lane.facts.accel)
        self.lines += [line.text for line in lane.lines]
        if lane.error is not None:
            self.refused = lane.error.sentence

    def result(self) -> RunArm:
        rates = self.samples if self.unit.endswith("/s") else []
        return RunArm(
            arm=self.arm,
            ops=middle(self.ops),
            median=median(self.samples) if self.samples else None,
            samples=list(self.samples),
            ops_per_s=median(rates) if rates else None,
            wait_ns=self.wait_ns,
            cycles=self.cycles,
            events_read=self.events_read,
            events_lost=self.events_lost,
            n=len(self.samples),
            ops_per_s_all=list(rates),
            kernel=self.kernel,
            accel=self.accel,
            refused=self.refused,
            lines=list(self.lines),
        )

    def cells(self) -> tuple[str, ...]:
        waits = self.wait_ns or {}
        return (
            self.arm,
            str(len(self.samples)),
            f"{median(self.samples):,.1f}" if self.samples else "-",
            *(_ms(waits.get(key)) for key in ("p50", "p95", "max")),
            "-" if self.cycles is None else str(self.cycles),
            "-" if self.events_lost is None else str(self.events_lost),
        )


def middle(counts: list[int]) -> int | None:
    """Return the lower median, which is always one of the counts."""
    return sorted(counts)[(len(counts) - 1) // 2] if counts else None


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.3f} ms"


async def measure_request(
    spec: RunSpec,
    repeats: int,
    traced: bool,
    kernels: KernelSettings | None = None,
) -> tuple[Report, dict[str, RunRow]]:
    """Measure the headline metric, with progress on stderr.

    Raises:
        DuetError: a kernel is not built, or no guest ran.
    """
    from duet.host.judging import measure_plan
    from duet.kernels import KernelSettings
    from duet.measure import Kind, Measuring
    from duet.runs.sources import kernel_sources

    settings = kernels or KernelSettings.default()
    sources = await kernel_sources(spec.folder, spec.arms, settings)
    plan = replace(measure_plan(spec, repeats), explain=traced)
    rows: dict[str, RunRow] = {}

    def progress(step: Progress) -> None:
        note(str(step))

    def on_run(step: Step, lane: LaneResult) -> None:
        row = rows.setdefault(step.arm, RunRow(step.arm))
        if step.kind is Kind.EVIDENCE:
            row.add_untraced(lane)
        elif step.kind is Kind.TRACED:
            row.add_traced(lane)

    measuring = Measuring(plan, sources, progress=progress, on_run=on_run)
    report = await measuring.run()
    for one in report.tables[0].series:
        rows[one.arm].samples, rows[one.arm].unit = list(one.samples), one.unit
        rows[one.arm].refused = rows[one.arm].refused or one.refused
    refuse_nothing(report)
    return report, {arm: rows[arm] for arm in spec.arms}


def refuse_nothing(report: Report) -> None:
    """Raise if no arm has a result.

    Raises:
        InfraError, KernelError: the first arm's error.
    """
    tables = report.tables
    errors: list[DuetError] = [e for table in tables for e in table.errors.values()]
    if errors and all(len(table.errors) == len(report.arms) for table in tables):
        raise errors[0]


def result_of(report: Report, rows: dict[str, RunRow]) -> RunResult:
    from duet.measure.compare import verdict_line, warnings

    table = report.tables[0]
    one = table.series[0]
    return RunResult(
        lesson=report.lesson,
        clock=table.condition.clock,
        workload=table.condition.workload,
        params=dict(table.condition.params),
        at=report.at,
        verdict=verdict_line(table, one.metric),
        metric=one.metric,
        title=one.title,
        unit=one.unit,
        better=one.better,
        arms=[row.result() for row in rows.values()],
        warnings=warnings(report.arms),
    )


MOST_TITLE = 24
"""Number of characters of a track's title that fit above its column."""
HEADINGS = ("arm", "n", "median", "wait p50", "p95", "max")


def cycles_title(lesson: Lesson) -> str:
    """Return the title of the first track that the lesson defines; "cycles" if there is none."""
    titles = [track.title for track in lesson.tracks if track.lesson]
    return titles[0] if titles else "cycles"


def print_table(report: Report, rows: dict[str, RunRow], lesson: Lesson) -> None:
    """Print one line per arm."""
    from duet.measure.compare import verdict_line, warnings

    table = report.tables[0]
    one, condition = table.series[0], table.condition
    headings = (*HEADINGS, cycles_title(lesson)[:MOST_TITLE], "lost")
    cells = [headings, *(row.cells() for row in rows.values())]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    print(
        f"{report.lesson}, {condition.workload}, {condition.clock} clock; {one.title}, {one.unit}"
    )
    for row in cells:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *rest]))
    for warning in warnings(report.arms):
        print(f"warning: {warning}.")
    for measured in rows.values():
        if measured.refused:
            print(f"{measured.arm}: {measured.refused}")
    print(verdict_line(table, one.metric))
