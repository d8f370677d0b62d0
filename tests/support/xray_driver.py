# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one arm with an x-ray and keeps all that it says, for the guest tests."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duet import messages as m
from duet.cli.arguments import read_request
from duet.cli.sinks import ConsoleSink
from duet.kernels import KernelSettings
from duet.lenses import LensState, Sample, Wanted, Xray
from duet.runs.sources import kernel_sources
from duet.session import Batch, LaneGuests, LaneResult, RunSession, RunSpec
from duet.session.lane.lenses import LaneXray

LIMIT_S = 200
DTYPES = {"f8": "<f8", "i4": "<i4", "u1": "u1", "u4": "<u4", "i2": "<i2"}


def columns(sample: Sample) -> dict[str, NDArray[np.generic]]:
    """As numpy arrays."""
    return {
        name: np.frombuffer(body, DTYPES[sample.dtypes[name]])
        for name, body in sample.columns.items()
    }


class Look(ConsoleSink):
    """A sink that keeps samples, and the run's result once it is over."""

    def __init__(self) -> None:
        self.samples: list[tuple[Sample, float]] = []
        self.states: list[LensState] = []
        self.batches: dict[str, list[Batch]] = {}
        self.own: dict[int, tuple[int, int, int]] = {}
        """Number of a sample -> the guest's own clock before and after, and its tick."""
        self.origin_ns = 0
        self.looked = asyncio.Event()
        self.pid: int | None = None
        self.result: LaneResult
        self.on_count = lambda samples: None

    @property
    def lens(self) -> LensState:
        """How the x-ray was at last."""
        return self.states[-1]

    def largest(self) -> Sample:
        """The last of the largest samples."""
        sizes = [sum(map(len, sample.columns.values())) for sample, _ in self.samples]
        return [s for (s, _), size in zip(self.samples, sizes, strict=True) if size == max(sizes)][
            -1
        ]

    def probes(self) -> set[str]:
        """Names of the probes that gave samples."""
        return {sample.probe for sample, _ in self.samples}

    def on_lane(self, state: m.Lane) -> None:
        self.pid = state.pid or self.pid

    def on_batch(self, arm: str, new: Batch) -> None:
        self.batches.setdefault(new.table, []).append(new)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        self.samples.append((sample, t_ns))
        self.looked.set()
        self.origin_ns = sample.at_ns - int(t_ns)
        self.on_count(len(self.samples))

    def on_lens(self, arm: str, state: LensState) -> None:
        self.states.append(state)


def look(
    slug: str,
    arm: str,
    *wanted: Wanted,
    clock: str,
    knobs: Sequence[str],
    workload: str = "",
    probes: frozenset[str] | None = frozenset(),
    vmlinux: Path | None = None,
    kill_after: int = 0,
    kill: str = "guest",
    say: Sequence[tuple[float, str]] = (),
) -> Look:
    """One run.

    Args:
        vmlinux: another one than the guest's.
        kill_after: so many samples, kill the guest or the x-ray's process.
        say: (seconds after the start, line for the workload).
    """
    run = Look()

    async def go() -> None:
        request = read_request(slug, arm, workload, clock, list(knobs))
        sources = await kernel_sources(request.folder, (arm,), KernelSettings.default())
        if vmlinux is not None:
            sources[arm] = replace(sources[arm], vmlinux=vmlinux)
        spec = RunSpec(
            request.folder,
            (arm,),
            request.workload,
            request.params,
            request.clock,
            probes=probes,
            xray=wanted,
            run_id="xray-test",
        )
        async with asyncio.timeout(LIMIT_S), LaneGuests() as lanes:
            session = RunSession(lanes, spec, sources, run)

            def count(samples: int) -> None:
                if samples != kill_after:
                    return
                lane = lanes._lanes[arm][0]
                pid = run.pid if kill == "guest" else lane._xray and lane._xray.pid
                assert pid
                os.kill(pid, signal.SIGKILL)

            run.on_count = count
            talk = asyncio.create_task(_talk(session, run, say))
            run.result = (await session.execute()).lanes[arm]
            talk.cancel()

    _listen(run)
    asyncio.run(go())
    return run


async def _talk(session: RunSession, run: Look, say: Sequence[tuple[float, str]]) -> None:
    await run.looked.wait()
    for seconds, line in say:
        await asyncio.sleep(seconds)
        await session.send_line(line)


def _listen(run: Look) -> None:
    """Keep the guest's own clock of each sample, which is not reported on."""
    pass_on = LaneXray._pass_on

    def save(self: LaneXray, raw: dict, *rest: object) -> None:  # type: ignore[type-arg]
        run.own[raw["seq"]] = (raw["before_ns"], raw["after_ns"], raw["tick_ns"])
        pass_on(self, raw, *rest)  # type: ignore[arg-type]

    LaneXray._pass_on = save  # type: ignore[method-assign]


async def raw_xray(socket: Path, vmlinux: Path, uid: int | None) -> str:
    """Attach and tell the route."""
    async with Xray(socket, vmlinux, uid) as xray:
        await xray.settled.wait()
        assert xray.fault is None, xray.fault
        return xray.route
