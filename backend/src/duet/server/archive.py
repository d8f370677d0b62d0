# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished live runs, saved as bundles in a folder of the user. Bounded: the oldest go first."""

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

# Saved runs that stay while a class that made them goes on, within half of what may be saved.


class Held:
    """Their names, the newest first. The archiver's thread reads what the event loop writes."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()

    def hold(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def among(self, sizes: Mapping[str, int], most: int, most_bytes: int) -> set[str]:
        """Which of these runs stay: the newest ones that fit.

        Args:
            sizes: of all saved runs, in bytes.
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


# Whose a saved run is, and which ones go when there are too many.
#
# The owner stands in a file beside the bundle, not in it: bundles are passed on. A run without one
# is the operator's.

ENDING = ".owner"
IDENT = re.compile(r"^[0-9a-f]{16}$")
MODE = 0o600


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved run, as pruning sees it; owner is empty for the operator's."""

    name: str
    size_bytes: int
    owner: str


def owner_of(folder: Path, name: str) -> str:
    """The ident of the visitor who started a run; empty: nobody known, so the operator's."""
    try:
        with (folder / f"{name}{ENDING}").open("rb") as file:
            text = file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if IDENT.match(text) else ""


def set_owner(folder: Path, name: str, owner: str) -> None:
    """Say whose a run is.

    Raises:
        OSError: it cannot be written.
    """
    if IDENT.match(owner):
        durable.write(folder / f"{name}{ENDING}", owner.encode(), mode=MODE)
    else:  # the operator's, or a test's; a former run of this name may have had an owner
        forget_owner(folder, name)


def forget_owner(folder: Path, name: str) -> None:
    """Before a run is deleted: a later one of the same name is not its former owner's."""
    (folder / f"{name}{ENDING}").unlink(missing_ok=True)


def victims(runs: Sequence[Saved], most: int, most_bytes: int, spare: Set[str]) -> list[str]:
    """Names of the runs that must go until the limits hold.

    Each time the oldest run goes of the owner who has the most: with one owner the oldest goes
    first; with several nobody's runs push out those of somebody who has fewer (max-min fairness).

    Args:
        runs: the newest first.
        spare: these stay.
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


# Writes live runs that have ended into the folder of saved runs, beside whatever goes on.

NICE = 10
"""Packing takes seconds of a CPU that guests and the page would have."""

log = logging.getLogger("duet.api")


class Archiver:
    """One thread that packs, one run after another."""

    def __init__(self, folder: ArchiveFolder) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, "archiver", initializer=_step_back)
        self._going: set[asyncio.Task[None]] = set()

    def save(self, run: Run, owner: str = "") -> asyncio.Task[None] | None:
        """Save a run that has ended, under the name in its id; returns at once.

        Args:
            owner: ident of the visitor who started it; empty: the operator's.

        Returns:
            The task that saves it; None when runs are not saved.
        """
        if self._folder.most == 0:
            return None
        task = asyncio.create_task(self._save(run, owner), name=f"keep {run.log.run_id}")
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        return task

    async def idle(self) -> None:
        """Wait until nothing is being packed: a measurement wants the CPUs for itself."""
        if self._going:
            await asyncio.wait(self._going)

    async def close(self) -> None:
        """Give up what has not begun."""
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
            log.info("%s is saved as %s", run.log.run_id, name or "nothing: it has no whole lane")

    def _write(self, run: Run, owner: str) -> str | None:
        content = run.bundle()
        if not isinstance(content, bytes):
            return None
        return self._folder.save(content, owner=owner, name=run.log.run_id.rpartition(":")[2])


def _step_back() -> None:
    """Linux gives each thread a niceness of its own."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
