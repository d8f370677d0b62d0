# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time of another process in nanoseconds; /proc counts in ticks of 10 ms."""

from __future__ import annotations

import time
from typing import Final

_OF_ALL_THREADS: Final = 2
"""CPUCLOCK_SCHED of include/linux/posix-timers.h (Linux 6.1)."""


def cpu_s(pid: int) -> float:
    """CPU time so far of all threads of a process, of those that have ended too.

    The clock is that of clock_getcpuclockid(3), which Python does not have.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        return time.clock_gettime(~pid << 3 | _OF_ALL_THREADS)
    except OSError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error
