# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured table as a page gets it."""

from __future__ import annotations

import pytest

from duet.lessons.load import LessonFolder
from duet.measure import Kind, Measuring, Progress, Report, Step
from duet.runs.request import RunRequest
from duet.serve.measuring import ask_of, command_line, measured_message


@pytest.fixture
def wish(lesson02: LessonFolder) -> RunRequest:
    params = lesson02.check_params({"hogs": 9})
    return RunRequest(lesson02, ("rwsem", "srcu"), "storm", params, "wall")


def table(wish: RunRequest, slow: list[float]) -> Report:
    measuring = Measuring(ask_of(wish, 5), {})
    fast, other = measuring.report.tables[0].series
    fast.samples, other.samples = [100.0, 101.0, 99.0, 100.0, 102.0], slow
    measuring.judge()
    return measuring.report


def test_arms_are_compared_with_the_first(wish: RunRequest) -> None:
    told = measured_message(wish, table(wish, [25.0, 24.0, 26.0, 25.0, 25.0]), "m-1")
    first, second = told.rows
    assert (first.to, first.change_percent, first.verdict) == (None, None, "")
    assert (second.to, second.change_percent, second.verdict) == ("rwsem", -75.0, "")
    assert (told.done, told.total) == (1, 1)
    assert "srcu -75.0 % against rwsem" in told.verdict


def test_overlapping_samples_prove_nothing_and_few_runs_give_no_verdict(wish: RunRequest) -> None:
    overlap = measured_message(wish, table(wish, [100.5, 98.0, 101.0, 99.0, 100.0]), None)
    assert overlap.rows[1].verdict == "no difference proven"
    few = measured_message(wish, table(wish, [25.0]), None)
    assert few.rows[1].verdict == "n = 1, and fewer than 5 runs give no verdict"
    assert few.verdict.startswith("No verdict")


def test_progress_says_what_is_running(wish: RunRequest) -> None:
    told = measured_message(
        wish, Progress(3, 2, 10, Step(0, "srcu", Kind.EVIDENCE), None, table(wish, [])), "m-1"
    )
    assert (told.done, told.total, told.rows[1].n) == (2, 10, 0)
    assert told.verdict == "run 3 of 10: srcu, untraced"


def test_the_command_reproduces_the_table(wish: RunRequest) -> None:
    assert command_line(wish, 5) == (
        "./duet measure 02-grace-periods --arms rwsem,srcu --workload storm --clock wall "
        "--set hogs=9 --repeats 5"
    )
