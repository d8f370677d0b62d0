# SPDX-License-Identifier: GPL-2.0-or-later
"""Which windows of a run show what a step must show. Pure; the page looks at the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np

from duet.lessons.schema import Scene, Sought
from duet.runs.sought.found import MS, Names, amount_in, find_on
from duet.runs.sought.lane import STEP_NS, LaneTables, Pairs

SLACK_NS = 500.0
"""Half a step of a counting axis (frontend/src/derive/hold.ts)."""
MOST_WINDOWS = 4000
"""Windows are compared at most so many."""


class Window(NamedTuple):
    """Frame time in ns, and how much of what is marked `most` it shows."""

    start: float
    span: float
    amount: float = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A step in a run.

    Args:
        lanes: those that are on show, on the axis that the page has.
        tick_ns: length of a timer tick.
    """

    scene: Scene
    lanes: Mapping[str, LaneTables]
    names: Names
    tick_ns: float


def windows_that_show(step: Step) -> list[Window]:
    """All windows that are looked at and that show it, those with the most first, then the earlier.

    None where nothing is claimed of these lanes.
    """
    asked = {arm: list(_marks(step, arm)) for arm in step.lanes}
    if not any(asked.values()):
        return []
    offsets = _offsets(step)
    shown = []
    for start, span, _ in _windows(step, offsets):
        amounts = []
        for arm, marks in asked.items():
            a = start - offsets[arm]
            b = _held(step, arm, a, a + span)
            amounts += [(one.most, amount_in(found, one, a, b)) for one, found in marks]
        if all(amount >= 0 for _, amount in amounts):
            shown.append(Window(start, span, sum(amount for most, amount in amounts if most)))
    return sorted(shown, key=lambda window: (-window.amount, window.start))


def _held(step: Step, arm: str, a: float, b: float) -> float:
    """Where a window ends on a lane: in a step that holds lanes, with its first operation."""
    if "hold" not in step.scene.show:
        return b
    times = step.lanes[arm].times("ops")
    ends = times[times[:, 0] >= a - SLACK_NS, 1]
    # What stands at its very end is seen.
    return min(b, float(ends.min()) + 1) if len(ends) else b


def _marks(step: Step, arm: str) -> Iterator[tuple[Sought, Pairs]]:
    """What is claimed of a lane, and where it is."""
    must = step.scene.must_show
    for one in must.marks if must else ():
        if arm in (one.arms or step.scene.arms):
            yield one, find_on(step.lanes[arm], one, step.names)


def _windows(step: Step, offsets: Mapping[str, float]) -> Iterator[Window]:
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


def _around_each(step: Step) -> Iterator[Window]:
    """A quarter of its length before and after each operation of the first lane; else all."""
    for lane in step.lanes.values():
        times: list[tuple[float, float]] = lane.times("ops").tolist()
        for t0, t1 in times[:MOST_WINDOWS]:
            if t0 >= 0:
                yield Window(max(0.0, t0 - (t1 - t0) / 4), 1.5 * (t1 - t0))
        if times:
            return
    yield Window(0, max((lane.watermark_ns for lane in step.lanes.values()), default=0.0))


def _nth(lane: LaneTables, n: int) -> tuple[float, float] | None:
    """Begin and end of the nth operation by their ends, from 1."""
    times = lane.times("ops")
    if n > len(times):
        return None
    t0, t1 = times[np.argsort(times[:, 1], kind="stable")[n - 1]].tolist()
    return t0, t1


def _offsets(step: Step) -> dict[str, float]:
    """What is added to the time of each lane (frontend/src/derive/align.ts)."""
    align = step.scene.align
    nth = 1 if align == "marker" else step.scene.operation
    times = {arm: _nth(lane, nth) for arm, lane in step.lanes.items()}
    side = 0 if align == "begin" else 1
    latest = max((one[side] for one in times.values() if one is not None), default=0.0)
    return {
        arm: 0.0 if align == "time" or one is None else latest - one[side]
        for arm, one in times.items()
    }


def _end(step: Step, offsets: Mapping[str, float]) -> float:
    """Frame time up to which every lane that has anything shows it."""
    end = inf
    for arm, lane in step.lanes.items():
        if not any(len(lane.tables[table]["id"]) for table in ("spans", "ops", "points")):
            continue
        ends = lane.times("ops")[:, 1]
        last = float(ends.max()) if len(ends) else lane.watermark_ns
        end = min(end, last + offsets[arm])
    return end if end < inf else 0.0
