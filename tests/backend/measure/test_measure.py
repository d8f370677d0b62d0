# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring: who runs when, one guest at a time, and numbers that are refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duet.errors import InputError
from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.measure import MeasuredRow, Measurement, Progress, measure
from duet.measure.run import order
from duet.session import Limits

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from fakes import Fleet

Run = Callable[..., Any]
LIMITS = Limits(tick_s=0.005, missing_s=0.2)


def run_measure(
    run_async: Run, folder: LessonFolder, fleet: Fleet, repeats: int, **more: Any
) -> Measurement:
    arms = ("rwsem", "srcu", "srcu-expedited")
    params = folder.check_params({"hogs": 1, "seconds": 1})
    sources = fleet.sources(*arms)
    table: Measurement = run_async(
        measure(folder, arms, "storm", params, Clock.WALL, repeats, sources, limits=LIMITS, **more)
    )
    return table


def test_the_order_is_interleaved() -> None:
    assert order("ABC", 1) == list("ABC")
    assert order("ABC", 3) == list("ABCCBAABC")


def test_one_guest_lives_at_a_time_and_every_key_is_there(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet, alive, steps = Fleet(), [], []

    def progress(step: Progress) -> None:
        alive.append(sum(guest.open for guest in fleet.guests))
        steps.append(str(step))

    table = run_measure(run_async, lesson02, fleet, 2, progress=progress)
    assert max(alive) == 1
    assert steps[0] == "run 1 of 9: rwsem, untraced"
    assert [step.split(": ")[1] for step in steps] == [
        "rwsem, untraced",
        "srcu, untraced",
        "srcu-expedited, untraced",
        "srcu-expedited, untraced",
        "srcu, untraced",
        "rwsem, untraced",
        "rwsem, traced",
        "srcu, traced",
        "srcu-expedited, traced",
    ]
    # neighbours of the same arm share a guest
    assert [g.wish.arm for g in fleet.guests] == [
        "rwsem",
        "srcu",
        "srcu-expedited",
        "srcu",
        "rwsem",
        "srcu",
        "srcu-expedited",
    ]
    plans = [frame.text for guest in fleet.guests for frame in guest.sent if frame.text]
    assert sum("trace off" in plan for plan in plans) == 6
    tree = json.loads(json.dumps(table.as_dict()))
    assert tree["unit"] == "umounts/s"
    row = tree["rows"][1]
    assert set(row) == {
        *("arm", "n", "ops", "ops_per_s", "ops_per_s_median", "wait_ns", "grace_periods"),
        *("events_read", "events_lost", "kernel", "accel", "lines", "refused", "error"),
    }
    assert (row["arm"], row["n"], row["ops"], row["ops_per_s"]) == ("srcu", 2, [1, 1], [1.0, 1.0])
    assert row["wait_ns"] == {"p50": 920.0, "p95": 920.0, "max": 920.0, "n": 1}
    assert (row["events_lost"], row["refused"], row["accel"]) == (0, None, "tcg")
    assert row["lines"][0].startswith("storm: hogs=1")


def test_fewer_than_five_runs_give_no_verdict(lesson02: LessonFolder, run_async: Run) -> None:
    table = run_measure(run_async, lesson02, Fleet(), 1, traced=False)
    assert table.verdict.startswith("No verdict: it takes at least 5 runs")
    assert table.rows[0].wait_ns is None


def test_numbers_that_rest_on_lost_events_are_refused(
    lesson02: LessonFolder, run_async: Run
) -> None:
    table = run_measure(run_async, lesson02, Fleet(srcu=("overrun",)), 1)
    row = table.rows[1]
    assert (row.wait_ns, row.grace_periods, row.events_lost) == (None, None, 77)
    assert row.refused is not None
    assert "77 events were lost" in row.refused
    assert table.rows[0].wait_ns is not None


def test_an_arm_that_fails_is_refused_and_the_others_are_measured(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet(srcu=("bad plan",))
    table = run_measure(run_async, lesson02, fleet, 2)
    row = table.rows[1]
    assert row.error is not None
    assert row.refused == "Line 3 of the plan is odd."
    assert (row.n, row.ops_per_s_median) == (0, None)
    assert [r.n for r in table.rows] == [2, 0, 2]
    assert len(fleet.of("srcu")) == 1


@pytest.mark.parametrize("repeats", [0, 101])
def test_senseless_repeats_are_refused(
    lesson02: LessonFolder, run_async: Run, repeats: int
) -> None:
    with pytest.raises(InputError, match="1 to 100 repeats"):
        run_measure(run_async, lesson02, Fleet(), repeats)


def table_of(clock: str, **rates: list[float]) -> Measurement:
    rows = tuple(MeasuredRow(arm, [1] * len(r), r) for arm, r in rates.items())
    return Measurement("02-grace-periods", clock, "storm", {}, rows, "now", "umounts/s")


def test_a_verdict_needs_samples_that_stand_apart() -> None:
    far = table_of("wall", a=[100.0, 101, 102, 103, 104], b=[25.0, 26, 27, 28, 29])
    assert far.verdict == "b -73.5 % against a (medians, n = 5)."
    near = table_of("wall", a=[100.0, 101, 102, 103, 104], b=[99.0, 103, 98, 97, 96])
    assert near.verdict == "b: no difference to a proven (medians, n = 5)."


def test_equal_runs_of_the_count_clock_are_called_deterministic() -> None:
    same = table_of("count", a=[100.0] * 5, b=[50.0] * 5)
    assert same.verdict == "Deterministic: b -50.0 % against a (medians, n = 5)."
    loose = table_of("count", a=[100.0, 100, 100, 100, 103], b=[50.0] * 5)
    assert not loose.verdict.startswith("Deterministic")
