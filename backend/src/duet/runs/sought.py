# SPDX-License-Identifier: GPL-2.0-or-later
"""Decide whether a run shows a step's claim; frontend/src/derive/sought.ts must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.lessons.schema import Lesson, Scene, Sought
from duet.session.tables import Columns

# The tables of a lane, in guest time or on the page's axis.

STEP_NS = 1000.0
"""Frame time that one step takes on a counting axis (frontend/src/derive/retime.ts)."""
TIMES = ("t0_ns", "t1_ns", "t_ns")
Pairs = NDArray[np.float64]
"""Intervals, shape (n, 2): begin and end in ns of the axis. Points and links have length 0."""


@dataclass(frozen=True, slots=True)
class ProbeSamples:
    """Samples of an x-ray probe, in time order.

    Args:
        t_ns: times of the samples.
        facts: name -> value in each sample; NaN if a sample lacks the value.
    """

    t_ns: NDArray[np.float64]
    facts: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class LaneTables:
    """The data of one lane that has ended.

    Args:
        tables: spans, ops, links, points, with the columns of session.tables.TABLES.
        threads: number of the workload's threads.
        watermark_ns: time up to which the data are complete.
        looks: samples of each x-ray probe.
    """

    tables: Mapping[str, Columns]
    threads: int
    watermark_ns: float
    looks: Mapping[str, ProbeSamples] = field(default_factory=dict)

    def times(self, table: str, of: NDArray[np.bool_] | None = None) -> Pairs:
        """Return begin and end of each row of a table, or only of the rows that `of` selects."""
        columns = self.tables[table]
        names = ("t_ns", "t_ns") if "t_ns" in columns else ("t0_ns", "t1_ns")
        both = np.stack([columns[name].astype(np.float64) for name in names], axis=1)
        return both if of is None else both[of]

    def on_axis(self, point: int) -> LaneTables:
        """Return the lane with a new axis that counts points instead of time.

        Args:
            point: number of the counted point in the lesson's list.
        """
        points = self.tables["points"]
        steps = np.sort(points["t_ns"][points["kind"] == point])

        def over(times: NDArray[np.generic]) -> NDArray[np.float64]:
            return np.searchsorted(steps, times, "right").astype(np.float64) * np.float64(STEP_NS)

        tables = {
            table: {name: over(c) if name in TIMES else c for name, c in columns.items()}
            for table, columns in self.tables.items()
        }
        end = float(over(np.array([self.watermark_ns]))[0])
        looks = {
            probe: ProbeSamples(over(one.t_ns), one.facts) for probe, one in self.looks.items()
        }
        return LaneTables(tables, self.threads, end, looks)


# Search a lane for the marks that a step's `must_show` names. The results are intervals, sorted by
# start. Pure.


MS = 1e6
SHARE = 1 / 20
"""An interval that is only partly in the window counts if it fills at least this share of the
window.
"""
FIELDS = "abcdef"


@dataclass(frozen=True, slots=True)
class Names:
    """A lesson's names, in order: the tables contain indices of names."""

    kinds: tuple[str, ...]
    points: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[str, ...]

    @staticmethod
    def of(lesson: Lesson) -> Names:
        return Names(
            tuple(kind.name for kind in lesson.kinds),
            tuple((point.name, point.fields) for point in lesson.points),
            tuple(link.name for link in lesson.links),
        )


