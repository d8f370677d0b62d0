# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements: planning and ordering runs, extracting numbers, and giving verdicts."""

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
