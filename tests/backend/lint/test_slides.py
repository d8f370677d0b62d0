# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on slides: claims that are no sentences, lines that no patch has, plans too long."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from duet.lessons.load import load
from duet.lessons.view import read_views
from duet.lint.finding import Finding, Subject
from duet.lint.story import claims, excerpts, plan, steps
from tests.support.planted import SLUG, plant

TICKS = 'together.", minutes: 6'
FAULTS = {
    "a claim that is no sentence": (
        "No reader is there: the hogs wait for ticks, together.", "Ticks",
        "a claim must be a sentence", ("scenes", 3, "claim")),
    "a claim that no slide holds": (
        "No reader is there: the hogs",
        "Nobody reads, as the strip shows, and so all nine of the hogs, on both lanes, here too,",
        "a claim may have at most 110 characters, not 113", ("scenes", 3, "claim")),
    "a line that no patch has": (
        'patch_at: ["srcu_read_lock(', 'patch_at: ["rcu_read_lock_bh(',
        "no patch of the step's arms has a line with 'rcu_read_lock_bh(&shrinker_srcu)'",
        ("scenes", 6, "patch_at", 0)),
    "a line of a patch that is not shown": (
        "show: [knobs, patch, tracks, links, walks]", "show: [knobs, tracks, links, walks]",
        "the step shows no patch", ("scenes", 6, "patch_at")),
    "a step without minutes": (
        TICKS, TICKS[:10],
        "other steps have `minutes:`, but 'ticks' has none", ("scenes", 3)),
    "a class that is too long": (
        TICKS, f"{TICKS}.5",
        "a class must take 35 to 45 minutes, not 45.5", ("scenes",)),
}  # fmt: skip


def found(root: Path) -> list[Finding]:
    subject = Subject(load(SLUG), root, read_views())
    every = [*claims(subject), *excerpts(subject), *plan(subject)]
    return [one for one in every if isinstance(one, Finding)]


def without(copy: Path, pattern: str) -> None:
    story = copy / f"lessons/{SLUG}/story.yaml"
    text = story.read_text()
    assert re.search(pattern, text), pattern
    story.write_text(re.sub(pattern, "", text))


def test_the_lesson_is_sound_as_it_stands(copy: Path) -> None:
    assert found(copy) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_place(copy: Path, name: str) -> None:
    old, new, sentence, place = FAULTS[name]
    plant(copy, old, new)
    (one, *_) = found(copy)
    assert (one.sentence, one.place) == (sentence, place)
    assert one.remedy.endswith(".")


def test_a_step_that_is_planned_says_what_to_say(copy: Path) -> None:
    without(copy, r'     notes: "The expedited RCU grace period is easy[^"]*",\n')
    (one,) = found(copy)
    assert one.sentence == "the step 'not-the-lesson' has `minutes:` but no notes"


def test_a_lesson_may_have_no_plan(copy: Path) -> None:
    without(copy, r", minutes: \d+|     notes: \"[^\"]*\",\n")
    assert found(copy) == []


def test_a_story_with_too_few_steps_builds_and_is_named(copy: Path) -> None:
    subject = Subject(load(SLUG), copy, read_views())
    short = subject.folder.lesson.model_copy(update={"scenes": subject.folder.lesson.scenes[:2]})
    subject = replace(subject, folder=replace(subject.folder, lesson=short))
    (one,) = steps(subject)
    assert isinstance(one, Finding)
    assert one.sentence == "a lesson with a view needs at least 5 steps, not 2"
