# SPDX-License-Identifier: GPL-2.0-or-later
"""The outbox of scores over two real servers: order, trouble, restarts, and who gets none."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest

from duet.plugins.lti import store as scores
from tests.plugins.lti.course import LAB, answered, on_loop, reported, visitor, waiting
from tests.plugins.lti.platform_side import INSTRUCTOR, Message, Platform, moment, platform_served
from tests.plugins.lti.tool import Browser, Tool, tool_served, until


def test_an_older_score_and_an_equal_one_are_not_sent(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    student = Browser()
    student.launch(platform, Message(custom={"lab": LAB}))
    person, now_s = visitor(tool, student), time.time()
    answered(tool, person, 2.0, 2.0, at_s=now_s)
    until(lambda: platform.scores.get("link-1"))
    for points, at_s in ((1.0, now_s - 5), (2.0, now_s + 5)):
        score = reported(person, points, points, at_s=at_s)
        assert on_loop(tool, tool.lti._store.ask(partial(scores.put_score, score=score))) == 0
    answered(tool, person, 2.0, 1.0, at_s=now_s)  # the same moment: later all the same
    until(lambda: len(platform.scores["link-1"]) == 2)
    first, second = platform.scores["link-1"]
    assert second["scoreGiven"] == 3.0 and moment(second) > moment(first)


def test_two_activities_of_one_lab_both_get_the_score_also_a_late_one(
    course: tuple[Tool, Platform],
) -> None:
    tool, platform = course
    student = Browser()
    student.launch(platform, Message(link="a", custom={"lab": LAB}))
    answered(tool, visitor(tool, student), 1.0)
    until(lambda: platform.scores.get("a"))
    student.launch(platform, Message(link="b", custom={"lab": LAB}))
    (late,) = until(lambda: platform.scores.get("b"))
    assert late["scoreGiven"] == 1.0
    student.launch(platform, Message(link="b", custom={"lab": LAB}))
    answered(tool, visitor(tool, student), 2.0)
    until(lambda: len(platform.scores["a"]) == len(platform.scores["b"]) == 2)


def test_nothing_is_sent_for_teachers_and_without_a_lab(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    for message in (
        Message("teacher-1", roles=(INSTRUCTOR,), custom={"lab": LAB}),
        Message(custom={"lesson": "02-grace-periods"}),
        Message(custom={"lab": "another"}),
    ):
        browser = Browser()
        browser.launch(platform, message)
        answered(tool, visitor(tool, browser), 2.0)
    student = Browser()
    student.launch(platform, Message("student-9", custom={"lab": LAB}))
    answered(tool, visitor(tool, student), 1.0)
    until(lambda: platform.scores)
    sent = [one["userId"] for column in platform.scores.values() for one in column]
    assert sent == ["student-9"]


def test_a_refused_score_is_tried_again_and_holds_up_no_other(
    course: tuple[Tool, Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.plugins.lti.grades.RETRY_FIRST_S", 0.05)
    monkeypatch.setattr("duet.plugins.lti.grades.SEND_EVERY_S", 0.1)
    tool, platform = course
    for user in ("student-1", "student-2", "student-3"):
        browser = Browser()
        browser.launch(platform, Message(user, custom={"lab": LAB}))
        if user == "student-1":
            platform.fail_scores = [500, 503, 401]
        answered(tool, visitor(tool, browser), 1.0)
    until(lambda: len(platform.scores.get("link-1", ())) == 3)
    assert {one["userId"] for one in platform.scores["link-1"]} == {
        "student-1", "student-2", "student-3"
    }  # fmt: skip
    assert until(lambda: not waiting(tool)) and platform.asked.count("token") >= 2  # anew after 401


def answered_once_refused(
    course: tuple[Tool, Platform], monkeypatch: pytest.MonkeyPatch, status: int
) -> Browser:
    """A student whose first score the platform refuses; waits between tries are short."""
    monkeypatch.setattr("duet.plugins.lti.grades.RETRY_FIRST_S", 0.05)
    monkeypatch.setattr("duet.plugins.lti.grades.SEND_EVERY_S", 0.1)
    tool, platform = course
    student = Browser()
    student.launch(platform, Message(custom={"lab": LAB}))
    platform.fail_scores = [status]
    answered(tool, visitor(tool, student), 1.0)
    return student


@pytest.mark.parametrize("status", [400, 404, 410, 422])
def test_a_score_that_is_never_taken_is_given_up_at_once_with_a_sentence(
    course: tuple[Tool, Platform],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    tool, platform = course
    student = answered_once_refused(course, monkeypatch, status)
    until(lambda: "score" in platform.asked and not waiting(tool))
    time.sleep(0.5)  # several looks at what is due
    assert platform.asked.count("score") == 1 and platform.scores == {}
    (line,) = [one.getMessage() for one in caplog.records if "is not sent until" in one.message]
    assert f"'duet' answered {status} and said: {{}}." in line and LAB in line

    student.launch(platform, Message(custom={"lab": LAB}))  # there may be a new column by now
    (again,) = until(lambda: platform.scores.get("link-1"))
    assert again["scoreGiven"] == 1.0


@pytest.mark.parametrize("status", [403, 408, 423, 425, 429])
def test_a_refusal_that_may_end_is_tried_again(
    course: tuple[Tool, Platform], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    _, platform = course
    answered_once_refused(course, monkeypatch, status)
    until(lambda: len(platform.scores.get("link-1", ())) == 1)


def test_a_token_that_is_not_given_says_nothing_of_the_score(
    course: tuple[Tool, Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.plugins.lti.grades.RETRY_FIRST_S", 0.05)
    monkeypatch.setattr("duet.plugins.lti.grades.SEND_EVERY_S", 0.1)
    tool, platform = course
    student = Browser()
    student.launch(platform, Message(custom={"lab": LAB}))
    platform.fail_tokens = [400, 409]
    answered(tool, visitor(tool, student), 1.0)
    until(lambda: len(platform.scores.get("link-1", ())) == 1)


def test_a_newer_score_of_the_platform_stands(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    student = Browser()
    student.launch(platform, Message(custom={"lab": LAB}))
    platform.fail_scores = [409]
    answered(tool, visitor(tool, student), 1.0)
    until(lambda: "score" in platform.asked and not waiting(tool))
    assert platform.scores == {}


def test_scores_wait_over_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duet.plugins.lti.grades.RETRY_FIRST_S", 0.0)
    with platform_served(Platform()) as platform:
        with tool_served(tmp_path, platform) as tool:
            monkeypatch.setattr("duet.plugins.lti.grades.pause_s", lambda tries: 1.0)
            student = Browser()
            student.launch(platform, Message(custom={"lab": LAB}))
            platform.fail_scores = [503]
            answered(tool, visitor(tool, student), 1.0)
            (one,) = until(lambda: [one for one in waiting(tool) if one[1] == 1])
            assert one[0] == LAB and "503" in one[2]
            assert platform.scores == {}
        time.sleep(1.0)
        with tool_served(tmp_path, platform):
            until(lambda: platform.scores.get("link-1"))
