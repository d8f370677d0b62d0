# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server saw of what a visitor hands in: a run of their own, or a judge's verdict."""

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
from duet.server.recordings import MEASURED, read_tables

# What the server itself sees of a run that somebody hands in: figures, and marks in its picture.
#
# Nothing that a page says of a run counts: its lines, counts and spans are those of its session.

OVER: Final = ("done", "stopped")
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


VerdictKey = tuple[str, str, str, str]
"""Ident of a visitor, lesson, challenge, arm."""


class Runs(Protocol):
    """What a server knows of runs."""

    async def find_run(self, run_id: str) -> Run:
        """A run by its id.

        Raises:
            InputError: there is none.
        """
        ...

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Idents of the visitors who started a run; none: nobody did, it is a recording."""
        ...


class Evidence:
    """Looks at runs, and remembers verdicts until they are handed in."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._verdicts: OrderedDict[VerdictKey, m.Judged] = OrderedDict()

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """A judgement was done for a visitor."""
        key = (visitor, verdict.lesson, verdict.challenge, verdict.arm)
        self._verdicts.pop(key, None)
        self._verdicts[key] = verdict
        while len(self._verdicts) > VERDICTS:
            self._verdicts.popitem(last=False)

    async def of(
        self, visitor: str, folder: LessonFolder, task: Task, answer: Answer
    ) -> dict[str, Any]:
        """What the server saw; empty for answers that need no such thing.

        Args:
            visitor: ident of the browser.

        Raises:
            InputError: the run is not this visitor's or does not fit, or nothing was judged.
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
                        remedy="Press run, and hand in what comes of it.",
                    )
                return await found_in_run(await self._runs.find_run(answer.run), folder)
            case JudgedArm() if isinstance(task, ChallengeTask):
                return self._verdict(visitor, folder.slug, task.challenge, answer.arm)
        return {}

    def _verdict(self, visitor: str, lesson: str, challenge: str, arm: str) -> dict[str, Any]:
        verdict = self._verdicts.get((visitor, lesson, challenge, arm))
        if verdict is None:
            raise InputError(
                f"no judgement of {arm:.60} by the challenge {challenge} is known here.",
                remedy="Let it be judged, and hand it in when the verdict has come.",
            )
        lines = [line.model_dump() for line in verdict.lines]
        return {"met": verdict.met, "because": verdict.because, "lines": lines, "arm": arm}


# What a lesson's recordings and recorded tables say to its predictions of `ops_ratio`.

OPS_RATIO: Final = "ops_ratio"
"""Other answers to predictions are a view's, and only the page can compute them."""


def recorded_choice(prediction: Prediction, folder: LessonFolder) -> int | None:
    """Which choice of a prediction is right, from 0; None: nothing recorded says it.

    Raises:
        InputError: a recording or a table cannot be read.
    """
    ratio = recorded_ratio(prediction, folder)
    return None if ratio is None else bisect_right(prediction.bounds, ratio)


def recorded_ratio(prediction: Prediction, folder: LessonFolder) -> float | None:
    """The first arm's operations over the second's; None: nothing recorded says it.

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
    """Recorded tables of a lesson; `when` is there for the cache."""
    del when
    return read_tables(path)


@lru_cache(maxsize=64)
def _figures(path: Path, when: object) -> tuple[dict[str, int], dict[str, int | None]]:
    """Knobs of a recording, and operations of each lane; `when` is there for the cache."""
    del when
    manifest = read_manifest(path)
    ops = {one.name: one.figures.ops for one in manifest.arms if one.figures is not None}
    return dict(manifest.params), ops
