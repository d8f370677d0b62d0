# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench lanes`: how soon a lane moves that is a copy of a parked guest, and one that boots.

Both are taken in turns, in one process, so that what else the host does falls on both alike.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import numpy as np

from duet.cli.output import emit, note
from duet.cli.request import Request, read_request
from duet.cli.results.benching import BenchResult, Quantiles
from duet.cli.variables import variable
from duet.errors import InfraError
from duet.guests.clones import Templates
from duet.guests.memory import pss_bytes
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session import Batch, Lanes, LaneState, RunSession, RunSpec, SessionSink
from duet.session.lane.request import guest_of

TEMPLATE_BYTES = 1 << 30
IDLE_LANES = 8
VNG_ROUNDS = 3
WAYS = ("boot", "copy", "vng")


@dataclass(slots=True)
class Times:
    """Milliseconds from the request to the first decoded event, by the way that a lane came up."""

    ms: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    refused: int = 0
    """Copies that failed, so that the lane booted."""


class FirstEvent(SessionSink):
    """Notes when the first decoded rows of a lane come."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()
        self.at = 0.0
        self.cloned = False
        self.failed = ""

    def on_lane(self, state: LaneState) -> None:
        """How the guest came up."""
        self.cloned = self.cloned or state.cloned
        if state.phase == "failed":
            self.failed = state.message
            self.seen.set()

    def on_batch(self, arm: str, new: Batch) -> None:
        """Events."""
        if not self.seen.is_set():
            self.at = time.monotonic()
            self.seen.set()


def bench(lesson: str, arm: str, repeats: int, vng: bool, as_json: bool) -> int:
    """See `duet bench --help`."""
    request = read_request(lesson, arm, "", "wall", [])
    result = asyncio.run(measure_lanes(request, repeats, vng))
    if as_json:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure_lanes(request: Request, repeats: int, vng: bool) -> BenchResult:
    """All rounds, then the memory of idle copies.

    Raises:
        DuetError: a lane did not come up at all.
    """
    arm, times = request.arms[0], Times()
    async with Templates(TEMPLATE_BYTES) as templates:
        await first_event(request, arm, templates)  # asks for the template
        await templates.wait_settled()
        for number in range(repeats):
            note(f"round {number + 1} of {repeats}")
            times.ms["boot"].append((await first_event(request, arm, None))[0])
            took, cloned = await first_event(request, arm, templates)
            times.ms["copy"].append(took)
            times.refused += not cloned
        for _ in range(VNG_ROUNDS if vng else 0):
            with variable("DUET_GUEST", "vng"):
                times.ms["vng"].append((await first_event(request, arm, None))[0])
        idle = await idle_bytes(request, arm, templates)
        return BenchResult(
            lesson=request.folder.slug,
            arm=arm,
            boot=quantiles(times.ms["boot"]),
            copy=quantiles(times.ms["copy"]),
            vng=quantiles(times.ms["vng"]) if vng else None,
            refused_copies=times.refused,
            idle_lanes=len(idle),
            idle_pss_mib=round(max(idle) / (1 << 20), 1),
            template_mib=round(templates.held_bytes / (1 << 20), 1),
        )


async def first_event(
    request: Request, arm: str, templates: Templates | None
) -> tuple[float, bool]:
    """(milliseconds to a lane's first decoded event, whether it is a copy); then it is stopped.

    Raises:
        InfraError: the lane failed.
    """
    settings = KernelSettings.default()
    sources = await kernel_sources(request.folder, (arm,), settings, templates)
    sink = FirstEvent()
    async with Lanes() as lanes:
        session = RunSession(lanes, spec_of(request, arm), sources, sink)
        began = time.monotonic()
        running = asyncio.create_task(session.execute(), name=f"bench {arm}")
        await sink.seen.wait()
        await session.stop()
        await running
    if sink.failed:
        raise InfraError(
            f"lane {arm} did not come up: {sink.failed}", remedy="Run it: ./duet run, and look."
        )
    return (sink.at - began) * 1e3, sink.cloned


async def idle_bytes(request: Request, arm: str, templates: Templates) -> list[int]:
    """Proportional set size of each of some copies that are up at once and do nothing."""
    sources = await kernel_sources(request.folder, (arm,), KernelSettings.default(), templates)
    wanted = guest_of(spec_of(request, arm), sources[arm], None)
    async with AsyncExitStack() as stack:
        guests = [
            await stack.enter_async_context(sources[arm].guest(wanted)) for _ in range(IDLE_LANES)
        ]
        return [pss_bytes(guest.facts.pid or 0) for guest in guests]


def spec_of(request: Request, arm: str) -> RunSpec:
    """A run as the page's, on one lane."""
    return RunSpec(
        run_id="bench",
        folder=request.folder,
        arms=(arm,),
        workload=request.workload,
        params=request.params,
        clock=request.clock,
    )


def quantiles(ms: list[float]) -> Quantiles:
    """Median and 95th percentile."""
    p50, p95 = np.percentile(ms, [50, 95])
    return Quantiles(n=len(ms), p50_ms=round(float(p50), 1), p95_ms=round(float(p95), 1))


def text_of(result: BenchResult) -> str:
    """The result as a table, with ratios of medians."""
    rows = [("boot", result.boot), ("copy", result.copy), ("vng", result.vng)]
    lines = [f"{'lane':6} {'n':>3} {'median':>10} {'p95':>10} {'x copy':>7}"]
    for name, one in rows:
        if one is not None:
            ratio = one.p50_ms / result.copy.p50_ms
            lines.append(
                f"{name:6} {one.n:3} {one.p50_ms:7.0f} ms {one.p95_ms:7.0f} ms {ratio:7.1f}"
            )
    lines += [
        f"copies that failed: {result.refused_copies}",
        f"memory: {result.idle_lanes} idle copies take at most {result.idle_pss_mib:.0f} MiB each "
        f"(PSS); the parked guest takes {result.template_mib:.0f} MiB",
        "from the request to the first decoded event; taken in turns",
    ]
    return "\n".join(lines)
