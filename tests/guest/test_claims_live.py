# SPDX-License-Identifier: GPL-2.0-or-later
"""What lessons claim, on live guests: on the count clock, where there is no noise to excuse.

Claims on the wall clock are checked on the recorded table by `duet lint`, except for sizes and
offsets: a busy host would make them a timed test. DUET_LESSONS=05-cacheline-pingpong (any list of
slugs) checks them here too.
DUET_CLAIMS=few, for a slow machine, leaves out arms beyond the first two and says so.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest
from live_measure import measured

from duet.api.sources import house_sources
from duet.kernels import KernelSettings
from duet.lessons.load import load, slugs
from duet.lessons.manifest import Claim
from duet.measure import Ask, Measuring, Table
from duet.measure.claims import ask_for, broken, told

pytestmark = pytest.mark.guest

CHOSEN = [slug for slug in os.environ.get("DUET_LESSONS", "").split(",") if slug]
CLAIMS = [
    pytest.param(slug, claim, id=f"{slug}-{told(claim).replace(' ', '-')}")
    for slug in CHOSEN or slugs()
    for claim in load(slug).lesson.claims
    if CHOSEN or claim.clock == "count" or load(slug).lesson.metrics[claim.metric].dwarf
]
FEW = os.environ.get("DUET_CLAIMS") == "few"
LIMIT_S = 280
_tables: dict[tuple[object, ...], Table] = {}
"""Claims under one condition share their runs."""


def left_out(slug: str, claim: Claim) -> bool:
    """Not checked on a slow machine."""
    kept = [arm.name for arm in load(slug).lesson.arms[:2]]
    return FEW and not {claim.arm, claim.to or claim.arm} <= set(kept)


def key_of(ask: Ask, metric: str) -> tuple[object, ...]:
    chosen = ask.lesson.metrics[metric]
    traced = chosen.line is None
    return (ask.folder.slug, ask.workload, ask.clock, *ask.shifts, *ask.params.items(), traced)


def table_of(slug: str, claim: Claim) -> Table:
    """The claim's own table: all arms and all metrics that other claims ask of the same runs."""
    folder = load(slug)
    ask = ask_for(folder, claim)
    key = key_of(ask, claim.metric)
    if key not in _tables:
        same = [
            ask_for(folder, other)
            for other in folder.lesson.claims
            if not left_out(slug, other) and key_of(ask_for(folder, other), other.metric) == key
        ]
        whole = Ask(
            folder=folder,
            arms=tuple(dict.fromkeys(arm for one in same for arm in one.arms)),
            workload=ask.workload,
            clock=ask.clock,
            params=ask.params,
            repeats=ask.repeats,
            shifts=ask.shifts,
            metrics=frozenset().union(*(one.metrics or () for one in same)),
        )
        _tables[key] = measured(whole, LIMIT_S)[0]
    return _tables[key]


@pytest.mark.parametrize(("slug", "claim"), CLAIMS)
def test_claim_holds(slug: str, claim: Claim) -> None:
    if left_out(slug, claim):
        pytest.skip(f"DUET_CLAIMS=few: left out {slug}, {told(claim)}")
    table = table_of(slug, claim)
    assert not {claim.arm, claim.to} & set(table.errors), table.errors
    trouble = broken(claim, table)
    assert trouble is None, f"{trouble} ({claim.source})"


def swappable(slug: str) -> list[Claim]:
    """Claims on the count clock that say one arm is well above or below another."""
    return [
        claim
        for claim in load(slug).lesson.claims
        if claim.to is not None
        and claim.clock == "count"
        and ((claim.ratio_max or 1.0) < 0.9 or (claim.ratio_min or 1.0) > 1.1)
    ]


CHEAP = CHOSEN or ["01-shrinker-bitmaps", "02-grace-periods"]


async def _swapped(ask: Ask) -> Table:
    """Measure with each arm booting the other one's kernel."""
    async with asyncio.timeout(LIMIT_S):
        own = await house_sources(ask.folder, ask.arms, KernelSettings.default())
        one, other = ask.arms
        sources = {
            one: replace(own[other], arm=one),
            other: replace(own[one], arm=other),
        }
        return (await Measuring(ask, sources).run()).tables[0]


@pytest.mark.parametrize("slug", [slug for slug in CHEAP if slug in slugs() and swappable(slug)])
def test_a_claim_fails_when_the_kernels_are_swapped(slug: str) -> None:
    claim = swappable(slug)[0]
    table = asyncio.run(_swapped(ask_for(load(slug), claim)))
    assert not table.errors, table.errors
    trouble = broken(claim, table)
    assert trouble is not None and "is claimed" in trouble, trouble
    print(trouble)
