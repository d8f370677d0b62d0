# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a guest's vCPUs stood in the host's run queues: the noise of a wall-clock run.

A guest that waits for a host CPU hands work from one vCPU to another only when both get their
turn. That slows arms that hand off (SRCU's callbacks) far more than arms that do not, so a
wall-clock comparison made on a busy host is biased, not only noisy. Whoever measures takes a
reading before and after and refuses or marks a run whose waiting is too large.
"""

from __future__ import annotations

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
