# SPDX-License-Identifier: GPL-2.0-or-later
"""What was made of files is used again until one of them changes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
