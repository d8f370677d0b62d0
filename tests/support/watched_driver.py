# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 05's watched storm on one arm: runs it as the server does, and keeps what came of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duet.cli.arguments import read_request
from duet.kernels import KernelSettings
from duet.lenses import LensState, Sample
from duet.lenses.scope import Cells
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, RunSession, RunSpec
from duet.session.accesses import COUNTS
from tests.support.xray_driver import Look

SLUG, WORKLOAD = "05-cacheline-pingpong", "watched"
LINE = 64
LIMIT_S = 300
BUSY = 3
"""Programs that do nothing but work, on a host of two cores."""
Meanwhile = Callable[[RunSession, Look], Coroutine[None, None, None]]


@dataclass(frozen=True)
class Watched:
    """One run's findings."""

    look: Look
    functions: tuple[str, ...]

    @property
    def cells(self) -> Cells:
        """The exact counts after the workload's end."""
        scope = self.look.result.scope
        assert scope is not None, self.look.result.scope_fault
        return scope.cells

    @property
    def states(self) -> list[LensState]:
        """Of the microscope."""
        return [state for state in self.look.states if state.lens == "microscope"]

    @property
    def address(self) -> int:
        """Of the dentry."""
        scope = self.look.result.scope
        assert scope is not None and scope.watched is not None
        return scope.watched[0]

    def offset_of(self, field: str) -> int:
        """Of a field of the dentry, as the x-ray read the DWARF."""
        scope = self.look.result.scope
        assert scope is not None
        return next(at for at, name in scope.fields if name == field)

    def per_stat(self, kind: str, line: int, function: str | None = None) -> float:
        """Accesses of a class to a line of the dentry, inside the operation, for each stat."""
        cells = self.cells.cells
        base = self.address + LINE * line
        own = (cells["inside"] == 1) & (cells["address"] >= base) & (cells["address"] < base + LINE)
        if function is not None:
            own &= cells["function"] == self.functions.index(function)
        return float(cells[kind][own].sum()) / self.cells.ops_touching

    def points(self) -> dict[str, NDArray[np.generic]]:
        """The log, as the page gets it."""
        batches = self.look.batches["points"]
        names = batches[0].columns
        return {name: np.concatenate([batch.columns[name] for batch in batches]) for name in names}

    def sample(self, probe: str = COUNTS) -> Sample:
        """The last of that name."""
        return [sample for sample, _ in self.look.samples if sample.probe == probe][-1]


def watch(
    arm: str, runs_knobs: Sequence[Mapping[str, int]], meanwhile: Meanwhile | None = None
) -> list[Watched]:
    """Runs with these knobs, one after another; a guest that fits is kept.

    Args:
        meanwhile: goes on beside each run.
    """

    async def go() -> list[Watched]:
        sources = None
        found = []
        async with asyncio.timeout(LIMIT_S), LaneGuests() as lanes:
            for number, knobs_given in enumerate(runs_knobs):
                knobs = [f"{name}={value}" for name, value in knobs_given.items()]
                request = read_request(SLUG, arm, WORKLOAD, "wall", knobs)
                folder = request.folder
                assert folder.lesson.microscope is not None
                sources = sources or await kernel_sources(folder, (arm,), KernelSettings.default())
                spec = RunSpec(
                    folder,
                    (arm,),
                    WORKLOAD,
                    request.params,
                    request.clock,
                    run_id=f"watched-{number}",
                )
                run = Look()
                session = RunSession(lanes, spec, sources, run)
                async with asyncio.TaskGroup() as group:
                    if meanwhile:
                        group.create_task(meanwhile(session, run))
                    run.result = (await session.execute()).lanes[arm]
                assert run.result.error is None, run.result.error
                found.append(Watched(run, folder.lesson.microscope.functions))
        return found

    return asyncio.run(go())


@contextmanager
def busy_host() -> Iterator[None]:
    """More to do than the host has cores, at a higher priority than guests have."""
    burn = [sys.executable, "-c", "while True: pass"]
    burning = [subprocess.Popen(burn) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()
