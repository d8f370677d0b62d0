# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lane calls with the frames and pages of its guest."""

from __future__ import annotations

from typing import Protocol

from duet.wire import Frame, RawFrame


class Listener(Protocol):
    """A run that listens to a lane."""

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """A frame of the control port."""

    def on_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Whole pages of one CPU; `came` bytes came with them."""

    def on_end(self) -> None:
        """The guest is gone; `Lane.error` says why, None if it was asked to go."""

    def on_lens(self, record: bytes) -> None:
        """A record of the x-ray, out of a recording."""

    async def wait_for_capacity(self) -> None:
        """Wait until more may come."""
