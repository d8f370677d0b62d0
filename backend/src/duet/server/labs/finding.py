# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server itself sees of a run that somebody hands in: figures, and marks in its picture.

Nothing that a page says of a run counts: its lines, counts and spans are those of its session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgpack
import numpy as np

from duet import messages as m
from duet.base.errors import InputError
from duet.labs.answers import PointedMark
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.measure.values import line_value
from duet.messages.codec import Packet
from duet.server.interfaces import Run
from duet.stream.hub import RunLog

OVER: Final = ("done", "stopped")
OPS: Final = "ops"
NEAR_NS: Final = 1e6
"""A page may draw a mark so much wider than its span is."""


def state_of(run: Run, folder: LessonFolder) -> m.Run:
    """What a run is.

    Raises:
        InputError: it is of another lesson, or nothing is known of it yet.
    """
    state = run.log.run()
    if state is None or run.log.lesson != folder.slug:
        raise InputError(
            f"that run is none of the lesson {folder.slug}.",
            remedy="Open the step of the task, and hand in a run from there.",
        )
    return state


async def found_in_run(run: Run, folder: LessonFolder) -> dict[str, Any]:
    """The figures of a run that is over, and what it was.

    Raises:
        InputError: it is of another lesson, or goes on.
    """
    state = state_of(run, folder)
    if state.phase not in OVER:
        raise InputError(
            f"that run is not over: it is {state.phase}.",
            remedy="Hand it in once it has ended; a run that failed is no answer.",
        )
    return {
        "run": run.log.run_id,
        "clock": state.clock,
        "workload": state.workload,
        "params": dict(state.params),
        "arms": list(state.arms),
        "values": await asyncio.to_thread(values_of, run.log, folder.lesson, state.workload),
    }


def values_of(log: RunLog, lesson: Lesson, workload: str) -> dict[str, dict[str, float]]:
    """Metric -> arm -> value: what the workload's lines say, and the operations of each lane."""
    values: dict[str, dict[str, float]] = {}
    ops = {arm: float(counts.ops) for arm, counts in log.metrics().items()}
    if ops:
        values[OPS] = ops
    lines = log.lines()
    for name, metric in lesson.metrics.items():
        if metric.line is None or (metric.workloads and workload not in metric.workloads):
            continue
        found = {arm: line_value(metric, texts) for arm, texts in lines.items()}
        lanes = {arm: value for arm, value in found.items() if value is not None}
        if lanes:
            values[name] = lanes
    return values


async def found_at_mark(run: Run, folder: LessonFolder, mark: PointedMark) -> dict[str, Any]:
    """What is at a mark. A kind that a view draws from points alone is not looked for.

    Raises:
        InputError: the run is of another lesson, or has no such lane.
    """
    state = state_of(run, folder)
    if mark.arm not in state.arms:
        raise InputError(
            f"that run has no lane '{mark.arm:.60}'.", remedy="Point at a lane of the picture."
        )
    kinds = [kind.name for kind in folder.lesson.kinds]
    there = True
    if mark.kind in kinds and mark.kind in span_kinds(folder.lesson):
        packets = [packet for packet in run.log.backlog() if packet.type == "batch"]
        there = await asyncio.to_thread(has_span, packets, mark, kinds.index(mark.kind))
    return {"run": run.log.run_id, "arm": mark.arm, "kind": mark.kind, "there": there}


def span_kinds(lesson: Lesson) -> set[str]:
    """Kinds that the session itself makes spans of, with their times."""
    phases = (phase.opens for track in lesson.tracks for phase in track.phases)
    return {kind for kind in (*(span.kind for span in lesson.spans), *phases) if kind}


def has_span(packets: Iterable[Packet], mark: PointedMark, kind: int) -> bool:
    """Whether a lane has a span of a kind somewhere within a mark's time.

    Args:
        packets: batches of a run.
    """
    for packet in packets:
        tree = msgpack.unpackb(packet.body)
        if tree["arm"] != mark.arm or tree["table"] not in ("spans", "open"):
            continue
        columns = tree["columns"]
        t0, t1 = (np.frombuffer(columns[name], "<f8") for name in ("t0_ns", "t1_ns"))
        is_kind = np.frombuffer(columns["kind"], "u1") == kind
        within = (t0 <= mark.t1_ns + NEAR_NS) & (t1 >= mark.t0_ns - NEAR_NS)
        if bool((is_kind & within).any()):
            return True
    return False
