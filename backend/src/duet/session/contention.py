# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures, while a workload runs, how long its guest's vCPUs waited for a CPU of the host.

A live run on the wall clock shares the host with everything else, its sister lanes included. A
vCPU that waits looks like a slow kernel, so the figure travels with the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from duet.budgets import CONTENTION_SAMPLE_S
from duet.guests import CpuTime, HostTicks, host_ticks, vcpu_time
from duet.session.events import Contention


@dataclass(frozen=True, slots=True)
class _Reading:
    vcpus: CpuTime
    host: HostTicks | None


def _read(pid: int) -> _Reading | None:
    vcpus = vcpu_time(pid)
    return None if vcpus is None else _Reading(vcpus, host_ticks())


def between(before: _Reading, now: _Reading) -> Contention:
    """What happened between two readings.

    A thread that runs while the hypervisor has its CPU counts as running; so that part of its
    time is moved to the waiting.
    """
    used = now.vcpus.since(before.vcpus)
    stolen = now.host.stolen_share(before.host) if now.host and before.host else 0.0
    lost_ns = used.ran_ns * stolen
    return Contention((used.ran_ns - lost_ns) / 1e9, (used.waited_ns + lost_ns) / 1e9)


class ContentionWatch:
    """Samples one guest from its workload's start to its end.

    Args:
        tell: receives each figure, on the event loop.
        sample_s: between two readings.
    """

    def __init__(
        self, tell: Callable[[Contention], None], sample_s: float = CONTENTION_SAMPLE_S
    ) -> None:
        self._tell = tell
        self._sample_s = sample_s
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.newest: Contention | None = None

    def begin(self, pid: int) -> None:
        """The workload runs. A second call changes nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(pid), name=f"contention of {pid}")

    def finish(self) -> None:
        """The workload is over: one last reading. Nothing happens before it began."""
        if self._task:
            self._over.set()

    async def end(self) -> None:
        """Wait for the last reading; nothing is measured afterwards."""
        self.finish()
        if self._task:
            await asyncio.wait([self._task])

    async def _watch(self, pid: int) -> None:
        before = await asyncio.to_thread(_read, pid)
        while before is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sample_s):
                    await self._over.wait()
            last = self._over.is_set()
            now = await asyncio.to_thread(_read, pid)
            if now is None:
                return
            self.newest = between(before, now)
            self._tell(self.newest)
            if last:
                return
