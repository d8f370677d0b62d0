# SPDX-License-Identifier: GPL-2.0-or-later
"""Spread of a figure over its kernel's layouts (link orders), in numbers and words. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from duet.measure.compare import format_value
from duet.measure.model import Series


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure's spread over layouts.

    Args:
        values: median of the runs of each layout that gave a number.
        runs: number of runs per layout; if it varies, the smallest.
        figure: median with the default link order.
        noise: half the range of the default link's runs (on the count clock: its perturbed starts),
            divided by the figure; None for fewer than two values.
    """

    values: tuple[float, ...]
    runs: int
    figure: float
    noise: float | None

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def ratios(self) -> tuple[float, float]:
        """Lowest and highest value over layouts, divided by the default link's figure."""
        return self.low / self.figure, self.high / self.figure

    @property
    def part(self) -> float:
        """Half the range over layouts, divided by the figure. 0.02 means +-2 %."""
        return (self.high - self.low) / 2 / self.figure


def spread(one: Series) -> Spread | None:
    """Return the spread over layouts, or None without layouts or without a positive figure."""
    runs = [samples for _, samples in sorted(one.layouts.items()) if samples]
    figure = statistics.median(one.samples) if one.samples else 0.0
    if not runs or figure <= 0:
        return None
    others = [*one.perturbed, figure] if one.perturbed else one.samples
    noise = (max(others) - min(others)) / 2 / figure if len(others) > 1 else None
    values = tuple(statistics.median(samples) for samples in runs)
    return Spread(values, min(map(len, runs)), figure, noise)


def ratios(ours: Series, theirs: Series) -> tuple[float, float] | None:
    """Return the lowest and the highest ratio of two arms, over the link orders that both have.

    Return None if they have no link order in common.
    """
    both = [number for number in ours.layouts if theirs.layouts.get(number)]
    found = [
        statistics.median(ours.layouts[number]) / bottom
        for number in both
        if ours.layouts[number] and (bottom := statistics.median(theirs.layouts[number])) > 0
    ]
    return (min(found), max(found)) if found else None


def spread_words(one: Series) -> str | None:
    """Return text such as 'srcu relinked 5 times: 812 to 840 umounts/s, ...', or None."""
    found = spread(one)
    if found is None:
        return None
    low, high = found.ratios
    each = f", the median of {found.runs} runs each" if found.runs > 1 else ""
    times = f"{len(found.values)} times" if len(found.values) > 1 else "once"
    return (
        f"{one.arm} relinked {times}: {format_value(found.low)} to {format_value(found.high)} "
        f"{one.unit}, i.e. {_within(found.part)} ({100 * (low - 1):+.1f} % to "
        f"{100 * (high - 1):+.1f} % of the default link's {format_value(found.figure)}{each})"
        f"{_beside(one, found)}."
    )


def ratio_words(ours: Series, theirs: Series, ratio: float | None) -> str | None:
    """Return a sentence about the change between two arms over layouts, or None without layouts."""
    found = ratios(ours, theirs)
    if found is None:
        return None
    low, high = (100 * (one - 1) for one in found)
    said = f"{ours.arm} against {theirs.arm} over layouts: {low:+.1f} % to {high:+.1f} %"
    if ratio is None or ratio == 1:
        return f"{said}."
    if found[0] <= 1 <= found[1]:
        return f"{said}, which includes no change: the change may come from code addresses."
    if (found[0] > 1) != (ratio > 1):
        return f"{said}, opposite to the default link: the change comes from code addresses."
    return f"{said}: its direction does not depend on the link order."


def _beside(one: Series, found: Spread) -> str:
    """Say whether the figure varies more over layouts than over the default link's runs."""
    if found.noise is None:
        return ""
    whose = "its perturbed starts" if one.perturbed else "its own runs"
    relation = "more than" if found.part > found.noise else "within what"
    return f"; {relation} {whose} spread by ({_within(found.noise)})"


def _within(part: float) -> str:
    return f"+-{100 * part:.2g} %"
