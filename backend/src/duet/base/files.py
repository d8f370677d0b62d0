# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomic, durable writes of files and folders.

A rename alone is not enough: after a power cut the new name may point to a file whose bytes never
reached the disk. These functions sync the bytes, rename, then sync the folder that holds the
name. Source: fsync(2), rename(2), and "All File Systems Are Not Created Equal"
(Pillai et al., OSDI 2014).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PART = ".part"
"""Suffix of a file that is being written."""


@contextmanager
def open_atomic(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` on exit; on an exception, remove the file.

    Raises:
        OSError: writing failed, for example for lack of space; `path` is then unchanged.
    """
    handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Replace the content of a file atomically, as `open_atomic` does."""
    with open_atomic(path, mode) as file:
        file.write(content)


def publish_folder(draft: Path, target: Path) -> None:
    """Sync all files of a folder to disk, then rename it to `target`.

    Raises:
        OSError: for example if `target` exists and is not empty.
    """
    sync_tree(draft)
    draft.rename(target)
    sync_folder(target.parent)


def sync_tree(folder: Path) -> None:
    """Sync every file and folder below a folder to disk."""
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(where, name)
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        sync_folder(Path(where))


def sync_file(path: Path) -> None:
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Sync a folder's entries to disk; do nothing on file systems that do not support this."""
    with contextlib.suppress(OSError):
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# File stamps, for caches: a cached result is valid until one of its input files changes.

Stamp = tuple[int, int, int]


def stamp(path: str | Path) -> Stamp | None:
    """Return a file's inode, size in bytes and modification time in ns; None if it is missing."""
    try:  # pathlib would double the cost of this call
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Stamps:
    """Stamps of several files, taken at one time to detect later changes."""

    paths: tuple[str, ...]
    were: tuple[Stamp | None, ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Stamps:
        """Take the stamps of files. Call this before reading the files, not after."""
        names = tuple(dict.fromkeys(map(str, paths)))
        return cls(names, tuple(map(stamp, names)))

    @property
    def same(self) -> bool:
        """Whether no file has changed since the stamps were taken."""
        return self.were == tuple(map(stamp, self.paths))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
