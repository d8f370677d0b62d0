# SPDX-License-Identifier: GPL-2.0-or-later
"""A played recording, as exports want it: whole tables by lane, with names for numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from duet.base import files as durable
from duet.base.errors import InfraError, InputError
from duet.bundle import Manifest
from duet.lenses import Sample
from duet.lessons.schema import Lesson
from duet.runs.replay import Played
from duet.session import TABLES, Columns, Row


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a replay with `with_batches` gave."""

    lesson: Lesson
    manifest: Manifest
    played: Played

    @property
    def arms(self) -> list[str]:
        """Lanes, in the recording's order."""
        return [entry.name for entry in self.manifest.arms]

    def table(self, arm: str, table: str) -> Columns:
        """All rows of a table; empty columns where there are none."""
        batches = self.played.sink.batches.get((arm, table), [])
        return {
            name: np.concatenate([batch.columns[name] for batch in batches])
            if batches
            else np.empty(0, dtype)
            for name, dtype in TABLES[table].items()
        }

    def rows(self, arm: str) -> tuple[Row, ...]:
        return self.played.sink.rows.get(arm, ())

    def samples(self, arm: str) -> list[tuple[Sample, float]]:
        """Samples of lenses, with their guest time since the start marker."""
        return self.played.sink.samples.get(arm, [])

    @property
    def probes(self) -> list[str]:
        """What lenses looked at, in any lane."""
        return sorted({sample.probe for arm in self.arms for sample, _ in self.samples(arm)})

    def kind_names(self, table: str) -> dict[int, str]:
        """Names behind the numbers of a table's `kind`."""
        lesson = self.lesson
        names = {
            "points": [point.name for point in lesson.points],
            "links": [link.name for link in lesson.links],
        }
        return dict(enumerate(names.get(table, [kind.name for kind in lesson.kinds])))

    def figures(self, arm: str) -> dict[str, float | str | None]:
        """Figures of a lane, flat."""
        found: dict[str, float | str | None] = {}
        figures = self.played.figures(arm)

        def walk(place: str, value: object) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    walk(f"{place}.{key}" if place else str(key), inner)
            elif value is None or isinstance(value, int | float | str):
                found[place] = value

        if figures is not None:
            walk("", figures.model_dump(mode="json", exclude={"by"}))
        return found


# Where an export goes: one file, or the files of one folder. Nothing is written elsewhere.
#
# Files appear whole or not at all, and what lies there already stays, unless it may be replaced.

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")
FORCE = "Choose another place, or add --force."


class Target:
    """Takes files.

    Args:
        path: of the file or the folder.
        force: whether what is there may be replaced. Other files of a folder stay in any case.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self._force = path, force
        self.written: dict[str, int] = {}
        """Path -> bytes."""

    def check_file(self) -> None:
        """That one file can go there.

        Raises:
            InputError: something is there that may not be replaced, or the folder is not.
        """
        if self.path.is_dir():
            raise InputError(
                f"{self.path} is a folder, and one file is to be written.",
                remedy="Name a file in it.",
            )
        self._check_free(self.path)
        if not self.path.parent.is_dir():
            raise InputError(
                f"there is no folder {self.path.parent}.", remedy="Make it first, or name another."
            )

    def check_folder(self) -> None:
        """That files can go into the folder, which is made if it is not there.

        Raises:
            InputError: it is a file, or has something in it.
            InfraError: it cannot be made.
        """
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"{self.path} is no folder, and several files are to be written.",
                remedy="Name a folder; it is made if it is not there.",
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not self._force and any(self.path.iterdir()):
                raise InputError(f"the folder {self.path} is not empty.", remedy=FORCE)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    @contextmanager
    def file(self, name: str = "") -> Iterator[BinaryIO]:
        """One file of the folder, or the file itself.

        A link of that name is replaced, not followed.

        Raises:
            InputError: it is there already, or the name is none for a file.
            InfraError: it cannot be written.
        """
        if name and not NAME.match(name):
            raise InputError(
                f"{name[:60]!r} is no name for a file.", remedy="Get the recording anew."
            )
        path = self.path / name if name else self.path
        self._check_free(path)
        try:
            try:
                with durable.written(path) as file:
                    yield file
                    self.written[str(path)] = file.tell()
            except BaseException:
                self.written.pop(str(path), None)
                raise
        except OSError as error:
            raise _unwritable(path, error) from error

    def _check_free(self, path: Path) -> None:
        if not self._force and (path.exists() or path.is_symlink()):
            raise InputError(f"{path} is there already.", remedy=FORCE)


def _unwritable(path: Path, error: OSError) -> InfraError:
    return InfraError(
        f"{path} could not be written: {error.strerror or error}.",
        remedy="Make room on the disk, or choose another place.",
    )
