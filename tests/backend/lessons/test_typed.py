# SPDX-License-Identifier: GPL-2.0-or-later
"""What people type for a lesson or a step leads there, on the server as on the page."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duet.lessons import load as cache
from duet.lessons.document import meant_by, scene_called

CASES = json.loads((Path(__file__).parents[2] / "fixtures" / "typed-links.json").read_text())


@pytest.mark.parametrize(("word", "slug"), CASES["lesson"].items())
def test_a_lesson(word: str, slug: str | None) -> None:
    assert meant_by(word, CASES["lessons"]) == slug


def scene(name: str) -> Any:
    was = ("former",) if name == "ticks" else ()
    return SimpleNamespace(id=name, has_name=lambda word: word == name or word in was)


@pytest.mark.parametrize(("word", "name"), (CASES["step"] | {"former": "ticks"}).items())
def test_a_step(word: str, name: str | None) -> None:
    found = scene_called([scene(one) for one in CASES["steps"]], word)
    assert (None if found is None else found.id) == name


def test_each_lesson_and_step_is_found_by_its_number() -> None:
    folders = cache.usable()
    slugs = [folder.slug for folder in folders]
    for folder in folders:
        assert meant_by(folder.slug[:2], slugs) == folder.slug
        for place, one in enumerate(folder.lesson.scenes, 1):
            assert scene_called(folder.lesson.scenes, str(place)) is one
    assert scene_called(folders[0].lesson.scenes, None) is None
