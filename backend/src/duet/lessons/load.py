# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons are folders, found by looking: lessons/NN-slug, with a lesson.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from duet.errors import InputError
from duet.lessons.files import read_lesson
from duet.lessons.folders import SLUG as SLUG
from duet.lessons.folders import places
from duet.lessons.meant import meant
from duet.lessons.roles import knob
from duet.lessons.schema import Arm, Lesson


@dataclass(frozen=True, slots=True)
class LessonFolder:
    """A lesson and where its parts lie.

    Args:
        changes: arm of a visitor's own (lessons/own.py) -> the patch that is on top of it.
        brought: the same of an arm that only a recording has -> the text of that patch.
    """

    slug: str
    folder: Path
    patch_dir: Path
    lesson: Lesson
    changes: Mapping[str, Path] = field(default_factory=dict)
    brought: Mapping[str, str] = field(default_factory=dict)

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
            f"lesson {self.slug} has no arm '{name}'{meant(name, names)}.",
            remedy=f"Choose from: {', '.join(names)}.",
        )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms where nobody names any: all but the optional ones."""
        return tuple(arm.name for arm in self.lesson.arms if not arm.optional)

    def patch_files(self, arm: str) -> tuple[Path, ...]:
        """The arm's own patches in order, a visitor's change last; empty for stock."""
        files = tuple(self.patch_dir / name for name in self.arm(arm).patches)
        return (*files, self.changes[arm]) if arm in self.changes else files

    def recordings(self) -> tuple[Path, ...]:
        """Recorded bundles of the lesson."""
        return tuple(sorted((self.folder / "recorded").glob("*.duet")))

    def content(self) -> str:
        """The prose, Markdown; `## id` heads the text of a scene."""
        path = self.folder / "content.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def check_recorded_params(self, recorded: Mapping[str, int], clock: str) -> dict[str, int]:
        """The knobs of a recorded run as the lesson takes them today; knobs it lost are left out.

        Raises:
            InputError: see check_params.
        """
        known = {name: v for name, v in recorded.items() if name in self.lesson.params}
        return self.check_params(known, clock)

    def check_params(self, given: Mapping[str, object], clock: str = "wall") -> dict[str, int]:
        """Defaults filled in, every value checked; those of a model on the page are left out.

        On the count clock the guest has one vCPU, whatever was given; measurements alone can have
        more there (duet.cli.measure_args).

        Raises:
            InputError: unknown name, wrong type, or out of range, naming what is allowed.
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
    """Slugs of all lessons, in order; of `root` alone if it is given.

    Raises:
        InputError: DUET_LESSONS names something unusable (see folders.places).
    """
    return list(places(root))


def load(slug: str, root: Path | None = None) -> LessonFolder:
    """Read and check one lesson.

    Raises:
        InputError: no such lesson.
        LessonError: its files are not usable; the sentence names file, line and key.
    """
    known = places(root)
    if slug not in known:
        raise InputError(
            f"there is no lesson '{slug:.60}'{meant(slug, list(known))}.",
            remedy=f"Lessons here: {', '.join(known) or 'none'}.",
        )
    place = known[slug]
    return LessonFolder(slug, place.folder, place.patch_dir, read_lesson(place.folder))
