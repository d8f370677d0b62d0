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
from collections.abc import Iterator
from contextlib import contextmanager
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
