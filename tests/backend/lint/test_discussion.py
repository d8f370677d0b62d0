# SPDX-License-Identifier: GPL-2.0-or-later
"""`discussion:` of story.yaml: each remark has a source, and what it sends a reader to exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.lessons import load as lessons
from tests.support.planted import SLUG, problems

REMARK = """
discussion:
  - said: It waits.
    sources: [{by: A Person, date: 2023-06-09, subject: a mail}]
    tried: [{title: try it, step: ticks, arms: [srcu], params: {hogs: 9}, patch: srcu}]
"""
FAULTS = {
    "no source": (
        "[{by: A Person, date: 2023-06-09, subject: a mail}]",
        "[]",
        "tuple should have at least 1 item after validation, not 0",
    ),
    "a source that cannot be found": (
        "date: 2023-06-09, ",
        "",
        "a source needs a date, a link or a commit",
    ),
    "a link that is none": ("2023-06-09,", "2023-06-09, link: 'javascript:x',", "link"),
    "nothing to try": (
        "    tried: [{title: try it, step: ticks, arms: [srcu], params: {hogs: 9}, patch: srcu}]\n",
        "",
        "a remark must say where it can be tried, or why it cannot be tried",
    ),
    "an arm": ("arms: [srcu]", "arms: [srcuu]", "no arm is called 'srcuu'"),
    "a knob": ("{hogs: 9}", "{hog: 9}", "no param is called 'hog'"),
    "a step": ("step: ticks", "step: tick", "no scene is called 'tick'"),
    "a value": ("{hogs: 9}", "{hogs: 99}", "hogs cannot be 99"),
    "a choice": ("{hogs: 9}", "{exp_holdoff: 7}", "exp_holdoff cannot be '7'"),
    "a patch": ("patch: srcu", "patch: rwsem", "there is no patch of 'rwsem'"),
    "a clock": ("patch: srcu", "patch: srcu, clock: count", ""),
}
"""What is planted: old text, new text, and how the sentence about it begins; empty: none."""


@pytest.fixture
def story(copy: Path) -> Path:
    """The lesson with one remark in place of its own discussion."""
    path = copy / "lessons" / SLUG / "story.yaml"
    path.write_text(path.read_text().partition("\ndiscussion:")[0] + REMARK)
    return path


def test_a_sound_remark_has_no_problem(story: Path) -> None:
    assert story.is_file()
    assert problems() == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_line(story: Path, name: str) -> None:
    old, new, sentence = FAULTS[name]
    head, mark, remark = story.read_text().partition("\ndiscussion:")
    assert old in remark
    story.write_text(head + mark + remark.replace(old, new))
    found = problems()
    if not sentence:
        assert found == []
        return
    one = found[0]
    assert sentence in one.sentence or sentence in one.key
    assert one.file.endswith("story.yaml")
    assert one.line > head.count("\n")
    assert one.remedy.endswith(".")


@pytest.mark.parametrize("slug", [slug for slug in lessons.slugs() if slug[0].isdigit()])
def test_every_lesson_ends_with_its_discussion(slug: str) -> None:
    remarks = lessons.load(slug).lesson.discussion
    assert len(remarks) >= 4
    assert sum(bool(one.tried) for one in remarks) >= 2
    assert any(source.link or source.commit for one in remarks for source in one.sources)
