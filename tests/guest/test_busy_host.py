# SPDX-License-Identifier: GPL-2.0-or-later
"""A busy host never turns a lesson's point round in silence.

Each lesson's first comparison, run as the page runs it while other work wants every CPU of the
host: either the claim's direction is found, or the run carries the label that it is distorted.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from duet.kernels import KernelSettings
from duet.lessons.load import load, slugs
from duet.lessons.schema import Claim, Lesson, Metric
from duet.measure.values import line_value, tally_value
from duet.runs.replay import CollectingSink
from duet.runs.sources import kernel_sources
from duet.session import (
    Contention,
    LaneGuests,
    LaneResult,
    RunSession,
    RunSpec,
    contention_bound,
)

pytestmark = [pytest.mark.guest, pytest.mark.alone, pytest.mark.timeout(300)]

DIRECTION: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "01-shrinker-bitmaps": ("visits_last", lambda before, after: after < before / 10),
    "02-grace-periods": ("ops_per_s", lambda rwsem, srcu: srcu < rwsem),
    "03-inode-recycling": ("files_per_s", lambda stock, recycle: recycle < stock / 2),
    "04-extent-shrinker": ("scan_mean_us", lambda scan_2013, stock: stock < scan_2013 / 2),
    "05-cacheline-pingpong": ("lockref_per_op", lambda stock, moved: stock == moved == 2),
}
"""Lesson -> metric and what its claims say of the first comparison's two arms. Other lessons have a
claim on the ratio of these arms on their clock."""


def ratio_claim(lesson: Lesson) -> Claim | None:
    """Return the first claim on the ratio of the first comparison's arms, on the lesson's clock."""
    arms = set(first_comparison(lesson).arms[:2])
    for claim in lesson.claims:
        bounded = claim.ratio_min is not None or claim.ratio_max is not None
        if claim.clock == lesson.clock and {claim.arm, claim.to} == arms and bounded:
            return claim
    return None


def direction(slug: str, lesson: Lesson) -> tuple[str, Callable[[float, float], bool]]:
    """Return a metric, and whether its values of both arms have the right direction."""
    if slug in DIRECTION:
        return DIRECTION[slug]
    claim = ratio_claim(lesson)
    assert claim is not None
    more = claim.arm if claim.ratio_min is not None and claim.ratio_min >= 1 else claim.to
    if more == first_comparison(lesson).arms[0]:
        return claim.metric, lambda first, second: first > second
    return claim.metric, lambda first, second: first < second


@pytest.fixture(scope="module", autouse=True)
def cpu_hogs() -> Iterator[None]:
    """A process that never sleeps for each CPU of the host."""
    spin = ["sh", "-c", "while :; do :; done"]
    hogs = [subprocess.Popen(spin) for _ in os.sched_getaffinity(0)]
    yield
    for hog in hogs:
        hog.kill()
        hog.wait()


def first_comparison(lesson: Lesson) -> Any:
    return next(scene for scene in lesson.scenes if len(scene.arms) > 1)


def contended_share(lanes: list[Contention]) -> float:
    """Of all lanes of a run together, which wait for each other as well."""
    return Contention(sum(x.ran_s for x in lanes), sum(x.waited_s for x in lanes)).share


def value(name: str, metric: Metric, lane: LaneResult) -> float:
    lines = [line.text for line in lane.lines]
    found = line_value(metric, lines) if metric.line else tally_value(name, metric, lane.tallies)
    assert found is not None, f"{lane.arm} has no {name}"
    return found


def test_every_lesson_is_looked_at() -> None:
    assert not [
        slug for slug in slugs() if slug not in DIRECTION and not ratio_claim(load(slug).lesson)
    ]
    assert set(DIRECTION) <= set(slugs())


@pytest.mark.parametrize("slug", slugs())
def test_the_first_comparison_keeps_its_direction_or_is_labelled(slug: str, run_async: Any) -> None:
    folder = load(slug)
    lesson = folder.lesson
    scene = first_comparison(lesson)
    arms = tuple(scene.arms[:2])
    short = {"seconds": 1} if "seconds" in lesson.params else {}
    params = folder.check_params({**short, **scene.params}, lesson.clock)
    spec = RunSpec(
        folder,
        arms,
        scene.workload or next(iter(lesson.workloads)),
        params,
        lesson.clock,
        shift=lesson.shift if lesson.clock == "count" else 0,
        run_id="busy",
    )

    async def run() -> dict[str, LaneResult]:
        sources = await kernel_sources(folder, arms, KernelSettings.default())
        async with asyncio.timeout(280), LaneGuests() as lanes:
            return (await RunSession(lanes, spec, sources, CollectingSink()).execute()).lanes

    lanes = run_async(run(), 290)
    assert not [lane.error for lane in lanes.values() if lane.error]
    assert not [lane.loss for lane in lanes.values() if lane.loss]
    metric, holds = direction(slug, lesson)
    found = [value(metric, lesson.metrics[metric], lanes[arm]) for arm in arms]
    waits = [lane.contention for lane in lanes.values() if lane.contention is not None]
    waited = contended_share(waits) if waits else None
    print(f"{slug} {scene.id}: {metric} {dict(zip(arms, found, strict=True))}, waited {waited}")
    if lesson.clock == "count":
        assert waited is None
        assert holds(found[0], found[1])
        return
    assert waited is not None
    bound = contention_bound(params.get("vcpus", 2), len(os.sched_getaffinity(0)))
    assert waited > bound or holds(found[0], found[1])
    assert waited > 0.25, "hogs on every CPU were not seen"
