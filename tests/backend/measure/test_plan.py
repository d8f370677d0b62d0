# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs a measurement takes, in which order, and which of a lesson's metrics it reads."""

from __future__ import annotations

from typing import Any

import pytest

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Metric
from duet.measure import Kind, MeasurePlan
from duet.measure.plan import (
    applies,
    conditions,
    default_repeats,
    default_shifts,
    headline,
    knobs,
    metrics_of,
    order,
    probes_for,
    steps,
)

ARMS = ("rwsem", "srcu", "srcu-expedited")
EVENTS: dict[str, Any] = {
    "waits": {"title": "", "unit": "waits", "better": "lower", "event": "srcu_call"},
    "wait": {
        "title": "", "unit": "us", "better": "lower", "span": ["lock", "lock_ret"],
        "clocks": ["count"],
    },
    "bytes": {"title": "", "unit": "B", "better": "lower", "dwarf": "sizeof struct shrinker"},
}  # fmt: skip


def folder_with(folder: LessonFolder, more: dict[str, Any]) -> LessonFolder:
    metrics = {name: Metric.model_validate(tree) for name, tree in more.items()}
    lesson = folder.lesson.model_copy(update={"metrics": {**folder.lesson.metrics, **metrics}})
    return LessonFolder(folder.slug, folder.folder, folder.patch_dir, lesson)


def measure_plan(folder: LessonFolder, clock: Clock, **more: Any) -> MeasurePlan:
    given = {"arms": ARMS, "repeats": default_repeats(clock), "workload": "storm"} | more
    params = folder.check_params({}, clock)
    return MeasurePlan(folder=folder, clock=clock, params=params, **given)


def reported(plan: MeasurePlan) -> list[str]:
    return [f"{s.table}{s.arm[0]}{s.arm[-1]} {s.kind} {s.seed}" for s in steps(plan)]


def test_arms_are_interleaved() -> None:
    assert order("AB", 5) == list("ABBAABBAAB")
    assert order("ABC", 1) == list("ABC")
    assert order("ABC", 3) == list("ABCCBAABC")


def test_wall_clock_takes_five_runs_and_then_one_counted_run_per_arm(
    lesson02: LessonFolder,
) -> None:
    folder = folder_with(lesson02, EVENTS)
    found = steps(measure_plan(folder, "wall"))
    assert [s.kind for s in found] == [Kind.EVIDENCE] * 15 + [Kind.COUNTED] * 2
    # rwsem has no SRCU probe and the span is for the count clock alone
    assert [s.arm for s in found[15:]] == ["srcu-expedited", "srcu"]
    assert found[14].arm == found[15].arm  # no boot more than needed


def test_a_lesson_without_events_is_not_traced(lesson02: LessonFolder) -> None:
    assert {s.kind for s in steps(measure_plan(lesson02, "wall"))} == {Kind.EVIDENCE}


def test_count_clock_takes_equal_runs_other_starts_and_both_settings(
    lesson02: LessonFolder,
) -> None:
    plan = measure_plan(lesson02, "count", arms=("rwsem", "srcu"), shifts=(0, 3), perturbed=3)
    found = steps(plan)
    seeds = [s.seed for s in found if s.table == 1 and s.arm == "srcu"]
    assert seeds == [1, 1, 2, 3, 4]
    # what proves something comes first
    assert [s.kind for s in found[:8]] == [Kind.EVIDENCE] * 8
    assert [c.shift for c in conditions(plan)] == [0, 3]
    assert default_shifts(lesson02.lesson, "count") == (0, 3)
    assert default_shifts(lesson02.lesson, "wall") == (0,)
    counted = steps(measure_plan(folder_with(lesson02, EVENTS), "count", arms=("rwsem",)))
    assert [s.kind for s in counted] == [Kind.EVIDENCE] * 2 + [Kind.COUNTED] * 2


def test_a_sweep_has_a_table_per_value_and_setting(lesson02: LessonFolder) -> None:
    plan = measure_plan(lesson02, "count", sweep=("hogs", (1, 9)), shifts=(0, 3))
    found = [(c.params["hogs"], c.shift) for c in conditions(plan)]
    assert found == [(1, 0), (1, 3), (9, 0), (9, 3)]
    assert "hogs" not in knobs(plan)
    assert [c.shift for c in conditions(measure_plan(lesson02, "wall"))] == [None]


def test_exactly_the_probes_of_the_metrics_are_on(lesson02: LessonFolder) -> None:
    folder = folder_with(lesson02, EVENTS)
    wall, count = (measure_plan(folder, clock) for clock in ("wall", "count"))
    assert probes_for(wall, "srcu") == {"srcu_call"}
    assert probes_for(wall, "rwsem") == frozenset()
    assert probes_for(count, "rwsem") == {"lock", "lock_ret"}
    chosen = measure_plan(folder, "count", metrics=frozenset({"wait"}))
    assert probes_for(chosen, "srcu") == {"lock", "lock_ret"}
    assert not [s for s in steps(chosen) if s.kind is Kind.EVIDENCE]  # no line is read


def test_metrics_apply_by_workload_clock_and_arm(lesson02: LessonFolder) -> None:
    folder = folder_with(lesson02, EVENTS)
    assert list(metrics_of(measure_plan(folder, "wall"), "rwsem")) == ["ops_per_s", "bytes"]
    assert headline(folder.lesson, "stress-ng", "wall") == "bogo_ops_per_s"
    waits = folder.lesson.metrics["waits"]
    assert applies(folder.lesson, waits, "stress-ng", "count", "srcu")
    none = lesson02.lesson.model_copy(update={"metrics": {}})
    with pytest.raises(InputError, match="'storm' has no metric on the count clock"):
        headline(none, "storm", "count")
