# SPDX-License-Identifier: GPL-2.0-or-later
"""Rule on i18n/: report translations whose English text no longer exists or has changed."""

from __future__ import annotations

from collections.abc import Iterator

from duet.lessons.document import LessonError, meant
from duet.lessons.translations import (
    CONTENT,
    FOLDER,
    LANGUAGE,
    Text,
    Translation,
    digest,
    languages,
    texts_of,
    translated,
)
from duet.lint.finding import Finding, NotChecked, Subject


def translations(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Check that the English text of every translation still exists and is unchanged."""
    folder = subject.folder
    for path in sorted((folder.folder / FOLDER).glob("*")):
        if not LANGUAGE.fullmatch(path.name):
            remedy = "Name the folder by a language tag, such as de or zh-Hans."
            yield Finding(f"'{path.name}' is not a language", remedy, file=path)
    known = texts_of(folder)
    for language in languages(folder):
        try:
            for said in translated(folder, language):
                yield from _one(said, known)
        except LessonError as error:
            for problem in error.problems:
                at = folder.folder / FOLDER / language / problem.file.rpartition("/")[2]
                key = f"{problem.key}: " if problem.key else ""
                yield Finding(key + problem.sentence, problem.remedy, file=at, line=problem.line)


def _one(said: Translation, known: dict[str, Text]) -> Iterator[Finding]:
    text = known.get(said.key)
    if text is None:
        sentence = f"the lesson has no text '{said.key}'{meant(said.key, list(known))}"
        remedy = "Correct the key; docs/LANGUAGES.md explains the keys."
        yield Finding(sentence, remedy, file=said.file, line=said.line)
    elif not said.is_of(text):
        sentence = f"the English text of '{said.key}' has changed since it was translated"
        made = digest(text.text)
        now = f"<!-- en: {made} -->" if said.key.startswith(f"{CONTENT}.") else text.text
        remedy = (
            f"Check the translation, then write into it the English from which it is made: {now}"
        )
        yield Finding(sentence, _ended(remedy), file=said.file, line=said.line)


def _ended(sentence: str) -> str:
    """Return a remedy with a full stop at its end."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
