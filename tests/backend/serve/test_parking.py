# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs are copies of parked guests, and for which run guests are parked ahead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duet.errors import InputError
from duet.guests import Clock
from duet.lessons import cache as lesson_cache
from duet.runs.request import RunRequest
from duet.serve.capacity import template_bytes
from duet.serve.expecting import Expecting
from duet.serve.parking import live_spec
from duet.session import LaneSource
from duet.session.lane.request import guest_of
from tests.support.toy_stage import ToyStage

SLUG = "02-grace-periods"


class Kernels:
    def ready(self, slug: str) -> dict[str, bool]:
        return {arm.name: True for arm in lesson_cache.find(slug).lesson.arms}


class Stage(ToyStage):
    def __init__(self) -> None:
        self.expected: list[RunRequest] = []

    def expect(self, request: RunRequest) -> None:
        self.expected.append(request)


@pytest.mark.parametrize("slug", [folder.slug for folder in lesson_cache.usable()])
def test_a_page_that_opens_a_lesson_is_expected_to_run_its_hero_step(slug: str) -> None:
    stage = Stage()
    Expecting(stage, Kernels(), live=True).opened(slug)  # type: ignore[arg-type]
    (request,) = stage.expected
    lesson = request.folder.lesson
    hero = next((one for one in lesson.scenes if one.id == lesson.hero), lesson.scenes[0])
    assert request.arms == tuple(hero.arms)


def test_a_server_without_guests_expects_nothing() -> None:
    stage = Stage()
    Expecting(stage, Kernels(), live=False).opened(SLUG)  # type: ignore[arg-type]
    Expecting(stage, Kernels(), live=True).opened("no-lesson")  # type: ignore[arg-type]
    assert stage.expected == []


def test_runs_that_are_looked_at_may_be_copies_and_measured_ones_boot() -> None:
    folder = lesson_cache.find(SLUG)
    request = RunRequest(folder, ("rwsem",), "storm", folder.check_params({}), "wall")
    source = LaneSource("rwsem", {}, lambda _: None)  # type: ignore[arg-type,return-value]
    spec = live_spec(request, "x")
    copied = guest_of(spec, source, None)
    assert copied.plan is not None and "run storm" in copied.plan
    for boots in (
        replace(spec, purpose="measure"),
        replace(spec, traced=False),
        replace(spec, clock=Clock.COUNT),
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
