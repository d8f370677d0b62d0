# SPDX-License-Identifier: GPL-2.0-or-later
"""A step claims what its recording does not show."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from duet.lessons.document import LessonError
from duet.lessons.load import load
from duet.lessons.schema import MustShow
from duet.lessons.view import read_views
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.recorded import windows
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
    assert one.sentence.endswith("the recording that fits best has other values of hogs")


@pytest.mark.parametrize(
    ("mark", "sentence"),
    [
        (
            "kind: running, point: wake",
            "a mark must name exactly one of kind, point, link, operation and",
        ),
        ("operation: true, at_once: 2", "only spans can overlap, so `at_once:` needs a `kind:`"),
        (
            "link: wake, longer_ms: 1",
            "only a span, an operation or a `looks:` interval has a duration",
        ),
        ("link: wake, where: {a: [0, 1]}", "only a `point:` has fields"),
        ("looks: counts, where: {a: [0, 1]}", "no x-ray probe is called 'counts'"),
        (
            "looks: counts",
            "`looks:` needs `where:`, the facts that must have grown between two samples",
        ),
        ("kind: running, among: [a]", "`among:` is a share of facts' growth, so it needs `looks:`"),
        ("link: woke", "no link is called 'woke'"),
        ("kind: runing", "no kind is called 'runing'"),
    ],
)
def test_marks_that_mean_nothing(claims: Path, mark: str, sentence: str) -> None:
    plant(claims, STEP, STEP + CLAIM % mark)
    with pytest.raises(LessonError) as refused:
        load(SLUG)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(("longer_ms", "seen"), [(4000, True), (7000, False)])
def test_what_the_x_ray_counted_is_judged_on_the_recording(
    root: Path, longer_ms: int, seen: bool
) -> None:
    """A stretch of looks, joined; with the numbers that the guest's kernel had counted."""
    folder = load("05-cacheline-pingpong")
    (scene,) = (one for one in folder.lesson.scenes if one.id == "listing")
    marks = [
        {
            "looks": "lockref-counts",
            "where": {"slow": (0.5, 1)},
            "among": ("fast", "slow"),
            "longer_ms": longer_ms,
        }
    ]
    must_show = MustShow.model_validate({"that": "it is so", "marks": marks})
    scenes = (scene.model_copy(update={"must_show": must_show}),)
    lesson = folder.lesson.model_copy(update={"scenes": scenes})
    said = list(windows(Subject(replace(folder, lesson=lesson), root, read_views())))
    assert [one.sentence for one in said] == (
        [] if seen else ["no window of the recording listing-queued shows that it is so"]
    )
