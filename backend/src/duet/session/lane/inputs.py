# SPDX-License-Identifier: GPL-2.0-or-later
"""What the states of a lane decide from: what the agent has sent so far."""

from __future__ import annotations

from duet.errors import DuetError
from duet.wire import Drained, Ended, Frame, Hello, Ready, Started


class Inputs:
    """What has come so far. Frames may come in any order, and all before the first action."""

    def __init__(self) -> None:
        self.error: DuetError | None = None
        """What the agent reports, or why the lane has failed."""
        self.hello: Hello | None = None
        self.status: int | None = None
        """Wait status of the workload, once it has ended."""
        self.port_open = False
        self.missing_bytes = 0
        """Of pages that the agent has sent."""
        self.gone = False
        """The guest has ended."""
        self.stop_requested = False
        self.ready = self.started = self.ended = self.drained = False

    def receive(self, frame: Frame) -> None:
        """A frame of the control port."""
        match frame:
            case Hello():
                self.hello = frame
            case Ready():
                self.ready = True
            case Started():
                self.started = True
            case Ended(_, status):
                self.started = self.ended = True
                self.status = status
            case Drained():
                self.drained = True
            case _:
                pass
