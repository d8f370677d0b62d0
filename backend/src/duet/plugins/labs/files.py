# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds labs, which are in lab.yaml in a lesson's folder, or in labs/SLUG/lab.yaml.

A lab in a lesson's folder has the lesson's slug. The folder labs/ can be in the checkout and in
each folder that DUET_LESSONS names. Labs in labs/ can have tasks about several lessons.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from duet.base.errors import DuetError, InputError
from duet.base.settings import extra_lessons, repo_root
from duet.lessons import load as folders
from duet.lessons.document import (
    Document,
    Found,
    LessonError,
    Problem,
    found_one,
    key_of,
    meant,
    read,
)
from duet.plugins.labs.schema import ChallengeTask, Explain, Lab, Measure, Point, Predict, Task

FILE: Final = "lab.yaml"
SLUG: Final = re.compile(r"^[a-z0-9][a-z0-9-]{0,59}$")
KINDS: Final[dict[str, type[BaseModel]]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model
    for model in (Predict, Point, Explain, Measure, ChallengeTask)
}


@dataclass(frozen=True, slots=True)
class LabFile:
    """A lab and its file.

    Args:
        lesson: slug of the lesson whose folder contains the lab. None if no lesson's folder
            contains it.
    """

    slug: str
    path: Path
    lab: Lab
    lesson: str | None

    def task(self, name: str) -> Task:
        """Return the task with that name.

        Raises:
            InputError: there is no such task.
        """
        known = self.lab.tasks
        if name not in known:
            raise InputError(
                f"the lab {self.slug} has no task '{name:.60}'{meant(name, list(known))}.",
                remedy=f"Choose from: {', '.join(known)}.",
            )
        return known[name]

    def lesson_of(self, task: Task) -> str:
        """Return the slug of a task's lesson.

        Raises:
            InputError: neither the task nor the lab names a lesson.
        """
        slug = task.lesson or self.lab.lesson or self.lesson
        if slug is None:
            raise InputError(
                f"the task '{task.title}' of the lab {self.slug} has no lesson.",
                remedy="Add `lesson:` with a lesson's slug to the lab or to the task.",
            )
        return slug


def paths() -> dict[str, tuple[Path, str | None]]:
    """Return a mapping from each lab's slug to the lab's file and the slug of its lesson, or None.

    A lab in a lesson's folder belongs to that lesson.

    Raises:
        InputError: two labs have the same slug, or DUET_LESSONS names something unusable.
    """
    found: dict[str, tuple[Path, str | None]] = {}
    for slug, place in folders.places().items():
        if (place.folder / FILE).is_file():
            found[slug] = (place.folder / FILE, slug)
    for base in (repo_root(), *extra_lessons()):
        for path in sorted((base / "labs").glob(f"*/{FILE}")):
            slug = path.parent.name
            if not SLUG.match(slug):
                continue
            if slug in found:
                raise InputError(
                    f"two labs are called {slug}: {found[slug][0]} and {path}.",
                    remedy="Rename the folder of one lab.",
                )
            found[slug] = (path, None)
    return found


_cached: dict[Path, tuple[tuple[int, int], LabFile]] = {}


def find(slug: str) -> LabFile:
    """Return the lab with that slug. The lab's file is read again only if it has changed.

    Raises:
        InputError: no lab has that slug.
        LessonError: its file is invalid. The sentence names file, line and key.
    """
    known = paths()
    if slug not in known:
        raise InputError(
            f"there is no lab '{slug:.60}'{meant(slug, list(known))}.",
            remedy=f"The labs are: {', '.join(known) or 'none'}.",
        )
    path, lesson = known[slug]
    status = path.stat()
    stamp = (status.st_size, status.st_mtime_ns)
    cached = _cached.get(path)
    if cached is None or cached[0] != stamp:
        cached = _cached[path] = (stamp, LabFile(slug, path, read_lab(path), lesson))
    return cached[1]


def usable() -> list[LabFile]:
    """Return the readable labs in which every task has a lesson. `duet lint` reports the other
    labs."""
    found: list[LabFile] = []
    for slug in paths():
        try:
            file = find(slug)
            for task in file.lab.tasks.values():
                file.lesson_of(task)
        except DuetError:
            continue
        found.append(file)
    return found


def read_lab(path: Path) -> Lab:
    """Read and check one lab.yaml.

    Raises:
        LessonError: the file is not YAML, or does not match the schema.
    """
    document = read(path, shown(path))
    try:
        return Lab.model_validate(document.values)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        errors.sort(key=lambda one: one["type"] != "extra_forbidden")
        problems = [_placed(_found(one), document) for one in errors]
        raise LessonError(problems) from error


def placing(path: Path) -> Callable[[Found], Problem]:
    """Return a function that adds the line number to a problem in a readable lab."""
    document = read(path, shown(path))
    return lambda one: _placed(one, document)


def shown(path: Path) -> str:
    """Return the name that problems use for a lab's file: `lessons/NN-slug/lab.yaml`."""
    return "/".join(path.parts[-3:])


def _found(error: ErrorDetails) -> Found:
    """Translate pydantic's error.

    The error's location contains the kind of the task as a level that the file does not have.
    """
    loc = error["loc"]
    if loc[:1] == ("tasks",) and len(loc) > 2 and loc[2] in KINDS:
        inner = found_one(ErrorDetails(**{**error, "loc": loc[3:]}), KINDS[str(loc[2])])
        return Found((*loc[:2], *inner.place), inner.sentence, inner.remedy)
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        sentence = "a task needs a `kind`" if "found" in error["type"] else "there is no such kind"
        remedy = f"Kinds are: {', '.join(KINDS)}."
        return Found((*loc, "kind"), sentence, remedy)
    return found_one(error, Lab)


def _placed(one: Found, document: Document) -> Problem:
    line = document.line(one.place)
    return Problem(document.name, line, key_of(one.place), one.sentence, one.remedy)
