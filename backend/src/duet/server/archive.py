# SPDX-License-Identifier: GPL-2.0-or-later
"""Saves finished live runs as bundles in a folder. When the folder exceeds its limits, old runs are
deleted."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.settings import archive_limits, runs_dir
from duet.bundle import open_bundle
from duet.server.interfaces import Run
from duet.server.recordings import LessonRecordings, describe

# Saved runs that an open class pins are not deleted. They can use up to half of the limits.


class PinnedRuns:
    """Names of pinned runs, the newest first. The event loop writes them, and the archiver's thread
    reads them."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()

    def pin(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def pinned_among(self, sizes: Mapping[str, int], most: int, most_bytes: int) -> set[str]:
        """Return the newest pinned runs that together fit the limits.

        Args:
            sizes: sizes of all saved runs by name, in bytes.
        """
        held: set[str] = set()
        left_bytes = most_bytes
        for name in self._names:
            size = sizes.get(name)
            if size is None:
                continue
            left_bytes -= size
            if len(held) >= most or left_bytes < 0:
                break
            held.add(name)
        return held


# Knows who owns a saved run, and chooses the runs to delete when there are too many.
#
# The owner is in a file next to the bundle, not inside it, because bundles are passed on to others.
# A run without an owner file belongs to the operator.

ENDING = ".owner"
IDENT = re.compile(r"^[0-9a-f]{16}$")
MODE = 0o600


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved run that may be deleted. `owner` is empty if the run belongs to the operator."""

    name: str
    size_bytes: int
    owner: str


def owner_of(folder: Path, name: str) -> str:
    """Return the ident of the visitor who owns a run, or "" if the operator owns the run."""
    try:
        with (folder / f"{name}{ENDING}").open("rb") as file:
            text = file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if IDENT.match(text) else ""


def set_owner(folder: Path, name: str, owner: str) -> None:
    """Write a run's owner file.

    Raises:
        OSError: the file cannot be written.
    """
    if IDENT.match(owner):
        durable.write(folder / f"{name}{ENDING}", owner.encode(), mode=MODE)
    else:  # the operator owns this run, so delete an earlier run's owner file
        forget_owner(folder, name)


def forget_owner(folder: Path, name: str) -> None:
    """Delete a run's owner file. Call this before the run is deleted, because a later run may get
    the same name."""
    (folder / f"{name}{ENDING}").unlink(missing_ok=True)


def victims(runs: Sequence[Saved], most: int, most_bytes: int, spare: Set[str]) -> list[str]:
    """Return the names of the runs that must be deleted so that the others fit the limits.

    Each deletion takes the oldest run of the owner who has the most runs or bytes. With a single
    owner, the oldest run is deleted. With several owners, an owner's runs never evict the runs of
    an owner who has fewer (max-min fairness).

    Args:
        runs: all saved runs, the newest first.
        spare: names of runs that must not be deleted.
    """
    left = list(runs)
    gone: list[str] = []
    counts = Counter(run.owner for run in runs)
    sizes: Counter[str] = Counter()
    for run in runs:
        sizes[run.owner] += run.size_bytes
    while len(left) > most or sizes.total() > most_bytes:
        weights = counts if len(left) > most else sizes
        others = [run for run in left if run.name not in spare]
        if not others:
            break
        heaviest = max(weights[run.owner] for run in others)
        victim = next(run for run in reversed(others) if weights[run.owner] == heaviest)
        left.remove(victim)
        counts[victim.owner] -= 1
        sizes[victim.owner] -= victim.size_bytes
        gone.append(victim.name)
    return gone


NAME = re.compile(r"^run-\d{8}-\d{6}(-[0-9a-z]{1,8})?$")
PART = ".part"
UNREAD: dict[str, JsonValue] = {"lesson": None}
STALE_S = 3600.0
"""Age beyond which a temporary file is deleted."""


def new_name() -> str:
    """Make a name for a new run. Its file gets the same name, so links to the run stay valid."""
    return f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class ArchiveFolder:
    """The folder of saved runs, and its limits.

    Args:
        most: maximum number of runs; 0 means that no run is saved.
        most_bytes: maximum size of all runs together.
        held: pinned runs.
    """

    folder: Path
    most: int
    most_bytes: int
    held: PinnedRuns = field(default_factory=PinnedRuns, compare=False)

    @classmethod
    def default(cls) -> ArchiveFolder:
        """Return the folder of saved runs that the environment names, with its limits.

        Raises:
            InputError: a limit in the environment is not a number.
        """
        return cls(runs_dir(), *archive_limits())

    def paths(self) -> dict[str, Path]:
        """Return the files of all saved runs by name, the newest first."""
        found = [(path, _mtime(path)) for path in self.folder.glob("run-*.duet")]
        found.sort(key=lambda each: (each[1], each[0].stem), reverse=True)
        return {path.stem: path for path, _ in found if NAME.match(path.stem) and path.is_file()}

    def path(self, name: str) -> Path:
        """Return the file of a saved run.

        Raises:
            InputError: there is no run of that name.
        """
        found = self.paths().get(name)
        if found is None:
            raise InputError(
                f"there is no saved run '{name:.60}'.",
                remedy="List the saved runs with ./duet runs.",
            )
        return found

    def save(
        self,
        content: bytes,
        now: datetime | None = None,
        owner: str = "",
        name: str | None = None,
    ) -> str | None:
        """Write a bundle. Return its name, or None if it exceeds the limits.

        Args:
            owner: ident of the visitor who started the run; "" for the operator.
            name: the name that `new_name` made when the run began; None makes one from `now`.

        Raises:
            InfraError: the bundle cannot be written.
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
                remedy="Free disk space, or name another folder with DUET_RUNS.",
            ) from error
        self.prune(spare=name)
        return name

    def add(self, path: Path) -> str:
        """Copy a recording from elsewhere into this folder. Return its new name.

        Raises:
            InputError: the recording is unusable, or too large for the limits.
        """
        open_bundle(path)
        name = self.save(path.read_bytes())
        if name is None:
            raise InputError(
                f"{path.name} is larger than the limit on saved runs.",
                remedy="Raise the limits DUET_SAVED_RUNS and DUET_SAVED_MB.",
            )
        return name

    def delete(self, name: str) -> None:
        """Delete a saved run.

        Raises:
            InputError: there is no run of that name.
        """
        path = self.path(name)
        forget_owner(self.folder, name)
        path.unlink(missing_ok=True)

    def owner(self, name: str) -> str:
        """Return the ident of a run's owner; "" for the operator.

        Raises:
            InputError: there is no run of that name.
        """
        self.path(name)
        return owner_of(self.folder, name)

    def prune(self, spare: str) -> None:
        """Delete runs until the folder is within its limits. Also delete stale temporary files.

        Args:
            spare: the run that was just written. It is not deleted, even if the clock has stepped
                back and made it look like the oldest run.
        """
        paths = self.paths()
        saved = [
            Saved(name, _size(path), owner_of(self.folder, name)) for name, path in paths.items()
        ]
        sizes = {one.name: one.size_bytes for one in saved}
        spared = {spare} | self.held.pinned_among(sizes, self.most // 2, self.most_bytes // 2)
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
    """Saved runs, which the page offers along with a lesson's own recordings."""

    kind = "kept"

    def __init__(self, folder: ArchiveFolder) -> None:
        super().__init__()
        self.folder = folder
        self._described: dict[tuple[str, int, int], dict[str, JsonValue] | None] = {}

    def all(self) -> list[dict[str, JsonValue]]:
        """List all saved runs, the newest first. A run that cannot be opened has `arms: []`.

        Opens each new file. Blocking.
        """
        return [entry for entry, _ in self._listed_paths()]

    def paths(self, slug: str) -> dict[str, Path]:
        """Return the runs of one lesson, and all runs that have not been opened yet.

        Opens no file, because it is called on the event loop. The lesson of an unopened run is
        checked later, when the run is opened.
        """
        described = self._described
        return {
            name: path
            for name, path in self.folder.paths().items()
            if (entry := described.get((name, _size(path), _mtime(path)), UNREAD)) is None
            or entry["lesson"] in (slug, None)
        }

    def file(self, slug: str, name: str) -> Path | None:
        """Return the bundle of that name, or None if there is none. Opens no other file."""
        path = self.folder.folder / f"{name}.duet"
        if not NAME.match(name) or not path.is_file():
            return None
        entry = self._described.get((name, _size(path), _mtime(path)), UNREAD)
        return path if entry is None or entry["lesson"] in (slug, None) else None

    def _listed_paths(self) -> list[tuple[dict[str, JsonValue], Path]]:
        """Return all runs with their files. A file is opened again only if it has changed."""
        listed: list[tuple[dict[str, JsonValue], Path]] = []
        described = {}
        for name, path in self.folder.paths().items():
            key = (name, _size(path), _mtime(path))
            if key in self._described:
                entry = self._described[key]
            else:  # read only the manifest, so that a hostile file is not unpacked here
                entry = describe(name, path, whole=False)
            described[key] = entry
            plain: dict[str, JsonValue] = {"name": name, "bytes": key[1], "lesson": None}
            listed.append((entry or {**plain, "arms": []}, path))
        self._described = described
        return listed


def _link(scratch: Path, folder: Path, stem: str) -> str:
    """Link a file under the first free name. Two servers may save a run in the same second."""
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


# Saves ended live runs in the background.

NICE = 10
"""Niceness of packing, which takes seconds of CPU time and must not slow guests and the page."""

log = logging.getLogger("duet.api")


class Archiver:
    """Packs ended runs one after another in a thread."""

    def __init__(self, folder: ArchiveFolder) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, "archiver", initializer=_step_back)
        self._going: set[asyncio.Task[None]] = set()

    def save(self, run: Run, owner: str = "") -> asyncio.Task[None] | None:
        """Start to save an ended run under the name in its id. Do not wait until it is saved.

        Args:
            owner: ident of the visitor who started the run; "" for the operator.

        Returns:
            The task that saves it; None if runs are not saved.
        """
        if self._folder.most == 0:
            return None
        task = asyncio.create_task(self._save(run, owner), name=f"keep {run.log.run_id}")
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        return task

    async def idle(self) -> None:
        """Wait until no run is being packed. Measurements wait for this, because they need all
        CPUs."""
        if self._going:
            await asyncio.wait(self._going)

    async def close(self) -> None:
        """Cancel all saves that have not begun."""
        for task in self._going:
            task.cancel()
        await asyncio.gather(*self._going, return_exceptions=True)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _save(self, run: Run, owner: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            name = await loop.run_in_executor(self._thread, self._write, run, owner)
        except DuetError as error:
            log.warning("%s is not saved: %s", run.log.run_id, error.sentence)
        except Exception:
            log.exception("%s could not be saved", run.log.run_id)
        else:
            log.info("%s is saved as %s", run.log.run_id, name or "nothing: no lane is complete")

    def _write(self, run: Run, owner: str) -> str | None:
        content = run.bundle()
        if not isinstance(content, bytes):
            return None
        return self._folder.save(content, owner=owner, name=run.log.run_id.rpartition(":")[2])


def _step_back() -> None:
    """Lower the priority of this thread. On Linux, each thread has its own niceness."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
