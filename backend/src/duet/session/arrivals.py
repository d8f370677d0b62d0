# SPDX-License-Identifier: GPL-2.0-or-later
"""What has come from a guest and was not worked on yet: files and pages, within bounds. Pure."""

from __future__ import annotations

from duet import budgets
from duet.errors import InputError


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


class PageQueue:
    """Pages in the order in which they came."""

    def __init__(self) -> None:
        self._pages: list[tuple[int, bytes]] = []
        self.size_bytes = 0
        self.host_ns = 0
        """When the newest of all pages came, those included that were taken."""

    def add(self, cpu: int, pages: bytes, host_ns: int) -> None:
        """Take whole pages of one CPU; nothing if there is none."""
        if pages:
            self._pages.append((cpu, pages))
            self.size_bytes += len(pages)
            self.host_ns = host_ns

    def take(self) -> tuple[tuple[int, bytes], ...]:
        """All pages, joined by CPU; the queue is empty afterwards."""
        by_cpu: dict[int, list[bytes]] = {}
        for cpu, part in self._pages:
            by_cpu.setdefault(cpu, []).append(part)
        self._pages, self.size_bytes = [], 0
        return tuple((cpu, b"".join(parts)) for cpu, parts in by_cpu.items())
