# SPDX-License-Identifier: GPL-2.0-or-later
"""Find and load lessons. A lesson is a folder lessons/NN-slug that contains a lesson.yaml."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from duet.base.errors import DuetError, InputError
from duet.base.settings import EXTRA_LESSONS, ROOT
from duet.lessons.document import (
    Document,
    Found,
    LessonError,
    Problem,
    file_of,
    found,
    key_of,
    meant,
    parse,
    read,
)
from duet.lessons.folders import SLUG as SLUG
from duet.lessons.folders import LessonPaths as LessonPaths
from duet.lessons.folders import by_name
from duet.lessons.folders import places as places
from duet.lessons.folders import slugs as slugs
from duet.lessons.schema import FILES, NO_ROWS, Arm, KnobRole, Lesson, Workload

# Merge the YAML files of a lesson's folder into one Lesson.
#
# Each key belongs to one file (schema.FILES). A key in the wrong file, or in two files, is refused.

FIRST = "lesson.yaml"
LESSONS = 32
"""Number of parsed lessons that a process keeps."""


def paths(folder: Path) -> list[Path]:
    """Return the YAML files that exist in a lesson's folder."""
    return [folder / name for name in FILES if (folder / name).is_file()]


def folder_stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and mtimes of a lesson's YAML files, to detect changes."""
    stats = [(path.name, path.stat()) for path in paths(folder)]
    return tuple((name, status.st_size, status.st_mtime_ns) for name, status in stats)


def read_lesson(folder: Path) -> Lesson:
    """Read and check the files of one lesson. Unchanged files are not parsed again.

    Raises:
        LessonError: a file is not YAML or does not match the schema; every problem names file, line
            and key.
    """
    return _parsed(folder, tuple((path.name, path.read_bytes()) for path in paths(folder)))


@lru_cache(maxsize=LESSONS)
def _parsed(folder: Path, files: tuple[tuple[str, bytes], ...]) -> Lesson:
    """Parse a lesson's files.

    Args:
        folder: only names the files in problems.
        files: name and content of each file.
    """
    documents: dict[str, Document] = {}
    broken: list[Problem] = []
    for name, content in files:
        try:
            documents[name] = parse(content, _shown(folder, name))
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
    """Return a function that adds file and line to a fault. The lesson must be readable."""

    @cache
    def documents() -> tuple[dict[str, Document], dict[str, str]]:
        given = {path.name: read(path, _shown(folder, path.name)) for path in paths(folder)}
        return given, _joined(given)[1]

    return lambda one: _placed(one, folder, *documents())


def _joined(
    documents: dict[str, Document],
) -> tuple[dict[str, Any], dict[str, str], list[Problem]]:
    """Return all keys, the file of each key, and problems for keys in a wrong or second file."""
    tree: dict[str, Any] = {}
    owners: dict[str, str] = {}
    problems: list[Problem] = []
    for file, document in documents.items():
        for key, value in document.values.items():
            home = file_of(str(key))
            line = document.line((key,))
            if key in owners:
                sentence = f"this key is also in {owners[key]}"
                remedy = f"Keep it in {home}." if home else "Remove it."
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
    """Add file and line to a fault."""
    top = str(one.place[0]) if one.place else ""
    file = owners.get(top) or file_of(top) or FIRST
    document = documents.get(file) or Document(_shown(folder, file))
    return Problem(
        document.name, document.line(one.place), key_of(one.place), one.sentence, one.remedy
    )


def _shown(folder: Path, file: str) -> str:
    return f"{folder.parent.name}/{folder.name}/{file}"


# Find knobs by their role, because lessons choose their names. Pure.

USUAL_CPUS = 2
"""Number of vCPUs of a guest if the lesson has no knob for it."""


def knob(lesson: Lesson, role: KnobRole) -> str | None:
    """Return the name of the knob with this role; None if the lesson has none."""
    return next((name for name, param in lesson.params.items() if param.role == role), None)


def duration_s(lesson: Lesson, params: Mapping[str, int], usual: int) -> int:
    """Return how many seconds the workload runs; `usual` if no knob sets the duration."""
    return _value(lesson, params, "duration", usual)


def cpus(lesson: Lesson, params: Mapping[str, int]) -> int:
    """Return the number of vCPUs per guest. On the count clock, check_params sets the knob to 1."""
    return _value(lesson, params, "cpus", USUAL_CPUS)


def rows(lesson: Lesson, workload: Workload, params: Mapping[str, int]) -> int:
    """Return how many rows to reserve for threads; 0 if no knob sets a number, or rows are off."""
    return 0 if workload.rows == NO_ROWS else _value(lesson, params, "threads", 0)


def _value(lesson: Lesson, params: Mapping[str, int], role: KnobRole, usual: int) -> int:
    name = knob(lesson, role)
    return usual if name is None else params.get(name, usual)


