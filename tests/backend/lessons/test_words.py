# SPDX-License-Identifier: GPL-2.0-or-later
"""No word of a lesson stands in generic code, and the lint that says so sees one."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.lessons import load
from duet.lessons.manifest import Lesson
from duet.lessons.word_exceptions import EXCEPTIONS, GENERIC
from duet.lessons.words import BACKEND, FRONTEND, generic_files, search, unused, words_of


@pytest.fixture(scope="module")
def all_lessons() -> dict[str, Lesson]:
    return {slug: load.load(slug).lesson for slug in load.slugs()}


def test_generic_code_has_no_word_of_a_lesson(root: Path, all_lessons: dict[str, Lesson]) -> None:
    found = [f"{f.path}:{f.line}: {f.word} of {f.lesson}" for f in search(root, all_lessons)]
    assert not found, "move it into the lesson, its view or a key of its manifest:\n" + "\n".join(
        found
    )


def test_every_exception_is_needed_and_has_a_reason(
    root: Path, all_lessons: dict[str, Lesson]
) -> None:
    assert unused(root, all_lessons) == []
    reasons = [reason for words in EXCEPTIONS.values() for reason in words.values()]
    assert all(len(reason) > 20 for reason in [*reasons, *GENERIC.values()])


@pytest.mark.parametrize(
    ("place", "line", "word"),
    [
        (f"{BACKEND}/session/x.py", 'params.get("hogs", 0)', "hogs"),
        (f"{BACKEND}/session/x.c", "/* as wait_srcu */", "wait_srcu"),
        (f"{FRONTEND}/panels/x.tsx", "const first = 'hogs';", "hogs"),
        (f"{FRONTEND}/views/x.ts", "kind === 'gp_check'", "gp_check"),
        (
            f"{FRONTEND}/derive/x.ts",
            "// of synchronize_rcu_expedited()",
            "synchronize_rcu_expedited",
        ),
        (f"{BACKEND}/cli/x.py", "'see 02-grace-periods'", "02-grace-periods"),
    ],
)
def test_a_word_is_seen(
    tmp_path: Path, all_lessons: dict[str, Lesson], place: str, line: str, word: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(f"\n{line}\n")
    (found,) = search(tmp_path, all_lessons, {})
    assert (found.path, found.line, found.word) == (place, 2, word)
    assert not list(search(tmp_path, all_lessons, {place: {word: "it may"}}))
    assert not list(search(tmp_path, {}, {}))


def test_code_of_a_view_and_tests_are_the_lessons_own(root: Path) -> None:
    files = generic_files(root)
    assert f"{FRONTEND}/views/contract.ts" in files and f"{BACKEND}/lessons/load.py" in files
    assert not [f for f in files if "views/hog-rows/" in f or ".test." in f]


def test_each_lesson_has_words(all_lessons: dict[str, Lesson]) -> None:
    assert all(len(words_of(slug, lesson)) > 10 for slug, lesson in all_lessons.items())
