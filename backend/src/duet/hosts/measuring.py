# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement of the page: what it asks for, and its headline as the page's table. Pure."""

from __future__ import annotations

import statistics

from duet.guests import Clock
from duet.measure import MeasurePlan, Progress, Report, Series, Table
from duet.measure.apart import warnings
from duet.measure.clock import of_the_clock
from duet.measure.compare import verdict_line, why_refused
from duet.measure.plan import headline
from duet.measure.stats import mean_ci
from duet.runs.pack import host_fingerprint
from duet.runs.request import RunRequest
from duet.stream import messages as m


def measure_plan(request: RunRequest, repeats: int) -> MeasurePlan:
    """The headline of a lesson on these arms, as a page's table has it."""
    clock = Clock(request.clock)
    chosen = headline(request.folder.lesson, request.workload, clock)
    return MeasurePlan(
        folder=request.folder,
        arms=request.arms,
        workload=request.workload,
        clock=clock,
        params=request.params,
        repeats=repeats,
        metrics=frozenset({chosen}),
    )


def measured_message(
    request: RunRequest, step: Progress | Report, run_id: str | None, source: m.Source = "live"
) -> m.Measured:
    """The table so far, or at the end."""
    report = step.report if isinstance(step, Progress) else step
    table = report.tables[0]
    metric = headline(request.folder.lesson, request.workload, table.condition.clock)
    host = host_fingerprint()
    hardware = f", {report.host['hardware']}" if report.host.get("hardware") else ""
    series = [one for one in table.series if one.metric == metric]
    return m.Measured(
        lesson=request.folder.slug,
        run_id=run_id,
        source=source,
        clock=request.clock,
        params=request.params,
        workload=request.workload,
        metric=metric,
        title=request.folder.lesson.metrics[metric].title,
        better=request.folder.lesson.metrics[metric].better,
        rows=[measured_row(one, series[0], table) for one in series],
        at=report.at,
        verdict=str(step) if isinstance(step, Progress) else verdict_words(report, metric),
        host=f"{host['cpu']}, {host['cpus']} CPUs, Linux {host['kernel']}{hardware}",
        command=command_line(
            request, max((one.n for one in series), default=1), table.condition.shift or 0
        ),
        done=step.done if isinstance(step, Progress) else 1,
        total=step.total if isinstance(step, Progress) else 1,
        warnings=[f"{sentence}." for sentence in warnings(report.arms)],
    )


def verdict_words(report: Report, metric: str) -> str:
    """All verdicts of the headline, and what depends on the clock."""
    said = [verdict_line(report.tables[0], metric)]
    said += [f"{one[0].upper()}{one[1:]}." for one in of_the_clock(report)]
    return " ".join(said)


def measured_row(one: Series, first: Series, table: Table) -> m.MeasuredRow:
    """One arm; compared with the first arm of the table."""
    samples = list(one.samples)
    bounds = mean_ci(samples) if table.condition.clock is Clock.WALL else None
    base, middle = first.figure, one.figure
    shown = None if middle is None else float(f"{middle:.12g}")  # a mean of two has more digits
    to = first.arm if one.arm != first.arm and base and middle is not None else None
    return m.MeasuredRow(
        arm=one.arm,
        n=one.n,
        ops_per_s_median=shown,
        ops_per_s_mean=round(statistics.fmean(one.starts), 1) if samples else None,
        ops_per_s_low=round(bounds[0], 1) if bounds else None,
        ops_per_s_high=round(bounds[1], 1) if bounds else None,
        ops_per_s=samples,
        unit=one.unit,
        to=to,
        change_percent=round(100 * (middle / base - 1), 1) if middle and base and to else None,
        verdict=_verdict(one, table),
        perturbed=list(one.perturbed),
    )


def _verdict(one: Series, table: Table) -> str:
    if one.refused:
        return one.refused
    found = [c for c in table.comparisons if c.metric == one.metric and c.arm == one.arm]
    if not found:
        return ""
    why = why_refused(found[0])
    if why is not None:
        return why.rstrip(".")
    return found[0].verdict if found[0].verdict == "no difference proven" else ""


def command_line(request: RunRequest, repeats: int, shift: int = 0) -> str:
    """What measures the same on a terminal."""
    knobs = [
        f"--set {name}={value}"
        for name, value in request.params.items()
        if value != request.folder.lesson.params[name].default
    ]
    words = ["./duet measure", request.folder.slug, f"--arms {','.join(request.arms)}"]
    words += [f"--workload {request.workload}", f"--clock {request.clock}", *knobs]
    words.append(f"--repeats {max(repeats, 1)}")
    words += [f"--shift {shift}"] if request.clock == "count" else []
    return " ".join(words)


def unfinished(table: m.Measured) -> m.Measured:
    """Partial table of a measurement that was cut off, marked as having no verdict."""
    verdict = f"No verdict: measuring ended after {table.done} of {table.total} runs."
    return table.model_copy(update={"total": table.done, "verdict": verdict})