@dataclass(frozen=True, slots=True)
class LessonFolder:
    """A lesson and the paths of its parts.

    Args:
        changes: path of the patch with a visitor's change, by name of the changed arm
            (lessons/own.py).
        brought: text of the patch, by arm name, for changed arms that exist only in a recording.
    """

    slug: str
    folder: Path
    patch_dir: Path
    lesson: Lesson
    changes: Mapping[str, Path] = field(default_factory=dict)
    brought: Mapping[str, str] = field(default_factory=dict)

    def arm(self, name: str) -> Arm:
        """Return the arm with this name.

        Raises:
            InputError: there is no such arm; the remedy lists the arms.
        """
        for arm in self.lesson.arms:
            if arm.name == name:
                return arm
        names = [a.name for a in self.lesson.arms]
        raise InputError(
            f"lesson {self.slug} has no arm '{name}'{meant(name, names)}.",
            remedy=f"Choose from: {', '.join(names)}.",
        )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The default arms, which are all arms except optional ones."""
        return tuple(arm.name for arm in self.lesson.arms if not arm.optional)

    def patch_files(self, arm: str) -> tuple[Path, ...]:
        """Return the arm's own patches in order, then a visitor's change; empty for stock."""
        files = tuple(self.patch_dir / name for name in self.arm(arm).patches)
        return (*files, self.changes[arm]) if arm in self.changes else files

    def recordings(self) -> tuple[Path, ...]:
        """Return the recorded bundles of the lesson's steps."""
        return self._paths.recordings()

    def cells(self) -> tuple[Path, ...]:
        """Return the recordings of the lesson's grids (lessons/grid.py)."""
        return self._paths.cells()

    def bundles(self) -> dict[str, Path]:
        """Return all recordings by name, the cells of grids last."""
        return by_name(self.recordings(), self.cells())

    @property
    def _paths(self) -> LessonPaths:
        return LessonPaths(self.folder, self.patch_dir)

    def content(self) -> str:
        """Return the lesson's prose as Markdown. A scene's text is below the heading `## id`."""
        path = self.folder / "content.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def check_recorded_params(self, recorded: Mapping[str, int], clock: str) -> dict[str, int]:
        """Check the knobs of a recorded run against the current lesson, and drop obsolete knobs.

        Raises:
            InputError: see check_params.
        """
        known = {name: v for name, v in recorded.items() if name in self.lesson.params}
        return self.check_params(known, clock)

    def check_params(
        self, given: Mapping[str, object], clock: str = "wall", *, measured: bool = False
    ) -> dict[str, int]:
        """Fill in defaults, and check all values. Omit knobs that affect only the page's model.

        On the count clock, a guest always has one vCPU; only measurements can have more
        (duet.cli.arguments).

        Args:
            measured: whether the largest value of a knob is its `measured_max`.

        Raises:
            InputError: a name is unknown, or a value has the wrong type or is out of range; the
                error lists what is allowed.
        """
        unknown = [n for n in given if n not in self.lesson.params]
        if unknown:
            names = list(self.lesson.params)
            raise InputError(
                f"lesson {self.slug} has no parameter '{unknown[0]}'{meant(unknown[0], names)}.",
                remedy=f"Choose from: {', '.join(names)}.",
            )
        values: dict[str, int] = {}
        for name, param in self.lesson.params.items():
            value = given.get(name, param.default)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(
                    f"parameter '{name}' must be a whole number, not {value!r:.40}.",
                    remedy=f"Leave the parameter out to use its default, {param.default}.",
                )
            if param.choices and value not in param.choices:
                allowed = ", ".join(map(str, param.choices))
                raise InputError(
                    f"parameter '{name}' must be one of {allowed}, not {value}.",
                    remedy=f"Leave the parameter out to use its default, {param.default}.",
                )
            low, high = param.min, param.max
            if measured and param.measured_max is not None:
                high = param.measured_max
            if (low is not None and value < low) or (high is not None and value > high):
                raise InputError(
                    f"parameter '{name}' must be from {low} to {high}, not {value}.",
                    remedy=f"Leave the parameter out to use its default, {param.default}.",
                )
            if param.applies != "model":
                values[name] = value
        if clock == "count" and (cpus := knob(self.lesson, "cpus")) is not None:
            values[cpus] = 1
        return values


def load(slug: str, root: Path | None = None) -> LessonFolder:
    """Read and check one lesson.

    Raises:
        InputError: there is no such lesson.
        LessonError: the lesson's files are invalid; the sentence names file, line and key.
    """
    known = places(root)
    if slug not in known:
        raise InputError(
            f"there is no lesson '{slug:.60}'{meant(slug, list(known))}.",
            remedy=f"Lessons here: {', '.join(known) or 'none'}.",
        )
    place = known[slug]
    return LessonFolder(slug, place.folder, place.patch_dir, read_lesson(place.folder))


# The server's cache of lessons. Parsing a lesson's YAML takes 25 ms, so a lesson is read again only
# after a file has changed.


log = logging.getLogger("duet.api")

FRESH_S = 0.05
"""Minimum interval between two checks for changed files, because opening a lesson does a dozen
lookups.
"""

_cached: dict[Path, tuple[object, LessonFolder]] = {}
_fresh: dict[str, tuple[float, tuple[str | None, ...], LessonFolder]] = {}
"""For each slug: the time of the last check, the root folders at that time, and the lesson."""


def find(slug: str) -> LessonFolder:
    """Return the lesson with that slug, from the cache if its files have not changed.

    Raises:
        InputError: there is no such lesson, or its files are unusable.
    """
    now, bases = time.monotonic(), (os.environ.get(ROOT), os.environ.get(EXTRA_LESSONS))
    looked = _fresh.get(slug)
    if looked is not None and looked[1] == bases and now - looked[0] < FRESH_S:
        return looked[2]
    folder = _look(slug)
    _fresh[slug] = (now, bases, folder)
    return folder


def _look(slug: str) -> LessonFolder:
    place = places().get(slug)
    if place is None:
        return load(slug)  # this raises an error that suggests a slug
    stamp = folder_stamp(place.folder)
    known = _cached.get(place.folder)
    if known is None or known[0] != stamp:
        known = (stamp, load(slug))
        _cached[place.folder] = known
    return known[1]


def usable() -> list[LessonFolder]:
    """Return all lessons in order. Broken lessons are omitted and logged."""
    found: list[LessonFolder] = []
    for slug in slugs():
        try:
            found.append(find(slug))
        except DuetError as error:
            log.warning("lesson %s is left out: %s", slug, error.sentence)
    return found
