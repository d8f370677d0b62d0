# SPDX-License-Identifier: GPL-2.0-or-later
"""Translations of a lesson: i18n/LANGUAGE/ contains its prose, and other texts by place.

Each translation contains the English text that was translated. If the lesson's English text has
changed since, the page shows the English text, and `duet lint` reports the translation as outdated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError

from duet.base.errors import InputError
from duet.lessons.document import Document, Found, LessonError, Problem, found_one, key_of, read
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Place
from duet.lessons.schema.base import StringsFile
from duet.lessons.view import HEADING, explained, sections

# The texts of a lesson that people read, by place. Translations refer to texts by place.

READ_KEYS: Final = frozenset(
    {"title", "question", "summary", "claim", "notes", "note", "that", "help", "ask", "why", "hint"}
    | {"answer", "says", "said", "became", "because", "not_testable", "context", "plural", "intro"}
)
"""Keys whose text people read, at any place."""
LISTS: Final = frozenset({"choices", "labels", "ours", "caveats"})
"""Keys of lists whose texts people read."""
NAMES: Final = frozenset({("operation", "name"), ("thread",)})
"""Names that occur in sentences."""
NOT_READ: Final = frozenset({"claims", "probes", "mails", "stress"})
"""Top-level keys that no page shows as text."""
CONTENT: Final = "content"
LAB: Final = "lab"
"""lab.yaml in the lesson's folder. Its texts belong to the lab, not to the lesson."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text.

    Args:
        key: key of the text in the files, e.g. 'scenes.one-umount.title'; items without a name are
            counted from 1.
        place: place of the text in the tree that the page gets.
    """

    key: str
    place: Place
    text: str


def texts_of(folder: LessonFolder) -> dict[str, Text]:
    """Return all texts of a lesson by key, including its prose (`content.STEP`) and terms."""
    tree: dict[str, JsonValue] = folder.lesson.model_dump(mode="json")
    tree["terms"] = _terms(folder)
    tree[CONTENT] = dict(sections(folder.content()))
    tree[LAB] = _lab(folder.folder / f"{LAB}.yaml")
    return {
        text.key: text
        for top, value in tree.items()
        if top not in NOT_READ
        for text in _found(value, top, (top,))
    }


def _terms(folder: LessonFolder) -> JsonValue:
    try:
        return [one.term.model_dump(mode="json") for one in explained(folder)]
    except InputError:  # `duet lint` reports this error
        return []


def _lab(path: Path) -> JsonValue:
    if not path.is_file():
        return {}
    try:
        return dict(read(path, path.name).values)
    except LessonError:  # `duet lint` reports this error
        return {}


def _found(value: JsonValue, key: str, place: Place) -> Iterator[Text]:
    if isinstance(value, str):
        if value and _is_read(place):
            yield Text(key, place, value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _found(inner, f"{key}.{name}", (*place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _found(inner, f"{key}.{_named(inner) or index + 1}", (*place, index))


def _named(item: JsonValue) -> str:
    """Return the name of a list's item; "" if the item has no name."""
    if not isinstance(item, dict):
        return ""
    return str(item.get("id") or item.get("name") or "")


def _is_read(place: Place) -> bool:
    last = place[-1]
    if isinstance(last, int):
        return place[-2] in LISTS or (place[0], place[-2]) == ("terms", "also")
    if (place[0], last) == ("terms", "name"):
        return True
    return last in READ_KEYS or place[0] == CONTENT or place in NAMES


FOLDER: Final = "i18n"
STRINGS: Final = "strings.yaml"
PROSE: Final = "content.md"
LANGUAGE: Final = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}")
MADE_FROM: Final = re.compile(r"<!--\s*en:\s*([0-9a-f]{10})\s*-->")
"""Comment in a section of the prose, with the digest of the English section that it translates."""


