# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement as the page's table: medians, intervals, and each arm against the first. Pure."""

from __future__ import annotations

import math
import statistics

from duet.api.bundling import host_fingerprint
from duet.api.parts import Wish
from duet.measure import MIN_RUNS, MeasuredRow, Measurement, Progress
from duet.stream import messages as m

# Two-sided 95 % quantiles of Student's t for n - 1 degrees of freedom; beyond 30 the normal one.
T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def interval95(samples: list[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean; None for fewer than two samples."""
    n = len(samples)
    if n < 2:
        return None
    t = T95[n - 2] if n - 2 < len(T95) else 1.96
    half = t * statistics.stdev(samples) / math.sqrt(n)
    mean = statistics.fmean(samples)
    return mean - half, mean + half


def measured_message(
    wish: Wish, step: Progress | Measurement, run_id: str | None, source: m.Source = "live"
) -> m.Measured:
    """The table so far, or at the end."""
    table = step.table if isinstance(step, Progress) else step
    going = isinstance(step, Progress)
    host = host_fingerprint()
    return m.Measured(
        lesson=wish.folder.slug,
        run_id=run_id,
        source=source,
        clock=wish.clock,
        params=wish.params,
        workload=wish.workload,
        rows=[measured_row(row, table) for row in table.rows],
        at=table.at,
        verdict=str(step) if going else table.verdict,
        host=f"{host['cpu']}, {host['cpus']} CPUs, Linux {host['kernel']}",
        command=command_line(wish, max((row.n for row in table.rows), default=1)),
        done=step.done if isinstance(step, Progress) else 1,
        total=step.total if isinstance(step, Progress) else 1,
    )


def measured_row(row: MeasuredRow, table: Measurement) -> m.MeasuredRow:
    """One arm; compared with the first arm of the table."""
    samples = list(row.ops_per_s)
    bounds = interval95(samples)
    first = table.rows[0]
    base = first.ops_per_s_median
    middle = row.ops_per_s_median
    to = first.arm if row.arm != first.arm and base and middle is not None else None
    return m.MeasuredRow(
        arm=row.arm,
        n=row.n,
        ops_per_s_median=middle,
        ops_per_s_mean=round(statistics.fmean(samples), 1) if samples else None,
        ops_per_s_low=round(bounds[0], 1) if bounds else None,
        ops_per_s_high=round(bounds[1], 1) if bounds else None,
        ops_per_s=samples,
        unit=table.unit,
        to=to,
        change_percent=round(100 * (middle / base - 1), 1) if middle and base and to else None,
        verdict=_verdict(row, first),
    )


def _verdict(row: MeasuredRow, first: MeasuredRow) -> str:
    if row.refused:
        return row.refused
    if row.arm == first.arm:
        return ""
    if min(row.n, first.n) < MIN_RUNS:
        return f"no verdict below {MIN_RUNS} runs"
    apart = max(row.ops_per_s) < min(first.ops_per_s) or min(row.ops_per_s) > max(first.ops_per_s)
    return "" if apart else "no difference proven"


def command_line(wish: Wish, repeats: int) -> str:
    """What measures the same on a terminal."""
    knobs = [
        f"--set {name}={value}"
        for name, value in wish.params.items()
        if value != wish.folder.lesson.params[name].default
    ]
    words = ["./duet run", wish.folder.slug, f"--arms {','.join(wish.arms)}"]
    words += [f"--workload {wish.workload}", f"--clock {wish.clock}", *knobs]
    return " ".join([*words, f"--repeats {max(repeats, 1)}", "--no-trace"])
