# SPDX-License-Identifier: GPL-2.0-or-later
"""What lessons claim, on live guests: on the count clock, where there is no noise to excuse.

Claims on the wall clock are checked on the recorded table by `duet lint`, except for sizes and
offsets: a busy host would make them a timed test. DUET_TEST_LESSONS=05-cacheline-pingpong (any
list of slugs) checks them here too.
DUET_CLAIMS=few, as make test has it, checks the first two arms under the first two conditions of
each lesson, and prints what it leaves out.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder, slugs
from duet.lessons.schema import Claim
from duet.measure import MeasurePlan, Measuring, Table
from duet.measure.claims import broken, claim_text, plan_of_claim
from duet.runs.sources import kernel_sources
from tests.support.live_measure import LIMIT_S, TIMEOUT_S, folder_of, shared_table

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]

CHOSEN = [slug for slug in os.environ.get("DUET_TEST_LESSONS", "").split(",") if slug]


def marks(slug: str, claim: Claim) -> list[pytest.MarkDecorator]:
    """Times want a quiet machine."""
    timed = claim.clock == "wall" and not folder_of(slug).lesson.metrics[claim.metric].dwarf
    return [pytest.mark.alone] if timed else []


CLAIMS = [
    pytest.param(
        slug, claim, id=f"{slug}-{claim_text(claim).replace(' ', '-')}", marks=marks(slug, claim)
    )
    for slug in CHOSEN or slugs()
    for claim in folder_of(slug).lesson.claims
    if CHOSEN or claim.clock == "count" or folder_of(slug).lesson.metrics[claim.metric].dwarf
]
FEW = os.environ.get("DUET_CLAIMS") == "few"


def condition(claim: Claim) -> tuple[object, ...]:
    """Claims with the same one are checked on one table."""
    return claim.workload, claim.clock, claim.shift, tuple(sorted(claim.params.items()))


def left_out(slug: str, claim: Claim) -> bool:
    """Left to make nightly; but what the image itself says (DWARF) costs no run."""
    lesson = folder_of(slug).lesson
    arms = {arm.name for arm in lesson.arms[:2]}
    among = [
        one
        for one in lesson.claims
        if one.clock == "count" and {one.arm, one.to or one.arm} <= arms
    ]
    first = list(dict.fromkeys(condition(one) for one in among))[:2]
    checked = {claim.arm, claim.to or claim.arm} <= arms and (
        condition(claim) in first or lesson.metrics[claim.metric].dwarf is not None
    )
    return FEW and not checked


def table_of(slug: str, claim: Claim) -> Table:
    """The claim's own table: all arms and metrics that other claims ask under this condition."""
    folder = folder_of(slug)
    plan = plan_of_claim(folder, claim)
    asks = [plan_of_claim(folder, one) for one in folder.lesson.claims if not left_out(slug, one)]
    same = [one for one in asks if replace(one, arms=plan.arms, metrics=plan.metrics) == plan]
    named = {arm for other in same for arm in other.arms}
    asked = frozenset().union(*(other.metrics or () for other in same))
    # Where both times and events are asked for, the runs that are needed have all other numbers.
    kinds = {folder.lesson.metrics[name].line is None for name in asked}
    return shared_table(
        replace(
            plan,
            arms=tuple(arm.name for arm in folder.lesson.arms if arm.name in named),
            metrics=asked if len(kinds) == 1 else None,
        )
    )


@pytest.mark.parametrize(("slug", "claim"), CLAIMS)
def test_claim_holds(slug: str, claim: Claim) -> None:
    if left_out(slug, claim):
        pytest.skip(f"DUET_CLAIMS=few: left out {slug}, {claim_text(claim)}")
    table = table_of(slug, claim)
    assert not {claim.arm, claim.to} & set(table.errors), table.errors
    trouble = broken(claim, table)
    assert trouble is None, f"{trouble} ({claim.source})"


def swappable(slug: str) -> list[Claim]:
    """Claims on the count clock that say one arm is well above or below another."""
    return [
        claim
        for claim in folder_of(slug).lesson.claims
        if claim.to is not None
        and claim.clock == "count"
        and ((claim.ratio_max or 1.0) < 0.9 or (claim.ratio_min or 1.0) > 1.1)
    ]


CHEAP = CHOSEN or ["01-shrinker-bitmaps", "02-grace-periods"]


def _with_settings_of_each_other(folder: LessonFolder, one: str, other: str) -> LessonFolder:
    """Exchange what the guests of two arms write. Their kernels may be the same image."""
    writes = {one: folder.arm(other).writes, other: folder.arm(one).writes}
    arms = tuple(
        arm.model_copy(update={"writes": writes.get(arm.name, arm.writes)})
        for arm in folder.lesson.arms
    )
    return replace(folder, lesson=folder.lesson.model_copy(update={"arms": arms}))


async def _swapped(plan: MeasurePlan) -> Table:
    """Measure with each arm booting the other one's kernel."""
    async with asyncio.timeout(LIMIT_S):
        own = await kernel_sources(plan.folder, plan.arms, KernelSettings.default())
        one, other = plan.arms
        plan = replace(plan, folder=_with_settings_of_each_other(plan.folder, one, other))
        sources = {
            one: replace(own[other], arm=one),
            other: replace(own[one], arm=other),
        }
        return (await Measuring(plan, sources).run()).tables[0]


@pytest.mark.parametrize("slug", [slug for slug in CHEAP if slug in slugs() and swappable(slug)])
def test_a_claim_fails_when_the_kernels_are_swapped(slug: str) -> None:
    claim = swappable(slug)[0]
    table = asyncio.run(_swapped(plan_of_claim(folder_of(slug), claim)))
    assert not table.errors, table.errors
    trouble = broken(claim, table)
    assert trouble is not None and "is claimed" in trouble, trouble
    print(trouble)
