# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench pool`: time from a click on *run live* to events, on this machine and through a pool.

Each side is a real server with real guests. The two servers take turns, so that other load on the
host affects them equally. No guest is parked. The first click on a server boots guests. With a
pool, the server acquires a lease before the boot. Later clicks use the existing lease and host
process, and the guests that already run.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from duet.base.errors import InputError
from duet.cli.output import emit, note
from duet.lessons import load as lessons
from duet.plugins.cluster.types import POOLS, PoolSettings
from tools.bench.classroom import server
from tools.bench.clicks import Moved, Step, main_step, opened
from tools.bench.results import PoolStartsResult, Quantiles, at_most, target_lines
from tools.bench.stored import of_pool, store
from tools.bench.switch import clicks, quantiles

MORE_MS: Final = 500.0
LOCAL: Final = "local"


@dataclass(slots=True)
class Clicks:
    """Clicks on one kind of server: the first click on each server, and later clicks."""

    first: list[Moved] = field(default_factory=list)
    again: list[Moved] = field(default_factory=list)


def bench(lesson: str, which: str, rounds: int, again: int, js: bool) -> int:
    """Measure, store and print the result; return the exit code."""
    pool = pool_of(which)
    result = asyncio.run(measure(lesson, pool, rounds, again))
    store(of_pool(result))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


def pool_of(which: str) -> str:
    """Return the pool to compare with this machine.

    Raises:
        InputError: the name is not a pool's name, or it means this machine itself.
    """
    pool = which or PoolSettings.from_environment().pool
    if pool not in POOLS or pool == LOCAL:
        raise InputError(
            f"wanted a pool to compare with this machine, but got '{pool:.40}'.",
            remedy="Give --pool slurm or --pool kubernetes, or set DUET_POOL.",
        )
    return pool


async def measure(lesson: str, pool: str, rounds: int, again: int) -> PoolStartsResult:
    """Run all rounds. In each round, a local server runs first, then a server with the pool.

    Raises:
        InfraError: a server does not start or does not answer.
    """
    step = main_step(lesson, "wall")
    other = next((slug for slug in lessons.slugs() if slug != lesson), lesson)
    found = {LOCAL: Clicks(), pool: Clicks()}
    for number in range(rounds):
        for way, seen in found.items():
            note(f"round {number + 1} of {rounds}: {way}")
            with server(DUET_TEMPLATES_MIB="0", DUET_POOL=way) as (_, address):
                await one_server(address, other, step, again, seen)
            clicked = [*seen.first[-1:], *seen.again[-again:]]
            note(f"{way}: {', '.join(f'{one.ms:.0f} ms' if one.ms else '-' for one in clicked)}")
    return result_of(lesson, pool, found[LOCAL], found[pool])


async def one_server(address: str, other: str, step: Step, again: int, seen: Clicks) -> None:
    """Open a page, and make its first click and its later clicks."""
    async with opened(address) as page:
        seen.first += await clicks(page, other, 1, lambda: page.live(step))
        seen.again += await clicks(page, other, again, lambda: page.live(step))


def result_of(lesson: str, pool: str, here: Clicks, there: Clicks) -> PoolStartsResult:
    """Summarize all clicks."""
    first, first_there = quantiles(here.first), quantiles(there.first)
    again, again_there = quantiles(here.again), quantiles(there.again)
    first_more, again_more = more(first, first_there), more(again, again_there)
    what = "later through the pool, medians"
    ways: Sequence[tuple[str, Sequence[Moved]]] = (
        (LOCAL, [*here.first, *here.again]),
        (pool, [*there.first, *there.again]),
    )
    return PoolStartsResult(
        lesson=lesson,
        pool=pool,
        first_local=first,
        first_pool=first_there,
        stands_local=again,
        stands_pool=again_there,
        first_more_ms=first_more,
        stands_more_ms=again_more,
        failed=sorted({f"{way}: {one.why}" for way, seen in ways for one in seen if one.why}),
        targets=[
            at_most(f"{what}, the lease stands", MORE_MS, "ms", again_more),
            at_most(f"{what}, the lease is had first", MORE_MS, "ms", first_more),
        ],
        load=round(os.getloadavg()[0], 1),
    )


def more(here: Quantiles | None, there: Quantiles | None) -> float | None:
    """Return the pool's median minus the local median in ms, or None if a median is missing."""
    return None if here is None or there is None else round(there.p50_ms - here.p50_ms, 1)


def text_of(result: PoolStartsResult) -> str:
    lines = [
        f"from a click on {result.lesson} to a batch of every lane, no guest parked, in turns",
        f"{'':34} {'n':>3} {'median':>10} {'p95':>10}",
    ]
    for words, one in (
        ("first click, local", result.first_local),
        (f"first click, {result.pool}: lease first", result.first_pool),
        ("again, local", result.stands_local),
        (f"again, {result.pool}: the lease stands", result.stands_pool),
    ):
        lines.append(
            f"{words:34} none moved"
            if one is None
            else f"{words:34} {one.n:3} {one.p50_ms:7.0f} ms {one.p95_ms:7.0f} ms"
        )
    return "\n".join(
        [
            *lines,
            *(f"failed: {why}" for why in result.failed),
            f"load of the host: {result.load}",
            "",
            *target_lines(result.targets),
        ]
    )
