# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a guest's vCPUs stood in the host's run queues: the noise of a wall-clock run.

A guest that waits for a host CPU hands work from one vCPU to another only when both get their
turn. That slows arms that hand off (SRCU's callbacks) far more than arms that do not, so a
wall-clock comparison made on a busy host is biased, not only noisy. Whoever measures takes a
reading before and after and refuses or marks a run whose waiting is too large.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
VCPU_THREAD = "CPU "
"""How the names of QEMU's vCPU threads begin."""


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
        """What was added after an earlier reading; never negative.

        A thread that has ended since takes its times along, as all of a killed QEMU's do in turn.
        """
        return CpuTime(
            max(0, self.ran_ns - before.ran_ns), max(0, self.waited_ns - before.waited_ns)
        )

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
    times = _thread_times(pid, proc)
    return _sum(times.values()) if times else None


def vcpu_time(pid: int, proc: Path = PROC) -> CpuTime | None:
    """A reading for the threads of a QEMU that execute vCPUs; None if there are none.

    QEMU's other threads (main loop, RCU) wait for one another on an idle host as well, so they
    say nothing about the host. Needs `-name ...,debug-threads=on`.

    Source: QEMU 7.2, accel/tcg/tcg-accel-ops-mttcg.c ("CPU %d/TCG"), accel/kvm/kvm-accel-ops.c.
    """
    times = _thread_times(pid, proc)
    found = [time for name, time in times.items() if name.startswith(VCPU_THREAD)]
    return _sum(found) if found else None


def _thread_times(pid: int, proc: Path) -> dict[str, CpuTime]:
    """Name and number of each thread -> its times; nothing if the process is gone."""
    times = {}
    try:
        for task in (proc / str(pid) / "task").iterdir():
            words = (task / "schedstat").read_text().split()
            comm = task / "comm"
            name = comm.read_text().strip() if comm.exists() else ""
            times[f"{name} {task.name}"] = CpuTime(int(words[0]), int(words[1]))
    except (OSError, ValueError, IndexError):
        return {}
    return times


def _sum(times: Iterable[CpuTime]) -> CpuTime:
    ran = waited = 0
    for time in times:
        ran += time.ran_ns
        waited += time.waited_ns
    return CpuTime(ran, waited)


@dataclass(frozen=True, slots=True)
class HostTicks:
    """What the host's CPUs did since its boot, in clock ticks.

    Args:
        ran: work of any kind, stolen time aside.
        stolen: another guest of the hypervisor below this host had the CPU.
    """

    ran: int
    stolen: int

    def stolen_share(self, before: HostTicks) -> float:
        """Part of the time since `before` that the host believed to run and did not."""
        stolen = max(0, self.stolen - before.stolen)
        wanted = max(0, self.ran - before.ran) + stolen
        return stolen / wanted if wanted else 0.0


def host_ticks(proc: Path = PROC) -> HostTicks | None:
    """A reading of /proc/stat; None if it cannot be read.

    Source: Documentation/filesystems/proc.rst, /proc/stat.
    """
    try:
        words = (proc / "stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(x) for x in words[1:9])
    except (OSError, ValueError):
        return None
    return HostTicks(user + nice + system + irq + softirq, steal)


def host_ran_ns(proc: Path = PROC) -> int | None:
    """What all CPUs of the host have run since its boot, in steps of a tick.

    None if the host does not report it.

    Stolen time counts: another guest of a hypervisor below had it.

    Source: Documentation/filesystems/proc.rst, /proc/stat.
    """
    ticks = host_ticks(proc)
    if ticks is None:
        return None
    return (ticks.ran + ticks.stolen) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
