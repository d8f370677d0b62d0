# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare two arms. Give a verdict, or a sentence that says why no verdict is possible. Pure."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from duet.base.clock import Clock
from duet.measure.model import (
    MIN_RUNS,
    SAME,
    ArmFacts,
    Comparison,
    Condition,
    Series,
    Summary,
    Table,
    Verdict,
)

# Statistics of samples: medians, intervals, tests. Pure.
#
# Importing scipy.stats takes more than a second, so it is imported only inside the functions that
# use it. A server or command that measures nothing does not wait for this import.

CONFIDENCE = 0.95
RESAMPLES = 9999
SEED = 20260101
"""Seed of the bootstrap. It is fixed so that identical samples always give identical intervals, on
any machine."""


def prepare() -> None:
    """Import scipy.stats. Call this function in a thread, so that the event loop stays free."""
    importlib.import_module("scipy.stats")


def summary(samples: Sequence[float], clock: Clock) -> Summary | None:
    """Return median, mean, spread and 95 % interval of the mean (Student's t).

    Return None if there are no samples.

    There is no interval on the count clock, where identical runs have identical figures.
    """
    if not samples:
        return None
    n = len(samples)
    mean = statistics.fmean(samples)
    spread = statistics.stdev(samples) if n > 1 else None
    ci = mean_ci(samples) if clock == "wall" else None
    return Summary(n, statistics.median(samples), mean, spread, ci)


