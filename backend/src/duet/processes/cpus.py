# SPDX-License-Identifier: GPL-2.0-or-later
"""Reserve CPUs for measured guests, read guests' CPU times, and raise the server's priority.

A reservation pins this process and its descendants to the other CPUs while a measurement runs.
Processes that start during the measurement inherit this affinity (sched_setaffinity(2)). Programs
of other users can still run on the reserved CPUs, so the time that a guest waits for a CPU is
always measured. A reservation consists of complete cores, so that the sibling thread of a reserved
CPU is idle.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from duet.base.budgets import LOCK_SWITCH_S

CPU_FOLDER = Path("/sys/devices/system/cpu")


class OwnCpus:
    """A CPU reservation. Use as a context manager; a process can have only one at a time.

    Args:
        wanted: number of CPUs to reserve, if the host has enough.
        least: smallest useful number of CPUs.
    """

    _taken = False
    top_pid: int | None = None
    """Root of the process tree that moves to the other CPUs. None means this process."""

    def __init__(self, wanted: int, least: int) -> None:
        self._wanted, self._least = wanted, least
        self._all: frozenset[int] = frozenset()
        self.cpus: frozenset[int] = frozenset()
        """Reserved CPUs. Empty if the host has too few CPUs or another reservation is active."""
        self.why_not = ""
        """The reason why no CPUs are reserved; '' if some are."""

    def __enter__(self) -> OwnCpus:
        self._all = frozenset(os.sched_getaffinity(0))
        if OwnCpus._taken:
            self.why_not = "another measurement has them"
            return self
        found = choose(cores(self._all), self._wanted) or choose(cores(self._all), self._least)
        if not found:
            one = f"{self._least} CPU" + ("s" if self._least > 1 else "")
            self.why_not = (
                f"{one} for the guest and one for the rest are more than {len(self._all)}"
            )
            return self
        self.cpus = found
        OwnCpus._taken = True
        self._move(self._all - found)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.cpus:
            OwnCpus._taken = False
            self._move(self._all)

    def place(self, pid: int) -> None:
        """Pin a process to the reserved CPUs."""
        if self.cpus:
            _pin(pid, self.cpus)

    def _move(self, to: frozenset[int]) -> None:
        move(OwnCpus.top_pid or os.getpid(), to)


def move(pid: int, to: frozenset[int]) -> None:
    """Pin a process and its descendants to CPUs."""
    for _ in range(2):  # a process may start another process during the first round
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(pid).children(recursive=True):
                _pin(process.pid, to)
        _pin(pid, to)


def cores(cpus: Iterable[int], folder: Path = CPU_FOLDER) -> list[frozenset[int]]:
    """Return the CPUs of each core, in order. A CPU with unknown siblings counts as one core."""
    found: dict[str, set[int]] = {}
    for cpu in sorted(cpus):
        try:
            siblings = (folder / f"cpu{cpu}/topology/thread_siblings_list").read_text().strip()
        except OSError:
            siblings = str(cpu)
        found.setdefault(siblings, set()).add(cpu)
    return [frozenset(core) for core in found.values()]


def choose(given: list[frozenset[int]], wanted: int) -> frozenset[int]:
    """Return at least `wanted` CPUs, from the last cores; none if no core would remain."""
    chosen: frozenset[int] = frozenset()
    for core in reversed(given[1:]):
        if len(chosen) >= wanted:
            break
        chosen |= core
    return chosen if len(chosen) >= wanted else frozenset()


def _pin(pid: int, cpus: frozenset[int]) -> None:
    """Pin all threads of a process, but skip threads that have ended or belong to other users."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(thread.name), cpus)


# Time that a guest's vCPUs spent in the host's run queues. This time causes the noise in a
# wall-clock run.
#
# On a busy host, a hand-off from one vCPU to another completes only after both have got a host CPU.
# This wait slows arms with hand-offs (SRCU's callbacks) far more than arms without hand-offs. So a
# wall-clock comparison on a busy host is biased, not only noisy. A measurement takes a reading
# before and after a run, and refuses or marks a run with too much waiting.

PROC = Path("/proc")
VCPU_THREAD = "CPU "
"""Prefix of the names of QEMU's vCPU threads."""


@dataclass(frozen=True, slots=True)
class CpuTime:
    """CPU times of a process since its start, summed over all threads.

    Args:
        ran_ns: time spent running on a host CPU.
        waited_ns: time spent runnable, but waiting for a CPU.
    """

    ran_ns: int
    waited_ns: int

    def since(self, before: CpuTime) -> CpuTime:
        """Return the increase since an earlier reading; never negative.

        If a thread has ended between the two readings, for example because QEMU was killed, its
        times are missing.
        """
        return CpuTime(
            max(0, self.ran_ns - before.ran_ns), max(0, self.waited_ns - before.waited_ns)
        )

    @property
    def waited_share(self) -> float:
        """Fraction of the process's runnable time that it spent waiting; 0 on an idle host."""
        wanted = self.ran_ns + self.waited_ns
        return self.waited_ns / wanted if wanted else 0.0

    def waited_for_others(self, host_ran_ns: int, elapsed_ns: int) -> float:
        """Return the largest part of waited_share that other processes can have caused.

        QEMU's threads also wait for each other: on an idle host, a guest that continually sleeps
        and wakes waited for 37 % of its time. So the counted waiting time is at most the CPU time
        of other processes. For a guest that mostly sleeps, the share is relative to the elapsed
        time, because the guest's work cannot have slowed down by more.

        Args:
            host_ran_ns: CPU time of all host processes between the two readings, including this
                process.
            elapsed_ns: wall-clock time between the two readings.
        """
        others_ns = max(host_ran_ns - self.ran_ns, 0)
        waited_ns = min(self.waited_ns, others_ns)
        whole_ns = max(self.ran_ns + waited_ns, elapsed_ns)
        return waited_ns / whole_ns if whole_ns else 0.0


