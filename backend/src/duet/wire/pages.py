# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of a per-CPU port become whole ring-buffer pages. No I/O."""

from __future__ import annotations

PAGE_BYTES = 4096


class PageSplitter:
    """Cuts one CPU's byte stream into whole pages; a rest waits for its other half."""

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self.page_bytes = page_bytes
        self.received_bytes = 0
        """All bytes ever fed, to be held against the agent's bytes_sent."""
        self._rest = b""

    @property
    def held_bytes(self) -> int:
        """Bytes of an unfinished page."""
        return len(self._rest)

    def feed(self, chunk: bytes) -> bytes:
        """The whole pages now complete, joined; maybe none."""
        self.received_bytes += len(chunk)
        if self._rest:
            chunk = self._rest + chunk
        whole = len(chunk) - len(chunk) % self.page_bytes
        self._rest = chunk[whole:]
        return chunk[:whole]
