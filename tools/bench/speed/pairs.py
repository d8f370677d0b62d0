# SPDX-License-Identifier: GPL-2.0-or-later
"""Run two sides in turns on the same work, and compute the ratio of their times.

A shared machine makes absolute times worthless, but a pair that runs back to back sees the same
machine. So each pair gives one ratio, and the row gives the median of the ratios and their spread.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Clock = Literal["cpu", "wall"]
PAIRS = 7
SMOKE_PAIRS = 3


class Turn(NamedTuple):
    """What one side needed to do the work once, and its result."""

    wall_s: float
    cpu_s: float
    output: object = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sides.

    Args:
        run: does the whole work once; `measured()` makes a Turn from a plain function.
    """

    name: str
    run: Callable[[], Turn]


def measured(body: Callable[[], object]) -> Turn:
    """Call `body`, and return its result with the time of this process and its ended children."""
    cpu_s, wall_s = _cpu_s(), time.perf_counter()
    output = body()
    return Turn(time.perf_counter() - wall_s, _cpu_s() - cpu_s, output)


def _cpu_s() -> float:
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Args:
        stage: name of the stage, such as decode.
        case: what was done, with its size: "1,048,576 events of five lessons".
        peer: the other side.
        clock: the clock that `ratio` uses. The median times of both sides are given for both
            clocks.
        ratio: median of the pairs' ratios: the peer's time divided by ours. Above 1, we are faster.
        low, high: first and third quartile of the pairs' ratios.
        work, unit: amount of work of one turn, for rates: (1_048_576, "events").
        target: smallest ratio that was promised; None if none was promised.
        note: what a reader has to know to judge the comparison; a sentence, or empty.
    """

    stage: str
    case: str
    peer: str
    pairs: int
    clock: Clock
    ratio: float
    low: float
    high: float
    wall_s: float
    cpu_s: float
    peer_wall_s: float
    peer_cpu_s: float
    work: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        return None if self.target is None else self.ratio >= self.target


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure without a peer, such as the time of a first picture.

    Args:
        target: the promised number; None if nothing was promised.
        most: whether the target is a maximum; otherwise it is a minimum.
        spread: smallest and largest value that was seen, if there were several.
    """

    stage: str
    case: str
    value: float
    unit: str
    target: float | None = None
    most: bool = True
    spread: tuple[float, float] | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        return self.value <= self.target if self.most else self.value >= self.target


def median_figure(
    stage: str,
    case: str,
    values: list[float],
    unit: str,
    target: float | None = None,
    *,
    note: str = "",
) -> Figure:
    """Return the median of some values, with the smallest and the largest value."""
    spread = (min(values), max(values))
    return Figure(stage, case, statistics.median(values), unit, target, spread=spread, note=note)


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a cost curve: how a stage's cost grows with a size.

    Args:
        curve: what grows with what: "reduce: CPU time by events".
        size, unit: position on the x axis: (2_000_000, "events").
        cost, cost_unit: (0.61, "s of CPU").
    """

    stage: str
    curve: str
    size: float
    unit: str
    cost: float
    cost_unit: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A comparison that could not run here, and why, as a sentence."""

    stage: str
    case: str
    why: str


Result = Row | Figure | Point | Skipped


@dataclass(frozen=True, slots=True)
class Bench:
    """How the stages are to run.

    Args:
        smoke: use small sizes and few pairs, for CI. A stage then takes at most about 20 s.
        folder: scratch folder, removed at the end.
    """

    smoke: bool
    folder: Path

    @property
    def pairs(self) -> int:
        """Number of pairs of each comparison."""
        return SMOKE_PAIRS if self.smoke else PAIRS


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the product and its comparisons.

    Args:
        run: yields rows as they are ready, so that an interrupted bench has shown its rows so far.
        order: position in the report.
    """

    name: str
    summary: str
    run: Callable[[Bench], Iterator[Result]]
    order: int = field(default=100)


class DifferentResultsError(AssertionError):
    """Both sides did the work, but their results differ, so their times cannot be compared."""


def compare(
    bench: Bench,
    stage: str,
    case: str,
    ours: Side,
    peer: Side,
    *,
    work: float,
    unit: str,
    clock: Clock = "cpu",
    target: float | None = None,
    note: str = "",
) -> Row:
    """Run both sides once to compare their outputs, then in turns, and return the ratio.

    Raises:
        DifferentResultsError: the outputs of the first turns are not equal.
    """
    first, other = ours.run().output, peer.run().output
    if first != other:
        raise DifferentResultsError(
            f"{stage}, {case}: {ours.name} gave {_short(first)}, but {peer.name} gave "
            f"{_short(other)}."
        )
    mine: list[Turn] = []
    theirs: list[Turn] = []
    for _ in range(bench.pairs):
        mine.append(ours.run())
        theirs.append(peer.run())
    return row_of(
        stage, case, peer.name, mine, theirs,
        work=work, unit=unit, clock=clock, target=target, note=note,
    )  # fmt: skip


def row_of(
    stage: str,
    case: str,
    peer: str,
    mine: list[Turn],
    theirs: list[Turn],
    *,
    work: float,
    unit: str,
    clock: Clock = "cpu",
    target: float | None = None,
    note: str = "",
) -> Row:
    """Return the row of turns that already ran A B A B. `compare` also runs the turns."""
    name = f"{clock}_s"
    ratios = [
        getattr(their, name) / max(getattr(my, name), 1e-9)
        for my, their in zip(mine, theirs, strict=True)
    ]
    low, middle, high = quartiles(ratios)
    return Row(
        stage, case, peer, len(ratios), clock, middle, low, high,
        statistics.median(turn.wall_s for turn in mine),
        statistics.median(turn.cpu_s for turn in mine),
        statistics.median(turn.wall_s for turn in theirs),
        statistics.median(turn.cpu_s for turn in theirs),
        work, unit, target, note,
    )  # fmt: skip


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Return first quartile, median and third quartile. A single value is all three."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _short(output: object) -> str:
    text = repr(output)
    return text if len(text) <= 200 else f"{text[:200]}..."
