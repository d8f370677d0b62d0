# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a trial: measured untraced or by instructions, and counted by the microscope."""

from __future__ import annotations

from dataclasses import replace

from duet.base.errors import DuetError, KernelError
from duet.cli.measure import refuse_nothing
from duet.cli.measure_args import Given, read_plan
from duet.cli.measuring import ProgressBar
from duet.cli.request import Request
from duet.guests import Clock
from duet.kernels import KernelSettings
from duet.measure import MeasurePlan, Progress, Report
from duet.measure.compare import verdict_line
from duet.runs.measure import prepare_measurement
from duet.session import LaneResult, workload_trouble
from duet.trials.command import OVER_LIMIT
from duet.trials.spec import Trial
from duet.trials.tracing import Tracing
from duet.trials.write import SHARED_PREFIX, WATCHED


async def measured(request: Request, repeats: str, kernels: KernelSettings, trial: Trial) -> Report:
    """All numbers of the trial, untraced or counted.

    Raises:
        DuetError: no arm has a number.
    """
    plan = read_plan(Given(request.folder.slug, clock=str(request.clock), repeats=repeats or None))
    return await _run(plan, kernels, trial)


async def counted(trial: Trial, kernels: KernelSettings) -> Report:
    """What the watched functions do to lines that CPUs share: a run of each under the microscope.

    Raises:
        DuetError: no arm has a number.
    """
    plan = read_plan(Given(trial.slug, workload=WATCHED, clock=str(Clock.WALL)))
    names = frozenset(name for name in plan.lesson.metrics if name.startswith(SHARED_PREFIX))
    return await _run(replace(plan, metrics=names), kernels, trial)


async def _run(plan: MeasurePlan, kernels: KernelSettings, trial: Trial) -> Report:
    with ProgressBar() as tell:

        def progress(step: Progress) -> None:
            for error in (e for table in step.report.tables for e in table.errors.values()):
                refuse_over_limit(error)
            tell(step)

        measuring = await prepare_measurement(plan, kernels, trial.given, progress)
        await measuring.run()
    refuse_nothing(measuring.report)
    return measuring.report


def refuse_late(lane: LaneResult) -> None:
    """End the call with the first run whose command did not end within its limit.

    Raises:
        KernelError: it did not.
    """
    if (error := workload_trouble(lane)) is not None:
        refuse_over_limit(error)


def refuse_over_limit(error: DuetError) -> None:
    """The same, of what a run ended with."""
    if OVER_LIMIT in error.sentence:
        remedy = "Give it more time by --timeout SECONDS, or less to do."
        raise KernelError(error.sentence, remedy=remedy, detail=error.detail)


def shared_counts(report: Report | None) -> dict[str, dict[str, float]]:
    """Arm -> metric -> value, of lines that CPUs share; {}: nobody was watched."""
    found: dict[str, dict[str, float]] = {}
    tables = report.tables if report else []
    for one in (one for table in tables for one in table.series):
        if one.metric.startswith(SHARED_PREFIX) and one.samples:
            found.setdefault(one.arm, {})[one.metric] = round(one.samples[-1], 6)
    return found


def perturbed(report: Report) -> int:
    """Starts of the count clock beside the equal runs."""
    return max(len(one.perturbed or ()) for table in report.tables for one in table.series)


def elapsed_ms(lane: LaneResult) -> float | None:
    """How long the command took once, from its line of operations."""
    return 1000.0 / lane.ops_per_s if lane.ops_per_s else None


def call_ms(report: Report | None, tracing: Tracing) -> float:
    """Mean of the first function's calls on the slowest kernel; 0: not measured."""
    if report is None or not tracing.functions:
        return 0.0
    name = f"{tracing.functions[0].key}_us"
    series = (one for table in report.tables for one in table.series if one.metric == name)
    return max((max(one.samples) for one in series if one.samples), default=0.0) / 1000


def verdict_of(report: Report | None) -> str | None:
    if report is None:
        return None
    table = report.tables[0]
    return verdict_line(table, table.series[0].metric)
