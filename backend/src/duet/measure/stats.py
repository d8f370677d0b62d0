# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of samples: medians, intervals, tests. scipy does the arithmetic. Pure.

scipy.stats takes more than a second to import, so it is imported where it is used: a server or
a command that measures nothing does not wait for it.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Sequence

import numpy as np

from duet.guests.types import Clock
from duet.measure.model import SAME, Summary

CONFIDENCE = 0.95
RESAMPLES = 9999
SEED = 20260101
"""Of the bootstrap: the same samples give the same interval, today and on any machine."""


def prepare() -> None:
    """Import scipy.stats now; for a thread, so that an event loop need not wait for it."""
    importlib.import_module("scipy.stats")


def summary(samples: Sequence[float], clock: Clock) -> Summary | None:
    """Median, mean, spread and the 95 % interval of the mean (Student's t); None of nothing.

    On the count clock runs are equal or they are not: there is no interval.
    """
    if not samples:
        return None
    n = len(samples)
    mean = statistics.fmean(samples)
    spread = statistics.stdev(samples) if n > 1 else None
    ci = mean_ci(samples) if clock is Clock.WALL else None
    return Summary(n, statistics.median(samples), mean, spread, ci)


def mean_ci(samples: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean; None for fewer than two samples."""
    if len(samples) < 2:
        return None
    from scipy import stats

    mean, error = statistics.fmean(samples), float(stats.sem(samples))
    if error == 0:
        return mean, mean
    low, high = stats.t.interval(CONFIDENCE, len(samples) - 1, loc=mean, scale=error)
    return float(low), float(high)


def ratio_ci(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """95 % interval of median(ours) / median(theirs): percentile bootstrap, all above zero.

    BCa corrects by a jackknife, which for a median of few samples takes two values only and is
    worse than no correction.
    """
    from scipy import stats

    found = stats.bootstrap(
        (np.asarray(ours), np.asarray(theirs)),
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        paired=False,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(found.low), float(found.high)


def mann_whitney_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Two-sided p of the Mann-Whitney U test."""
    from scipy import stats

    return float(stats.mannwhitneyu(ours, theirs, alternative="two-sided").pvalue)


def equal(samples: Sequence[float]) -> bool:
    """Do these runs agree as equal runs of the count clock must (within SAME)?"""
    low, high = min(samples), max(samples)
    return high - low <= SAME * max(abs(low), abs(high))
