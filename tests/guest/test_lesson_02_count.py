# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 02 tells its story on the count clock, too: each step as the page runs it there."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder, load
from duet.runs.replay import CollectingSink
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, LaneResult, RunSession, RunSpec

pytestmark = [pytest.mark.guest, pytest.mark.timeout(300)]


@cache
def step(name: str, seed: int = 1) -> dict[str, LaneResult]:
    """Its lanes, one after another: on this clock that changes nothing."""
    folder = load("02-grace-periods")
    return asyncio.run(_run(folder, name, seed))


async def _run(folder: LessonFolder, name: str, seed: int) -> dict[str, LaneResult]:
    lesson = folder.lesson
    scene = next(scene for scene in lesson.scenes if scene.id == name)
    there = scene.on_count.params if scene.on_count else {}
    params = folder.check_params({"seconds": 1, **scene.params, **there}, "count")
    spec = RunSpec(
        folder, scene.arms, "storm", params, "count", seed=seed, shift=lesson.shift, run_id="count"
    )
    sources = await kernel_sources(folder, scene.arms, KernelSettings.default())
    async with asyncio.timeout(280), LaneGuests() as lanes:
        result = await RunSession(lanes, spec, sources, CollectingSink()).execute()
    for lane in result.lanes.values():
        assert lane.error is None, lane.error
        assert not lane.loss
    return result.lanes


def ratio(name: str, arm: str) -> float:
    lanes = step(name)
    return lanes[arm].metrics.ops / lanes["rwsem"].metrics.ops


def test_one_hog_hardly_waits() -> None:
    assert ratio("one-hog", "srcu") > 0.7


def test_company_ends_the_quick_answer() -> None:
    assert ratio("three-hogs", "srcu") < 0.3  # the choice that the wall clock gives as well


def test_nine_hogs_wait_for_ticks_and_the_urgent_call_brings_the_rate_back() -> None:
    assert ratio("expedited", "srcu") < 0.4
    assert ratio("expedited", "srcu-expedited") > 0.6
    srcu = step("expedited")["srcu"].metrics
    assert srcu.wait_ns is not None and srcu.wait_ns.p50 > 8_000_000, "two ticks and more"
    for kind in ("gp_armed", "gp_check", "cb_delay", "cb_wake"):
        assert srcu.spans[kind] > 50


def test_every_kernel_has_the_other_grace_period() -> None:
    lanes = step("not-the-lesson")
    assert all(lane.metrics.spans["exp_gp"] > 100 for lane in lanes.values())


def test_with_a_reader_rwsem_queues_and_srcu_looks_again() -> None:
    """Some six of ten starts show all of it: with one CPU, tick and reader may keep out of step."""
    assert any(shows_the_reader(step("the-reader", seed)) for seed in range(1, 8))


def shows_the_reader(lanes: dict[str, LaneResult]) -> bool:
    spans = {arm: lane.metrics.spans for arm, lane in lanes.items()}
    assert all(found["reader"] > 10 for found in spans.values())
    assert not spans["srcu"].get("wait_lock")
    queues = spans["rwsem"].get("wait_lock", 0) > 10
    again = spans["srcu"].get("gp_recheck", 0) > 0
    return queues and again and spans["srcu-expedited"].get("gp_recheck", 0) > 50
