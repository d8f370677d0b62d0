# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings with complete tables of each lane, and output files, for exports."""

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
    """A recording that was replayed completely (with `with_batches`)."""

    lesson: Lesson
    manifest: Manifest
    played: Played

    @property
    def arms(self) -> list[str]:
        """Names of the lanes, in the recording's order."""
        return [entry.name for entry in self.manifest.arms]

    def table(self, arm: str, table: str) -> Columns:
        """Return all rows of a lane's table. If there are no rows, the columns are empty."""
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
        """Return x-ray samples, with their guest time in ns since the start marker."""
        return self.played.sink.samples.get(arm, [])

    @property
    def probes(self) -> list[str]:
        """Names of the probes that have samples in any lane, sorted."""
        return sorted({sample.probe for arm in self.arms for sample, _ in self.samples(arm)})

    def kind_names(self, table: str) -> dict[int, str]:
        """Return a map from number to name for a table's column `kind`."""
        lesson = self.lesson
        names = {
            "points": [point.name for point in lesson.points],
            "links": [link.name for link in lesson.links],
        }
        return dict(enumerate(names.get(table, [kind.name for kind in lesson.kinds])))

    def figures(self, arm: str) -> dict[str, float | str | None]:
        """Return a lane's figures. Nested keys are joined with dots."""
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


# Destination of an export: one file, or the files in one folder. An export writes nothing outside
# this destination.
#
# Each file appears atomically. An existing file stays unless the caller allows replacing it.

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")
FORCE = "Choose another place, or add --force."


class Target:
    """Destination of an export.

    Args:
        path: the file or the folder.
        force: replace existing files. Other files in the folder always stay.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self._force = path, force
        self.written: dict[str, int] = {}
        """Path -> size in bytes of each written file."""

    def check_file(self) -> None:
        """Check that `path` can be written as a file.

        Raises:
            InputError: the file exists and may not be replaced, or its folder does not exist.
        """
        if self.path.is_dir():
            raise InputError(
                f"{self.path} should be a file, but is a folder.",
                remedy="Name a file in this folder.",
            )
        self._check_free(self.path)
        if not self.path.parent.is_dir():
            raise InputError(
                f"there is no folder {self.path.parent}.",
                remedy="Create it first, or name another folder.",
            )

    def check_folder(self) -> None:
        """Create the folder if necessary, and check that files can be written into it.

        Raises:
            InputError: `path` is a file, or a folder that is not empty.
            InfraError: the folder cannot be created.
        """
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"{self.path} should be a folder for several files, but is a file.",
                remedy="Name a folder; it is created if it does not exist.",
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not self._force and any(self.path.iterdir()):
                raise InputError(f"the folder {self.path} is not empty.", remedy=FORCE)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    @contextmanager
    def file(self, name: str = "") -> Iterator[BinaryIO]:
        """Open one file in the folder, or the file itself, for writing.

        A link of that name is replaced, not followed.

        Raises:
            InputError: the file exists and may not be replaced, or the name is invalid.
            InfraError: the file cannot be written.
        """
        if name and not NAME.match(name):
            raise InputError(
                f"{name[:60]!r} is not a valid file name.", remedy="Get the recording again."
            )
        path = self.path / name if name else self.path
        self._check_free(path)
        try:
            try:
                with durable.open_atomic(path) as file:
                    yield file
                    self.written[str(path)] = file.tell()
            except BaseException:
                self.written.pop(str(path), None)
                raise
        except OSError as error:
            raise _unwritable(path, error) from error

    def _check_free(self, path: Path) -> None:
        if not self._force and (path.exists() or path.is_symlink()):
            raise InputError(f"{path} already exists.", remedy=FORCE)


def _unwritable(path: Path, error: OSError) -> InfraError:
    return InfraError(
        f"{path} could not be written: {error.strerror or error}.",
        remedy="Make room on the disk, or choose another place.",
    )
