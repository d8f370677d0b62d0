# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson in other languages: what is laid over it, what falls back, and what the lint names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.cli.translate import translate
from duet.lessons import load as lessons
from duet.lessons.translations import (
    languages,
    texts_of,
    translated,
    translated_places,
    untranslated,
)
from duet.lint.lessons import lint_lesson
from duet.server.lessons import lesson_words

SLUG = "02-grace-periods"
READ = {"claim", "ask", "why", "said", "became", "context", "because", "intro", "says"}
"""Sentences; names may be the same in every language."""
WHOLE = ("de", "zh-Hans")
"""Languages that this lesson has been translated into, whole but for what need not be."""


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one lesson."""
    without = shutil.ignore_patterns("recorded")
    for folder in (f"lessons/{SLUG}", "lessons/_common", f"kernel-patches/{SLUG}"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=without)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    return tmp_path / "lessons" / SLUG


def said(language: str) -> dict[str, str]:
    """What is laid over the lesson, by its place."""
    found = translated_places(lessons.load(SLUG), language)
    return {".".join(map(str, place)): text for place, text in found}


def named(of: str) -> list[tuple[str, int, str]]:
    """File, line and sentence of what the lint says of translations."""
    problems, _ = lint_lesson(SLUG)
    return [(p.file, p.line, p.sentence) for p in problems if of in p.file]


@pytest.mark.parametrize("language", WHOLE)
def test_steps_questions_and_prose_are_there(copy: Path, language: str) -> None:
    lesson = lessons.load(SLUG)
    texts = said(language)
    assert language in languages(lesson)
    for n, scene in enumerate(lesson.lesson.scenes):
        assert {f"scenes.{n}.title", f"scenes.{n}.claim", f"content.{scene.id}"} <= set(texts)
    for n, _ in enumerate(lesson.lesson.questions):
        assert {f"questions.{n}.ask", f"questions.{n}.why"} <= set(texts)
    assert all(f"terms.{n}.says" in texts for n, _ in enumerate(lesson.lesson.terms))
    assert all(f"discussion.{n}.said" in texts for n, _ in enumerate(lesson.lesson.discussion))
    assert all(f"published.{n}.claim" in texts for n, _ in enumerate(lesson.lesson.published))
    # The lab's texts go with the lab.
    assert not [place for place in texts if place.startswith("lab.")]
    untranslated = set(texts_of(lesson)) - {one.key for one in translated(lesson, language)}
    assert not [key for key in untranslated if key.rpartition(".")[2] in READ]
    assert named("i18n") == []


def test_a_text_whose_english_changed_falls_back_and_is_named(copy: Path) -> None:
    before = said("de")
    story = copy / "story.yaml"
    story.write_text(
        story.read_text().replace("No reader is there: the hogs", "No reader is there. They")
    )
    prose = copy / "content.md"
    prose.write_text(prose.read_text().replace("What are the nine hogs", "Whom do the nine hogs"))
    after = said("de")
    assert set(before) - set(after) == {"scenes.3.claim", "content.ticks"}
    sentences = [sentence for _, _, sentence in named("i18n/de")]
    assert sentences == [
        "the English text of 'scenes.ticks.claim' has changed since it was translated",
        "the English text of 'content.ticks' has changed since it was translated",
    ]


def test_a_key_that_the_lesson_does_not_have_is_named_with_its_line(copy: Path) -> None:
    path = copy / "i18n/de/strings.yaml"
    path.write_text(path.read_text().replace("scenes.ticks.claim:", "scenes.tick.claim:"))
    ((file, line, sentence),) = named("i18n/de")
    assert file == f"lessons/{SLUG}/i18n/de/strings.yaml"
    assert path.read_text().splitlines()[line - 1].strip() == "scenes.tick.claim:"
    assert "has no text 'scenes.tick.claim' (did you mean 'scenes.ticks.claim'?)" in sentence


def test_a_file_that_is_not_usable_is_named_and_leaves_the_lesson_in_english(copy: Path) -> None:
    path = copy / "i18n/de/strings.yaml"
    path.write_text("strings:\n  title: {en: Grace periods, sais: Grace Periods}\n")
    assert any("did you mean 'says'" in sentence for _, _, sentence in named("i18n/de"))
    assert json.loads(lesson_words("de")) == {}
    assert SLUG in json.loads(lesson_words("zh-Hans"))


def test_a_folder_that_is_no_language_is_named(copy: Path) -> None:
    (copy / "i18n/German!").mkdir()
    assert [sentence for *_, sentence in named("i18n")] == ["'German!' is not a language"]


def test_a_language_that_is_no_folder_has_no_words(copy: Path) -> None:
    assert lesson_words("fr") == lesson_words("../de") == lesson_words("") == b"{}"


def test_what_translate_prints_begins_a_language(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert translate(SLUG, "fr") == 0
    strings, prose = capsys.readouterr().out.split("# content.md\n")
    (copy / "i18n/fr").mkdir()
    (copy / "i18n/fr/strings.yaml").write_text(strings)
    (copy / "i18n/fr/content.md").write_text(prose)
    assert named("i18n/fr") == []
    assert untranslated(lessons.load(SLUG), "fr") == []
    assert len(said("fr")) > 100
    translate(SLUG, "fr")
    assert capsys.readouterr().out.startswith("Every text of")


def test_translate_lists_what_has_changed(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translate(SLUG, "de", as_json=True)
    before = json.loads(capsys.readouterr().out)
    prose = copy / "content.md"
    prose.write_text(prose.read_text().replace("What are the nine hogs", "Whom do the nine hogs"))
    translate(SLUG, "de", as_json=True)
    after = json.loads(capsys.readouterr().out)
    new = [one for one in after["missing"] if one not in before["missing"]]
    assert [one["key"] for one in new] == ["content.ticks"]
    assert "Whom do the nine hogs" in new[0]["text"]
    with pytest.raises(InputError, match="'German!' is not a language"):
        translate(SLUG, "German!")
