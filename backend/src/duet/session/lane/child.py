# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of a lane in a child process: requests, and who ends it."""

from __future__ import annotations

import json
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from pydantic import JsonValue

from duet import budgets
from duet.confined import Child, Terms
from duet.confined.replies import Odd
from duet.errors import KernelError
from duet.processes.priority import thread_first
from duet.session.engine import Counts, LaneOf, Progress, Step
from duet.session.lane.replies import counts, event, progress, reduction
from duet.session.reduce import Reduction

POOL: Final = ThreadPoolExecutor(32, thread_name_prefix="lane", initializer=thread_first)
"""Threads that wait for children; those that serve pages never do."""


_idle: deque[weakref.ref[LaneChild]] = deque()


def retire(child: LaneChild) -> None:
    """Its run is over: it stays for `raw_events`, until many later ones have retired."""
    for former in [one for one in _idle if one() is None]:
        _idle.remove(former)
    _idle.append(weakref.ref(child))
    while len(_idle) > budgets.IDLE_CHILDREN:
        oldest = _idle.popleft()()
        if oldest is not None:
            oldest.close()


def terms_of(lane: LaneOf) -> Terms:
    """A guest's lane may compute for as long as it runs."""
    if lane.live:
        return Terms(
            f"the events of lane {lane.arm}",
            blame=KernelError,
            remedy="Run it again; if it comes back, report it with the saved run.",
            cpu_s=budgets.LIVE_CPU_S,
        )
    return Terms(f"lane {lane.arm} of the recording")


class LaneChild:
    """One lane's engine. All methods but `close` block."""

    def __init__(self, lane: LaneOf) -> None:
        self._lane = lane
        self._started: Child | None = None
        self._closed = False

    def close(self) -> None:
        """End the child; steps that wait for it raise. Returns soon."""
        self._closed = True
        if self._started:
            self._started.close()

    def begin(self) -> None:
        """Start the child, so that the first pages do not wait for it.

        Raises:
            DuetError: it cannot be started.
        """
        self._child()

    def _child(self) -> Child:
        if self._started is None:
            self._started = Child("lane", terms_of(self._lane))
            if self._closed:
                self._started.close()
            self._started.call({"do": "lane", "lane": self._lane})
        return self._started

    def step(self, step: Step) -> tuple[Reduction, Progress]:
        """See LaneEngine.step.

        Raises:
            DuetError: what the engine raises, or one sentence about the child's end.
        """
        if not step.pages and self._started is None:
            return Reduction(), Progress()
        request: dict[str, object] = {**_fields(step), "do": "step"}
        child = self._child()
        reply = child.call(request, [part.pages for part in step.pages])
        try:
            return reduction(reply), progress(reply)
        except (Odd, ValueError, TypeError) as error:
            raise child.odd(error) from error

    def counts(self, *, tallies: bool) -> Counts:
        """See LaneEngine.counts.

        Raises:
            DuetError: for the same reasons.
        """
        if self._started is None:
            return Counts()
        child = self._child()
        reply = child.call({"do": "counts", "tallies": tallies})
        try:
            return counts(reply)
        except (Odd, ValueError, TypeError) as error:
            raise child.odd(error) from error

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """See LaneEngine.raw_events.

        Raises:
            DuetError: as in `call`, or the child is busy.
        """
        about: dict[str, object] = {"around_ns": around_ns, "row": row, "n": n, "cpu": cpu}
        request: dict[str, object] = {"do": "events", **about}
        if self._started is None:
            return []
        child = self._child()
        reply = child.call(request, turn_s=budgets.EVENTS_WAIT_S)
        try:
            found = json.loads(reply.blob())
            if not isinstance(found, list) or len(found) > n:
                raise Odd("no list of events")
            return [event(one) for one in found]
        except (Odd, ValueError, RecursionError) as error:
            raise child.odd(error) from error


def _fields(step: Step) -> dict[str, object]:
    """The fields of a step; the bytes of its pages travel as blobs."""
    return {
        "files": step.files,
        "cpus": [part.cpu for part in step.pages],
        "complete": [part.complete for part in step.pages],
        "watermark_ns": step.watermark_ns,
        "final": step.final,
        "drained": step.drained,
    }
