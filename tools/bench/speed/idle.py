# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `idle`: what a server costs while one page is open and nobody presses anything.

The server has guests. The figures include its parked guests, which are paused processes, but they
do not include Chromium.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tools.bench.costs import TreeUse
from tools.bench.speed.browser import opened
from tools.bench.speed.pairs import Bench, Figure, Result, Stage
from tools.bench.switch import templates, until_parked

NAME = "idle"
STEP = "lesson=02-grace-periods&step=three-hogs"
SECONDS, SMOKE_SECONDS = 60.0, 10.0
SETTLE_S = 10.0
"""Pause after the page is shown and guests are parked, in which the server tidies up."""
PERCENT = 1.0
FLAT_MIB = 10.0
"""Targets: percent of a core, and growth of memory in 10 minutes."""
GROWTH_S = 600.0
MIB = 1 << 20


def run(bench: Bench) -> Iterator[Result]:
    """Yield the share of a core, the memory, and the growth of the memory."""
    seconds = SMOKE_SECONDS if bench.smoke else SECONDS
    with asyncio.Runner() as runner:
        yield from runner.run(watched(bench, seconds))


async def watched(bench: Bench, seconds: float) -> list[Figure]:
    """Watch an idle server, and return its figures."""
    async with opened(bench.folder) as page:
        await page.show(STEP)
        await page.whole()
        await page.tab.evaluate('duet.player.do({type: "pause"})')
        await until_parked(page.address)
        await asyncio.sleep(SETTLE_S)
        parked = templates(page.address)
        use = TreeUse(page.pid)
        before_bytes = use.memory_bytes()
        await asyncio.sleep(seconds)
        use.look()
        after_bytes = use.memory_bytes()
    grown_mib = (after_bytes - before_bytes) / MIB * GROWTH_S / seconds
    return [
        Figure(
            NAME, "CPU of the server and its guests", use.cpu_s / seconds * 100, "% of a core",
            PERCENT,
            note=f"With {parked['held']:.0f} parked guests, for {seconds:.0f} s.",
        ),
        Figure(NAME, "memory of the server and its guests", after_bytes / MIB, "MiB"),
        Figure(
            NAME, "memory gained in 10 minutes", grown_mib, "MiB", FLAT_MIB,
            note=f"The growth in {seconds:.0f} s, times {GROWTH_S / seconds:.0f}.",
        ),
    ]  # fmt: skip


STAGE = Stage(NAME, "an idle server with a page open", run, 80)
