# SPDX-License-Identifier: GPL-2.0-or-later
"""Control group (cgroup v1 or v2) that limits all processes of a box or lane together.

If no group can be created, only the limits per process apply, and `missing` lists the limits that
are not enforced. Sources: cgroups(7); Documentation/admin-guide/cgroup-v1/memory.rst,
Documentation/scheduler/sched-design-CFS.rst (cpu.shares), Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SWEEP_S: Final = 5.0
"""Age at which an empty group is removed if its creator has ended. A creator adds its first process
immediately."""
FOREIGN_SWEEP_S: Final = 60.0
"""Age at which an empty group from another PID namespace is removed. This age is high because the
creator may still run."""
STOP_S: Final = 10.0
"""Timeout for all processes of a group to end. Usual: 20 ms."""
USUAL_WEIGHT: Final = 100
"""Default CPU weight of a group (cpu.weight of cgroup v2)."""
_USUAL_SHARES: Final = 1024
_FILES: Final = {
    "memory": {1: "memory.limit_in_bytes", 2: "memory.max"},
    "pids": {1: "pids.max", 2: "pids.max"},
    "cpu": {1: "cpu.shares", 2: "cpu.weight"},
}


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for all processes of a group together.

    Args:
        memory_bytes: memory, including page cache and tmpfs pages that the group touches first.
        processes: processes and threads.
        cpu_weight: CPU weight; other groups have 100.
    """

    memory_bytes: int
    processes: int
    cpu_weight: int = USUAL_WEIGHT

    def value(self, kind: str, version: int) -> int:
        """Return the value to write to a controller's file."""
        if kind == "cpu" and version == 1:
            return self.cpu_weight * _USUAL_SHARES // USUAL_WEIGHT
        return {"memory": self.memory_bytes, "pids": self.processes, "cpu": self.cpu_weight}[kind]


class Group:
    """Control groups, one for each available controller. Use as a context manager.

    Args:
        name: part of the folders' names, such as "box".
    """

    def __init__(self, budget: Budget, name: str = "box") -> None:
        self._budget = budget
        self._name = name
        self.folders: list[Path] = []
        self.missing: list[str] = []
        self.missing_controllers: list[str] = []
        """Cgroup controllers for which no group could be created."""

    def __enter__(self) -> Group:
        sweep_groups()
        name = f"duet-{self._name}-{_maker(os.getpid())}-{time.monotonic_ns():x}"
        for kind in _FILES:
            if self._make(kind, name):
                continue
            self.missing_controllers.append(kind)
            if kind == "memory":  # processes are also limited per user
                self.missing.append(
                    "Memory is limited for each process, and not for all of them together:"
                    " no control group can be made here."
                )
        return self

    def __exit__(self, *exc: object) -> None:
        """Kill the remaining processes, and remove the groups."""
        until = time.monotonic() + STOP_S
        for folder in reversed(self.folders):
            _remove(folder, until)
        self.folders.clear()

    def procs_files(self) -> list[str]:
        """Return the `cgroup.procs` files; a process joins by writing its pid to each."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def killed_for_memory(self) -> bool:
        """Return whether the kernel has killed a process of the group for lack of memory."""
        for folder in self.folders:
            for file in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    words = (folder / file).read_text().split()
                    if "oom_kill" in words and int(words[words.index("oom_kill") + 1]):
                        return True
        return False

    def _make(self, kind: str, name: str) -> bool:
        for parent, version in _parents(kind):
            folder = parent / name
            try:
                folder.mkdir(exist_ok=True)
                if folder not in self.folders:
                    self.folders.append(folder)
                value = self._budget.value(kind, version)
                (folder / _FILES[kind][version]).write_text(str(value))
            except OSError:
                continue
            return True
        return False


def groups_of(pid: int) -> list[Path]:
    """Return the folders of the groups that the process `pid` of our PID namespace has created."""
    return sorted(folder for top in _tops() for folder in top.glob(f"duet-*-{_maker(pid)}-*"))


def remove_own_groups() -> None:
    """Kill all processes in the groups that this process created, and remove the groups.

    This function is called when this process ends.
    """
    until = time.monotonic() + STOP_S
    for folder in groups_of(os.getpid()):
        _remove(folder, until)


def groups_without_maker(ours: bool = True) -> list[Path]:
    """Return the folders of groups that their creators may have left behind.

    Args:
        ours: if True, return the groups of our PID namespace whose creators have ended. If False,
            return all groups of other PID namespaces; their creators may still run.
    """
    here = _maker(0).partition("-")[2]
    found = []
    for top in _tops():
        for folder in top.glob("duet-*-*-*-*"):
            pid, space = folder.name.split("-")[-3:-1]
            if (space == here) == ours and not (ours and Path(f"/proc/{pid}").exists()):
                found.append(folder)
    return sorted(found)


def sweep_groups() -> list[Path]:
    """Remove groups that a killed creator has left behind; return the removed folders.

    Groups in use remain, because the kernel refuses to remove a group that contains processes.
    """
    removed = []
    for ours, least_s in ((True, SWEEP_S), (False, FOREIGN_SWEEP_S)):
        for folder in groups_without_maker(ours):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > least_s:
                    folder.rmdir()
                    removed.append(folder)
    return removed


def _maker(pid: int) -> str:
    """Return the part of a group's name that identifies its creator by pid and PID namespace."""
    return f"{pid}-{Path('/proc/self/ns/pid').stat().st_ino:x}"


def _tops() -> set[Path]:
    return {parent for kind in _FILES for parent, _ in _parents(kind)}


def _parents(kind: str) -> list[tuple[Path, int]]:
    """Return groups, best first, in which a child group with controller `kind` can be created.

    Returns:
        (folder, cgroup version) of each group.
    """
    found = []
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for words in mounts:
        kind_of, options = words[words.index("-") + 1], words[-1].split(",")
        top, inner = Path(words[4]), words[3]
        if kind_of == "cgroup" and kind in options:
            path = next((p for _, names, p in own if kind in names.split(",")), None)
            found += [(_within(top, inner, path), 1)] if path is not None else []
        elif kind_of == "cgroup2":
            path = next((p for number, _, p in own if number == "0"), "/")
            here = _within(top, inner, path)
            # In cgroup v2, a group that contains processes cannot give controllers to child groups.
            for folder in (here, here.parent):
                with contextlib.suppress(OSError):
                    if kind in (folder / "cgroup.controllers").read_text().split():
                        with contextlib.suppress(OSError):
                            (folder / "cgroup.subtree_control").write_text(f"+{kind}")
                        found.append((folder, 2))
    return found


def _within(top: Path, inner: str, path: str) -> Path:
    """Return a group's folder in a mount that may show only a part of the cgroup hierarchy."""
    under = path.removeprefix(inner) if inner != "/" else path
    folder = top / under.lstrip("/")
    return folder if folder.is_dir() else top


def _remove(folder: Path, until: float) -> None:
    while time.monotonic() < until:
        _kill(folder)
        try:
            folder.rmdir()
            break
        except OSError:
            time.sleep(0.02)


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    with contextlib.suppress(OSError):
        for word in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(word), 9)
