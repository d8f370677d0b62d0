# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a guest's vCPUs stood in the host's run queues: the noise of a wall-clock run.

A guest that waits for a host CPU hands work from one vCPU to another only when both get their
turn. That slows arms that hand off (SRCU's callbacks) far more than arms that do not, so a
wall-clock comparison made on a busy host is biased, not only noisy. Whoever measures takes a
reading before and after and refuses or marks a run whose waiting is too large.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Sums over all threads of a process, since its start.

    Args:
        ran_ns: on a host CPU.
        waited_ns: runnable, but another had the CPU.
    """

    ran_ns: int
    waited_ns: int

    def since(self, before: CpuTime) -> CpuTime:
        """What was added after an earlier reading."""
        return CpuTime(self.ran_ns - before.ran_ns, self.waited_ns - before.waited_ns)

    @property
    def waited_share(self) -> float:
        """Waiting as a part of the time in which it wanted a CPU; 0 on an idle host."""
        wanted = self.ran_ns + self.waited_ns
        return self.waited_ns / wanted if wanted else 0.0

    def waited_for_others(self, host_ran_ns: int, elapsed_ns: int) -> float:
        """Waiting that others can have caused, as a part of the time in which it wanted a CPU.

        A guest that sleeps most of the time is compared with the time that has passed: what it
        does cannot have become slower by more than that.

        QEMU's own threads wait for one another: a guest that sleeps and wakes all the time waited
        for 37 % of its time on an idle host. Others cannot have cost it more than they ran.

        Args:
            host_ran_ns: what all CPUs of the host ran meanwhile, this process included.
            elapsed_ns: how long that was.
        """
        others_ns = max(host_ran_ns - self.ran_ns, 0)
        waited_ns = min(self.waited_ns, others_ns)
        whole_ns = max(self.ran_ns + waited_ns, elapsed_ns)
        return waited_ns / whole_ns if whole_ns else 0.0


def cpu_time(pid: int, proc: Path = PROC) -> CpuTime | None:
    """A reading for the process and all its threads; None if it is gone or not counted.

    Source: Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
    """
    ran = waited = 0
    try:
        for task in (proc / str(pid) / "task").iterdir():
            words = (task / "schedstat").read_text().split()
            ran += int(words[0])
            waited += int(words[1])
    except (OSError, ValueError, IndexError):
        return None
    return CpuTime(ran, waited)


def host_ran_ns(proc: Path = PROC) -> int | None:
    """What all CPUs of the host have run since its boot, in steps of a tick; None if not told.

    Stolen time counts: another guest of a hypervisor below had it.

    Source: Documentation/filesystems/proc.rst, /proc/stat.
    """
    try:
        words = (proc / "stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(x) for x in words[1:9])
    except (OSError, ValueError):
        return None
    ticks = user + nice + system + irq + softirq + steal
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
