# SPDX-License-Identifier: GPL-2.0-or-later
"""Times in one run of one lane: start marker, watermark, and conversion of host to guest time."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol

from duet.base.clock import Clock
from duet.lenses import Calibration, Window, bracket
from duet.wire import Beat, Drained, Ended, Frame, Line, Started


class EventTimes(Protocol):
    """The part of LanePipeline that a lane's clock needs."""

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""

    @property
    def watermark_ns(self) -> float:
        """Time since the start marker up to which events are complete."""


class LaneClock:
    """The clock of one run of one lane, shared by its lenses.

    Args:
        kind: the run's clock. On the count clock, guest times come only from the guest's memory.
    """

    def __init__(self, events: EventTimes, kind: Clock) -> None:
        self._events, self._kind = events, kind
        self.calibration = Calibration()
        self.ended_ns: int | None = None
        """Guest time of the workload's end; None until it is known."""
        self.answered = asyncio.Event()
        """Set when the last PING has been answered."""
        self._start_sent_ns: int | None = None
        self._ping_sent_ns: int | None = None

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""
        return self._events.origin_ns

    @property
    def watermark_ns(self) -> float:
        """Time since the start marker up to which events are complete."""
        return self._events.watermark_ns

    def frame(self, frame: Frame, host_ns: int) -> None:
        """Calibrate the offset between host and guest time from a received frame."""
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
        """Note that PING was sent.

        Before the start, the agent sends BEAT only in answer to PING.
        """
        self._ping_sent_ns = time.monotonic_ns()
        self.answered.clear()

    def guest_window(self, began_ns: int, ended_ns: int) -> Window | None:
        """Return the guest-time window between two host times; None before calibration."""
        return self.calibration.guest(began_ns, ended_ns)

    def sample_window(self, raw: dict[str, Any]) -> tuple[Window, str] | None:
        """Return an x-ray sample's guest time and the clock that it comes from ("guest" or "host").

        Return None while the wall clock is not calibrated.
        """
        own = bracket(raw["before_ns"], raw["after_ns"], raw["tick_ns"])
        if self._kind == "count":
            return own, "guest"
        found = self.guest_window(raw["began_ns"], raw["ended_ns"])
        if found is None:
            return None
        if found.error_ns > own.error_ns and found.high_ns >= raw["before_ns"]:
            # Before the sample, the guest's clock in memory showed `before_ns`. So the guest time
            # of the sample is at least `before_ns`.
            found = Window(max(found.low_ns, raw["before_ns"]), found.high_ns)
        return found, "host"
