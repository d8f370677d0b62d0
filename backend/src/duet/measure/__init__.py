# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure runs: arms one after another, one guest at a time; verdicts only from enough runs."""

from duet.measure.run import Progress, measure
from duet.measure.table import MIN_RUNS, MeasuredRow, Measurement

__all__ = ["MIN_RUNS", "MeasuredRow", "Measurement", "Progress", "measure"]
