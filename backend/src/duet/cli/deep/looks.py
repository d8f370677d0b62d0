# SPDX-License-Identifier: GPL-2.0-or-later
"""What /proc and the control groups say of a guest that is up."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SPACES: Final = ("mnt", "pid", "net", "ipc", "uts")
"""Namespaces that a guest's QEMU has of its own; namespaces(7)."""


def shared_spaces(pid: int) -> list[str]:
    """Namespaces that a process has in common with this one; all, where that is not to be seen."""
    found = []
    for name in SPACES:
        try:
            theirs = Path(f"/proc/{pid}/ns/{name}").readlink()
        except OSError:
            found.append(name)
            continue
        if theirs == Path(f"/proc/self/ns/{name}").readlink():
            found.append(name)
    return found


def lane_files(pid: int) -> list[str]:
    """Control groups of lanes that a process is in; cgroups(7)."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return []
    return [line for line in lines if "/duet-lane-" in line]


def limits_of(folders: list[Path]) -> dict[str, str]:
    """What is bounded in these control groups: memory, threads, CPU weight."""
    found = {}
    for names, what, unit in (
        (("memory.max", "memory.limit_in_bytes"), "memory", "MiB"),
        (("pids.max",), "threads", ""),
        (("cpu.weight",), "CPU weight", "of 100"),
        (("cpu.shares",), "CPU shares", "of 1024"),
    ):
        for path in (folder / name for folder in folders for name in names):
            try:
                value = int(path.read_text())
            except (OSError, ValueError):
                continue
            found[what] = f"{value >> 20 if unit == 'MiB' else value} {unit}".rstrip()
    return found


# What a deep check finds and would rather not: Kernel Duet works, but less well.


class Failure(Exception):
    """A warning.

    Args:
        found: with its figures and units.
        remedy: what to do about it.
    """

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(found)
        self.found, self.remedy = found, remedy
