# SPDX-License-Identifier: GPL-2.0-or-later
"""A sink that watches whether the host let a guest run, from its workload's start to its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from duet.guests import CpuTime, cpu_time, host_ran_ns
from duet.session import (
    LanePhase,
    LaneState,
    SessionSink,
)

BUSY = 0.15
"""Waiting for a host CPU that others used, as a part of the time in which the guest wanted one. On
a host with nothing else to do 0 to 13 % were seen: our own reading, and the tick of /proc/stat."""


class HostWatch(SessionSink):
    """Measures only how long a run's guest had to wait for the host.

    It reads the guest's own times: a single guest sleeps and wakes, so `on_contention` is not used.

    Args:
        place: called with the guest's process id before its workload begins.
    """

    def __init__(self, place: Callable[[int], None] | None = None) -> None:
        self._place = place
        self._before: CpuTime | None = None
        self._host_before_ns: int | None = None
        self._host_ran_ns: int | None = None
        self._began_ns = 0
        self._elapsed_ns = 0
        self.used: CpuTime | None = None

    @property
    def waited_share(self) -> float | None:
        """Part of the wanted CPU time that others had; None where it cannot be read."""
        if self.used is None:
            return None
        if self._host_ran_ns is None:
            return self.used.waited_share
        return self.used.waited_for_others(self._host_ran_ns, self._elapsed_ns)

    def on_lane(self, state: LaneState) -> None:
        """Read the clock of the guest's threads when its workload begins and ends."""
        if state.pid is None:
            return
        if self._place is not None:
            self._place(state.pid)
            self._place = None
        if state.phase is LanePhase.RUNNING and self._before is None:
            self._before = cpu_time(state.pid)
            self._host_before_ns = host_ran_ns()
            self._began_ns = time.monotonic_ns()
        elif state.phase in (LanePhase.DRAINING, LanePhase.DONE) and self.used is None:
            now = cpu_time(state.pid)
            if now is not None and self._before is not None:
                self.used = now.since(self._before)
                self._elapsed_ns = time.monotonic_ns() - self._began_ns
                host = host_ran_ns()
                if host is not None and self._host_before_ns is not None:
                    self._host_ran_ns = host - self._host_before_ns
