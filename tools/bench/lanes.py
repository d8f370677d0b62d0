# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench lanes`: the time until a lane moves, with a copied guest and with a booted guest.

Boots and copies take turns in one process, so that other load on the host affects them equally. If
a lane fails, the failure is counted and the next lane starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import numpy as np

from duet.base.errors import DuetError
from duet.cli.arguments import environment_variable, read_request
from duet.cli.doctor.first_event import LaneStart, first_event, spec_of, wait_parked
from duet.cli.output import emit, note
from duet.guests.clones import TemplateCounts, Templates, prepare_copy
from duet.guests.machine import pss_bytes
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session import RunSpec
from duet.session.lane.setup import guest_of
from tools.bench.results import LanesResult, Quantiles, Target, at_least, at_most, target_lines
from tools.bench.stored import of_lanes, store

TEMPLATE_BYTES = 1 << 30
VNG_ROUNDS = 3


@dataclass(slots=True)
class Idle:
    """Idle guests that ran at the same time.

    Args:
        pss: memory of each guest in bytes (PSS), including guests that booted.
        copies: how many of the guests are copies.
        why: errors of the guests that did not start.
    """

    pss: list[int] = field(default_factory=list)
    copies: int = 0
    why: list[str] = field(default_factory=list)


def bench(lesson: str, arm: str, repeats: int, vng: bool, as_json: bool) -> int:
    """Measure, store and print the result; return the exit code."""
    spec = read_request(lesson, arm, "", "wall", [])
    result = asyncio.run(measure_lanes(spec, repeats, vng))
    store(of_lanes(result))
    if as_json:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure_lanes(spec: RunSpec, repeats: int, vng: bool) -> LanesResult:
    """Run all rounds, then measure the memory of idle copies.

    Raises:
        InfraError: the kernel is not built, or the guests' root cannot be built.
    """
    arm, starts = spec.arms[0], []
    await kernel_sources(spec.folder, (arm,), KernelSettings.default())
    by_vng = vng_rounds(repeats) if vng else set()
    async with Templates(TEMPLATE_BYTES, prepare=prepare_copy) as templates:
        await timed("first copy", spec, arm, templates)  # afterwards a guest is parked
        for number in range(repeats):
            note(f"round {number + 1} of {repeats}")
            await wait_parked(templates)
            starts.append(await timed("boot", spec, arm, None))
            await wait_parked(templates)
            starts.append(await timed("copy", spec, arm, templates))
            if number in by_vng:
                with environment_variable("DUET_GUEST", "vng"):
                    starts.append(await timed("vng", spec, arm, None))
        await wait_parked(templates)
        idle = await idle_lanes(spec, arm, templates)
        return result_of(spec.folder.slug, arm, starts, idle, templates.counts())


