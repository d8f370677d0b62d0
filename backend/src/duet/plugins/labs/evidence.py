# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's own evidence for an answer: the visitor's run, or a judge's verdict."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import msgpack
import numpy as np

from duet import messages as m
from duet.base.errors import InputError
from duet.base.files import stamp
from duet.bundle import read_manifest
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson, Prediction
from duet.messages import Measured
from duet.messages.codec import Packet
from duet.plugins.labs.records import Answer, JudgedArm, OwnRun, PointedMark, Pointing
from duet.plugins.labs.schema import VERDICTS, ChallengeTask, Task
from duet.server.figures import table_ratio, values_of
from duet.server.interfaces import Run
from duet.server.recordings import MEASURED, read_own_tables

# Collects facts about a submitted run: its figures, and marks in its picture.
#
# The facts come from the server's session of the run, because the page's reports are not trusted.

OVER: Final = ("done", "stopped")
NEAR_NS: Final = 1e6
"""A page may draw a mark wider than its span, by at most this much."""


def state_of(run: Run, folder: LessonFolder) -> m.Run:
    """Return the state of a run of a lesson.

    Raises:
        InputError: the run belongs to another lesson, or its state is unknown.
    """
    state = run.log.run()
    if state is None or run.log.lesson != folder.slug:
        raise InputError(
            f"that run does not belong to the lesson {folder.slug}.",
            remedy="Open the step of the task, and submit a run from there.",
        )
    return state


async def found_in_run(run: Run, folder: LessonFolder) -> dict[str, Any]:
    """Return the figures and the parameters of a finished run.

    Raises:
        InputError: the run belongs to another lesson, or has not ended normally.
    """
    state = state_of(run, folder)
    if state.phase not in OVER:
        raise InputError(
            f"that run has not ended normally: its state is {state.phase}.",
            remedy="Submit the run when it is done. A failed run cannot be submitted.",
        )
    return {
        "run": run.log.run_id,
        "clock": state.clock,
        "workload": state.workload,
        "params": dict(state.params),
        "arms": list(state.arms),
        "values": await asyncio.to_thread(values_of, run.log, folder.lesson, state.workload),
    }


async def found_at_mark(run: Run, folder: LessonFolder, mark: PointedMark) -> dict[str, Any]:
    """Return whether the marked span exists. Spans of the kinds that only the page makes are not
    checked.

    Raises:
        InputError: the run belongs to another lesson, or has no such lane.
    """
    state = state_of(run, folder)
    if mark.arm not in state.arms:
        raise InputError(
            f"that run has no lane '{mark.arm:.60}'.", remedy="Point at a lane in the picture."
        )
    kinds = [kind.name for kind in folder.lesson.kinds]
    there = True
    if mark.kind in kinds and mark.kind in span_kinds(folder.lesson):
        packets = [packet for packet in run.log.backlog() if packet.type == "batch"]
        there = await asyncio.to_thread(has_span, packets, mark, kinds.index(mark.kind))
    return {"run": run.log.run_id, "arm": mark.arm, "kind": mark.kind, "there": there}


def span_kinds(lesson: Lesson) -> set[str]:
    """Return the kinds of spans that the session makes. The page makes the spans of other kinds."""
    phases = (phase.opens for track in lesson.tracks for phase in track.phases)
    return {kind for kind in (*(span.kind for span in lesson.spans), *phases) if kind}


def has_span(packets: Iterable[Packet], mark: PointedMark, kind: int) -> bool:
    """Does the marked lane have a span of this kind at the mark's time?

    Args:
        packets: a run's batches.
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


VerdictKey = tuple[str, str, str, str]
"""Identifies a verdict by the visitor's ident, the lesson, the challenge and the arm."""


