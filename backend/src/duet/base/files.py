# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and folders that appear whole or not at all, also after a power cut.

A rename alone is not enough: after a power cut the new name may point to a file whose bytes never
reached the disk. So the bytes are synced first, then the name appears, then the folder that holds
the name is synced. Source: fsync(2), rename(2), and "All File Systems Are Not Created Equal"
(Pillai et al., OSDI 2014).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PART = ".part"
"""Ending of a file that is being written."""


@contextmanager
def written(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file to write; on leaving it replaces `path`, on an exception nothing is left.

    Raises:
        OSError: no space, among others; what was at `path` is still there.
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
    """Replace a file by `content`; see `written`."""
    with written(path, mode) as file:
        file.write(content)


def publish_folder(draft: Path, target: Path) -> None:
    """Rename a folder into place once all that is in it has reached the disk.

    Raises:
        OSError: `target` exists and is not empty, among others.
    """
    sync_tree(draft)
    draft.rename(target)
    sync_folder(target.parent)


def sync_tree(folder: Path) -> None:
    """Sync every file below a folder, and every folder with its names."""
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(where, name)
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        sync_folder(Path(where))


def sync_file(path: Path) -> None:
    """Sync the bytes of a file."""
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Sync the names in a folder. Some file systems refuse that, and then promise nothing."""
    with contextlib.suppress(OSError):
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# What was made of files is used again until one of them changes.

Stamp = tuple[int, int, int]


def stamp(path: str | Path) -> Stamp | None:
    """Inode, size in bytes and time of change in ns; None: there is no such file."""
    try:  # a Path would cost as much again as the call
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Stamps:
    """Files as they were."""

    paths: tuple[str, ...]
    were: tuple[Stamp | None, ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Stamps:
        """Look at files now. Take the stamps before reading the files, not after."""
        names = tuple(dict.fromkeys(map(str, paths)))
        return cls(names, tuple(map(stamp, names)))

    @property
    def same(self) -> bool:
        """Whether all are still as they were."""
        return self.were == tuple(map(stamp, self.paths))
