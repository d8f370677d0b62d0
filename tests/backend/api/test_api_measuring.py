# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured table as a page gets it."""

from __future__ import annotations

import pytest

from duet.api.measuring import command_line, interval95, measured_message
from duet.api.parts import Wish
from duet.lessons.load import LessonFolder
from duet.measure import MeasuredRow, Measurement, Progress


def test_interval_is_students() -> None:
    low, high = interval95([10.0, 12.0, 11.0, 13.0, 9.0]) or (0, 0)
    assert (round(low, 3), round(high, 3)) == (9.037, 12.963)
    assert interval95([1.0]) is None
    assert interval95([5.0] * 40) == (5.0, 5.0)


@pytest.fixture
def wish(lesson02: LessonFolder) -> Wish:
    params = lesson02.check_params({"hogs": 9})
    return Wish(lesson02, ("rwsem", "srcu"), "storm", params, "wall")


def table(slow: list[float]) -> Measurement:
    fast = MeasuredRow("rwsem", ops_per_s=[100.0, 101.0, 99.0, 100.0, 102.0])
    rows = (fast, MeasuredRow("srcu", ops_per_s=slow))
    return Measurement("02-grace-periods", "wall", "storm", {}, rows, "2026-01-01", "umounts/s")


def test_arms_are_compared_with_the_first(wish: Wish) -> None:
    told = measured_message(wish, table([25.0, 24.0, 26.0, 25.0, 25.0]), "m-1")
    first, second = told.rows
    assert (first.to, first.change_percent, first.verdict) == (None, None, "")
    assert (second.to, second.change_percent, second.verdict) == ("rwsem", -75.0, "")
    assert (told.done, told.total) == (1, 1)
    assert "srcu -75.0 % against rwsem" in told.verdict


def test_overlapping_samples_prove_nothing_and_few_runs_give_no_verdict(wish: Wish) -> None:
    overlap = measured_message(wish, table([99.5, 98.0, 97.0, 96.0, 95.0]), None)
    assert overlap.rows[1].verdict == "no difference proven"
    few = measured_message(wish, table([25.0]), None)
    assert few.rows[1].verdict == "no verdict below 5 runs"
    assert few.verdict.startswith("No verdict")


def test_progress_says_what_is_running(wish: Wish) -> None:
    told = measured_message(wish, Progress(3, 10, "srcu", False, table([])), "m-1")
    assert (told.done, told.total, told.rows[1].n) == (2, 10, 0)
    assert told.verdict == "run 3 of 10: srcu, untraced"


def test_the_command_reproduces_the_table(wish: Wish) -> None:
    assert command_line(wish, 5) == (
        "./duet run 02-grace-periods --arms rwsem,srcu --workload storm --clock wall "
        "--set hogs=9 --repeats 5 --no-trace"
    )
