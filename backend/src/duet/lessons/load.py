# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons are folders, found by looking: lessons/NN-slug/lesson.yaml."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from duet.errors import InputError
from duet.lessons.manifest import Arm, Lesson
from duet.lessons.roles import knob
from duet.settings import repo_root

SLUG = re.compile(r"^\d{2}-[a-z0-9-]+$")
# libyaml reads a lesson in a tenth of the time; every verb reads them all.
SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class LessonFolder:
    """A lesson and where its parts lie."""

    slug: str
    folder: Path
    patch_dir: Path
    lesson: Lesson

    def arm(self, name: str) -> Arm:
        """The arm of that name.

        Raises:
            InputError: no such arm; the sentence lists those there are.
        """
        for arm in self.lesson.arms:
            if arm.name == name:
                return arm
        names = [a.name for a in self.lesson.arms]
        raise InputError(
            f"lesson {self.slug} has no arm '{name}'{_meant(name, names)}.",
            remedy=f"Choose from: {', '.join(names)}.",
        )

    def patch_files(self, arm: str) -> tuple[Path, ...]:
        """The arm's own patches in order; empty for stock."""
        return tuple(self.patch_dir / name for name in self.arm(arm).patches)

    def recordings(self) -> tuple[Path, ...]:
        """Recorded bundles of the lesson."""
        return tuple(sorted((self.folder / "recorded").glob("*.duet")))

    def content(self) -> str:
        """The prose, Markdown; `## id` heads the text of a scene."""
        path = self.folder / "content.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def check_params(self, given: Mapping[str, object], clock: str = "wall") -> dict[str, int]:
        """Defaults filled in, every value checked; those of a model on the page are left out.

        The count clock has one vCPU, whatever was asked: QEMU's -icount with a fixed shift
        hangs while it brings up a second one.

        Raises:
            InputError: unknown name, wrong type, or out of range, naming what is allowed.
        """
        unknown = [n for n in given if n not in self.lesson.params]
        if unknown:
            names = list(self.lesson.params)
            raise InputError(
                f"lesson {self.slug} has no parameter '{unknown[0]}'{_meant(unknown[0], names)}.",
                remedy=f"Choose from: {', '.join(names)}.",
            )
        values: dict[str, int] = {}
        for name, param in self.lesson.params.items():
            value = given.get(name, param.default)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(
                    f"parameter '{name}' must be a whole number, but {value!r:.40} came.",
                    remedy=f"Leave it out for its default, {param.default}.",
                )
            if param.choices and value not in param.choices:
                allowed = ", ".join(map(str, param.choices))
                raise InputError(
                    f"parameter '{name}' must be one of {allowed}, but {value} came.",
                    remedy=f"Leave it out for its default, {param.default}.",
                )
            low, high = param.min, param.max
            if (low is not None and value < low) or (high is not None and value > high):
                raise InputError(
                    f"parameter '{name}' must be from {low} to {high}, but {value} came.",
                    remedy=f"Leave it out for its default, {param.default}.",
                )
            if param.applies != "model":
                values[name] = value
        if clock == "count" and (cpus := knob(self.lesson, "cpus")) is not None:
            values[cpus] = 1
        return values


def slugs(root: Path | None = None) -> list[str]:
    """Slugs of all lessons, in order."""
    base = (root or repo_root()) / "lessons"
    return sorted(p.parent.name for p in base.glob("*/lesson.yaml") if SLUG.match(p.parent.name))


def load(slug: str, root: Path | None = None) -> LessonFolder:
    """Read and check one lesson.

    Raises:
        InputError: no such lesson, not YAML, or not what the schema wants; the sentence names
            the place and, for an unknown key, the key that was probably meant.
    """
    base = root or repo_root()
    known = slugs(base)
    if slug not in known:
        raise InputError(
            f"there is no lesson '{slug:.60}'{_meant(slug, known)}.",
            remedy=f"Lessons here: {', '.join(known) or 'none'}.",
        )
    path = base / "lessons" / slug / "lesson.yaml"
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=SafeLoader)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        where = f" at line {place.line + 1}" if place else ""
        raise InputError(
            f"{slug}/lesson.yaml is not YAML{where}: {getattr(error, 'problem', error)}.",
            remedy="Mend that line.",
        ) from error
    try:
        lesson = Lesson.model_validate(tree)
    except ValidationError as error:
        raise InputError(
            f"{slug}/lesson.yaml: {_first(error.errors())}.",
            remedy="The keys are described in backend/src/duet/lessons/manifest.py.",
            detail=str(error),
        ) from error
    return LessonFolder(slug, path.parent, base / "kernel-patches" / slug, lesson)


def _first(errors: list[ErrorDetails]) -> str:
    # A misspelt key also leaves its own name missing; the misspelling is the thing to tell.
    error = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        key = str(error["loc"][-1])
        return f"unknown key '{place}'{_meant(key, _all_keys(Lesson))}"
    return f"{place or 'the file'}: {error['msg']}"


def _all_keys(model: type[BaseModel]) -> list[str]:
    """Every key of the schema, however deep; enough to guess what was meant."""
    keys: set[str] = set()
    schema = model.model_json_schema()
    for definition in (schema, *schema["$defs"].values()):
        keys |= set(definition.get("properties", {}))
    return sorted(keys)


def _meant(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
