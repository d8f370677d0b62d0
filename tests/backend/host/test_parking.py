# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs are copies of parked guests, and for which run guests are parked ahead."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.host import guests as parking
from duet.host.guests import Parking, template_bytes
from duet.lessons import load as lesson_cache
from duet.server.director import Prewarmer
from duet.session import GuestRequest, LaneSource, RunSpec
from duet.session.lane.setup import guest_of
from tests.support.toy_stage import ToyStage

SLUG = "02-grace-periods"


class Kernels:
    def ready(self, slug: str) -> dict[str, bool]:
        return {arm.name: True for arm in lesson_cache.find(slug).lesson.arms}


class Stage(ToyStage):
    def __init__(self) -> None:
        self.expected: list[RunSpec] = []
        self.others: list[RunSpec] = []

    def expect(self, spec: RunSpec, others: Any) -> None:
        self.expected.append(spec)
        self.others += others()


@pytest.mark.parametrize("slug", [folder.slug for folder in lesson_cache.usable()])
def test_a_page_that_opens_a_lesson_is_expected_to_run_its_hero_step(slug: str) -> None:
    stage = Stage()
    Prewarmer(stage, Kernels(), live=True).prewarm(slug)  # type: ignore[arg-type]
    (request,) = stage.expected
    lesson = request.folder.lesson
    hero = next((one for one in lesson.scenes if one.id == lesson.hero), lesson.scenes[0])
    assert request.arms == tuple(hero.arms)


def test_the_other_lessons_are_expected_after_it_those_behind_it_first() -> None:
    stage = Stage()
    Prewarmer(stage, Kernels(), live=True).prewarm(SLUG)  # type: ignore[arg-type]
    others = [request.folder.slug for request in stage.others]
    all_of_them = [folder.slug for folder in lesson_cache.usable()]
    at = all_of_them.index(SLUG)
    assert others == all_of_them[at + 1 :] + all_of_them[:at] and SLUG not in others


def test_guests_of_other_lessons_are_parked_when_a_page_has_been_open_for_a_while(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(parking, "LATER_S", 0.05)
    monkeypatch.setattr(parking, "guest_of", lambda *_: None)  # wants a kernel's addresses
    wanted: list[tuple[str, str, bool]] = []
    looked: list[int] = []

    async def sources(spec: RunSpec) -> dict[str, LaneSource]:
        def source(arm: str) -> LaneSource:
            async def park(_: GuestRequest, later: bool) -> None:
                wanted.append((spec.folder.slug, arm, later))

            return LaneSource(arm, {}, lambda _: None, park=park)  # type: ignore[arg-type,return-value]

        return {arm: source(arm) for arm in spec.arms}

    stage = Stage()
    for slug in (SLUG, "05-cacheline-pingpong"):
        Prewarmer(stage, Kernels(), live=True).prewarm(slug)  # type: ignore[arg-type]
    first, other = stage.expected

    def others() -> list[RunSpec]:
        looked.append(len(wanted))
        return [other, replace(other, clock="count")]

    async def body() -> None:
        async with Parking(None, 1 << 30) as owner:  # type: ignore[arg-type]
            monkeypatch.setattr(owner, "sources", sources)
            owner.expect(first, others)
            owner.expect(replace(first), others)  # another page, while those are being parked
            async with asyncio.timeout(60):
                while not any(later for _, _, later in wanted):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            owner.expect(first, others)  # they may have gone since
            await asyncio.sleep(0.2)

    run_async(body())
    firsts = [(SLUG, arm, False) for arm in reversed(first.arms)]
    behind = [(other.folder.slug, arm, True) for arm in reversed(other.arms)]
    assert wanted == [*firsts, *behind, *firsts]
    assert looked == [len(firsts)], "once, and after those that are wanted now"


def test_a_server_without_guests_expects_nothing() -> None:
    stage = Stage()
    Prewarmer(stage, Kernels(), live=False).prewarm(SLUG)  # type: ignore[arg-type]
    Prewarmer(stage, Kernels(), live=True).prewarm("no-lesson")  # type: ignore[arg-type]
    assert stage.expected == []


def test_runs_that_are_looked_at_may_be_copies_and_measured_ones_boot() -> None:
    folder = lesson_cache.find(SLUG)
    spec = RunSpec(folder, ("rwsem",), "storm", folder.check_params({}), "wall")
    source = LaneSource("rwsem", {}, lambda _: None)  # type: ignore[arg-type,return-value]
    copied = guest_of(spec, source, None)
    assert copied.plan is not None and "run storm" in copied.plan
    for boots in (
        replace(spec, purpose="measure"),
        replace(spec, traced=False),
        replace(spec, clock="count"),
    ):
        assert guest_of(boots, source, None).plan is None
    # A guest that is up takes another plan: requests are the same without it.
    assert copied == replace(copied, plan=None)


def test_the_memory_of_parked_guests_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUET_TEMPLATES_MIB", raising=False)
    assert 0 < template_bytes() <= 2 << 30
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "300")
    assert template_bytes() == 300 << 20
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")
    assert template_bytes() == 0
    for wrong in ("-1", "many", "1e3", "12345678"):
        monkeypatch.setenv("DUET_TEMPLATES_MIB", wrong)
        with pytest.raises(InputError, match="DUET_TEMPLATES_MIB must be"):
            template_bytes()
