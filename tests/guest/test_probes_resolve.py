# SPDX-License-Identifier: GPL-2.0-or-later
"""Every probe of every arm resolves on that arm's kernel: those that explain, and those of metrics.

$DUET_TEST_LESSONS, a list of slugs, limits the lessons. A usual arm's kernel that is not built is a
failure. An optional arm on another base, such as `today`, is skipped if its kernel is not built.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from duet.guests import GuestOptions, GuestRoot, GuestSpec, open_guest
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.arms import find_image, ready_arms
from duet.lessons.load import LessonFolder, load, slugs
from duet.lessons.plan import boot_cmdline, plan_text, probes_of
from duet.runs.sources import lesson_symbols
from tests.support.guest_driver import Driver

pytestmark = pytest.mark.guest

CHOSEN = [slug for slug in os.environ.get("DUET_TEST_LESSONS", "").split(",") if slug] or slugs()
ARMS = [
    pytest.param(slug, arm, id=f"{slug}-{arm}") for slug in CHOSEN for arm in load(slug).usual_arms
]
OTHER_BASES = [
    pytest.param(slug, arm.name, id=f"{slug}-{arm.name}")
    for slug in CHOSEN
    for arm in load(slug).lesson.arms
    if arm.optional and arm.base is not None
]
DEADLINE_S = 300


@pytest.mark.parametrize(("slug", "arm"), ARMS)
def test_all_probes_of_an_arm_are_set_up(
    run_async: Callable[..., Any],
    images_of: Callable[[str], dict[str, KernelImage]],
    guest_root: GuestRoot,
    slug: str,
    arm: str,
) -> None:
    run_async(set_up_all(load(slug), arm, images_of(slug)[arm], guest_root), DEADLINE_S)


@pytest.mark.parametrize(("slug", "arm"), OTHER_BASES)
def test_all_probes_of_an_arm_on_another_base_are_set_up(
    run_async: Callable[..., Any], guest_root: GuestRoot, slug: str, arm: str
) -> None:
    folder, settings = load(slug), KernelSettings.default()
    if not ready_arms(folder, settings)[arm]:
        base = folder.arm(arm).base
        pytest.skip(
            f"the kernel of {arm} (Linux {base}) is not built: ./duet build {slug} --arm {arm}"
        )
    run_async(set_up_all(folder, arm, find_image(folder, arm, settings), guest_root), DEADLINE_S)


async def set_up_all(
    folder: LessonFolder, arm: str, image: KernelImage, guest_root: GuestRoot
) -> None:
    """Once per workload, since filters name its processes, and with what it wants done before."""
    lesson = folder.lesson
    params = folder.check_params({})
    chosen = probes_of(lesson, arm)
    largest = max(workload.scratch_mb for workload in lesson.workloads.values())
    spec = GuestSpec(
        arm,
        image.bzimage,
        guest_root.image,
        memory_mib=lesson.memory_mb,
        disks_mib=(largest,) if largest else (),
        cmdline=(*boot_cmdline(lesson, params), *image.cmdline),
    )
    async with open_guest("qemu", spec, GuestOptions(policy="tcg")) as guest:
        driver = Driver(guest)
        for name in lesson.workloads:
            symbols = lesson_symbols(folder, arm, image)
            text = plan_text(lesson, arm, name, params, symbols, probes=frozenset(chosen))
            outcome = await driver.plan(text)
            assert outcome.error is None, f"{name}: {outcome.error}"
            formats = {f"events/{event.event}/format" for event in chosen.values()}
            assert formats <= outcome.files.keys()


def test_every_lesson_that_counts_events_has_probes() -> None:
    """An empty list would resolve, too. A lesson may do with its workload's lines and lenses."""
    assert ARMS
    for slug in CHOSEN:
        lesson = load(slug).lesson
        sources = [name for m in lesson.metrics.values() for name in (m.event, *(m.span or ()))]
        operation = lesson.operation is not None and lesson.operation.open is not None
        assert lesson.probes or not (any(sources) or operation or lesson.spans), slug
