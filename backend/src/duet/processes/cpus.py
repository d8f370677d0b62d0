# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs that belong to measured guests alone, among this process and all that it has started.

What is not measured moves to the other CPUs and stays there as long as the measurement runs; what
starts meanwhile inherits that (sched_setaffinity(2)). Programs of others may still run on these
CPUs: how long the guest waited for a CPU is measured in any case. Whole cores are taken, so no
sibling thread of a core has other work.
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
    """A reservation. Use as `with`, one at a time in a process.

    Args:
        wanted: CPUs, where the host has that many to spare.
        least: fewer are of no use.
    """

    _taken = False
    top_pid: int | None = None
    """The process that has started all that is moved; None: this one."""

    def __init__(self, wanted: int, least: int) -> None:
        self._wanted, self._least = wanted, least
        self._all: frozenset[int] = frozenset()
        self.cpus: frozenset[int] = frozenset()
        """Those that are reserved; none if the host has too few, or another has reserved some."""
        self.why_not = ""
        """Why there are none, in words."""

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
        """Let a process run on the reserved CPUs, and nowhere else."""
        if self.cpus:
            _pin(pid, self.cpus)

    def _move(self, to: frozenset[int]) -> None:
        move(OwnCpus.top_pid or os.getpid(), to)


def move(pid: int, to: frozenset[int]) -> None:
    """Let a process and its descendants run there; twice, since one may start another meanwhile."""
    for _ in range(2):
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(pid).children(recursive=True):
                _pin(process.pid, to)
        _pin(pid, to)


def cores(cpus: Iterable[int], folder: Path = CPU_FOLDER) -> list[frozenset[int]]:
    """The CPUs of each core, in order; a CPU whose siblings are unknown is a core of its own."""
    found: dict[str, set[int]] = {}
    for cpu in sorted(cpus):
        try:
            siblings = (folder / f"cpu{cpu}/topology/thread_siblings_list").read_text().strip()
        except OSError:
            siblings = str(cpu)
        found.setdefault(siblings, set()).add(cpu)
    return [frozenset(core) for core in found.values()]


def choose(given: list[frozenset[int]], wanted: int) -> frozenset[int]:
    """The last cores that have `wanted` CPUs together; none if no core would be left."""
    chosen: frozenset[int] = frozenset()
    for core in reversed(given[1:]):
        if len(chosen) >= wanted:
            break
        chosen |= core
    return chosen if len(chosen) >= wanted else frozenset()


def _pin(pid: int, cpus: frozenset[int]) -> None:
    """All threads of a process; one that has ended or is another's is left alone."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(thread.name), cpus)


# How long a guest's vCPUs stood in the host's run queues: the noise of a wall-clock run.
#
# A guest that waits for a host CPU hands work from one vCPU to another only when both get their
# turn. That slows arms that hand off (SRCU's callbacks) far more than arms that do not, so a
# wall-clock comparison made on a busy host is biased, not only noisy. Whoever measures takes a
# reading before and after and refuses or marks a run whose waiting is too large.

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


# A server that gets a CPU before all that it has started.
#
# Linux shares CPUs among sessions first (autogroups, sched(7)), so a niceness counts among the
# threads of one session only, and guests have sessions or control groups of their own. So the
# server's session is raised, for kernels with autogroups, and its threads, for the others. One
# thread alone would not do: another that holds the interpreter keeps it waiting as well.
#
# Children start as ordinary processes: SCHED_RESET_ON_FORK takes the priority of a thread away from
# what it starts, and they leave the session.

SERVER_NICE: Final = -10
"""A thread that wakes has a CPU within some ms of busy guests and helpers. At 0 the event loop
waited for up to 400 ms on two CPUs, with 5 ms of work to do, while a class started its runs."""
SESSION: Final = Path("/proc/self/autogroup")

LOG = logging.getLogger("duet.loop")


@contextlib.contextmanager
def session_first() -> Iterator[str]:
    """Raise the priority of this process's session while the block runs.

    Yields:
        Why the host refuses, as a sentence without its stop, or nothing.
    """
    try:
        found = re.search(r"nice (-?\d+)", SESSION.read_text())
        former = int(found[1]) if found else 0
        if former > SERVER_NICE:  # else another server of this session has done it
            SESSION.write_text(str(SERVER_NICE))
    except FileNotFoundError:  # sessions share no CPUs here
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
        Why the host refuses, as a sentence without its stop, or nothing.
    """
    thread = threading.get_native_id()
    try:
        os.sched_setscheduler(thread, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, thread, SERVER_NICE)
    except OSError as error:
        return f"the server's threads get no priority over guests ({error.strerror})"
    return ""


def loop_first() -> str:
    """Raise the priority of the event loop's thread, which is the calling one, and of those of
    asyncio.to_thread.

    Before Python 3.12 asyncio has a thread wait for each process as well; a descriptor does it.

    Returns:
        See thread_first.
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
    """Let the event loop have the interpreter soon, and collect no garbage where there is none.

    Each system call of the loop gives the interpreter away; while threads decode, it would wait
    5 ms for it each time. What was imported stays for ever, and takes 60 ms to look through.
    """
    sys.setswitchinterval(LOCK_SWITCH_S)
    gc.collect()
    gc.freeze()
