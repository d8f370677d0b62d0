# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet run`: the quick look at a lesson: rates untraced, waits from one traced run per arm."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from duet.base.errors import DuetError
from duet.cli.build import build_optional
from duet.cli.output import emit, note
from duet.cli.request import Request, read_request
from duet.cli.results.runs import RunResult
from duet.cli.run_table import RunRow
from duet.host.judging import measure_plan
from duet.kernels import KernelSettings
from duet.lessons.schema import Lesson
from duet.measure import Kind, Measuring, Progress, Report, Step
from duet.measure.compare import verdict_line, warnings
from duet.runs.sources import kernel_sources
from duet.session import LaneResult


async def measure_request(
    request: Request,
    repeats: int,
    traced: bool,
    kernels: KernelSettings | None = None,
) -> tuple[Report, dict[str, RunRow]]:
    """Measure the headline, telling progress on stderr.

    Raises:
        DuetError: a kernel is not built, or no guest ran.
    """
    settings = kernels or KernelSettings.default()
    sources = await kernel_sources(request.folder, request.arms, settings)
    plan = replace(measure_plan(request.run_request, repeats), explain=traced)
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
    return report, {arm: rows[arm] for arm in request.arms}


def run(
    lesson: str,
    arms: str,
    workload: str,
    clock: str,
    settings: list[str],
    repeats: int,
    traced: bool,
    as_json: bool,
) -> int:
    """See `duet run --help`."""
    request = read_request(lesson, arms, workload, clock, settings)
    build_optional(request.folder, request.arms, KernelSettings.default())
    report, rows = asyncio.run(measure_request(request, repeats, traced))
    if as_json:
        emit(result_of(report, rows))
    else:
        print_table(report, rows, request.folder.lesson)
    errors = {arm: error for table in report.tables for arm, error in table.errors.items()}
    for arm, error in errors.items():
        note(f"error: {arm}: {error.sentence}\nremedy: {error.remedy}")
    return max((error.exit_code for error in errors.values()), default=0)


def refuse_nothing(report: Report) -> None:
    """An empty report is a failure, not a result.

    Raises:
        InfraError, KernelError: whatever the first arm met.
    """
    tables = report.tables
    errors: list[DuetError] = [e for table in tables for e in table.errors.values()]
    if errors and all(len(table.errors) == len(report.arms) for table in tables):
        raise errors[0]


def result_of(report: Report, rows: dict[str, RunRow]) -> RunResult:
    """What `--json` prints."""
    table = report.tables[0]
    one = table.series[0]
    return RunResult(
        lesson=report.lesson,
        clock=str(table.condition.clock),
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
"""Letters of a track's title over its column."""
HEADINGS = ("arm", "n", "median", "wait p50", "p95", "max")


def cycles_title(lesson: Lesson) -> str:
    """What the cycles of a lane are: its first track of the lesson, or just cycles."""
    titles = [track.title for track in lesson.tracks if track.lesson]
    return titles[0] if titles else "cycles"


def print_table(report: Report, rows: dict[str, RunRow], lesson: Lesson) -> None:
    """For people: plain columns, one line per arm."""
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
