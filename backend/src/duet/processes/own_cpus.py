# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs that belong to measured guests alone, among this process and all that it has started.

What is not measured moves to the other CPUs and stays there as long as the measurement runs; what
starts meanwhile inherits that (sched_setaffinity(2)). Programs of others may still run on these
CPUs: how long the guest waited for a CPU is measured in any case. Whole cores are taken, so no
sibling thread of a core has other work.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import psutil

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
