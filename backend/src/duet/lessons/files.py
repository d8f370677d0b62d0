# SPDX-License-Identifier: GPL-2.0-or-later
"""The YAML files of a lesson's folder become one Lesson.

Each key has a file (schema.FILES); one that stands elsewhere, or in two files, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from duet.lessons.document import Document, read
from duet.lessons.problems import Found, LessonError, Problem, file_of, found, key_of
from duet.lessons.schema import FILES, Lesson

FIRST = "lesson.yaml"


def paths(folder: Path) -> list[Path]:
    """The YAML files that a lesson's folder has."""
    return [folder / name for name in FILES if (folder / name).is_file()]


def stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of the files: another stamp, another lesson."""
    stats = [(path.name, path.stat()) for path in paths(folder)]
    return tuple((name, status.st_size, status.st_mtime_ns) for name, status in stats)


def read_lesson(folder: Path) -> Lesson:
    """Read and check the files of one lesson.

    Raises:
        LessonError: a file is not YAML, or the files are not what the schema wants; every
            problem names file, line and key.
    """
    documents: dict[str, Document] = {}
    broken: list[Problem] = []
    for path in paths(folder):
        try:
            documents[path.name] = read(path, _shown(folder, path.name))
        except LessonError as error:
            broken += error.problems
    if broken:
        raise LessonError(broken)
    tree, owners, problems = _joined(documents)
    try:
        lesson = Lesson.model_validate(tree)
    except ValidationError as error:
        problems += [_placed(one, folder, documents, owners) for one in found(error)]
        raise LessonError(problems) from error
    if problems:
        raise LessonError(problems)
    return lesson


def placing(folder: Path) -> Callable[[Found], Problem]:
    """Looks up file and line of what is wrong with a lesson that can be read."""
    documents = {path.name: read(path, _shown(folder, path.name)) for path in paths(folder)}
    _, owners, _ = _joined(documents)
    return lambda one: _placed(one, folder, documents, owners)


def _joined(
    documents: dict[str, Document],
) -> tuple[dict[str, Any], dict[str, str], list[Problem]]:
    """All keys, the file that each was taken from, and keys that stand in the wrong file."""
    tree: dict[str, Any] = {}
    owners: dict[str, str] = {}
    problems: list[Problem] = []
    for file, document in documents.items():
        for key, value in document.values.items():
            home = file_of(str(key))
            line = document.line((key,))
            if key in owners:
                sentence = f"this key stands in {owners[key]} too"
                remedy = f"Leave it in {home}." if home else "Remove it."
                problems.append(Problem(document.name, line, str(key), sentence, remedy))
            elif home and file != home:
                sentence, remedy = f"this key belongs in {home}", f"Move it to {home}."
                problems.append(Problem(document.name, line, str(key), sentence, remedy))
                tree[key], owners[key] = value, file
            else:
                tree[str(key)], owners[str(key)] = value, file
    return tree, owners, problems


def _placed(
    one: Found, folder: Path, documents: dict[str, Document], owners: dict[str, str]
) -> Problem:
    """A problem with its file and line."""
    top = str(one.place[0]) if one.place else ""
    file = owners.get(top) or file_of(top) or FIRST
    document = documents.get(file) or Document(_shown(folder, file))
    return Problem(
        document.name, document.line(one.place), key_of(one.place), one.sentence, one.remedy
    )


def _shown(folder: Path, file: str) -> str:
    return f"{folder.parent.name}/{folder.name}/{file}"
