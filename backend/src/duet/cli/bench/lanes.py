# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench lanes`: how soon a lane moves that is a copy of a parked guest, and one that boots.

All ways are taken in turns, in one process, so that what else the host does falls on all alike. A
lane that fails is counted, and the next one starts.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from duet.base.errors import DuetError
from duet.cli.arguments import Request, read_request, variable
from duet.cli.bench.first_event import first_event, spec_of
from duet.cli.bench.lanes_result import IDLE_LANES, Start, result_of, text_of
from duet.cli.bench.results import LanesResult
from duet.cli.bench.stored import of_lanes, store
from duet.cli.output import emit, note
from duet.guests.clones import Templates, prepare_copy
from duet.guests.machine import pss_bytes
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session.lane.request import guest_of

TEMPLATE_BYTES = 1 << 30
VNG_ROUNDS = 3
PARK_S = 120.0
"""Until a guest is parked. Usual: 4-5 s."""


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
    store(of_lanes(result))
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
    async with Templates(TEMPLATE_BYTES, prepare=prepare_copy) as templates:
        await timed("first copy", request, arm, templates)  # has a guest parked
        for number in range(repeats):
            note(f"round {number + 1} of {repeats}")
            await settled(templates)
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


async def idle_lanes(request: Request, arm: str, templates: Templates) -> Idle:
    """Some guests that are up at once and do nothing: their memory, and which are copies."""
    sources = await kernel_sources(request.folder, (arm,), KernelSettings.default(), templates)
    wanted = guest_of(spec_of(request, arm), sources[arm], None)
    idle = Idle()
    async with templates.aside(), AsyncExitStack() as stack:
        guests = []
        for _ in range(IDLE_LANES):
            try:
                guests.append(await stack.enter_async_context(sources[arm].guest(wanted)))
            except DuetError as error:
                idle.why.append(error.sentence)
        idle.pss = [pss_bytes(guest.facts.pid or 0) for guest in guests]
        idle.copies = sum(guest.facts.cloned for guest in guests)
    return idle
