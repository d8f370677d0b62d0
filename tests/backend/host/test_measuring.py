# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured table as a page gets it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duet.host.judging import command_line, measure_plan, measured_message
from duet.lessons.load import LessonFolder
from duet.measure import Kind, Measuring, Progress, Report, Step
from duet.session import RunSpec


@pytest.fixture
def run_request(lesson02: LessonFolder) -> RunSpec:
    params = lesson02.check_params({"hogs": 9})
    return RunSpec(lesson02, ("rwsem", "srcu"), "storm", params, "wall")


def table(run_request: RunSpec, slow: list[float]) -> Report:
    measuring = Measuring(measure_plan(run_request, 5), {})
    fast, other = measuring.report.tables[0].series
    fast.samples, other.samples = [100.0, 101.0, 99.0, 100.0, 102.0], slow
    measuring.judge()
    return measuring.report


def test_arms_are_compared_with_the_first(run_request: RunSpec) -> None:
    reported = measured_message(
        run_request, table(run_request, [25.0, 24.0, 26.0, 25.0, 25.0]), "m-1"
    )
    first, second = reported.rows
    assert (first.to, first.change_percent, first.verdict) == (None, None, "")
    assert (second.to, second.change_percent, second.verdict) == ("rwsem", -75.0, "")
    assert (reported.done, reported.total) == (1, 1)
    assert "srcu -75.0 % against rwsem" in reported.verdict
    assert (reported.metric, reported.title, reported.better) == ("ops_per_s", "umounts", "higher")


def test_overlapping_samples_prove_nothing_and_few_runs_give_no_verdict(
    run_request: RunSpec,
) -> None:
    overlap = measured_message(
        run_request, table(run_request, [100.5, 98.0, 101.0, 99.0, 100.0]), None
    )
    assert overlap.rows[1].verdict == "no difference proven"
    few = measured_message(run_request, table(run_request, [25.0]), None)
    assert few.rows[1].verdict == "n = 1, but a verdict needs at least 5 runs"
    assert few.verdict.startswith("No verdict")


def test_progress_says_what_is_running(run_request: RunSpec) -> None:
    reported = measured_message(
        run_request,
        Progress(3, 2, 10, Step(0, "srcu", Kind.EVIDENCE), None, table(run_request, [])),
        "m-1",
    )
    assert (reported.done, reported.total, reported.rows[1].n) == (2, 10, 0)
    assert reported.verdict == "run 3 of 10: srcu, untraced"


def test_the_command_reproduces_the_table(run_request: RunSpec) -> None:
    assert command_line(run_request, 5) == (
        "./duet measure 02-grace-periods --arms rwsem,srcu --workload storm --clock wall "
        "--set hogs=9 --repeats 5"
    )
    counted = replace(run_request, clock="count")
    assert command_line(counted, 2, 3).endswith("--set hogs=9 --repeats 2 --shift 3")


def test_a_table_of_a_lesson_that_waits_names_the_clock_beside_its_verdict(
    run_request: RunSpec,
) -> None:
    counted = replace(run_request, clock="count")
    measuring = Measuring(measure_plan(counted, 2), {})
    for one, value in zip(measuring.report.tables[0].series, (100.0, 3.0), strict=True):
        one.samples = [value, value]
    measuring.judge()
    said = measured_message(counted, measuring.report, "m-1").verdict
    assert "deterministic" in said and "is a property of the clock, not of the patch" in said
    wall = measured_message(run_request, table(run_request, [25.0] * 5), "m-1").verdict
    assert "property of the clock" not in wall
