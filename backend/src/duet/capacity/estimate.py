# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure as a low and a high value; sums and products carry both ends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """From `low` to `high`, neither below zero.

    Raises:
        ValueError: the ends are in the wrong order, or below zero.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ValueError(f"no estimate: {self.low} to {self.high}")

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Estimate | float) -> Estimate:
        by = other if isinstance(other, Estimate) else exactly(other)
        return Estimate(self.low * by.low, self.high * by.high)

    def over(self, divisor: float) -> Estimate:
        """Both ends over a positive number."""
        return Estimate(self.low / divisor, self.high / divisor)


def larger(one: Estimate, other: Estimate) -> Estimate:
    """The larger one of both, at either end."""
    return Estimate(max(one.low, other.low), max(one.high, other.high))


def exactly(value: float) -> Estimate:
    """A figure without a spread."""
    return Estimate(value, value)


def spanning(one: Estimate, other: Estimate) -> Estimate:
    """From the lowest to the highest of both."""
    return Estimate(min(one.low, other.low), max(one.high, other.high))


NOTHING = exactly(0.0)
