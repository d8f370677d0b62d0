# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement of the page: what it asks for, and its headline as the page's table. Pure."""

from __future__ import annotations

import statistics

from duet.guests import Clock
from duet.measure import Ask, Progress, Report, Series, Table
from duet.measure.compare import verdict_line, why_refused
from duet.measure.plan import headline
from duet.measure.stats import mean_ci
from duet.runs.pack import host_fingerprint
from duet.runs.request import RunRequest
from duet.stream import messages as m


def ask_of(wish: RunRequest, repeats: int) -> Ask:
    """The headline of a lesson on these arms, as a page's table has it."""
    clock = Clock(wish.clock)
    chosen = headline(wish.folder.lesson, wish.workload, clock)
    return Ask(
        folder=wish.folder,
        arms=wish.arms,
        workload=wish.workload,
        clock=clock,
        params=wish.params,
        repeats=repeats,
        metrics=frozenset({chosen}),
    )


def measured_message(
    wish: RunRequest, step: Progress | Report, run_id: str | None, source: m.Source = "live"
) -> m.Measured:
    """The table so far, or at the end."""
    report = step.report if isinstance(step, Progress) else step
    table = report.tables[0]
    metric = headline(wish.folder.lesson, wish.workload, table.condition.clock)
    host = host_fingerprint()
    series = [one for one in table.series if one.metric == metric]
    return m.Measured(
        lesson=wish.folder.slug,
        run_id=run_id,
        source=source,
        clock=wish.clock,
        params=wish.params,
        workload=wish.workload,
        rows=[measured_row(one, series[0], table) for one in series],
        at=report.at,
        verdict=str(step) if isinstance(step, Progress) else verdict_line(table, metric),
        host=f"{host['cpu']}, {host['cpus']} CPUs, Linux {host['kernel']}",
        command=command_line(wish, max((one.n for one in series), default=1)),
        done=step.done if isinstance(step, Progress) else 1,
        total=step.total if isinstance(step, Progress) else 1,
    )


def measured_row(one: Series, first: Series, table: Table) -> m.MeasuredRow:
    """One arm; compared with the first arm of the table."""
    samples = list(one.samples)
    bounds = mean_ci(samples) if table.condition.clock is Clock.WALL else None
    base = statistics.median(first.samples) if first.samples else None
    middle = statistics.median(samples) if samples else None
    to = first.arm if one.arm != first.arm and base and middle is not None else None
    return m.MeasuredRow(
        arm=one.arm,
        n=one.n,
        ops_per_s_median=middle,
        ops_per_s_mean=round(statistics.fmean(samples), 1) if samples else None,
        ops_per_s_low=round(bounds[0], 1) if bounds else None,
        ops_per_s_high=round(bounds[1], 1) if bounds else None,
        ops_per_s=samples,
        unit=one.unit,
        to=to,
        change_percent=round(100 * (middle / base - 1), 1) if middle and base and to else None,
        verdict=_verdict(one, table),
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


def command_line(wish: RunRequest, repeats: int) -> str:
    """What measures the same on a terminal."""
    knobs = [
        f"--set {name}={value}"
        for name, value in wish.params.items()
        if value != wish.folder.lesson.params[name].default
    ]
    words = ["./duet measure", wish.folder.slug, f"--arms {','.join(wish.arms)}"]
    words += [f"--workload {wish.workload}", f"--clock {wish.clock}", *knobs]
    return " ".join([*words, f"--repeats {max(repeats, 1)}"])


def unfinished(table: m.Measured) -> m.Measured:
    """The table of a measurement that was cut off: what there is, and that it proves nothing."""
    verdict = f"No verdict: measuring ended after {table.done} of {table.total} runs."
    return table.model_copy(update={"total": table.done, "verdict": verdict})
