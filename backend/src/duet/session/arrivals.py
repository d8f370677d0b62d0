# SPDX-License-Identifier: GPL-2.0-or-later
"""What has come from a guest and was not worked on yet: files and pages, within bounds. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from duet import budgets
from duet.confined.messages import Blob
from duet.errors import InputError
from duet.wire.pages import PAGE_BYTES


class GuestFiles:
    """The files that a guest sends before its pages, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, bytes] = {}
        self._count = self._bytes = 0

    def add(self, name: str, content: bytes) -> None:
        """Take a file.

        Raises:
            InputError: they are more, or larger, than a guest may send.
        """
        self._count += 1
        self._bytes += len(name) + len(content)
        if self._count > budgets.GUEST_FILES or self._bytes > budgets.GUEST_FILE_BYTES:
            raise InputError(
                f"the guest sent {self._count} files with {self._bytes:,} bytes, and "
                f"{budgets.GUEST_FILES} with {budgets.GUEST_FILE_BYTES:,} are allowed.",
                remedy="Build the guest root again, or get the recording anew.",
            )
        self.by_name[name] = content


class Pages(NamedTuple):
    """Whole pages of one CPU.

    Args:
        complete: see Decoder.decode.
    """

    cpu: int
    pages: Blob
    complete: Sequence[tuple[int, int]] = ()


class PageQueue:
    """Pages in the order in which they came."""

    def __init__(self) -> None:
        self._pages: dict[int, list[bytes]] = {}
        self._counts: dict[int, int] = {}
        self._complete: dict[int, list[tuple[int, int]]] = {}
        self.size_bytes = 0
        self.host_ns = 0
        """When the newest of all pages came, those included that were taken."""

    def add(self, cpu: int, pages: bytes, host_ns: int, complete_ns: int) -> None:
        """Take whole pages of one CPU; nothing if there is none.

        Args:
            complete_ns: the CPU was complete up to this guest time before they came.
        """
        if pages:
            marks = self._complete.setdefault(cpu, [])
            if not marks or marks[-1][1] != complete_ns:
                marks.append((self._counts.get(cpu, 0), complete_ns))
            self._counts[cpu] = self._counts.get(cpu, 0) + len(pages) // PAGE_BYTES
            self._pages.setdefault(cpu, []).append(pages)
            self.size_bytes += len(pages)
            self.host_ns = host_ns

    def take(self) -> tuple[Pages, ...]:
        """All pages, joined by CPU; the queue is empty afterwards."""
        taken = tuple(
            Pages(cpu, b"".join(parts), tuple(self._complete[cpu]))
            for cpu, parts in self._pages.items()
        )
        self._pages, self._counts, self._complete, self.size_bytes = {}, {}, {}, 0
        return taken
