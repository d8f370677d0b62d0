# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench lanes`: how soon a lane moves that is a copy of a parked guest, and one that boots.

All ways are taken in turns, in one process, so that what else the host does falls on all alike. A
lane that fails is counted, and the next one starts.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from duet.cli.bench.lanes_result import IDLE_LANES, Start, result_of, text_of
from duet.cli.output import emit, note
from duet.cli.request import Request, read_request
from duet.cli.results.benching import LanesResult
from duet.cli.variables import variable
from duet.errors import DuetError
from duet.guests import Guest
from duet.guests.clones import Templates
from duet.guests.machine import MachineGuest
from duet.guests.memory import pss_bytes
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session import (
    Batch,
    GuestRequest,
    Lanes,
    LaneSource,
    LaneState,
    RunSession,
    RunSpec,
    SessionSink,
)
from duet.session.lane.request import guest_of

TEMPLATE_BYTES = 1 << 30
VNG_ROUNDS = 3
START_S = 300.0
"""From the request to the first event, with a second try. Usual: 0.2 s a copy, 2-3 s a boot, 20 s
a boot by virtme-ng."""
PARK_S = 120.0
"""Until a guest is parked. Usual: 4-5 s."""


class FirstEvent(SessionSink):
    """Notes when the first decoded rows of a lane come."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()
        self.at = 0.0
        self.cloned = False
        self.accel = ""
        self.failed = ""

    def on_lane(self, state: LaneState) -> None:
        """How the guest came up."""
        self.cloned = self.cloned or state.cloned
        self.accel = str(state.accel or self.accel)
        if state.phase == "failed" and not self.at:
            self.failed = state.message
            self.seen.set()

    def on_batch(self, arm: str, new: Batch) -> None:
        """Events."""
        if not self.seen.is_set():
            self.at = time.monotonic()
            self.seen.set()


@dataclass(slots=True)
class Idle:
    """Copies that were up at once and did nothing.

    Args:
        pss: bytes of each guest (PSS), of lanes that booted as well.
        copies: of them.
        why: of those that did not come up.
    """

    pss: list[int] = field(default_factory=list)
    copies: int = 0
    why: list[str] = field(default_factory=list)


def bench(lesson: str, arm: str, repeats: int, vng: bool, as_json: bool) -> int:
    """See `duet bench --help`."""
    request = read_request(lesson, arm, "", "wall", [])
    result = asyncio.run(measure_lanes(request, repeats, vng))
    if as_json:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure_lanes(request: Request, repeats: int, vng: bool) -> LanesResult:
    """All rounds, then the memory of idle copies.

    Raises:
        InfraError: the kernel is not built, or the guests' root cannot be made.
    """
    arm, starts = request.arms[0], []
    await kernel_sources(request.folder, (arm,), KernelSettings.default())
    by_vng = vng_rounds(repeats) if vng else set()
    async with Templates(TEMPLATE_BYTES) as templates:
        await timed("first copy", request, arm, templates)  # has a guest parked
        for number in range(repeats):
            note(f"round {number + 1} of {repeats}")
            starts.append(await timed("boot", request, arm, None))
            await settled(templates)
            starts.append(await timed("copy", request, arm, templates))
            if number in by_vng:
                with variable("DUET_GUEST", "vng"):
                    starts.append(await timed("vng", request, arm, None))
        await settled(templates)
        idle = await idle_lanes(request, arm, templates)
        return result_of(request.folder.slug, arm, starts, idle, templates.counts())


def vng_rounds(repeats: int) -> set[int]:
    """The rounds in which a guest is booted by virtme-ng as well, spread over all."""
    count = min(VNG_ROUNDS, repeats)
    return {number * repeats // count for number in range(count)}


async def settled(templates: Templates) -> None:
    """Until a guest is parked, or cannot be: then lanes boot, and that is counted."""
    try:
        async with asyncio.timeout(PARK_S):
            await templates.wait_settled()
    except TimeoutError:
        note(f"no guest was parked within {PARK_S:g} s")


async def timed(way: str, request: Request, arm: str, templates: Templates | None) -> Start:
    """One start, by its way; what goes wrong is in it."""
    start = replace(await first_event(request, arm, templates), way=way)
    if start.why:
        note(f"{way}: {start.why}")
    return start


async def first_event(
    request: Request,
    arm: str,
    templates: Templates | None,
    sink: FirstEvent | None = None,
    whole: bool = False,
) -> Start:
    """Start a lane, wait for its first decoded event, and stop it.

    Args:
        sink: sees what else the lane says.
        whole: wait until the workload is over.
    """
    sink, guests = sink or FirstEvent(), list[Guest]()
    try:
        sources = await kernel_sources(request.folder, (arm,), KernelSettings.default(), templates)
        source = noting(sources[arm], guests)
        async with Lanes() as lanes:
            session = RunSession(lanes, spec_of(request, arm), {arm: source}, sink)
            began = time.monotonic()
            running = asyncio.create_task(session.execute(), name=f"bench {arm}")
            seen = asyncio.create_task(sink.seen.wait(), name="first event")
            until = (running,) if whole else (running, seen)
            await asyncio.wait(until, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
            seen.cancel()
            await session.stop()
            await running
        failed = sink.failed or f"no event came within {START_S:g} s or before the run was over"
    except DuetError as error:
        failed = error.sentence
    attempts = sum(len(one.reports) for one in guests if isinstance(one, MachineGuest))
    if not sink.at:
        return Start("", None, sink.cloned, attempts, failed)
    return Start("", (sink.at - began) * 1e3, sink.cloned, attempts)


def noting(source: LaneSource, guests: list[Guest]) -> LaneSource:
    """The same source, whose guests are put into a list, so that their tries can be counted."""

    def guest(request: GuestRequest) -> Guest:
        guests.append(source.guest(request))
        return guests[-1]

    return replace(source, guest=guest)


async def idle_lanes(request: Request, arm: str, templates: Templates) -> Idle:
    """Some guests that are up at once and do nothing: their memory, and which are copies."""
    sources = await kernel_sources(request.folder, (arm,), KernelSettings.default(), templates)
    wanted = guest_of(spec_of(request, arm), sources[arm], None)
    idle = Idle()
    async with AsyncExitStack() as stack:
        guests = []
        for _ in range(IDLE_LANES):
            try:
                guests.append(await stack.enter_async_context(sources[arm].guest(wanted)))
            except DuetError as error:
                idle.why.append(error.sentence)
        idle.pss = [pss_bytes(guest.facts.pid or 0) for guest in guests]
        idle.copies = sum(guest.facts.cloned for guest in guests)
    return idle


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