def find_on(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    """Return all intervals of a lane that match the condition `one`, sorted by start."""
    pairs = _named(lane, one, names)
    if one.during is not None:
        pairs = _inside(pairs, _spans(lane, one.during, names))
    if one.at_once != 1:
        pairs = _together(pairs, lane.threads if one.at_once == "all" else one.at_once)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def amount_in(found: Pairs, one: Sought, a: float, b: float) -> float:
    """Return how much of `found` is in [a, b): time in ns, or a count if all lengths are 0.

    Returns:
        The amount; -1 if the window shows fewer than `at_least` or more than `at_most` intervals.
    """
    near = found[: np.searchsorted(found[:, 0], b)]
    t0, t1 = near[:, 0], near[:, 1]
    here = (t1 > a) | (t0 >= a)
    long = t1 - t0 >= one.longer_ms * MS
    part = np.minimum(t1, b) - np.maximum(t0, a)
    seen = here & (part >= one.longer_ms * MS) & (part >= np.minimum(t1 - t0, (b - a) * SHARE))
    if one.whole:
        seen &= (t0 >= a) & (t1 <= b)
    least = one.at_least if one.at_least is not None else int(one.at_most is None)
    if seen.sum() < least or (one.at_most is not None and (here & long).sum() > one.at_most):
        return -1
    time = float(part[seen].sum())
    return time if time > 0 else float(seen.sum())


def _named(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    if one.kind is not None:
        return _spans(lane, one.kind, names)
    if one.point is not None:
        return _points(lane, one, names)
    if one.looks is not None:
        return _looks(lane, one)
    if one.link is not None:
        return lane.times("links", lane.tables["links"]["kind"] == names.links.index(one.link))
    return lane.times("ops")


def _spans(lane: LaneTables, kind: str, names: Names) -> Pairs:
    return lane.times("spans", lane.tables["spans"]["kind"] == names.kinds.index(kind))


def _points(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    points = lane.tables["points"]
    number, fields = next(
        (i, fields) for i, (name, fields) in enumerate(names.points) if name == one.point
    )
    fits = points["kind"] == number
    for name, (least, largest) in one.where.items():
        values = points[FIELDS[fields.index(name)]].astype(np.float64)
        fits = fits & (values >= least) & (values <= largest)
    return lane.times("points", fits)


def _looks(lane: LaneTables, one: Sought) -> Pairs:
    """Return the intervals between samples in which each fact grew by an amount within `one.where`.

    With `one.among`, each fact's growth is divided by the total growth of the facts in `among`.
    """
    looks = lane.looks.get(one.looks or "")
    if looks is None:
        return np.empty((0, 2))
    times = np.stack([looks.t_ns[:-1], looks.t_ns[1:]], axis=1)
    nothing = np.full(len(looks.t_ns), np.nan)
    grown = {name: np.diff(looks.facts.get(name, nothing)) for name in (*one.where, *one.among)}
    whole = sum((grown[name] for name in one.among), np.zeros(len(times)))
    # Ignore intervals of zero length. If the total did not grow, a share of the total is NaN.
    fits = times[:, 1] > times[:, 0]
    for name, (least, largest) in one.where.items():
        share = np.divide(grown[name], whole, out=np.full(len(times), np.nan), where=whole > 0)
        values = share if one.among else grown[name]
        fits = fits & (values >= least) & (values <= largest)
    return np.array(_merged(times[fits]), np.float64).reshape(-1, 2)


def _merged(pairs: Pairs) -> list[list[float]]:
    """Merge intervals that touch or overlap."""
    walls: list[list[float]] = []
    for t0, t1 in sorted(pairs.tolist()):
        if walls and t0 <= walls[-1][1]:
            walls[-1][1] = max(walls[-1][1], t1)
        else:
            walls.append([t0, t1])
    return walls


def _inside(pairs: Pairs, others: Pairs) -> Pairs:
    """Return the parts of the intervals `pairs` that are inside the intervals `others`."""
    walls = _merged(others)
    parts = [
        (max(a, t0), min(b, t1))
        for t0, t1 in pairs.tolist()
        for a, b in walls
        if a <= t1 and b >= t0
    ]
    return np.array(parts, np.float64).reshape(-1, 2)


def _together(pairs: Pairs, n: int) -> Pairs:
    """Return the intervals during which at least `n` intervals of `pairs` overlap."""
    # At equal times, ends sort before begins, so adjacent intervals do not overlap.
    turns = sorted([(t0, 1) for t0, _ in pairs.tolist()] + [(t1, -1) for _, t1 in pairs.tolist()])
    turns.sort(key=lambda turn: (turn[0], turn[1]))
    levels = np.cumsum([by for _, by in turns]).tolist()
    times = []
    since = 0.0
    for (before, now), (t, _) in zip(pairwise([0, *levels]), turns, strict=True):
        if before < n <= now:
            since = t
        elif now < n <= before:
            times.append((since, t))
    return np.array(times, np.float64).reshape(-1, 2)


# Find the windows of a run that show what a step claims. Pure. The page examines the same windows.


SLACK_NS = 500.0
"""Tolerance for times: half a step of a counting axis (frontend/src/derive/align.ts)."""
MOST_WINDOWS = 4000
"""Maximum number of windows that are compared."""


class Window(NamedTuple):
    """A window on the axis of frame time.

    Args:
        start: in ns.
        span: in ns.
        amount: how much the window shows of the marks that have `most` set.
    """

    start: float
    span: float
    amount: float = 0


@dataclass(frozen=True, slots=True)
class StepInRun:
    """A lesson's step, with the data of a run.

    Args:
        lanes: the visible lanes, on the page's axis.
        tick_ns: length of a timer tick.
    """

    scene: Scene
    lanes: Mapping[str, LaneTables]
    names: Names
    tick_ns: float


def windows_that_show(step: StepInRun) -> list[Window]:
    """Return windows that show the step's claim, sorted by amount (largest first), then by time.

    The list is empty if the step makes no claim about these lanes.
    """
    return sorted(_showing(step), key=lambda window: (-window.amount, window.start))


def is_shown(step: StepInRun) -> bool:
    """Return whether any window shows the step's claim."""
    return any(True for _ in _showing(step))


def _showing(step: StepInRun) -> Iterator[Window]:
    asked = {arm: list(_marks(step, arm)) for arm in step.lanes}
    if not any(asked.values()):
        return
    offsets = _offsets(step)
    for start, span, _ in _windows(step, offsets):
        total = 0.0
        for one, amount in _amounts(step, asked, start, span, offsets):
            if amount < 0:
                break
            total += amount if one.most else 0
        else:
            yield Window(start, span, total)


def _amounts(
    step: StepInRun,
    asked: Mapping[str, list[tuple[Sought, Pairs]]],
    start: float,
    span: float,
    offsets: Mapping[str, float],
) -> Iterator[tuple[Sought, float]]:
    """Yield each mark of each lane, and how much of it a window shows (see amount_in)."""
    for arm, marks in asked.items():
        a = start - offsets[arm]
        b = _held(step, arm, a, a + span)
        for one, found in marks:
            yield one, amount_in(found, one, a, b)


def _held(step: StepInRun, arm: str, a: float, b: float) -> float:
    """Return a window's end on a lane.

    In a step with `hold`, the window ends when the first operation that began in the window ends,
    or earlier.
    """
    if "hold" not in step.scene.show:
        return b
    times = step.lanes[arm].times("ops")
    ends = times[times[:, 0] >= a - SLACK_NS, 1]
    # One ns is added, so that points at the very end of the operation count.
    return min(b, float(ends.min()) + 1) if len(ends) else b


def _marks(step: StepInRun, arm: str) -> Iterator[tuple[Sought, Pairs]]:
    """Yield each mark that a lane must show, with the mark's intervals."""
    must = step.scene.must_show
    for one in must.marks if must else ():
        if arm in (one.arms or step.scene.arms):
            yield one, find_on(step.lanes[arm], one, step.names)


def _windows(step: StepInRun, offsets: Mapping[str, float]) -> Iterator[Window]:
    scene = step.scene
    span = scene.window_ms * MS + scene.window_steps * STEP_NS
    if scene.moment == "operation":
        times = [_nth(lane, scene.operation) for lane in step.lanes.values()]
        known = [one for one in times if one is not None]
        if known:
            longest = max(t1 - t0 for t0, t1 in known)
            yield Window(max(t0 for t0, _ in known), span or longest * 1.02)
    elif scene.moment == "start":
        yield Window(0, span)
    elif span > 0:
        last = max(0.0, _end(step, offsets) - span)
        length = step.tick_ns if span >= 2 * step.tick_ns else span / 4
        stride = length * max(1, ceil(last / length / MOST_WINDOWS))
        yield from (Window(i * stride, span) for i in range(floor(last / stride) + 1))
    else:
        yield from _around_each(step)


def _around_each(step: StepInRun) -> Iterator[Window]:
    """Yield a window around each operation of the first lane that has operations.

    Without operations, yield the whole run.

    A window extends an operation by a quarter of its length on each side.
    """
    for lane in step.lanes.values():
        times: list[tuple[float, float]] = lane.times("ops").tolist()
        for t0, t1 in times[:MOST_WINDOWS]:
            if t0 >= 0:
                yield Window(max(0.0, t0 - (t1 - t0) / 4), 1.5 * (t1 - t0))
        if times:
            return
    yield Window(0, max((lane.watermark_ns for lane in step.lanes.values()), default=0.0))


def _nth(lane: LaneTables, n: int) -> tuple[float, float] | None:
    """Return the begin and the end of an operation; None if there is no such operation.

    Args:
        n: position of the operation in the order of ends; 1 is the operation that ended first.
    """
    times = lane.times("ops")
    if n > len(times):
        return None
    t0, t1 = times[np.argsort(times[:, 1], kind="stable")[n - 1]].tolist()
    return t0, t1


def _offsets(step: StepInRun) -> dict[str, float]:
    """Return the shift of each lane in ns (frontend/src/derive/align.ts)."""
    align = step.scene.align
    nth = 1 if align == "marker" else step.scene.operation
    times = {arm: _nth(lane, nth) for arm, lane in step.lanes.items()}
    side = 0 if align == "begin" else 1
    latest = max((one[side] for one in times.values() if one is not None), default=0.0)
    return {
        arm: 0.0 if align == "time" or one is None else latest - one[side]
        for arm, one in times.items()
    }


def _end(step: StepInRun, offsets: Mapping[str, float]) -> float:
    """Return the frame time at which the first lane with data ends."""
    end = inf
    for arm, lane in step.lanes.items():
        if not any(len(lane.tables[table]["id"]) for table in ("spans", "ops", "points")):
            continue
        ends = lane.times("ops")[:, 1]
        last = float(ends.max()) if len(ends) else lane.watermark_ns
        end = min(end, last + offsets[arm])
    return end if end < inf else 0.0


__all__ = [
    "LaneTables",
    "Names",
    "ProbeSamples",
    "StepInRun",
    "Window",
    "is_shown",
    "windows_that_show",
]
