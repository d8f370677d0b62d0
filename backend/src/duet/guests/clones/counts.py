# SPDX-License-Identifier: GPL-2.0-or-later
"""How many guests are parked, in the making, and have failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TemplateCounts:
    """How parked guests stand, for an operator.

    Args:
        held: that copies can be made of now.
        held_bytes: their memory.
        making: 1 while one is being parked.
        waiting: that will be made when nothing runs, the one in the making included.
        later: that will be made after those, if there is room.
        made: since the start.
        failed: tries that came to nothing.
        refused: copies that failed, so that their lanes booted.
        ready: copies that stand ready for a lane.
        ready_bytes: their memory.
        taken: lanes that took one of these, since the start.
    """

    held: int = 0
    held_bytes: int = 0
    making: int = 0
    waiting: int = 0
    later: int = 0
    made: int = 0
    failed: int = 0
    refused: int = 0
    ready: int = 0
    ready_bytes: int = 0
    taken: int = 0
