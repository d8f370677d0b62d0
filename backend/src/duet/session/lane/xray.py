# SPDX-License-Identifier: GPL-2.0-or-later
"""One run's x-ray on one lane: guest times for samples, counts, and its state.

Samples wait, in a bounded queue, until it is known when the workload has started; then they go
to the sink and into the transcript: the last before the start, and all until the workload's end.
A replay's records take the same way from there on. Without a lens the lane goes on as it is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from duet.budgets import PENDING_LENS_BYTES
from duet.lenses import (
    LensState,
    Sample,
    Window,
    pack_record,
)
from duet.lenses.limits import PENDING_SAMPLES
from duet.lenses.message_reader import Message
from duet.lenses.records import Route
from duet.session.lane.clock import LaneClock
from duet.session.lane.lens_report import LensSink, ReportedLens

FEW_SAMPLES = 3
"""They may wait, however large; each has a bound of its own."""
GONE = "The guest went away while it was read."
REPORT_S = 1.0
"""Between two states that differ by their counts alone."""


class LaneXray(ReportedLens):
    """Between the x-ray's process (or a recording) and the sink.

    Args:
        save: takes a record, and its host time, into the transcript.
        on_sample: receives each sample as it comes, before its guest time is known.
    """

    def __init__(
        self,
        arm: str,
        clock: LaneClock,
        sink: LensSink,
        save: Callable[[bytes, int], None],
        on_sample: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        super().__init__(arm, sink, save, LensState(), GONE)
        self._clock, self._sink, self._on_sample = clock, sink, on_sample
        self._raw: deque[dict[str, Any]] = deque()
        self._timed: deque[Sample] = deque()
        self._undelivered = 0

    # messages of the x-ray's process (see lenses.xray.XrayListener)

    def attaching(self) -> None:
        """Its process is being started."""
        self._change(state="attaching", message="", remedy="")

    def attached(self, route: Route) -> None:
        """Attached; sampling."""
        slow = "It reads over QMP text, which is slow: the process's memory may not be read."
        self._change(state="on", route=route, message=slow if route == "qmp" else "")

    def on_fault(self, message: str, remedy: str) -> None:
        """No more samples will come."""
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
                if self._on_sample:
                    self._on_sample(tree)
                self._raw.append(tree)
                self._bound(self._raw)
                self.advance()

    def replay(self, record: Sample | LensState) -> None:
        """A record of a recording."""
        if isinstance(record, LensState):
            self._replay_state(record)
            return
        self._timed.append(record)
        self._bound(self._timed)
        self.advance()

    def advance(self) -> None:
        """Pass on what can be passed on."""
        origin = self._clock.origin_ns
        if origin is None:
            return
        while self._timed:
            sample = self._timed.popleft()
            self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        ready: list[tuple[dict[str, Any], Window, str]] = []
        while self._raw and (window := self._clock.sample_window(self._raw[0])) is not None:
            ready.append((self._raw.popleft(), *window))
        early = {raw["probe"]: raw for raw, window, _ in ready if window.high_ns < origin}
        for raw, span, clock in ready:
            if span.high_ns < origin and early[raw["probe"]] is not raw:
                continue  # a waiting guest; only what it was like last says something
            if self._clock.ended_ns is None or span.low_ns <= self._clock.ended_ns:
                self._pass_on(raw, span, clock, origin)

    def _pass_on(self, raw: dict[str, Any], window: Window, clock: str, origin: int) -> None:
        at_ns, error_ns = window.at_ns, window.error_ns
        if clock == "guest":
            # Events have times to the nanosecond, ticks are rare: it was rather now than later.
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
        self._save(pack_record(sample), time.monotonic_ns())
        self.state = replace(
            self.state,
            samples=self.state.samples + 1,
            torn=sample.torn,
            failed=sample.failed,
            dropped=raw["dropped"] + self._undelivered,
        )
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        if time.monotonic() - self._reported_at > REPORT_S:
            self._report()

    def finish(self) -> None:
        """The run is over: the last counts."""
        self.advance()
        self._undelivered += len(self._raw)
        if self._raw:
            self.state = replace(self.state, dropped=self.state.dropped + len(self._raw))
            self._raw.clear()
        if self.state.state != "off":
            self._report()

    def _bound(self, queue: deque[Any]) -> None:
        held = sum(_bytes_of(one) for one in queue) if len(queue) > FEW_SAMPLES else 0
        if len(queue) > PENDING_SAMPLES or held > PENDING_LENS_BYTES:
            queue.popleft()
            self._undelivered += 1


def _bytes_of(waits: Sample | dict[str, Any]) -> int:
    columns = waits.columns if isinstance(waits, Sample) else waits["columns"]
    return sum(len(column) for column in columns.values())
