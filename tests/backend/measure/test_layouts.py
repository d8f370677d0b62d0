# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring further links of each arm: which runs, on which guests, and where they are put."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.lessons.load import LessonFolder
from duet.measure import Kind, Measuring, Progress
from duet.measure.plan import all_steps, layout_steps, steps
from duet.session import LaneSource, Limits
from tests.backend.measure.test_plan import measure_plan
from tests.support.fakes import Fleet

LIMITS = Limits(tick_s=0.005, missing_s=1.0)
TWO = ("rwsem", "srcu")


def test_without_layouts_nothing_is_added(lesson02: LessonFolder) -> None:
    plan = measure_plan(lesson02, "wall")
    assert layout_steps(plan) == []
    assert all_steps(plan) == steps(plan)


def test_arms_run_side_by_side_in_one_order_three_times_on_the_wall_clock(
    lesson02: LessonFolder,
) -> None:
    plan = measure_plan(lesson02, "wall", arms=TWO, layouts=5)
    found = layout_steps(plan)
    assert all_steps(plan) == steps(plan) + found
    said = [f"{step.arm[0]}{step.layout}" for step in found]
    assert said[:6] == ["r1", "s1", "s1", "r1", "r1", "s1"]
    assert Counter(said) == {f"{arm}{n}": 3 for arm in "rs" for n in range(1, 6)}
    assert {step.kind for step in found} == {Kind.LAYOUT}


def test_one_run_of_each_and_setting_on_the_count_clock(lesson02: LessonFolder) -> None:
    plan = measure_plan(lesson02, "count", arms=TWO, layouts=5, shifts=(0, 3))
    said = Counter((step.table, step.arm, step.layout) for step in layout_steps(plan))
    assert set(said.values()) == {1} and len(said) == 2 * 2 * 5
    assert {step.seed for step in layout_steps(plan)} == {1}


def test_more_runs_than_anyone_waits_for_are_refused(lesson02: LessonFolder) -> None:
    plan = measure_plan(lesson02, "wall", layouts=30)
    many = replace(plan, sweep=("hogs", tuple(range(1, 10))))
    with pytest.raises(InputError, match="at most 2000 runs, but this one has 2565") as caught:
        all_steps(many)
    assert "fewer layouts" in caught.value.remedy


def test_each_layout_has_a_guest_of_its_own_and_its_numbers_stay_apart(
    lesson02: LessonFolder, run_async: Callable[..., Any]
) -> None:
    usual, reported = Fleet(), []
    fleets = {number: Fleet() for number in range(1, 6)}
    layouts: dict[tuple[str, int], LaneSource] = {}
    for number, fleet in fleets.items():
        fleet.content = f"layout {number}"
        for arm, source in fleet.sources(*TWO).items():
            layouts[arm, number] = source

    def progress(step: Progress) -> None:
        reported.append(str(step).partition(": ")[2])

    plan = measure_plan(lesson02, "wall", arms=TWO, repeats=1, layouts=5)
    work = Measuring(plan, usual.sources(*TWO), layouts=layouts, limits=LIMITS, progress=progress)
    report = run_async(work.run())
    assert [guest.request.arm for guest in usual.guests] == ["rwsem", "srcu"]
    for fleet in fleets.values():
        assert [guest.request.arm for guest in fleet.guests] == [
            "rwsem",
            "srcu",
            "rwsem",
            "srcu",
        ]
    assert reported[2] == "rwsem, linked in order 1"
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one.samples == [1.0]
    assert one.layouts == {number: [1.0] * 3 for number in range(1, 6)}
    assert report.partial is None


def test_a_layout_that_fails_is_said_and_the_others_go_on(
    lesson02: LessonFolder, run_async: Callable[..., Any]
) -> None:
    usual = Fleet()
    layouts: dict[tuple[str, int], LaneSource] = {}
    for number in range(1, 6):
        fleet = Fleet(srcu=("fails",)) if number == 2 else Fleet()
        fleet.content = f"layout {number}"
        layouts |= {(arm, number): source for arm, source in fleet.sources(*TWO).items()}
    plan = measure_plan(lesson02, "count", arms=TWO, repeats=2, layouts=5)
    report = run_async(Measuring(plan, usual.sources(*TWO), layouts=layouts, limits=LIMITS).run())
    table = report.tables[0]
    (refusal,) = table.refusals
    assert refusal.startswith("srcu failed when linked in order 2: ")
    assert sorted(table.of("ops_per_s", "srcu").layouts) == [1, 3, 4, 5]
    assert sorted(table.of("ops_per_s", "rwsem").layouts) == [1, 2, 3, 4, 5]
    assert table.errors == {}
