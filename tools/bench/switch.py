# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench switch`: time from a click on another lesson until its lanes move.

Real servers with real guests run in separate processes on free ports. The first server parks
guests, as servers do while they are idle. Later servers park no guests, so all their guests boot.
"""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from duet.cli.output import emit, note
from duet.host.guests import LATER_S
from tools.bench.classroom import server
from tools.bench.clicks import Moved, Page, Step, main_step, opened
from tools.bench.results import Quantiles, SwitchResult, at_most, target_lines

TARGET_MS: Final = 1000.0
BOOTS: Final = 3
"""Number of clicks without parked guests. Each click is on a new server."""
SETTLE_S: Final = 1.0
"""Pause between two clicks, so that the run of the previous click has ended."""


def switch(lesson: str, other: str, repeats: int, clock: str, js: bool) -> int:
    """Measure and print the result; return the exit code."""
    step = main_step(other, clock)
    main_step(lesson, "")  # raises for an unknown lesson before a server starts
    result = asyncio.run(measure(lesson, step, repeats))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure(lesson: str, step: Step, repeats: int) -> SwitchResult:
    """Measure with a server that parks guests, then with servers that park no guests.

    Raises:
        InfraError: a server does not start or does not answer.
    """
    with server() as (_, address):
        async with opened(address) as page:
            await page.leave(lesson)
            note("its recording")
            recorded = await clicks(page, lesson, repeats + 1, lambda: page.recorded(step))
            note("guests are parked")
            await until_parked(address)
            note("live lanes, guests parked")
            parked = await clicks(
                page, lesson, repeats, lambda: page.live(step), lambda: until_parked(address, 0)
            )
    booted = []
    for _ in range(min(repeats, BOOTS)):  # a new server, because a server reuses running guests
        with server(DUET_TEMPLATES_MIB="0") as (_, address):
            note("live lanes, no guest parked")
            booted += await first_click(address, lesson, step)
    return result_of(lesson, step, recorded, parked, booted)


async def first_click(address: str, lesson: str, step: Step) -> list[Moved]:
    """Open a new page, and make its first click."""
    async with opened(address) as page:
        return await clicks(page, lesson, 1, lambda: page.live(step))


async def clicks(
    page: Page,
    lesson: str,
    count: int,
    click: Callable[[], Awaitable[Moved]],
    before: Callable[[], Awaitable[None]] | None = None,
) -> list[Moved]:
    """Make `count` clicks, each from another lesson.

    Args:
        before: awaited before each click.
    """
    found = []
    for _ in range(count):
        await page.leave(lesson)
        await asyncio.sleep(SETTLE_S)
        if before is not None:
            await before()
        found.append(await click())
        if found[-1].why:
            note(found[-1].why)
    return found


def result_of(
    lesson: str,
    step: Step,
    recorded: Sequence[Moved],
    parked: Sequence[Moved],
    booted: Sequence[Moved],
) -> SwitchResult:
    """Summarize all clicks."""
    shown, live = quantiles(recorded[1:]), quantiles(parked)
    copies, lanes = sum(one.copies for one in parked), sum(one.lanes for one in parked)
    ways = (("recording", recorded), ("parked", parked), ("booted", booted))
    to_shown = "to a recording that moves, p95"
    to_live = "to live lanes that move, guests parked, p95"
    return SwitchResult(
        lesson=lesson,
        other=step.lesson,
        step=step.step,
        clock=step.clock,
        recorded_first_ms=_rounded(recorded[0].ms) if recorded else None,
        recorded=shown,
        parked=live,
        copies=copies,
        lanes=lanes,
        booted=quantiles(booted),
        failed=sorted({f"{way}: {one.why}" for way, found in ways for one in found if one.why}),
        targets=[
            at_most(to_shown, TARGET_MS, "ms", shown.p95_ms if shown else None),
            at_most(to_live, TARGET_MS, "ms", live.p95_ms if live and copies == lanes else None),
        ],
    )


def quantiles(found: Sequence[Moved]) -> Quantiles | None:
    """Return the quantiles of the clicks that succeeded, or None if all failed."""
    ms = [one.ms for one in found if one.ms is not None]
    if not ms:
        return None
    p50, p95 = (round(float(one), 1) for one in np.percentile(ms, [50, 95]))
    return Quantiles(n=len(ms), p50_ms=p50, p95_ms=p95)


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 1)


def text_of(result: SwitchResult) -> str:
    first = result.recorded_first_ms
    lines = [
        f"from a click on {result.other} (from {result.lesson}), step {result.step}, to a batch of "
        f"every lane; live runs on the {result.clock} clock",
        f"its recording, the first time: {f'{first:.0f} ms' if first is not None else 'none came'}",
    ]
    for words, one in (
        ("its recording again", result.recorded),
        ("live lanes, guests parked", result.parked),
        ("live lanes, none parked", result.booted),
    ):
        lines.append(
            f"{words}: none moved"
            if one is None
            else f"{words}: median {one.p50_ms:.0f} ms, p95 {one.p95_ms:.0f} ms, {one.n} clicks"
        )
    lines.append(f"copies: {result.copies} of {result.lanes} lanes")
    if result.clock == "count":
        lines.append("no guest is parked for the count clock, whose runs repeat a boot")
    return "\n".join(
        [*lines, *(f"failed: {why}" for why in result.failed), "", *target_lines(result.targets)]
    )


PARK_S: Final = 300.0
"""Time limit until guests are parked for all lessons. Usual: a minute."""
LOOK_S: Final = 1.0
ANSWER_S: Final = 60.0


async def until_parked(address: str, at_least_s: float = LATER_S + LOOK_S) -> None:
    """Wait until all planned guests are parked according to /metrics, or PARK_S have passed.

    Args:
        at_least_s: minimum wait, so that the server can begin to park guests of other lessons.
    """
    began = time.monotonic()
    while time.monotonic() - began < PARK_S:
        now = await asyncio.to_thread(templates, address)
        left = now["waiting"] + now["later"] + now["making"]
        if time.monotonic() - began >= at_least_s and not left:
            return
        await asyncio.sleep(LOOK_S)
    note(f"guests were still being parked after {PARK_S:g} s")


def templates(address: str) -> dict[str, float]:
    """Read the numbers of parked guests from /metrics."""
    connection = http.client.HTTPConnection(address, timeout=ANSWER_S)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    return {
        sample.name.removeprefix("duet_templates_"): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("duet_templates_")
    }
