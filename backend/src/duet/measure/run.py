# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure arms one after another: exactly one guest is alive at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from duet.errors import InputError
from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.measure.table import MeasuredRow, Measurement
from duet.session import (
    Batch,
    LaneResult,
    Lanes,
    LaneSource,
    LaneState,
    Limits,
    Line,
    Loss,
    Metrics,
    Row,
    RunSession,
    RunSpec,
    RunState,
)

MAX_REPEATS = 100


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of the measurement.

    Args:
        step: number of the run that begins, from 1; `total` runs in all.
        table: what is known so far.
    """

    step: int
    total: int
    arm: str
    traced: bool
    table: Measurement

    @property
    def done(self) -> int:
        """Runs that are over."""
        return self.step - 1

    def __str__(self) -> str:
        how = "traced" if self.traced else "untraced"
        return f"run {self.step} of {self.total}: {self.arm}, {how}"


class _Silent:
    """A sink for runs that nobody watches."""

    def on_run(self, state: RunState) -> None: ...
    def on_lane(self, state: LaneState) -> None: ...
    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None: ...
    def on_batch(self, arm: str, new: Batch) -> None: ...
    def on_metrics(self, arm: str, metrics: Metrics) -> None: ...
    def on_loss(self, arm: str, loss: Loss) -> None: ...
    def on_line(self, arm: str, line: Line) -> None: ...


def order(arms: Iterable[str], repeats: int) -> list[str]:
    """Who runs when, untraced: A B C C B A A B C ... so that slow drift hits all alike."""
    forward = list(arms)
    rounds = [forward if r % 2 == 0 else forward[::-1] for r in range(repeats)]
    return [arm for one in rounds for arm in one]


async def measure(
    folder: LessonFolder,
    arms: Iterable[str],
    workload: str,
    params: Mapping[str, int],
    clock: Clock,
    repeats: int,
    sources: Mapping[str, LaneSource],
    *,
    traced: bool = True,
    progress: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
) -> Measurement:
    """Measure every arm `repeats` times untraced, then (if `traced`) once traced.

    A guest is kept while its arm goes on, and ended before another arm's boots. A lane that
    fails leaves its row refused, with the error; the others are measured.

    Raises:
        InputError: no arm, or a number of repeats that makes no sense.
    """
    names = tuple(arms)
    if not names or not 1 <= repeats <= MAX_REPEATS:
        raise InputError(
            f"a measurement takes arms and 1 to {MAX_REPEATS} repeats, "
            f"but {len(names)} arms and {repeats} repeats came.",
            remedy="Give --arms and --repeats.",
        )
    steps = [(arm, False) for arm in order(names, repeats)]
    if traced:
        last = steps[-1][0]
        steps += [(arm, True) for arm in (names if last == names[0] else names[::-1])]
    rows = {arm: MeasuredRow(arm) for arm in names}
    operation = folder.lesson.operation

    def table() -> Measurement:
        return Measurement(
            lesson=folder.slug,
            clock=str(clock),
            workload=workload,
            params=dict(params),
            rows=tuple(rows.values()),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            unit=f"{operation.plural}/s" if operation else "operations/s",
        )

    async with Lanes(limits) as lanes:
        for number, (arm, with_trace) in enumerate(steps, 1):
            if progress:
                progress(Progress(number, len(steps), arm, with_trace, table()))
            for other in lanes.up:
                if other != arm:
                    await lanes.close(other)
            if rows[arm].error is not None:
                continue
            spec = RunSpec(
                run_id=f"measure-{number}",
                folder=folder,
                arms=(arm,),
                workload=workload,
                params=params,
                clock=clock,
                purpose="measure",
                traced=with_trace,
            )
            lane = await _one(lanes, spec, sources)
            if with_trace:
                rows[arm].add_traced(lane)
            else:
                rows[arm].add_untraced(lane)
    return table()


async def _one(lanes: Lanes, spec: RunSpec, sources: Mapping[str, LaneSource]) -> LaneResult:
    result = await RunSession(lanes, spec, sources, _Silent()).execute()
    return result.lanes[spec.arms[0]]
