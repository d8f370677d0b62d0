# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished live runs, saved as bundles in a folder of the user. Bounded: the oldest go first."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from duet import durable
from duet.bundle import open_bundle
from duet.errors import InfraError, InputError
from duet.serve.held import Held
from duet.serve.ownership import ENDING, Saved, forget_owner, owner_of, set_owner, victims
from duet.serve.recordings import LessonRecordings, describe
from duet.settings import archive_limits, runs_dir

NAME = re.compile(r"^run-\d{8}-\d{6}(-[0-9a-z]{1,8})?$")
PART = ".part"
UNREAD: dict[str, JsonValue] = {"lesson": None}
STALE_S = 3600.0
"""A file that was being written so long ago was given up."""


def new_name() -> str:
    """A name for a run that begins: its file will have it, so a link to it holds from now on."""
    return f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class ArchiveFolder:
    """The folder, and what may be in it.

    Args:
        most: runs; 0 keeps none.
        most_bytes: of all runs together.
        held: runs that stay longer than others.
    """

    folder: Path
    most: int
    most_bytes: int
    held: Held = field(default_factory=Held, compare=False)

    @classmethod
    def default(cls) -> ArchiveFolder:
        """As the environment says.

        Raises:
            InputError: a limit in the environment is no number.
        """
        return cls(runs_dir(), *archive_limits())

    def paths(self) -> dict[str, Path]:
        """Name -> file, the newest first."""
        found = [(path, _mtime(path)) for path in self.folder.glob("run-*.duet")]
        found.sort(key=lambda each: (each[1], each[0].stem), reverse=True)
        return {path.stem: path for path, _ in found if NAME.match(path.stem) and path.is_file()}

    def path(self, name: str) -> Path:
        """The file of a saved run.

        Raises:
            InputError: there is none of that name.
        """
        found = self.paths().get(name)
        if found is None:
            raise InputError(
                f"no run of the name '{name:.60}' is saved.", remedy="List them with ./duet runs."
            )
        return found

    def save(
        self,
        content: bytes,
        now: datetime | None = None,
        owner: str = "",
        name: str | None = None,
    ) -> str | None:
        """Write a bundle; returns its name, or None if the limits leave no room for it.

        Args:
            owner: ident of the visitor who started the run; empty: the operator's.
            name: as `new_name` gave it to the run; without one, the moment `now` names it.

        Raises:
            InfraError: it cannot be written.
        """
        if self.most == 0 or len(content) > self.most_bytes:
            return None
        stem = name or f"run-{now or datetime.now(UTC):%Y%m%d-%H%M%S}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(dir=self.folder, suffix=PART)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                name = _link(Path(scratch), self.folder, stem)
                set_owner(self.folder, name, owner)
            finally:
                Path(scratch).unlink(missing_ok=True)
        except OSError as error:
            raise InfraError(
                f"the run could not be saved in {self.folder}: {error.strerror or error}.",
                remedy="Make room there, or name another folder with DUET_RUNS.",
            ) from error
        self.prune(spare=name)
        return name

    def add(self, path: Path) -> str:
        """Keep a recording from elsewhere; returns its name here.

        Raises:
            InputError: it is not a usable recording, or too large for the limits.
        """
        open_bundle(path)
        name = self.save(path.read_bytes())
        if name is None:
            raise InputError(
                f"{path.name} is larger than what may be saved.",
                remedy="Raise DUET_SAVED_RUNS and DUET_SAVED_MB.",
            )
        return name

    def delete(self, name: str) -> None:
        """Take a run away.

        Raises:
            InputError: there is none of that name.
        """
        path = self.path(name)
        forget_owner(self.folder, name)
        path.unlink(missing_ok=True)

    def owner(self, name: str) -> str:
        """Whose a run is: the ident of a visitor; empty: the operator's.

        Raises:
            InputError: there is no run of that name.
        """
        self.path(name)
        return owner_of(self.folder, name)

    def prune(self, spare: str) -> None:
        """Delete runs until the limits hold, see `victims`: a fair share each, the oldest first.

        Args:
            spare: what was written just now. It stays, whatever the clock said then: after a step
                back it looks like the oldest.
        """
        paths = self.paths()
        saved = [
            Saved(name, _size(path), owner_of(self.folder, name)) for name, path in paths.items()
        ]
        sizes = {one.name: one.size_bytes for one in saved}
        spared = {spare} | self.held.among(sizes, self.most // 2, self.most_bytes // 2)
        for name in victims(saved, self.most, self.most_bytes, spared):
            forget_owner(self.folder, name)
            paths[name].unlink(missing_ok=True)
        for path in self.folder.glob(f"run-*{ENDING}"):
            if not path.with_suffix(".duet").exists() and _age_s(path) > STALE_S:
                path.unlink(missing_ok=True)
        for path in self.folder.glob(f"*{PART}"):
            if _age_s(path) > STALE_S:
                path.unlink(missing_ok=True)


class ArchivedRuns(LessonRecordings):
    """Saved runs as the page plays them, beside a lesson's own recordings."""

    kind = "kept"

    def __init__(self, folder: ArchiveFolder) -> None:
        super().__init__()
        self.folder = folder
        self._described: dict[tuple[str, int, int], dict[str, JsonValue] | None] = {}

    def all(self) -> list[dict[str, JsonValue]]:
        """Every saved run, the newest first; one that cannot be opened says so by `arms: []`.

        Reads each file that is new. Blocking.
        """
        return [entry for entry, _ in self._listed_paths()]

    def paths(self, slug: str) -> dict[str, Path]:
        """Runs of one lesson, and those that nobody has looked into yet.

        Reads no file, since it is called on the event loop: whether such a run is of the lesson
        shows when it is opened.
        """
        described = self._described
        return {
            name: path
            for name, path in self.folder.paths().items()
            if (entry := described.get((name, _size(path), _mtime(path)), UNREAD)) is None
            or entry["lesson"] in (slug, None)
        }

    def file(self, slug: str, name: str) -> Path | None:
        """The bundle of that name, without looking at the others; None: there is none."""
        path = self.folder.folder / f"{name}.duet"
        if not NAME.match(name) or not path.is_file():
            return None
        entry = self._described.get((name, _size(path), _mtime(path)), UNREAD)
        return path if entry is None or entry["lesson"] in (slug, None) else None

    def _listed_paths(self) -> list[tuple[dict[str, JsonValue], Path]]:
        """Each run with its file; a file is opened again only when it changed."""
        listed: list[tuple[dict[str, JsonValue], Path]] = []
        described = {}
        for name, path in self.folder.paths().items():
            key = (name, _size(path), _mtime(path))
            if key in self._described:
                entry = self._described[key]
            else:  # the manifest alone: a broken or hostile file costs no unpacking here
                entry = describe(name, path, whole=False)
            described[key] = entry
            plain: dict[str, JsonValue] = {"name": name, "bytes": key[1], "lesson": None}
            listed.append((entry or {**plain, "arms": []}, path))
        self._described = described
        return listed


def _link(scratch: Path, folder: Path, stem: str) -> str:
    """Give a file the first free name; two servers may end a run in the same second."""
    for number in range(1, 10_000):
        name = stem if number == 1 else f"{stem}-{number}"
        try:
            (folder / f"{name}.duet").hardlink_to(scratch)
        except FileExistsError:
            continue
        (folder / f"{name}.duet").chmod(0o644)
        durable.sync_folder(folder)
        return name
    raise FileExistsError(f"no free name for {stem}")


def _age_s(path: Path) -> float:
    return time.time() - _mtime(path) / 1e9


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
