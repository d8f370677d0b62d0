# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of a lesson that people read, each by its place: what a translation may name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from duet.errors import InputError
from duet.lessons.document import read
from duet.lessons.load import LessonFolder
from duet.lessons.problems import LessonError
from duet.lessons.schema import Place
from duet.lessons.terms import explained
from duet.lessons.view import sections

SAID: Final = frozenset(
    {"title", "question", "summary", "claim", "notes", "note", "that", "help", "ask", "why", "hint"}
    | {"answer", "says", "said", "became", "because", "not_testable", "context", "plural", "intro"}
)
"""Keys whose text is read, wherever they stand."""
LISTS: Final = frozenset({"choices", "labels", "ours", "caveats"})
"""Keys of lists whose texts are read."""
NAMES: Final = frozenset({("operation", "name"), ("thread",)})
"""Names that stand in sentences."""
NOT_READ: Final = frozenset({"claims", "probes", "mails", "stress"})
"""Keys of the top that no page shows in words of ours."""
CONTENT: Final = "content"
LAB: Final = "lab"
"""lab.yaml of the folder, whose texts go with the lab and not with the lesson."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text.

    Args:
        key: as files name it, e.g. 'scenes.one-umount.title'; items without a name count from 1.
        place: the same in the lesson as the page gets it.
    """

    key: str
    place: Place
    text: str


def texts_of(folder: LessonFolder) -> dict[str, Text]:
    """All texts of a lesson by their keys, its prose (`content.STEP`) and terms included."""
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
    """As lesson_tree has them."""
    try:
        return [one.term.model_dump(mode="json") for one in explained(folder)]
    except InputError:  # the lint reports it
        return []


def _lab(path: Path) -> JsonValue:
    if not path.is_file():
        return {}
    try:
        return dict(read(path, path.name).values)
    except LessonError:  # the lint reports it
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
    """What an item of a list is called; empty: it has no name."""
    if not isinstance(item, dict):
        return ""
    return str(item.get("id") or item.get("name") or "")


def _is_read(place: Place) -> bool:
    last = place[-1]
    if isinstance(last, int):
        return place[-2] in LISTS or (place[0], place[-2]) == ("terms", "also")
    if (place[0], last) == ("terms", "name"):
        return True
    return last in SAID or place[0] == CONTENT or place in NAMES
