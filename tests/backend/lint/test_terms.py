# SPDX-License-Identifier: GPL-2.0-or-later
"""The lint on terms and recap: words that do not occur, drawings that are missing or act."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.planted import SLUG, plant, problems

FAULTS = {
    "a term that never occurs": (
        "name: hog\n    also: [hogs]", "name: pig\n    also: [pigs]",
        "the term 'pig' does not occur in the lesson", "terms.yaml"),
    "a word that two terms claim": (
        "also: [hogs]", "also: [hogs, SRCU]",
        "'SRCU' is already a form of the term 'SRCU'", "terms.yaml"),
    "a shared term that nobody explains": (
        "{name: RCU, shared: true}", "{name: umount, shared: true}",
        "no common file explains the term 'umount'", "terms.yaml"),
    "a drawing that is missing": (
        "drawing: srcu.svg", "drawing: srcv.svg",
        "there is no drawing 'srcv.svg' (did you mean 'srcu.svg'?)", "terms.yaml"),
    "a term of the entry without one": (
        "    drawing: srcu.svg\n", "", "a term that the first step shows needs a drawing",
        "terms.yaml"),
}  # fmt: skip


def test_the_lesson_is_sound_as_it_stands(copy: Path) -> None:
    assert copy.is_dir()
    assert problems() == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_file_and_line(copy: Path, name: str) -> None:
    old, new, sentence, file = FAULTS[name]
    plant(copy, old, new)
    found = [one for one in problems() if sentence in one.sentence]
    assert found, problems()
    assert found[0].file == f"lessons/{SLUG}/{file}"
    assert found[0].line > 1
    assert found[0].remedy.endswith(".")


def test_a_drawing_that_acts_is_named_by_its_own_file_and_line(copy: Path) -> None:
    path = copy / f"lessons/{SLUG}/drawings/srcu.svg"
    path.write_text(path.read_text().replace("</title>", "</title>\n  <script>1</script>"))
    (one,) = problems()
    assert one.sentence == "a drawing has no element 'script'"
    assert (one.file, one.line) == (f"lessons/{SLUG}/drawings/srcu.svg", 4)


def test_a_drawing_that_no_term_has_is_named(copy: Path) -> None:
    path = copy / f"lessons/{SLUG}/drawings/other.svg"
    path.write_text("<svg/>")
    (one,) = problems()
    assert (one.sentence, one.file) == ("no term has this drawing", str(path.relative_to(copy)))


def test_a_recap_has_five_questions_and_something_to_explain(copy: Path) -> None:
    path = copy / f"lessons/{SLUG}/recap.yaml"
    text = path.read_text()
    head, mark, quiz = text.partition("quiz:\n")
    path.write_text(head[: head.index("explain:")] + mark + quiz.partition("  - ask: The")[0])
    assert [one.sentence for one in problems()] == [
        "a lesson that ends with questions needs 5 questions, not 1",
        "a lesson that ends with questions needs `explain:`",
    ]