def mean_ci(samples: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean, or None for fewer than two samples.

    If samples are never negative, such as rates and times, the interval does not go below 0.
    """
    if len(samples) < 2:
        return None
    from scipy import stats

    mean, error = statistics.fmean(samples), float(stats.sem(samples))
    if error == 0:
        return mean, mean
    low, high = stats.t.interval(CONFIDENCE, len(samples) - 1, loc=mean, scale=error)
    return (max(float(low), 0.0) if min(samples) >= 0 else float(low)), float(high)


def ratio_ci(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of median(ours) / median(theirs), by percentile bootstrap.

    All samples must be positive. The BCa method is not used: for the median of few samples, its
    jackknife estimates have only two values, which is worse than no correction.
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
    """Return the two-sided p of the Mann-Whitney U test."""
    from scipy import stats

    return float(stats.mannwhitneyu(ours, theirs, alternative="two-sided").pvalue)


def equal(samples: Sequence[float]) -> bool:
    """Whether all samples agree within SAME. Identical runs on the count clock must agree."""
    low, high = min(samples), max(samples)
    return high - low <= SAME * max(abs(low), abs(high))


RESOLUTION_STEPS = 10
"""A median of fewer clock steps than this measures the clock, not the kernel."""


def compare_all(table: Table, arms: tuple[str, ...]) -> list[Comparison]:
    """Compare each arm with the first arm in every metric. Leave out extra metrics."""
    because = table.refusals[0] if table.refusals else None
    found: list[Comparison] = []
    for metric in dict.fromkeys(s.metric for s in table.series if not s.extra):
        first = table.of(metric, arms[0])
        for arm in arms[1:]:
            other = table.of(metric, arm)
            if first is not None and other is not None:
                found.append(compare(other, first, table.condition, because))
    return found


def compare(
    ours: Series, theirs: Series, condition: Condition, because: str | None = None
) -> Comparison:
    """Compare one metric of an arm with the reference arm.

    Args:
        because: reason why this table gets no wall-clock verdicts, such as a busy host.
    """
    wall = condition.clock == "wall"
    why = _unusable(ours, theirs)
    if why is None and ours.evidence == "static":
        return _exact(ours, theirs, "read from DWARF")
    if why is None:
        why = _wall_refusal(ours, theirs, because) if wall else _count_refusal(ours, theirs)
    if why is not None:
        return _refused(ours, theirs, why)
    if wall:
        return _measured(ours, theirs)
    return _counted(ours, theirs, f"{equal_words(ours.n)} at {shift_words(condition.shift)}")


def verdict_line(table: Table, metric: str) -> str:
    """Join all comparisons of one metric into a line. State a shared reason only once."""
    found = [c for c in table.comparisons if c.metric == metric]
    reasons = {why_refused(c) for c in found}
    if len(found) > 1 and len(reasons) == 1 and None not in reasons:
        return f"No verdict: {reasons.pop()}"
    return " ".join(c.sentence for c in found) or "No verdict: there is nothing to compare with."


def why_refused(comparison: Comparison) -> str | None:
    """Return why a comparison has no verdict, or None if it has one."""
    if comparison.verdict != "refused":
        return None
    return comparison.sentence.partition(": ")[2]


def shift_words(shift: int | None) -> str:
    """Return '8 ns per instruction' for shift 3."""
    return f"{1 << (shift or 0)} ns per instruction"


def equal_words(n: int) -> str:
    """Return text such as '2 equal runs', the support for a figure on the count clock."""
    return f"{n} equal runs"


def format_value(value: float) -> str:
    """Format a number with few digits: '1,234', '0.01235', '12,916.4'."""
    if abs(value) < 1e15 and value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.1f}"
    return f"{value:.4g}"


def step_of(span: tuple[float, float] | None) -> float | None:
    """Return the step to which figures with this spread are rounded; None for no spread.

    Half the spread keeps two digits, and the larger figure at most four.

    Args:
        span: lowest and highest figure; None if they are unknown.
    """
    if span is None:
        return None
    low, high = span
    half, largest = (high - low) / 2, max(abs(low), abs(high))
    if not half > 0 or not math.isfinite(largest):
        return None
    return 10.0 ** max(math.floor(math.log10(half)) - 1, math.floor(math.log10(largest)) - 3)


def rounded(value: float, step: float | None) -> str:
    """Format a number to a multiple of `step`, a power of ten: '1,150', '0.0232'."""
    if step is None:
        return format_value(value)
    decimals = max(0, -round(math.log10(step)))
    return f"{round(value / step) * step:,.{decimals}f}"


def _unusable(ours: Series, theirs: Series) -> str | None:
    for one in (ours, theirs):
        if one.refused is not None:
            return f"{one.arm}: {one.refused}"
        if not one.samples:
            return f"{one.arm} has no number"
    if ours.unit != theirs.unit:
        return f"{ours.arm} prints {ours.unit}, but {theirs.arm} prints {theirs.unit}"
    for one in (ours, theirs):
        middle = _figure(one)
        if one.resolution and middle < RESOLUTION_STEPS * one.resolution:
            return (
                f"the median of {one.arm}, {format_value(middle)} {one.unit}, is too close to the "
                f"resolution of its clock ({format_value(one.resolution)} {one.unit})"
            )
    return None


def _wall_refusal(ours: Series, theirs: Series, because: str | None) -> str | None:
    if ours.evidence == "counted":
        return "counted in one traced run; on the wall clock it is shown but not judged"
    if because is not None:
        return because
    n = min(ours.n, theirs.n)
    if n < MIN_RUNS:
        return f"n = {n}, but a verdict needs at least {MIN_RUNS} runs"
    if min(*ours.samples, *theirs.samples) <= 0:
        return "a run gave no positive number, so there is no ratio"
    return None


def _count_refusal(ours: Series, theirs: Series) -> str | None:
    if "sampled" in (ours.evidence, theirs.evidence):
        return "it is sampled at the kernel's tick, not counted"
    for one in (ours, theirs):
        if one.n < 2:
            return f"{one.arm} ran once, but two equal runs are needed to call it deterministic"
        if not equal(one.samples):
            low, high = min(one.samples), max(one.samples)
            return (
                f"equal runs of {one.arm} differ: "
                f"{format_value(low)} and {format_value(high)} {one.unit}"
            )
    return None


def _refused(ours: Series, theirs: Series, why: str) -> Comparison:
    sentence = f"No verdict on {ours.arm} against {theirs.arm}: {why}."
    return Comparison(
        ours.metric, ours.arm, theirs.arm, None, None, None, None, "refused", sentence
    )


def _measured(ours: Series, theirs: Series) -> Comparison:
    ratio = _figure(ours) / _figure(theirs)
    low, high = ratio_ci(ours.samples, theirs.samples)
    p = mann_whitney_p(ours.samples, theirs.samples)
    n = min(ours.n, theirs.n)
    within = f"95 % interval {_of(theirs, low, high)}, n = {n}, p = {p:.2g}"
    verdict: Verdict
    if low <= 1 <= high or _percent(ratio) == _percent(1):
        verdict = "no difference proven"
        sentence = f"{ours.arm} against {theirs.arm}: no difference proven ({within})."
    else:
        verdict = "higher" if ratio > 1 else "lower"
        sentence = f"{_change(ours, theirs, ratio)} ({within})."
    return Comparison(
        ours.metric, ours.arm, theirs.arm, ratio, (low, high), None, p, verdict, sentence
    )


def _counted(ours: Series, theirs: Series, how: str) -> Comparison:
    """Compare two arms on the count clock.

    No difference is proven if the figures agree within SAME, or if the ranges of the two arms'
    starts overlap.
    """
    one, other = _figure(ours), _figure(theirs)
    ratio = one / other if other else None
    span = _range(ours, theirs, ratio)
    starts = min(len(ours.starts), len(theirs.starts))
    over = f"; over {starts} starts {_of(theirs, *span)}" if span else ""
    why = ""
    if equal((one, other)):
        why = "equal" if one == other else f"less than {100 * SAME:g} % apart"
    elif span and _overlap(ours.starts, theirs.starts):
        why = "the starts of both overlap"
    if why:
        sentence = f"{ours.arm} against {theirs.arm}: no difference proven ({why}; {how}{over})."
        verdict: Verdict = "no difference proven"
        return Comparison(
            ours.metric, ours.arm, theirs.arm, ratio, None, span, None, verdict, sentence
        )
    return _exact(ours, theirs, f"{how}{over}", span)


def _exact(
    ours: Series, theirs: Series, how: str, span: tuple[float, float] | None = None
) -> Comparison:
    one, other = _figure(ours), _figure(theirs)
    ratio = one / other if other else None
    if ratio is None:
        said = f"{ours.arm} {format_value(one)} {ours.unit}, {theirs.arm} {format_value(other)}"
    else:
        said = _change(ours, theirs, ratio)
    sentence = f"{said}: deterministic ({how})."
    return Comparison(
        ours.metric, ours.arm, theirs.arm, ratio, None, span, None, "deterministic", sentence
    )


def _figure(one: Series) -> float:
    assert one.figure is not None, "a series without a number is refused before"
    return one.figure


def _range(ours: Series, theirs: Series, ratio: float | None) -> tuple[float, float] | None:
    """Return the lowest and highest ratio over all starts. The headline ratio is included."""
    if not ours.perturbed or not theirs.perturbed:
        return None
    pairs = zip(ours.starts, theirs.starts, strict=False)
    ratios = [one / other for one, other in pairs if other] + ([ratio] if ratio else [])
    return (min(ratios), max(ratios)) if ratios else None


def _overlap(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    return min(ours) <= max(theirs) and min(theirs) <= max(ours)


def _of(theirs: Series, low: float, high: float) -> str:
    """Format a range of ratios, for example '0.08 to 0.13 of rwsem'."""
    step = step_of((low, high))
    return f"{rounded(low, step)} to {rounded(high, step)} of {theirs.arm}"


def _change(ours: Series, theirs: Series, ratio: float) -> str:
    if ratio == 1:
        return f"{ours.arm} equals {theirs.arm}"
    if ours.better == "neither":
        judged = ""
    else:
        judged = ", better" if (ratio > 1) == (ours.better == "higher") else ", worse"
    times = f", {format_value(ratio)} times" if ratio >= 2 else ""
    return f"{ours.arm} {_percent(ratio)} against {theirs.arm}{times}{judged}"


def _percent(ratio: float) -> str:
    """Format a ratio's change, such as '-78.2 %'. A change that rounds to zero gives '+0.0 %'."""
    return f"{100 * (ratio - 1):+.1f} %".replace("-0.0", "+0.0")


# Decide whether a kernel is worse than the first kernel, as an exit code for programs. Pure.


class Judgement(IntEnum):
    """Exit codes for `git bisect run` (git-bisect(1), "Bisect run")."""

    GOOD = 0
    WORSE = 1
    UNKNOWN = 125


def judge(table: Table, metric: str, percent: float) -> tuple[Judgement, str]:
    """Decide whether any arm's `metric` is worse than the first arm's by more than `percent`.

    Returns:
        The judgement, and a sentence with the reason.
    """
    series = [one for one in table.series if one.metric == metric]
    found = [one for one in table.comparisons if one.metric == metric]
    if not series or not found:
        return Judgement.UNKNOWN, f"there is no comparison of {metric}"
    sign = {"higher": -1, "lower": 1, "neither": 0}[series[0].better]
    if sign == 0:
        return Judgement.UNKNOWN, f"neither direction of {metric} is better"
    for one in found:
        if one.verdict == "refused" or one.change_percent is None:
            return Judgement.UNKNOWN, one.sentence
    proven = [one for one in found if one.verdict != "no difference proven"]
    for one in proven:
        change = one.change_percent or 0.0
        if change * sign > percent:
            return (
                Judgement.WORSE,
                f"{one.arm} is worse than {one.to} by {abs(change):.1f} % ({series[0].title})",
            )
    return Judgement.GOOD, f"no kernel is worse than {series[0].arm} by more than {percent:g} %"


def worse_by(table: Table, metric: str, arms: tuple[str, str]) -> tuple[float | None, str]:
    """Return by how much the second arm is worse than the first. `metric` may be an extra metric.

    Returns:
        The percentage and the sentence of the comparison. The percentage is negative if the second
        arm is better, 0 if no difference is proven, and None if there is no verdict.
    """
    first, second = (table.of(metric, arm) for arm in arms)
    if first is None or second is None:
        known = ", ".join(dict.fromkeys(one.metric for one in table.series))
        return None, f"wanted {metric} of both kernels, but only these were measured: {known}"
    sign = {"higher": -1, "lower": 1, "neither": 0}[first.better]
    if sign == 0:
        return None, f"neither direction of {metric} is better"
    because = table.refusals[0] if table.refusals else None
    found = compare(second, first, table.condition, because)
    if found.verdict == "refused" or found.change_percent is None:
        return None, found.sentence
    if found.verdict == "no difference proven":
        return 0.0, found.sentence
    return found.change_percent * sign, found.sentence


# Warnings about arms whose bases or compilers differ, for reports. Pure.


def base_words(arm: ArmFacts) -> str:
    """Return the arm's base in words: '6.12', or '6.1 with hz-1000' for a config variant."""
    return f"{arm.base} with {arm.config}" if arm.config else arm.base


def warnings(arms: Sequence[ArmFacts]) -> list[str]:
    """Return sentences about differences between the arms' bases, configs and compilers."""
    return [*other_bases(arms), *other_compilers(arms)]


def other_compilers(arms: Sequence[ArmFacts]) -> list[str]:
    """Return a sentence if the arms' compilers differ. Ignore arms with an unknown compiler."""
    found: dict[str, list[ArmFacts]] = {}
    for arm in arms:
        if arm.compiler:
            found.setdefault(arm.compiler, []).append(arm)
    if len(found) < 2:
        return []
    words = "; ".join(f"{_names(some)} by {compiler}" for compiler, some in found.items())
    return [f"the compilers differ: {words}: a difference may come from the compiler"]


def other_bases(arms: Sequence[ArmFacts]) -> list[str]:
    """Return a sentence for each base or config variant that differs from the first arm's.

    Such kernels differ by more than a patch. So a difference may have many causes, and a verdict
    cannot attribute the difference to one cause. Arms with an unknown base are ignored.
    """
    known = [arm for arm in arms if arm.base]
    if not known:
        return []
    first = known[0]
    groups: dict[str, list[ArmFacts]] = {}
    for arm in known[1:]:
        if (arm.base, arm.config) != (first.base, first.config):
            groups.setdefault(base_words(arm), []).append(arm)
    return [
        f"{_names(some)} {'are' if len(some) > 1 else 'is'} on {words}, but {first.name} on"
        f" {base_words(first)}: {_apart(some[0], first)}, so a difference is not the effect of"
        " one patch"
        for words, some in groups.items()
    ]


def _names(arms: Sequence[ArmFacts]) -> str:
    *others, last = [arm.name for arm in arms]
    return f"{', '.join(others)} and {last}" if others else last


def _apart(one: ArmFacts, first: ArmFacts) -> str:
    if one.base != first.base:
        return "these are different kernels"
    return "their configurations differ"
