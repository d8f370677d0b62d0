# SPDX-License-Identifier: GPL-2.0-or-later
"""All that a server stores in one file, and back; `Places` says what that is.

The file is a zip with a manifest that names each file with its size and SHA-256. Making one needs
no pause of the server: each of its files appears whole, by a rename or a link, and stays as it is.
The database of classes is copied by SQLite's own means, which gives one moment of it.
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

# What a server stores, where, and in which format; an older server does not touch a newer one's.
#
# Recordings have a format of their own (bundle/FORMAT.md).

FORMAT: Final = 1
"""Of names and files below these places. A change of it comes with a step that converts."""
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
"""Kind -> how its files are named in a backup."""


def kind_of(name: str) -> str | None:
    """What a file is, by its name in a backup; None: nothing that a server stores."""
    return next((kind for kind, form in NAMES.items() if form.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie; names in a backup begin with the name of the place.

    Args:
        classes: an SQLite file; None: another database, whose own backup saves it.
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
        """The file of a name that `kind_of` knows.

        Raises:
            InputError: it is the file of classes, and those are in another database here.
        """
        if name == CLASSES:
            if self.classes is None:
                raise InputError(
                    "classes are in another database here (DUET_CLASSES_DB).",
                    remedy="Unset DUET_CLASSES_DB, or set it to an SQLite file.",
                )
            return self.classes
        place, _, rest = name.partition("/")
        return self.access if not rest else getattr(self, place) / rest

    def files(self) -> Iterator[tuple[str, Path]]:
        """All that is stored. A file may be gone by the time it is read.

        A run is there before its owner, so owners come last: no run is met that has none yet.
        """
        runs = sorted(self.runs.glob("run-*.duet"))
        found = [("access.json", self.access)]
        found += [(CLASSES, self.classes)] if self.classes is not None else []
        found += [(f"runs/{path.name}", path) for path in runs]
        for facts in sorted(self.changes.glob("own-*/change.json")):  # written after the patch
            arm = facts.parent.name
            patch = facts.with_name(f"{arm}.patch")
            found += [(f"changes/{arm}/{path.name}", path) for path in (patch, facts)]
        found += [(f"runs/{path.stem}.owner", path.with_suffix(".owner")) for path in runs]
        yield from ((name, path) for name, path in found if kind_of(name) and path.is_file())


def claim(folder: Path) -> None:
    """Say in the folder of saved runs which format it has, when a server starts.

    A folder that cannot be written is no trouble yet: saving a run there fails with a sentence.

    Raises:
        InputError: a newer Kernel Duet has written there.
    """
    path = folder / FORMAT_FILE
    with contextlib.suppress(OSError):
        number = _format_of(path) if path.exists() else None
        if number is not None and number > FORMAT:
            raise InputError(
                f"the saved runs in {folder} have format {number}, of a newer Kernel Duet; "
                f"this one knows {FORMAT}.",
                remedy="Use that version again, or name another folder with DUET_RUNS.",
            )
        if number is None:
            folder.mkdir(parents=True, exist_ok=True)
            tree = {"format": FORMAT, "version": __version__}
            durable.write(path, json.dumps(tree).encode())


def _format_of(path: Path) -> int | None:
    """The number in a file; None: it is broken, and is written anew."""
    with path.open("rb") as file:
        try:
            tree = json.loads(file.read(MOST_BYTES))
        except ValueError:
            return None
    number = tree.get("format") if isinstance(tree, dict) else None
    return number if isinstance(number, int) else None


MANIFEST: Final = "manifest.json"
MODE: Final = 0o600
"""Hashes of tokens and the key of sessions are in it."""
CHUNK: Final = 1 << 20
MOST_MANIFEST_BYTES: Final = 64 << 20
REMEDY: Final = "Take another backup, or copy it here once more."


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a backup.

    Args:
        name: see stored.NAMES.
        size: in bytes.
        mtime_ns: saved runs are listed and pruned by it.
    """

    name: str
    size: int
    sha256: str
    mtime_ns: int
    mode: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What stands in a backup."""

    made_at: str
    version: str
    items: tuple[Item, ...]

    def counts(self) -> dict[str, int]:
        """Kind -> number of files."""
        return dict(Counter(kind_of(item.name) or "" for item in self.items))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(item.size for item in self.items)


def make(target: Path, places: Places) -> Contents:
    """Write a backup; what was at `target` is replaced once it is whole.

    Raises:
        InfraError: it cannot be written.
    """
    items: list[Item] = []
    try:
        with durable.open_atomic(target, MODE) as file, zipfile.ZipFile(file, "w") as archive:
            for name, path in places.files():
                try:
                    opened = snapshot(path) if name == CLASSES else path.open("rb")
                except FileNotFoundError:  # pruned, or deleted by somebody just now
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
            f"the database of classes cannot be copied ({error}).",
            remedy="Run as the user of the server, and look at its disk.",
        ) from error
    except OSError as error:
        raise InfraError(
            f"{target} cannot be written: {error.strerror or error}.",
            remedy="Make room there, or name a file in another folder.",
        ) from error
    return contents


def restore(source: Path, places: Places, *, replace: bool) -> Contents:
    """Check a whole backup, then write what is in it.

    Args:
        replace: what is stored now goes. Without it there must be nothing.

    Raises:
        InputError: it is no whole backup, or one of a newer version; or there is something.
        InfraError: it cannot be read or written.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            contents = _read(archive, source)
            there = [name for name, _ in places.files()]
            if there and not replace:
                raise InputError(
                    f"{len(there)} files are stored here already, such as {places.path(there[0])}.",
                    remedy="Add --replace to have those of the backup in their place alone.",
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
        raise InputError(f"{source} is no whole backup ({error}).", remedy=REMEDY) from error
    except OSError as error:
        raise InfraError(
            f"the backup could not be restored: {error.strerror or error} "
            f"({error.filename or source}).",
            remedy="Run as the user of the server; make room; then restore again with --replace.",
        ) from error
    return contents


@contextlib.contextmanager
def snapshot(path: Path) -> Iterator[IO[bytes]]:
    """One moment of an SQLite database that may be in use, as a file to read."""
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
    with archive.open(info, "w", force_zip64=True) as target:  # recordings are packed already
        size, sha256 = _copied(source, target.write)
    return Item(name, size, sha256, status.st_mtime_ns, status.st_mode & 0o777)


def _copied(source: IO[bytes], write: Callable[[bytes], object]) -> tuple[int, str]:
    """(bytes, SHA-256) of what was copied."""
    size, digest = 0, hashlib.sha256()
    while chunk := source.read(CHUNK):
        write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def _read(archive: zipfile.ZipFile, source: Path) -> Contents:
    """The manifest, once every file was found to be what it says."""
    try:
        if archive.getinfo(MANIFEST).file_size > MOST_MANIFEST_BYTES:
            raise ValueError("its manifest is too large")
        tree = json.loads(archive.read(MANIFEST))
        number = tree["format"]
        if isinstance(number, int) and number > FORMAT:
            raise InputError(
                f"{source} has format {number}, of a newer Kernel Duet ({tree['version']!s:.20}); "
                f"this one knows {FORMAT}.",
                remedy="Use that version.",
            )
        items = tuple(Item(**item) for item in tree["items"])
        contents = Contents(str(tree["made_at"]), str(tree["version"]), items)
        _check(items, archive)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{source} is no whole backup ({error!s:.100}).", remedy=REMEDY) from error
    return contents


def _check(items: Iterable[Item], archive: zipfile.ZipFile) -> None:
    """Raises: ValueError, KeyError: a file is missing, changed, or none that a server stores."""
    for item in items:
        if kind_of(item.name) is None:
            raise ValueError(f"a server stores nothing of the name {item.name!r:.60}")
        if archive.getinfo(item.name).file_size != item.size:
            raise ValueError(f"{item.name} has another size")
        with archive.open(item.name) as file:
            if _copied(file, len) != (item.size, item.sha256):
                raise ValueError(f"{item.name} has another SHA-256")


def _write(path: Path, item: Item, file: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_ahead(item.name, path)
    with durable.open_atomic(path, item.mode & 0o666) as target:
        _copied(file, target.write)
    os.utime(path, ns=(item.mtime_ns, item.mtime_ns))


def _remove_ahead(name: str, path: Path) -> None:
    """What a former database had written ahead belongs to no other."""
    for ending in ("-wal", "-shm") if name == CLASSES else ():
        path.with_name(path.name + ending).unlink(missing_ok=True)
