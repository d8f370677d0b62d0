# SPDX-License-Identifier: GPL-2.0-or-later
"""No word of a lesson stands in generic code, and the lint that says so sees one."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.lessons import load
from duet.lessons.load import read_lesson
from duet.lessons.schema import Lesson, XrayConfig
from duet.lessons.words import BACKEND, FRONTEND, GENERIC, generic_files, search, words_of


@pytest.fixture(scope="module")
def all_lessons() -> dict[str, Lesson]:
    return {slug: load.load(slug).lesson for slug in load.slugs()}


def test_generic_code_has_no_word_of_a_lesson(root: Path, all_lessons: dict[str, Lesson]) -> None:
    found = [f"{f.path}:{f.line}: {f.word} of {f.lesson}" for f in search(root, all_lessons)]
    assert not found, "move it into the lesson, its view or a key of its manifest:\n" + "\n".join(
        found
    )


def test_every_generic_word_has_a_reason() -> None:
    assert all(len(reason) > 20 for reason in GENERIC.values())


@pytest.fixture(scope="module")
def made_up(root: Path) -> dict[str, Lesson]:
    """The template with a knob, a probe of a function and a kind of its own."""
    tree = read_lesson(root / "lessons/_template").model_dump(mode="json")
    tree["params"]["gnomes"] = {"title": "gnomes", "help": "how many", "default": 1}
    tree["kinds"].append(
        {"name": "wait_gnome", "title": "waits", "colour": "wait", "layer": "state"}
    )
    tree["probes"].append(
        {"name": "gnome_in", "event": "duet/gnome_in", "define": "p:duet/gnome_in wake_gnome"}
    )
    return {"07-garden-gnomes": Lesson.model_validate(tree)}


def test_a_probe_that_all_lessons_may_use_is_no_lessons_own(made_up: dict[str, Lesson]) -> None:
    (lesson,) = made_up.values()
    probes = tuple(XrayConfig(probe=name) for name in ("variable", "gnome-list"))
    words = words_of("07-garden-gnomes", lesson.model_copy(update={"xray": probes}))
    assert "gnome-list" in words and "variable" not in words


@pytest.mark.parametrize(
    ("place", "line", "word"),
    [
        (f"{BACKEND}/session/x.py", 'params.get("gnomes", 0)', "gnomes"),
        (f"{BACKEND}/session/x.c", "/* as wait_gnome */", "wait_gnome"),
        (f"{FRONTEND}/panels/x.tsx", "const first = 'gnomes';", "gnomes"),
        (f"{FRONTEND}/views/x.ts", "probe === 'gnome_in'", "gnome_in"),
        (f"{FRONTEND}/derive/x.ts", "// of wake_gnome()", "wake_gnome"),
        (f"{BACKEND}/cli/x.py", "'see 07-garden-gnomes'", "07-garden-gnomes"),
        (f"{BACKEND}/cli/x.py", "'see garden-gnomes'", "garden-gnomes"),
    ],
)
def test_a_word_is_seen(
    tmp_path: Path, made_up: dict[str, Lesson], place: str, line: str, word: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(f"\n{line}\n")
    (found,) = search(tmp_path, made_up)
    assert (found.path, found.line, found.word) == (place, 2, word)
    assert not list(search(tmp_path, {}))


def test_views_for_all_lessons_are_generic_those_of_a_lesson_and_tests_are_its_own(
    root: Path,
) -> None:
    files = generic_files(root)
    assert f"{FRONTEND}/views/contract.ts" in files and f"{BACKEND}/lessons/load.py" in files
    assert f"{FRONTEND}/views/timeline/index.tsx" in files
    assert not [f for f in files if f.startswith("lessons/") or ".test." in f]


def test_each_lesson_has_words(all_lessons: dict[str, Lesson]) -> None:
    assert all(len(words_of(slug, lesson)) > 10 for slug, lesson in all_lessons.items())
