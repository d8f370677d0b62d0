# SPDX-License-Identifier: GPL-2.0-or-later
"""Backs up all stored data of a server to one file, and restores the data. `Places` lists what a
server stores.

The file is a zip with a manifest that gives each file's name, size and SHA-256. The server can run
while a backup is made, because each file appears complete, through a rename or a link, and never
changes. The classes database is copied with SQLite's backup API, which gives a consistent snapshot.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from duet import __version__
from duet.base import files as durable
from duet.base import settings
from duet.base.errors import InfraError, InputError
from duet.lessons.own import OWN
from duet.store.database import classes_url, file_of

# Defines which files a server stores, where, and in which format. A server refuses files that a
# newer version wrote.
#
# Recordings have a separate format (bundle/FORMAT.md).

FORMAT: Final = 1
"""Version of the format of names and files below these places. Changing it needs a migration."""
FORMAT_FILE: Final = "format.json"
MOST_BYTES: Final = 4096
RUN: Final = r"run-[0-9a-z-]{1,40}"
CHANGE: Final = OWN.pattern.replace("?P<base>", "?:").replace("?P<digest>", "?:")
CLASSES: Final = "classes.sqlite"
NAMES: Final = {
    "owner": re.compile(rf"runs/{RUN}\.owner"),
    "run": re.compile(rf"runs/{RUN}\.duet"),
    "tokens": re.compile(r"access\.json"),
    "classes": re.compile(r"classes\.sqlite"),
    "change": re.compile(rf"changes/(?P<arm>{CHANGE})/((?P=arm)\.patch|change\.json)"),
}
"""Pattern of the file names in a backup, for each kind of file."""


def kind_of(name: str) -> str | None:
    """Return a file's kind from its name in a backup; None if a server stores no such file."""
    return next((kind for kind, form in NAMES.items() if form.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of stored files. A file's name in a backup begins with the name of the folder, such as
    `runs/`.

    Args:
        classes: the SQLite file of classes. None if another database holds them, which then needs a
            separate backup.
    """

    runs: Path
    access: Path
    changes: Path
    classes: Path | None = None

    @classmethod
    def default(cls) -> Places:
        changes = settings.cache_dir() / "changes/kernel-patches"
        classes = file_of(classes_url())
        return cls(settings.runs_dir(), settings.access_file(), changes, classes)

    def path(self, name: str) -> Path:
        """Return the path of a stored file.

        Args:
            name: the file's name in a backup, which `kind_of` accepts.

        Raises:
            InputError: the file contains classes, but this server stores classes in another
                database.
        """
        if name == CLASSES:
            if self.classes is None:
                raise InputError(
                    "this server stores classes in another database (DUET_CLASSES_DB).",
                    remedy="Unset DUET_CLASSES_DB, or set it to an SQLite file.",
                )
            return self.classes
        place, _, rest = name.partition("/")
        return self.access if not rest else getattr(self, place) / rest

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield all stored files as (name, path). A file may be deleted before it is read.

        The server writes a run before its owner file. So owner files are listed last, and no backup
        has a visitor's run without its owner file.
        """
        runs = sorted(self.runs.glob("run-*.duet"))
        found = [("access.json", self.access)]
        found += [(CLASSES, self.classes)] if self.classes is not None else []
        found += [(f"runs/{path.name}", path) for path in runs]
        # the patch was written before this file, so the patch exists
        for facts in sorted(self.changes.glob("own-*/change.json")):
            arm = facts.parent.name
            patch = facts.with_name(f"{arm}.patch")
            found += [(f"changes/{arm}/{path.name}", path) for path in (patch, facts)]
        found += [(f"runs/{path.stem}.owner", path.with_suffix(".owner")) for path in runs]
        yield from ((name, path) for name, path in found if kind_of(name) and path.is_file())


def claim(folder: Path) -> None:
    """Write the format's version into the folder of saved runs, when a server starts.

    A folder that cannot be written is no error here. Saving a run there will report the error.

    Raises:
        InputError: a newer Kernel Duet has written there.
    """
    path = folder / FORMAT_FILE
    with contextlib.suppress(OSError):
        number = _format_of(path) if path.exists() else None
        if number is not None and number > FORMAT:
            raise InputError(
                f"the saved runs in {folder} have format {number} of a newer Kernel Duet, "
                f"but this version knows only format {FORMAT}.",
                remedy="Use the newer version again, or name another folder with DUET_RUNS.",
            )
        if number is None:
            folder.mkdir(parents=True, exist_ok=True)
            tree = {"format": FORMAT, "version": __version__}
            durable.write(path, json.dumps(tree).encode())


def _format_of(path: Path) -> int | None:
    """Return the format number in a file; None if the file is broken and will be rewritten."""
    with path.open("rb") as file:
        try:
            tree = json.loads(file.read(MOST_BYTES))
        except ValueError:
            return None
    number = tree.get("format") if isinstance(tree, dict) else None
    return number if isinstance(number, int) else None


MANIFEST: Final = "manifest.json"
MODE: Final = 0o600
"""File mode: private, because a backup holds hashes of tokens and the session key."""
CHUNK: Final = 1 << 20
MOST_MANIFEST_BYTES: Final = 64 << 20
REMEDY: Final = "Make another backup, or copy the file again."


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a backup.

    Args:
        name: see NAMES.
        size: in bytes.
        mtime_ns: time of the last change. The list of saved runs is sorted by this time.
    """

    name: str
    size: int
    sha256: str
    mtime_ns: int
    mode: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The manifest of a backup."""

    made_at: str
    version: str
    items: tuple[Item, ...]

    def counts(self) -> dict[str, int]:
        """Return the number of files of each kind."""
        return dict(Counter(kind_of(item.name) or "" for item in self.items))

    @property
    def size(self) -> int:
        """Size of all files together, in bytes."""
        return sum(item.size for item in self.items)


def make(target: Path, places: Places) -> Contents:
    """Write a backup. A file at `target` is replaced once the new file is complete.

    Raises:
        InfraError: the backup cannot be written.
    """
    items: list[Item] = []
    try:
        with durable.open_atomic(target, MODE) as file, zipfile.ZipFile(file, "w") as archive:
            for name, path in places.files():
                try:
                    opened = snapshot(path) if name == CLASSES else path.open("rb")
                except FileNotFoundError:  # the file was deleted after it was listed
                    continue
                with opened as source:
                    items.append(_added(archive, name, source))
            contents = Contents(
                datetime.now(UTC).isoformat(timespec="seconds"), __version__, tuple(items)
            )
            tree = {"format": FORMAT, **asdict(contents)}
            archive.writestr(MANIFEST, json.dumps(tree, indent=1), zipfile.ZIP_DEFLATED)
    except sqlite3.Error as error:
        raise InfraError(
            f"the classes database cannot be copied ({error}).",
            remedy="Run as the server's user, and check the disk.",
        ) from error
    except OSError as error:
        raise InfraError(
            f"{target} cannot be written: {error.strerror or error}.",
            remedy="Free disk space, or name a file in another folder.",
        ) from error
    return contents


def restore(source: Path, places: Places, *, replace: bool) -> Contents:
    """Check all files of a backup, then write them.

    Args:
        replace: delete the files that are stored now. If False, no files may be stored now.

    Raises:
        InputError: the backup is incomplete or from a newer version, or files are stored already.
        InfraError: the backup cannot be read, or files cannot be written.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            contents = _read(archive, source)
            there = [name for name, _ in places.files()]
            if there and not replace:
                raise InputError(
                    f"{len(there)} files are already stored here, such as {places.path(there[0])}.",
                    remedy="Add --replace to delete them and restore the backup.",
                )
            targets = [places.path(item.name) for item in contents.items]
            claim(places.runs)
            for item, path in zip(contents.items, targets, strict=True):
                with archive.open(item.name) as file:
                    _write(path, item, file)
            given = {item.name for item in contents.items}
            for name in there:
                if name not in given:
                    _remove_ahead(name, places.path(name))
                    places.path(name).unlink(missing_ok=True)
    except (zipfile.BadZipFile, EOFError, zipfile.LargeZipFile, NotImplementedError) as error:
        raise InputError(f"{source} is not a complete backup ({error}).", remedy=REMEDY) from error
    except OSError as error:
        raise InfraError(
            f"the backup could not be restored: {error.strerror or error} "
            f"({error.filename or source}).",
            remedy="Run as the server's user, make room on the disk, then restore again with "
            "--replace.",
        ) from error
    return contents


@contextlib.contextmanager
def snapshot(path: Path) -> Iterator[IO[bytes]]:
    """Copy an SQLite database that may be in use, and yield the copy as a readable file."""
    with tempfile.TemporaryDirectory(prefix="duet-backup-") as folder:
        copy = Path(folder, path.name)
        copy.touch(MODE)
        with (
            contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as database,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            database.backup(target)
        with copy.open("rb") as file:
            yield file


def _added(archive: zipfile.ZipFile, name: str, source: IO[bytes]) -> Item:
    status = os.fstat(source.fileno())
    info = zipfile.ZipInfo(name)
    info.external_attr = (status.st_mode & 0o777) << 16
    # no compression, because recordings are already compressed
    with archive.open(info, "w", force_zip64=True) as target:
        size, sha256 = _copied(source, target.write)
    return Item(name, size, sha256, status.st_mtime_ns, status.st_mode & 0o777)


def _copied(source: IO[bytes], write: Callable[[bytes], object]) -> tuple[int, str]:
    """Copy all of `source`. Return (bytes, SHA-256)."""
    size, digest = 0, hashlib.sha256()
    while chunk := source.read(CHUNK):
        write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def _read(archive: zipfile.ZipFile, source: Path) -> Contents:
    """Return the manifest, after checking every file against it."""
    try:
        if archive.getinfo(MANIFEST).file_size > MOST_MANIFEST_BYTES:
            raise ValueError("the manifest is too large")
        tree = json.loads(archive.read(MANIFEST))
        number = tree["format"]
        if isinstance(number, int) and number > FORMAT:
            raise InputError(
                f"{source} has format {number} of a newer Kernel Duet ({tree['version']!s:.20}), "
                f"but this version knows only format {FORMAT}.",
                remedy="Use that version.",
            )
        items = tuple(Item(**item) for item in tree["items"])
        contents = Contents(str(tree["made_at"]), str(tree["version"]), items)
        _check(items, archive)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{source} is not a complete backup ({error!s:.100}).", remedy=REMEDY
        ) from error
    return contents


def _check(items: Iterable[Item], archive: zipfile.ZipFile) -> None:
    """Check size and SHA-256 of all files.

    Raises:
        ValueError: a file has changed, or a server stores no such file.
        KeyError: a file is missing.
    """
    for item in items:
        if kind_of(item.name) is None:
            raise ValueError(f"a server stores no file named {item.name!r:.60}")
        if archive.getinfo(item.name).file_size != item.size:
            raise ValueError(f"{item.name} has the wrong size")
        with archive.open(item.name) as file:
            if _copied(file, len) != (item.size, item.sha256):
                raise ValueError(f"{item.name} has the wrong SHA-256")


def _write(path: Path, item: Item, file: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_ahead(item.name, path)
    with durable.open_atomic(path, item.mode & 0o666) as target:
        _copied(file, target.write)
    os.utime(path, ns=(item.mtime_ns, item.mtime_ns))


def _remove_ahead(name: str, path: Path) -> None:
    """Delete the write-ahead log of a database that will be replaced or removed."""
    for ending in ("-wal", "-shm") if name == CLASSES else ():
        path.with_name(path.name + ending).unlink(missing_ok=True)
