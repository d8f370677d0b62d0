# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of one run on one lane: start marker, watermark, and host times as guest times."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol

from duet.base.clock import Clock
from duet.lenses import Calibration, Window, bracket
from duet.wire import Beat, Drained, Ended, Frame, Line, Started


class EventTimes(Protocol):
    """What the lane's events say of time (LanePipeline)."""

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker, once it was seen."""

    @property
    def watermark_ns(self) -> float:
        """Up to where events are complete, since the start marker."""


class LaneClock:
    """One run's clock, shared by all its lenses.

    Args:
        kind: on the count clock only the guest's own memory tells the time.
    """

    def __init__(self, events: EventTimes, kind: Clock) -> None:
        self._events, self._kind = events, kind
        self.calibration = Calibration()
        self.ended_ns: int | None = None
        """Guest time of the workload's end, once it is known."""
        self.answered = asyncio.Event()
        """The last PING has its answer."""
        self._start_sent_ns: int | None = None
        self._ping_sent_ns: int | None = None

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker, once it is known."""
        return self._events.origin_ns

    @property
    def watermark_ns(self) -> float:
        """Up to where the lane's events are complete, since the marker."""
        return self._events.watermark_ns

    def frame(self, frame: Frame, host_ns: int) -> None:
        """A frame with a guest time; the best of them calibrate the offset."""
        if isinstance(frame, Started) and self._start_sent_ns is not None:
            self.calibration.order_sent(self._start_sent_ns, frame.mono_ns)
        if isinstance(frame, Ended):
            self.ended_ns = frame.mono_ns
        if isinstance(frame, Beat) and self._ping_sent_ns is not None:
            self.calibration.order_sent(self._ping_sent_ns, frame.mono_ns)
            self._ping_sent_ns = None
            self.answered.set()
        if isinstance(frame, Beat | Started | Line | Ended | Drained):
            self.calibration.reply_received(host_ns, frame.mono_ns)

    def start_sent(self) -> None:
        self._start_sent_ns = time.monotonic_ns()

    def ping_sent(self) -> None:
        """PING is on its way, and no BEAT comes unasked before the start: the next answers it."""
        self._ping_sent_ns = time.monotonic_ns()
        self.answered.clear()

    def guest_window(self, began_ns: int, ended_ns: int) -> Window | None:
        """Guest time of something between two host moments; None while that is not known."""
        return self.calibration.guest(began_ns, ended_ns)

    def sample_window(self, raw: dict[str, Any]) -> tuple[Window, str] | None:
        """Guest time of a sample of the x-ray, and which clock gave it.

        None while the wall clock's calibration is not complete.
        """
        own = bracket(raw["before_ns"], raw["after_ns"], raw["tick_ns"])
        if self._kind == "count":
            return own, "guest"
        found = self.guest_window(raw["began_ns"], raw["ended_ns"])
        if found is None:
            return None
        if found.error_ns > own.error_ns and found.high_ns >= raw["before_ns"]:
            # Both are true: the guest's clock had at least come so far.
            found = Window(max(found.low_ns, raw["before_ns"]), found.high_ns)
        return found, "host"
