# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes a run's figures from what the server itself measured, or from recorded tables.

What a page reports about a run is never used. The figures come only from the lines and counts of
the run's session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from duet.lessons.schema import Lesson, Prediction
from duet.measure.values import line_value
from duet.messages import GridCell, Measured
from duet.stream.hub import RunLog

OPS: Final = "ops"


def values_of(log: RunLog, lesson: Lesson, workload: str) -> dict[str, dict[str, float]]:
    """Return values by metric and arm, from the workload's lines and each lane's operations."""
    values: dict[str, dict[str, float]] = {}
    ops = {arm: float(counts.ops) for arm, counts in log.metrics().items()}
    if ops:
        values[OPS] = ops
    lines = log.lines()
    for name, metric in lesson.metrics.items():
        if metric.line is None or (metric.workloads and workload not in metric.workloads):
            continue
        found = {arm: line_value(metric, texts) for arm, texts in lines.items()}
        lanes = {arm: value for arm, value in found.items() if value is not None}
        if lanes:
            values[name] = lanes
    return values


def crossing_ratios(
    lesson: Lesson, prediction: Prediction, cells: Sequence[GridCell]
) -> list[tuple[int, float]]:
    """Return (value of the knob, ratio of the two arms) for each point of a crossing's curve.

    As on the page (frontend/src/derive/grid.ts), the grid's other knobs have the prediction's
    values, or else their defaults. A value that is not recorded is replaced by the grid's first
    value. Return [] if there is no such curve.
    """
    asked = prediction.crossing
    grid = lesson.grids.get(asked.grid) if asked else None
    curve = grid.curves.get(asked.curve) if asked and grid else None
    if asked is None or grid is None or curve is None:
        return []
    held = {}
    for knob, values in grid.over.items():
        value = prediction.params.get(knob, lesson.params[knob].default)
        held[knob] = value if value in values else values[0]
    del held[curve.over]
    found = []
    for cell in cells:
        of, to = (cell.values.get(curve.metric, {}).get(arm) for arm in prediction.arms)
        fits = cell.grid == asked.grid and held.items() <= cell.params.items()
        if fits and of is not None and to:
            found.append((cell.params[curve.over], of / to))
    return sorted(found)


def table_ratio(prediction: Prediction, tables: Sequence[Measured]) -> float | None:
    """Return the first arm's median divided by the second arm's; None if no table fits."""
    for table in tables:
        params = prediction.params.items()
        if table.clock != prediction.measured_on or not params <= table.params.items():
            continue
        medians = {row.arm: row.ops_per_s_median for row in table.rows}
        of, to = (medians.get(arm) for arm in prediction.arms)
        if of and to:
            return of / to
    return None