class Runs(Protocol):
    """Access to a server's runs."""

    async def find_run(self, run_id: str) -> Run:
        """Return a run by its id.

        Raises:
            InputError: there is no such run.
        """
        ...

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Return the idents of the visitors who started a run. A recording has none."""
        ...


class Evidence:
    """Examines runs, and caches verdicts until they are submitted."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._verdicts: OrderedDict[VerdictKey, m.Judged] = OrderedDict()

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """Remember the verdict on a visitor's change."""
        key = (visitor, verdict.lesson, verdict.challenge, verdict.arm)
        self._verdicts.pop(key, None)
        self._verdicts[key] = verdict
        while len(self._verdicts) > VERDICTS:
            self._verdicts.popitem(last=False)

    async def of(
        self, visitor: str, folder: LessonFolder, task: Task, answer: Answer
    ) -> dict[str, Any]:
        """Return the server's evidence for an answer, or {} if the answer needs no evidence.

        Args:
            visitor: ident of the visitor's browser.

        Raises:
            InputError: the run belongs to another visitor or does not fit the task, or the arm
                has no verdict.
        """
        match answer:
            case Pointing():
                return await found_at_mark(
                    await self._runs.find_run(answer.mark.run), folder, answer.mark
                )
            case OwnRun():
                if visitor not in self._runs.starts_of(answer.run):
                    raise InputError(
                        "that run is not yours: another browser started it, or it is a recording.",
                        remedy="Press run, and submit that run.",
                    )
                return await found_in_run(await self._runs.find_run(answer.run), folder)
            case JudgedArm() if isinstance(task, ChallengeTask):
                return self._verdict(visitor, folder.slug, task.challenge, answer.arm)
        return {}

    def _verdict(self, visitor: str, lesson: str, challenge: str, arm: str) -> dict[str, Any]:
        verdict = self._verdicts.get((visitor, lesson, challenge, arm))
        if verdict is None:
            raise InputError(
                f"the challenge {challenge} has not judged {arm:.60} on this server.",
                remedy="Request a verdict on the arm first, and then submit your answer.",
            )
        lines = [line.model_dump() for line in verdict.lines]
        return {"met": verdict.met, "because": verdict.because, "lines": lines, "arm": arm}


# Finds right answers to a lesson's predictions of `ops_ratio`, in the lesson's recordings and
# recorded tables.

OPS_RATIO: Final = "ops_ratio"
"""The server can compute right answers only for predictions of this metric. Other predictions are
about views, and only the page can compute their answers.
"""


def recorded_choice(prediction: Prediction, folder: LessonFolder) -> int | None:
    """Return a prediction's right choice, counted from 0, or None if no recording shows it.

    Raises:
        InputError: a recording or a table cannot be read.
    """
    ratio = recorded_ratio(prediction, folder)
    return None if ratio is None else bisect_right(prediction.bounds, ratio)


def recorded_ratio(prediction: Prediction, folder: LessonFolder) -> float | None:
    """Return the ratio of the first arm's operations to the second's, or None if unknown.

    Raises:
        InputError: a recording or a table cannot be read.
    """
    if prediction.metric != OPS_RATIO:
        return None
    if prediction.measured_on is not None:
        path = folder.folder / "recorded" / MEASURED
        usual = next(iter(folder.lesson.workloads), "")
        return table_ratio(
            prediction, [t for t in _tables(path, stamp(path)) if t.workload == usual]
        )
    for path in folder.recordings():
        params, ops = _figures(path, stamp(path))
        of, to = (ops.get(arm) for arm in prediction.arms)
        if prediction.params.items() <= params.items() and of and to:
            return of / to
    return None


@lru_cache(maxsize=64)
def _tables(path: Path, when: object) -> list[Measured]:
    """Read a lesson's recorded tables. `when` is not used, except as a part of the cache key."""
    del when
    return read_own_tables(path)


@lru_cache(maxsize=64)
def _figures(path: Path, when: object) -> tuple[dict[str, int], dict[str, int | None]]:
    """Read a recording's knobs, and the operations of each lane.

    `when` is not used, except as a part of the cache key.
    """
    del when
    manifest = read_manifest(path)
    ops = {one.name: one.figures.ops for one in manifest.arms if one.figures is not None}
    return dict(manifest.params), ops
