# SPDX-License-Identifier: GPL-2.0-or-later
"""A teacher chooses, a student opens and answers, points arrive, better ones replace them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from duet.base.access import Role
from duet.plugins.lti import store as rows
from duet.plugins.lti.login import Choice
from tests.plugins.lti.course import LAB, answered, on_loop, visitor, waiting
from tests.plugins.lti.platform_side import INSTRUCTOR, Message, Platform, moment
from tests.plugins.lti.tokens import changed, claims_of
from tests.plugins.lti.tool import Browser, Tool, forms, until

REAL = "02-grace-periods"
TITLE = re.compile(r"<h2>(.*?)</h2>")
CHOOSING = Message("teacher-1", "Grace", (INSTRUCTOR,), choosing=True)


def test_choose_launch_answer_score_and_a_better_one(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    teacher, student = Browser(), Browser()

    page = teacher.launch(platform, CHOOSING)
    assert page.status_code == 200, page.text
    action, fields = next(
        form for form, title in zip(forms(page.text), TITLE.findall(page.text), strict=True)
        if title == "Lab: what umount waits for"
    )  # fmt: skip
    assert action == f"{platform.url}/chosen"
    assert teacher.post(action, fields).status_code == 200
    (item,) = platform.chosen
    assert item["type"] == "ltiResourceLink" and item["custom"] == {"lab": REAL}
    assert item["window"] == {"targetName": "_blank"}
    most = item["lineItem"]["scoreMaximum"]
    assert most > 4

    opened = student.launch(platform, Message(link="lab-1", custom=item["custom"]))
    assert f"../?lab={REAL}" in opened.text

    def answer(task: str, **given: Any) -> Any:
        sent = student.session.post(
            f"{tool.url}/api/labs/{REAL}/attempts", json={"task": task, "answer": given}, timeout=60
        )
        assert sent.status_code == 200, sent.text
        return sent.json()

    def scores(count: int) -> list[dict[str, Any]]:
        return until(
            lambda: len(platform.scores.get("lab-1", ())) == count and platform.scores["lab-1"]
        )

    answer("who-waits", value=8)
    (first,) = scores(1)
    assert (first["scoreGiven"], first["scoreMaximum"]) == (0.0, most)
    assert (first["activityProgress"], first["gradingProgress"]) == ("InProgress", "FullyGraded")
    assert first["userId"] == "student-1" and first["comment"].startswith("1 of ")

    answer("who-waits", value=16)  # right at the second attempt: half the points
    better = scores(2)[-1]
    assert better["scoreGiven"] == 0.5 and moment(better) > moment(first)

    mine = answer("not-the-cause", text="It runs on both kernels and is as long on both.")
    task = next(one for one in mine["tasks"] if one["task"] == "not-the-cause")
    number = task["attempts"][0]["number"]
    teacher.launch(platform, Message("teacher-1", "Grace", (INSTRUCTOR,)))
    grade = {"person": visitor(tool, student), "attempt": number, "points": 2.0}
    given = teacher.session.post(f"{tool.url}/api/labs/{REAL}/grades", json=grade, timeout=60)
    assert given.status_code == 200, given.text
    graded = until(
        lambda: next((one for one in platform.scores["lab-1"] if one["scoreGiven"] == 2.5), None)
    )
    assert graded["activityProgress"] == "InProgress"  # some tasks are open
    until(lambda: waiting(tool) == [])

    assert student.session.delete(f"{tool.url}/api/people/me", timeout=60).status_code == 200
    assert on_loop(tool, tool.lti._store.ask(rows.links)) == []


def test_a_column_is_made_where_the_message_names_none(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    tool.lti.labs = lambda: (Choice("Grace periods", "Predict", {"lab": LAB}, 4.0),)
    for user in ("student-1", "student-2"):
        student = Browser()
        student.launch(platform, Message(user, custom={"lab": LAB}, lineitem=False))
        answered(tool, visitor(tool, student), 1.0)
    until(lambda: len(platform.scores.get("made-0", ())) == 2)
    (column,) = platform.columns
    assert (column["label"], column["scoreMaximum"]) == ("Grace periods", 4.0)


def test_a_teacher_sees_names_and_roles_of_the_course(course: tuple[Tool, Platform]) -> None:
    tool, platform = course
    teacher, student = Browser(), Browser()
    teacher.launch(platform, Message("teacher-1", "Grace", (INSTRUCTOR,)))
    student.launch(platform, Message())
    found = teacher.get(f"{tool.url}/api/lti/members")
    assert [(one["name"], one["role"]) for one in found.json()] == [
        ("Grace", Role.INSTRUCTOR.word),
        ("Ada Lovelace", Role.STUDENT.word),
    ]
    assert found.json()[1]["person"] == visitor(tool, student)
    assert student.get(f"{tool.url}/api/lti/members").status_code == 403


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"accept_types": ["file"]}, "resource link"),
        ({"deep_link_return_url": "http://evil.example/x"}, "does not use TLS"),
        ({"deep_link_return_url": None}, "not usable"),
    ],
)
def test_a_choice_goes_only_where_it_may(
    tool: Tool, platform: Platform, browser: Browser, change: dict[str, Any], word: str
) -> None:
    deep = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
    form = browser.message(platform, CHOOSING)
    settings = claims_of(form["id_token"])[deep] | change
    token = changed(**{deep: settings})(form["id_token"], platform)
    answer = browser.send(platform, form | {"id_token": token})
    assert answer.status_code == 401 and word in answer.text


def test_students_choose_nothing(tool: Tool, platform: Platform, browser: Browser) -> None:
    answer = browser.launch(platform, Message(choosing=True))
    assert answer.status_code == 401 and "nly teachers" in answer.text


def test_the_list_may_stay_in_its_frame(tool: Tool, platform: Platform, browser: Browser) -> None:
    framed = {"Sec-Fetch-Dest": "iframe"}
    assert browser.get(platform.login_address(CHOOSING), headers=framed).status_code == 302
