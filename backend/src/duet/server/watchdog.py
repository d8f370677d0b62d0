# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how long each callback blocks the event loop, and finds the place in the code.

A callback that takes more than LOOP_HOLD_S of wall time is examined. The CPU time of the callback
tells whether the callback worked or waited for a busy host. A thread samples the stack, which shows
where in the code the callback ran. The debug mode of asyncio also measures callbacks, but costs
many times more.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import time
import traceback
from asyncio import Handle
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Final

from pydantic import JsonValue

from duet.base.budgets import LOOP_HOLD_LOG_S, LOOP_HOLD_S

FRAMES: Final = 6
"""Number of innermost stack frames that are reported."""
CPU_SLACK_S: Final = 0.005
"""Minimum interval between reads of the thread's CPU clock, because each read costs a system
call."""

log = logging.getLogger("duet.loop")


@dataclass(slots=True)
class Holds:
    """Measurements since the start.

    Args:
        count: number of callbacks that took more than LOOP_HOLD_S of wall time.
        worked: number of those callbacks that also took more than LOOP_HOLD_S of CPU time.
        longest_s: wall time of the longest callback.
        longest_cpu_s: largest CPU time of one callback.
        place: stack of the callback with the most CPU time.
        longest_gc_s: CPU time of the longest full garbage collection in the loop's thread. The
            collection's time is not charged to the callback in which it ran.
    """

    count: int = 0
    worked: int = 0
    longest_s: float = 0.0
    longest_cpu_s: float = 0.0
    place: str = ""
    longest_gc_s: float = 0.0

    def tree(self) -> dict[str, JsonValue]:
        """Return the figures for /api/health; times in ms."""
        return {
            "holds": self.count,
            "holds_cpu": self.worked,
            "longest_ms": round(self.longest_s * 1e3, 1),
            "longest_cpu_ms": round(self.longest_cpu_s * 1e3, 1),
            "place": self.place,
            "longest_gc_ms": round(self.longest_gc_s * 1e3, 1),
            "budget_ms": LOOP_HOLD_S * 1e3,
        }


class Watchdog:
    """Watches one event loop from within. Use with `async with`."""

    def __init__(self, hold_s: float = LOOP_HOLD_S) -> None:
        self.holds = Holds()
        self._hold_s = hold_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._began: float | None = None
        """Start time of the callback that runs now; None while the loop waits."""
        self._cpu = self._cpu_at = 0.0
        self._gc = self._gc_began = (0.0, 0.0)
        """CPU and wall time of garbage collections in this callback, and when the current one
        began."""
        self._seen: tuple[float, str] = (0.0, "")
        """Start time of the callback whose stack was sampled last, and that stack."""
        self._logged: dict[str, float] = {}
        self._end = threading.Event()

    async def __aenter__(self) -> Watchdog:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        _install()
        _watched[self._loop] = self
        gc.callbacks.append(self._collecting)
        threading.Thread(target=self._sample, name="watchdog", daemon=True).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        gc.callbacks.remove(self._collecting)
        if self._loop is not None:
            _watched.pop(self._loop, None)

    def run(self, handle: Handle) -> None:
        """Run one callback of the loop, and time it."""
        began = time.perf_counter()
        if began - self._cpu_at > CPU_SLACK_S:
            self._cpu, self._cpu_at = time.thread_time(), began
        self._began = began
        self._gc = 0.0, 0.0
        try:
            _run(handle)
        finally:
            self._began = None
            took = time.perf_counter() - began
            if took > self._hold_s:
                self._record_hold(began, took, handle)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        """Time a full garbage collection. Python calls this before and after each collection."""
        if info["generation"] < 2 or threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._gc_began = time.thread_time(), time.perf_counter()
            return
        cpu, wall = self._gc_began
        cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
        self._gc = self._gc[0] + cpu, self._gc[1] + wall
        self.holds.longest_gc_s = max(self.holds.longest_gc_s, cpu)

    def _record_hold(self, began: float, took: float, handle: Handle) -> None:
        now = time.thread_time()
        gc_cpu, gc_wall = self._gc
        took -= gc_wall
        cpu = min(took, now - self._cpu - gc_cpu)
        if took <= self._hold_s:
            return
        self._cpu, self._cpu_at = now, time.perf_counter()
        seen_at, stack = self._seen
        place = stack if seen_at == began else repr(handle)[:300]
        holds = self.holds
        holds.count += 1
        holds.longest_s = max(holds.longest_s, took)
        if cpu > holds.longest_cpu_s:
            holds.longest_cpu_s, holds.place = cpu, place
        if cpu > self._hold_s:
            holds.worked += 1
            self._log(place, took, cpu)

    def _log(self, place: str, took: float, cpu: float) -> None:
        now = time.monotonic()
        if now - self._logged.get(place, -LOOP_HOLD_LOG_S) < LOOP_HOLD_LOG_S:
            return
        if len(self._logged) > 100:
            self._logged.clear()
        self._logged[place] = now
        log.warning(
            "one callback blocked the event loop for %.0f ms (%.0f ms of CPU): %s",
            *(took * 1e3, cpu * 1e3, place),
        )

    def _sample(self) -> None:
        """Loop of the sampling thread. It samples the stack of a callback that runs too long."""
        while not self._end.wait(self._hold_s):
            began = self._began
            if began is None or began == self._seen[0]:
                continue
            if time.perf_counter() - began < self._hold_s / 2:
                continue
            frame = sys._current_frames().get(self._thread)
            if frame is not None and self._began == began:
                self._seen = (began, place_of(frame))


def place_of(frame: FrameType) -> str:
    """Format the innermost frames of a stack as `file:line function > ...`. Callers come first."""
    stack = traceback.extract_stack(frame, limit=None)[-FRAMES:]
    return " > ".join(
        f"{'/'.join(each.filename.split('/')[-2:])}:{each.lineno} {each.name}" for each in stack
    )


_watched: dict[asyncio.AbstractEventLoop, Watchdog] = {}
_run = Handle._run


def _watched_run(handle: Handle) -> None:
    watchdog = _watched.get(handle._loop)  # type: ignore[attr-defined]
    if watchdog is None:
        _run(handle)
    else:
        watchdog.run(handle)


def _install() -> None:
    """Route each callback of an event loop (task steps, readers, timers) through its watchdog."""
    Handle._run = _watched_run  # type: ignore[method-assign,assignment]
