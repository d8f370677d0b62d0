# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a run that the server itself measured, and of recorded tables.

What a page reports about a run is never used: only its session's lines and counts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from duet.lessons.schema import Lesson, Prediction
from duet.measure.values import line_value
from duet.messages import Measured
from duet.stream.hub import RunLog

OPS: Final = "ops"


def values_of(log: RunLog, lesson: Lesson, workload: str) -> dict[str, dict[str, float]]:
    """Metric -> arm -> value, from the workload's lines and the operations of each lane."""
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


def table_ratio(prediction: Prediction, tables: Sequence[Measured]) -> float | None:
    """Return the first arm's median over the second's; None if no table fits."""
    for table in tables:
        params = prediction.params.items()
        if table.clock != prediction.measured_on or not params <= table.params.items():
            continue
        medians = {row.arm: row.ops_per_s_median for row in table.rows}
        of, to = (medians.get(arm) for arm in prediction.arms)
        if of and to:
            return of / to
    return None
