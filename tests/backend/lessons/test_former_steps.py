# SPDX-License-Identifier: GPL-2.0-or-later
"""A step that got another name is still found by its former one; no former name is another's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from duet.export.pictures import scene_of
from duet.export.site import fitting_runs
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.runs.fitting import Entry, fitting_step


def renamed(folder: LessonFolder, was: list[str]) -> Lesson:
    """The lesson, with former names of its second step."""
    tree = folder.lesson.model_dump(by_alias=True)
    scenes = [dict(scene) for scene in tree["scenes"]]
    scenes[1]["was"] = was
    return Lesson.model_validate(tree | {"scenes": scenes})


def test_a_link_with_the_former_name_leads_to_the_step(lesson02: LessonFolder) -> None:
    folder = replace(lesson02, lesson=renamed(lesson02, ["former"]))
    second = folder.lesson.scenes[1]
    listing: list[Entry] = [
        {"name": scene.id, "arms": list(scene.arms), "params": dict(scene.params), "clock": "wall"}
        for scene in folder.lesson.scenes[:2]
    ]
    assert scene_of(folder, "former").id == second.id
    for word in ("former", "2", second.id.upper()):
        assert fitting_step(folder, word, listing) == fitting_step(folder, second.id, listing)
    runs = fitting_runs(folder, listing)
    assert runs["former"] == runs[second.id]


def test_a_former_name_that_another_step_has_is_refused(lesson02: LessonFolder) -> None:
    first = lesson02.lesson.scenes[0].id
    with pytest.raises(ValidationError, match=f"'{first}' is the name of another step"):
        renamed(lesson02, [first])
