# SPDX-License-Identifier: GPL-2.0-or-later
"""How a host's CPUs get on, by number of threads: the replica's layouts, and its own kernel."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from duet.errors import InfraError
from duet.lenses.scope import native
from duet.lenses.scope.native import Layout, Operation, Run

TMPFS: Final = Path("/dev/shm")
RUNS: Final = 3
"""Of each point of a curve."""


@dataclass(frozen=True, slots=True)
class Point:
    """Operations a second of so many threads."""

    threads: int
    median: float
    low: float
    high: float


def thread_counts(most: int) -> list[int]:
    """1, 2, 4 and so on, and the most."""
    return sorted({most, *(1 << n for n in range(most.bit_length()) if 1 << n <= most)})


def point(threads: int, rates: Sequence[float]) -> Point:
    """Of several runs."""
    return Point(threads, statistics.median(rates), min(rates), max(rates))


def curve(run: Callable[[Sequence[int]], Run], cpus: Sequence[int]) -> list[Point]:
    """A point for each number of threads; the first so many CPUs have one each."""
    return [point(n, [run(cpus[:n]).per_s for _ in range(RUNS)]) for n in thread_counts(len(cpus))]


def layout_curve(operation: Operation, layout: Layout, cpus: Sequence[int], ms: int) -> list[Point]:
    """The replica with one layout."""
    return curve(lambda some: native.run_once(operation, layout, some, ms)[0], cpus)


def host_curve(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[list[Point], str]:
    """The host's own kernel, asked by as many threads; none and a sentence where it cannot be."""
    if not operation.host_steps:
        return [], ""
    if not os.access(TMPFS, os.W_OK):
        return [], f"{TMPFS} is no folder to write to, so the host's own kernel is not measured."
    with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
        steps = [step.format(folder=folder) for step in operation.host_steps]
        for step in steps:
            Path(step[1:]).touch()  # a step is a letter and what it is done to
        try:
            found = curve(
                lambda some: native.run_once(operation, layout, some, ms, (), steps)[0], cpus
            )
        except InfraError as error:
            return [], f"the host's own kernel is not measured: {error}"
    return found, ""


def made() -> dict[str, str]:
    """Where and when: CPU model, kernel, compiler, time."""
    return {
        "cpu": cpu_model(Path("/proc/cpuinfo")),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "compiler": _compiler(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def cpu_model(cpuinfo: Path) -> str:
    """As the kernel names it; "unknown CPU" where it does not."""
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in names if name), "unknown CPU")


def _compiler() -> str:
    try:
        done = subprocess.run(
            ["cc", "--version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0]
