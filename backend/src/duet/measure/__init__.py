# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure runs: their plan and order, their numbers, and the verdicts."""

from duet.measure.model import MIN_RUNS, Comparison, Condition, Report, Series, Table
from duet.measure.plan import Kind, MeasurePlan, Step
from duet.measure.run import Measuring, Progress

__all__ = [
    "MIN_RUNS",
    "Comparison",
    "Condition",
    "Kind",
    "MeasurePlan",
    "Measuring",
    "Progress",
    "Report",
    "Series",
    "Step",
    "Table",
]