def cpu_time(pid: int, proc: Path = PROC) -> CpuTime | None:
    """Read the CPU time of a process; None if it has ended or the kernel has no schedstat.

    Source: Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
    """
    times = _thread_times(pid, proc)
    return _sum(times.values()) if times else None


def vcpu_time(pid: int, proc: Path = PROC) -> CpuTime | None:
    """Read the CPU time of a QEMU process's vCPU threads; None if it has none.

    QEMU's other threads (main loop, RCU) wait for each other even on an idle host, so their times
    do not measure the host's load. QEMU must run with `-name ...,debug-threads=on`.

    Source: QEMU 7.2, accel/tcg/tcg-accel-ops-mttcg.c ("CPU %d/TCG"), accel/kvm/kvm-accel-ops.c.
    """
    times = _thread_times(pid, proc)
    found = [time for name, time in times.items() if name.startswith(VCPU_THREAD)]
    return _sum(found) if found else None


def _thread_times(pid: int, proc: Path) -> dict[str, CpuTime]:
    """Return each thread's CPU time by `name tid`; empty if the process has ended."""
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
    """CPU time of the host since its boot, in clock ticks.

    Args:
        ran: busy time, without stolen time.
        stolen: time during which the hypervisor of this host ran another guest.
    """

    ran: int
    stolen: int

    def stolen_share(self, before: HostTicks) -> float:
        """Return the stolen time since `before`, as a fraction of busy time plus stolen time."""
        stolen = max(0, self.stolen - before.stolen)
        wanted = max(0, self.ran - before.ran) + stolen
        return stolen / wanted if wanted else 0.0


def host_ticks(proc: Path = PROC) -> HostTicks | None:
    """Read the host's CPU time; None if /proc/stat is unreadable.

    Source: Documentation/filesystems/proc.rst, /proc/stat.
    """
    try:
        words = (proc / "stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(x) for x in words[1:9])
    except (OSError, ValueError):
        return None
    return HostTicks(user + nice + system + irq + softirq, steal)


def host_ran_ns(proc: Path = PROC) -> int | None:
    """Return the busy time of all CPUs of the host since its boot, including stolen time.

    The resolution is one tick. None if /proc/stat is unreadable.
    """
    ticks = host_ticks(proc)
    if ticks is None:
        return None
    return (ticks.ran + ticks.stolen) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


# The server has priority over the processes that it starts.
#
# With autogroups (sched(7)), Linux divides CPU time among sessions first, so niceness only matters
# within a session. Guests have separate sessions or control groups. So the server raises the
# priority of its session, for kernels with autogroups, and of its threads, for other kernels.
# Raising the priority of one thread is not enough, because this thread must wait for any other
# thread that holds the interpreter lock.
#
# Children start with normal priority, because SCHED_RESET_ON_FORK resets a thread's priority in its
# children, and because children leave the session.

SERVER_NICE: Final = -10
"""With this niceness a woken thread gets a CPU within a few ms despite busy guests and helpers. At
niceness 0, on two CPUs, the event loop waited up to 400 ms for 5 ms of work while a class started
runs."""
SESSION: Final = Path("/proc/self/autogroup")

LOG = logging.getLogger("duet.loop")


@contextlib.contextmanager
def session_first() -> Iterator[str]:
    """Raise the priority of this process's session while the block runs.

    Yields:
        Why the host refused the priority, without a full stop; '' if it did not refuse.
    """
    try:
        found = re.search(r"nice (-?\d+)", SESSION.read_text())
        former = int(found[1]) if found else 0
        if former > SERVER_NICE:  # no other server has raised the priority yet
            SESSION.write_text(str(SERVER_NICE))
    except FileNotFoundError:  # the kernel has no autogroups
        yield ""
    except OSError as error:
        refused = f"the server's session gets no priority over guests ({error.strerror})"
        LOG.info("%s", refused)
        yield refused
    else:
        try:
            yield ""
        finally:
            if former > SERVER_NICE:
                with contextlib.suppress(OSError):
                    SESSION.write_text(str(former))


def thread_first() -> str:
    """Raise the priority of the calling thread.

    Returns:
        Why the host refused the priority, without a full stop; '' if it did not refuse.
    """
    thread = threading.get_native_id()
    try:
        os.sched_setscheduler(thread, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, thread, SERVER_NICE)
    except OSError as error:
        return f"the server's threads get no priority over guests ({error.strerror})"
    return ""


def loop_first() -> str:
    """Raise the priority of the calling thread (the event loop) and of to_thread's threads.

    Before Python 3.12, asyncio starts a thread per child process, which waits for the end of the
    child. This function replaces these threads by pidfds.

    Returns:
        Why the host refused the priority, without a full stop; '' if it did not refuse.
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(
        ThreadPoolExecutor(thread_name_prefix="work", initializer=thread_first)
    )
    if sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(loop)
        asyncio.set_child_watcher(watcher)
    if refused := thread_first():
        LOG.info("%s", refused)
    return refused


def be_prompt() -> None:
    """Shorten the event loop's pauses with a shorter switch interval and no GC of imported objects.

    Each system call of the loop releases the interpreter lock. With the default interval, the loop
    would wait 5 ms for the lock after each call while other threads decode. Imported objects never
    become garbage, but a garbage collection spends 60 ms on them.
    """
    sys.setswitchinterval(LOCK_SWITCH_S)
    gc.collect()
    gc.freeze()