@dataclass(frozen=True, slots=True)
class Translation:
    """One translated text.

    Args:
        key: see Text.
        line: line number in the file, from 1.
        english: the English text that was translated.
        digest: for a section of the prose, the digest of the English section that was translated;
            if empty, `english` is compared.
    """

    key: str
    text: str
    file: Path
    line: int
    english: str
    digest: str

    def is_of(self, text: Text) -> bool:
        """Return whether this is a translation of the current English text."""
        return digest(text.text) == self.digest if self.digest else text.text == self.english


def digest(text: str) -> str:
    """Return the first ten digits of a section's SHA-256, which identify the section."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def languages(folder: LessonFolder) -> list[str]:
    """Return the languages of a lesson besides English."""
    found = (folder.folder / FOLDER).glob("*/")
    return sorted(one.name for one in found if LANGUAGE.fullmatch(one.name))


def files(folder: LessonFolder, language: str) -> list[Path]:
    """Return the files that exist for one language."""
    inside = folder.folder / FOLDER / language
    return [inside / name for name in (STRINGS, PROSE) if (inside / name).is_file()]


def translated_places(folder: LessonFolder, language: str) -> list[tuple[Place, str]]:
    """Return (place in the page's tree, translation) for each text of the lesson.

    Missing and outdated translations are omitted.

    Raises:
        LessonError: one of the translation's files is unusable.
    """
    return [(text.place, said) for text, said in _current(folder, language) if text.place[0] != LAB]


def by_english(folder: LessonFolder, language: str) -> dict[str, str]:
    """Return translations by English text, for the lesson and for the lab in the lesson's folder.

    Raises:
        LessonError: one of the translation's files is unusable.
    """
    return {text.text: said for text, said in _current(folder, language)}


def untranslated(folder: LessonFolder, language: str) -> list[Text]:
    """Return the texts of the lesson and of its lab that have no current translation.

    Raises:
        LessonError: one of the translation's files is unusable.
    """
    said = {text.key for text, _ in _current(folder, language)}
    return [text for text in texts_of(folder).values() if text.key not in said]


def _current(folder: LessonFolder, language: str) -> Iterator[tuple[Text, str]]:
    """Yield texts that have current translations, with these translations."""
    if not LANGUAGE.fullmatch(language) or not files(folder, language):
        return
    known = texts_of(folder)
    for said in translated(folder, language):
        text = known.get(said.key)
        if text is not None and said.is_of(text):
            yield text, said.text


def translated(folder: LessonFolder, language: str) -> Iterator[Translation]:
    """Yield all translated texts in the files of a language.

    Raises:
        LessonError: a file is unusable.
    """
    for path in files(folder, language):
        yield from (_strings(path) if path.name == STRINGS else _prose(path))


def shown(path: Path) -> str:
    """Return a file's name for use in problems: `lessons/NN-slug/i18n/de/strings.yaml`."""
    return "/".join(path.parts[-5:])


def _strings(path: Path) -> Iterator[Translation]:
    document = read(path, shown(path))
    try:
        file = StringsFile.model_validate(document.values)
    except ValidationError as error:
        raise LessonError(
            [
                Problem(
                    shown(path),
                    document.line(one.place),
                    key_of(one.place),
                    one.sentence,
                    one.remedy,
                )
                for one in (found_one(e, StringsFile) for e in error.errors(include_url=False))
            ]
        ) from error
    for key, line in file.strings.items():
        at = document.line(("strings", key))
        yield Translation(key, line.says, path, at, line.en, "")


def _placed(one: Found, document: Document) -> Problem:
    line, key = document.line(one.place), key_of(one.place)
    return Problem(document.name, line, key, one.sentence, one.remedy)


def _prose(path: Path) -> Iterator[Translation]:
    raw = path.read_text(encoding="utf-8")
    said: Mapping[str, str] = sections(raw)
    for heading in HEADING.finditer(raw):
        step = heading[1]
        after = HEADING.search(raw, heading.end())
        made = MADE_FROM.search(raw, heading.end(), after.start() if after else len(raw))
        line = raw.count("\n", 0, heading.start()) + 1
        yield Translation(f"{CONTENT}.{step}", said[step], path, line, "", made[1] if made else "-")
