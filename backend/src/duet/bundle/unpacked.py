# SPDX-License-Identifier: GPL-2.0-or-later
"""The members of an opened bundle, in a temporary file."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator

from duet.bundle.archive import part
from duet.bundle.record import Record
from duet.bundle.stream import read_stream


class Unpacked:
    """The members of a bundle in a temporary file that has no name; it goes with this object.

    `places` says where: member -> offset and length.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        weakref.finalize(self, os.close, fd)
        self.places: dict[str, tuple[int, int]] = {}

    def records(self, name: str) -> Iterator[Record]:
        """The records of a lane's member."""
        at, size = self.places[name]
        yield from read_stream(part(self._fd, at, size), size, name)

    def content(self, name: str) -> bytes:
        """A whole member."""
        at, size = self.places[name]
        return os.pread(self._fd, size, at)
