# SPDX-License-Identifier: GPL-2.0-or-later
"""One run's x-ray on one lane: guest times for samples, counts, and what is told of it.

Samples wait, in a bounded queue, until it is known when the workload has started; then they go
to the sink and into the transcript: the last before the start, and all until the workload's end.
A replay's records take the same way from there on. Without a lens the lane goes on as it is.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from duet.budgets import PENDING_LENS_BYTES
from duet.guests.types import Clock
from duet.lenses import (
    Calibration,
    LensState,
    Sample,
    Window,
    bracket,
    pack_record,
)
from duet.lenses.limits import PENDING_SAMPLES
from duet.lenses.records import Route
from duet.lenses.xray import Message
from duet.wire import Beat, Drained, Ended, Frame, Line, Started

FEW_SAMPLES = 3
"""They may wait, however large; each has a bound of its own."""
TELL_S = 1.0
"""Between two messages that only count on."""


class LensSink(Protocol):
    """What hears of the lens."""

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """A sample, at guest time since the start marker."""

    def on_lens(self, arm: str, state: LensState) -> None:
        """How the lens is; the newest counts."""


class LaneXray:
    """Between the x-ray's process (or a recording) and the sink.

    Args:
        clock: on the count clock only the guest's own memory tells the time.
        origin: guest time of the start marker, once it is known.
        keep: takes a record into the transcript.
        seen: hears of each sample as it comes, before its guest time is known.
    """

    def __init__(
        self,
        arm: str,
        clock: Clock,
        sink: LensSink,
        origin: Callable[[], int | None],
        keep: Callable[[bytes, int], None],
        seen: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        self._seen = seen
        self._arm, self._clock, self._sink = arm, clock, sink
        self._origin, self._keep = origin, keep
        self.calibration = Calibration()
        self._raw: deque[dict[str, Any]] = deque()
        self._timed: deque[Sample] = deque()
        self._told_at = 0.0
        self._sent_ns: int | None = None
        self._pinged_ns: int | None = None
        self._end_ns: int | None = None
        self.answered = asyncio.Event()
        self._undelivered = 0
        self.state = LensState()

    # what the lane tells

    def frame(self, frame: Frame, host_ns: int) -> None:
        """A frame with a guest time; the best of them calibrate the offset."""
        if isinstance(frame, Started) and self._sent_ns is not None:
            self.calibration.told(self._sent_ns, frame.mono_ns)
        if isinstance(frame, Ended):
            self._end_ns = frame.mono_ns
        if isinstance(frame, Beat) and self._pinged_ns is not None:
            self.calibration.told(self._pinged_ns, frame.mono_ns)
            self._pinged_ns = None
            self.answered.set()
        if isinstance(frame, Beat | Started | Line | Ended | Drained):
            self.calibration.heard(host_ns, frame.mono_ns)

    def start_sent(self) -> None:
        """START is on its way."""
        self._sent_ns = time.monotonic_ns()

    def ping_sent(self) -> None:
        """PING is on its way, and no BEAT comes unasked before the start: the next answers it."""
        self._pinged_ns = time.monotonic_ns()
        self.answered.clear()

    def gone(self) -> None:
        """The guest is gone in the middle of a run."""
        if self.state.state in ("attaching", "on"):
            self._change(state="failed", message="The guest went away while it was read.")

    # what the x-ray tells (see lenses.xray.Hearer)

    def attaching(self) -> None:
        """Its process starts."""
        self._change(state="attaching", message="", remedy="")

    def attached(self, route: Route) -> None:
        """It reads."""
        slow = "It reads over QMP text, which is slow: the process's memory may not be read."
        self._change(state="on", route=route, message=slow if route == "qmp" else "")

    def on_fault(self, message: str, remedy: str) -> None:
        """It sees nothing (any more)."""
        self._change(state="failed", message=message, remedy=remedy)

    def on_raw(self, message: Message) -> None:
        """A message of the process."""
        tree: dict[str, Any] = dict(message)
        match tree["kind"]:
            case "attached":
                self.attached(tree["route"])
            case "fault" if tree["left"]:
                self._change(message=tree["message"], remedy=tree["remedy"], failed=tree["failed"])
            case "fault":
                self.state = replace(self.state, torn=tree["torn"], failed=tree["failed"])
                self.on_fault(tree["message"], tree["remedy"])
            case "sample":
                self._seen(tree)
                self._raw.append(tree)
                self._bound(self._raw)
                self.advance()

    def replay(self, record: Sample | LensState) -> None:
        """A record of a recording."""
        if isinstance(record, LensState):
            self.state = record
            self._sink.on_lens(self._arm, record)
            return
        self._timed.append(record)
        self._bound(self._timed)
        self.advance()

    def advance(self) -> None:
        """Pass on what can be passed on."""
        origin = self._origin()
        if origin is None:
            return
        while self._timed:
            sample = self._timed.popleft()
            self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        ready: list[tuple[dict[str, Any], Window, str]] = []
        while self._raw and (window := self._window(self._raw[0])) is not None:
            ready.append((self._raw.popleft(), *window))
        early = {raw["probe"]: raw for raw, window, _ in ready if window.high_ns < origin}
        for raw, span, clock in ready:
            if span.high_ns < origin and early[raw["probe"]] is not raw:
                continue  # a waiting guest; only what it was like last says something
            if self._end_ns is None or span.low_ns <= self._end_ns:
                self._pass_on(raw, span, clock, origin)

    def _pass_on(self, raw: dict[str, Any], window: Window, clock: str, origin: int) -> None:
        at_ns, error_ns = window.at_ns, window.error_ns
        if clock == "guest":
            # Events are told to the nanosecond, ticks are rare: it was rather now than later.
            at_ns = max(raw["before_ns"], raw["after_ns"])
            error_ns = max(at_ns - window.low_ns, window.high_ns - at_ns)
        sample = Sample(
            probe=raw["probe"],
            seq=raw["seq"],
            at_ns=max(0, at_ns),
            error_ns=error_ns,
            clock="host" if clock == "host" else "guest",
            took_ns=raw["ended_ns"] - raw["began_ns"],
            **{key: raw[key] for key in ("torn", "failed", "n")},
            **{key: raw[key] for key in ("columns", "dtypes", "facts", "texts")},
        )
        self._keep(pack_record(sample), time.monotonic_ns())
        self.state = replace(
            self.state,
            samples=self.state.samples + 1,
            torn=sample.torn,
            failed=sample.failed,
            dropped=raw["dropped"] + self._undelivered,
        )
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        if time.monotonic() - self._told_at > TELL_S:
            self._tell()

    def finish(self) -> None:
        """The run is over: the last counts."""
        self.advance()
        self._undelivered += len(self._raw)
        if self._raw:
            self.state = replace(self.state, dropped=self.state.dropped + len(self._raw))
            self._raw.clear()
        if self.state.state != "off":
            self._tell()

    def _window(self, raw: dict[str, Any]) -> tuple[Window, str] | None:
        """Guest time of a sample; None while the wall clock's calibration is not complete."""
        own = bracket(raw["before_ns"], raw["after_ns"], raw["tick_ns"])
        if self._clock is Clock.COUNT:
            return own, "guest"
        found = self.calibration.guest(raw["began_ns"], raw["ended_ns"])
        if found is None:
            return None
        if found.error_ns > own.error_ns and found.high_ns >= raw["before_ns"]:
            # Both are true: the guest's clock had at least come so far.
            found = Window(max(found.low_ns, raw["before_ns"]), found.high_ns)
        return found, "host"

    def _bound(self, queue: deque[Any]) -> None:
        held = sum(_bytes_of(one) for one in queue) if len(queue) > FEW_SAMPLES else 0
        if len(queue) > PENDING_SAMPLES or held > PENDING_LENS_BYTES:
            queue.popleft()
            self._undelivered += 1

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._keep(pack_record(self.state), time.monotonic_ns())
        self._sink.on_lens(self._arm, self.state)


def _bytes_of(waits: Sample | dict[str, Any]) -> int:
    columns = waits.columns if isinstance(waits, Sample) else waits["columns"]
    return sum(len(column) for column in columns.values())