def vng_rounds(repeats: int) -> set[int]:
    """Return the numbers of the rounds that also boot with virtme-ng. They are evenly spread."""
    count = min(VNG_ROUNDS, repeats)
    return {number * repeats // count for number in range(count)}


async def timed(way: str, spec: RunSpec, arm: str, templates: Templates | None) -> LaneStart:
    """Measure how long one start takes. If the start fails, the result contains the error."""
    start = replace(await first_event(spec, arm, templates), way=way)
    if start.why:
        note(f"{way}: {start.why}")
    return start


async def idle_lanes(spec: RunSpec, arm: str, templates: Templates) -> Idle:
    """Start IDLE_LANES idle guests, measure their memory, and count how many are copies."""
    sources = await kernel_sources(spec.folder, (arm,), KernelSettings.default(), templates)
    wanted = guest_of(spec_of(spec, arm), sources[arm], None)
    idle = Idle()
    async with templates.paused(), AsyncExitStack() as stack:
        guests = []
        for _ in range(IDLE_LANES):
            try:
                guests.append(await stack.enter_async_context(sources[arm].guest(wanted)))
            except DuetError as error:
                idle.why.append(error.sentence)
        idle.pss = [pss_bytes(guest.facts.pid or 0) for guest in guests]
        idle.copies = sum(guest.facts.cloned for guest in guests)
    return idle


# The result: counts of starts, quantiles, memory, and targets.

IDLE_LANES = 8
WAYS = ("boot", "copy", "vng")
COPY_MS = 400.0
BOOT_RATIO, VNG_RATIO = 10.0, 20.0
IDLE_MIB = 100.0
_MIB = 1 << 20


def result_of(
    slug: str, arm: str, starts: Sequence[LaneStart], idle: Idle, parked: TemplateCounts
) -> LanesResult:
    """Summarize all starts.

    Args:
        parked: counts of parked guests at the end.
    """
    by_way = {way: _quantiles([one for one in starts if one.way == way]) for way in WAYS}
    reached = sum(one.ms is not None for one in starts)
    pss_mib = round(max(idle.pss) / _MIB, 1) if idle.pss else None
    asked = [one for one in starts if one.way == "copy"]
    return LanesResult(
        lesson=slug,
        arm=arm,
        starts=len(starts),
        reached=reached,
        retries=sum(max(0, one.attempts - 1) for one in starts),
        refused_copies=parked.refused,
        copies_asked=len(asked),
        copies=sum(one.cloned for one in asked),
        ready_copies=sum(one.ready for one in asked),
        not_reached=sorted({f"{one.way}: {one.why}" for one in starts if one.ms is None}),
        boot=by_way["boot"],
        copy=by_way["copy"],
        vng=by_way["vng"],
        idle_lanes=len(idle.pss),
        idle_copies=idle.copies,
        idle_pss_mib=pss_mib,
        idle_failed=sorted(set(idle.why)),
        template_mib=round(parked.held_bytes / _MIB, 1),
        targets=_targets(by_way, (reached, len(starts)), idle, pss_mib),
    )


def _quantiles(starts: Sequence[LaneStart]) -> Quantiles | None:
    ms = [one.ms for one in starts if one.ms is not None]
    if not ms:
        return None
    p50, p95 = np.percentile(ms, [50, 95])
    return Quantiles(n=len(ms), p50_ms=round(float(p50), 1), p95_ms=round(float(p95), 1))


def _targets(
    ways: dict[str, Quantiles | None],
    reached: tuple[int, int],
    idle: Idle,
    pss_mib: float | None,
) -> list[Target]:
    copy = ways["copy"]

    def ratio(way: str) -> float | None:
        other = ways[way]
        return None if copy is None or other is None else other.p50_ms / copy.p50_ms

    whole = len(idle.pss) == idle.copies == IDLE_LANES
    return [
        at_most("copy to first decoded event, p95", COPY_MS, "ms", copy.p95_ms if copy else None),
        at_least("times as fast as a boot", BOOT_RATIO, "", ratio("boot")),
        at_least("times as fast as virtme-ng", VNG_RATIO, "", ratio("vng")),
        at_least(f"of {reached[1]} starts reach their first event", reached[1], "", reached[0]),
        at_most(
            f"memory of each of {IDLE_LANES} idle copies (PSS)",
            IDLE_MIB,
            "MiB",
            pss_mib if whole else None,
        ),
    ]


def text_of(result: LanesResult) -> str:
    """Format a table with ratios of medians."""
    lines = [f"{'lane':6} {'n':>3} {'median':>10} {'p95':>10} {'x copy':>7}"]
    for name, one in (("boot", result.boot), ("copy", result.copy), ("vng", result.vng)):
        if one is not None:
            ratio = f"{one.p50_ms / result.copy.p50_ms:7.1f}" if result.copy else ""
            lines.append(f"{name:6} {one.n:3} {one.p50_ms:7.0f} ms {one.p95_ms:7.0f} ms {ratio}")
    lines += [
        f"{result.starts} starts: {result.reached} reached their first event, with "
        f"{result.retries} further tries to boot",
        *(f"did not: {why}" for why in result.not_reached),
        f"copies: {result.copies} of {result.copies_asked} that were asked for, "
        f"{result.ready_copies} of them stood ready; {result.refused_copies} failed, "
        "and their lanes booted",
        _memory(result),
        *(f"idle guest: {why}" for why in result.idle_failed),
        "from the request to the first decoded event; in turns",
        "",
        *target_lines(result.targets),
    ]
    return "\n".join(lines)


def _memory(result: LanesResult) -> str:
    if result.idle_pss_mib is None:
        return f"memory: no idle guest came up; parked guests take {result.template_mib:.0f} MiB"
    whose = "copies" if result.idle_copies == result.idle_lanes else "guests"
    others = "" if whose == "copies" else f", of which {result.idle_copies} are copies,"
    return (
        f"memory: {result.idle_lanes} idle {whose}{others} take at most "
        f"{result.idle_pss_mib:.0f} MiB each (PSS); "
        f"parked guests take {result.template_mib:.0f} MiB"
    )
