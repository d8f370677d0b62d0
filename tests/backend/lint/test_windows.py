# SPDX-License-Identifier: GPL-2.0-or-later
"""A step claims what its recording does not show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.lessons.load import load
from duet.lessons.problems import LessonError
from duet.lessons.views import read_views
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.windows import windows
from tests.support.planted import SLUG, plant

STEP = "id: one-umount, title: One umount, "
CLAIM = 'must_show: {that: "it is so", marks: [{%s}]}, '


def found(root: Path) -> list[Finding | NotChecked]:
    return [
        one
        for one in windows(Subject(load(SLUG), root, read_views()))
        if not isinstance(one, NotChecked) or "one-umount" in one.sentence
    ]


@pytest.fixture
def claims(copy: Path, root: Path) -> Path:
    """A checkout whose first step alone claims something, and its recording."""
    story = copy / "lessons" / SLUG / "story.yaml"
    lines = story.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("       {")]
    text = "\n".join(kept)
    for line in kept:
        if line.startswith("     must_show:"):
            text = text.replace(f",\n{line}", "}")
    story.write_text(text + "\n")
    recorded = copy / "lessons" / SLUG / "recorded"
    recorded.mkdir()
    shutil.copy(root / "lessons" / SLUG / "recorded" / "1-hog.duet", recorded)
    return copy


def test_a_claim_that_no_window_shows(claims: Path) -> None:
    plant(claims, STEP, STEP + CLAIM % "kind: wait_exp, longer_ms: 5000")
    (one,) = found(claims)
    assert isinstance(one, Finding)
    assert one.sentence == "no window of the recording 1-hog shows that it is so"
    assert one.place == ("scenes", 0, "must_show")


def test_a_claim_that_can_be_seen(claims: Path) -> None:
    plant(claims, STEP, STEP + CLAIM % "operation: true, whole: true")
    assert found(claims) == []


def test_a_recording_of_other_knobs_is_not_judged(claims: Path) -> None:
    plant(claims, STEP, STEP + CLAIM % "kind: wait_exp, longer_ms: 5000")
    plant(claims, "arms: [rwsem], params: {hogs: 1}", "arms: [rwsem], params: {hogs: 2}")
    (one,) = found(claims)
    assert isinstance(one, NotChecked)
    assert one.sentence.endswith("no recording has its hogs")


@pytest.mark.parametrize(
    ("mark", "sentence"),
    [
        ("kind: running, point: wake", "this names one of kind, point, link and operation"),
        ("operation: true, at_once: 2", "only spans go on at once"),
        ("link: wake, longer_ms: 1", "only a span or an operation lasts"),
        ("link: wake, where: {a: [0, 1]}", "only a point has fields"),
        ("link: woke", "no link is called 'woke'"),
        ("kind: runing", "no kind is called 'runing'"),
    ],
)
def test_marks_that_mean_nothing(claims: Path, mark: str, sentence: str) -> None:
    plant(claims, STEP, STEP + CLAIM % mark)
    with pytest.raises(LessonError) as refused:
        load(SLUG)
    assert sentence in str(refused.value)
