# SPDX-License-Identifier: GPL-2.0-or-later
"""Which slot a live run takes: one whose guests are likely to be those it needs. Pure."""

from __future__ import annotations


class Slots:
    """Slots of a stage; runs in different ones share no guest.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self._free = set(range(count))
        self._last: list[tuple[str, str]] = [("", "")] * count
        """Lesson and visitor of the run that had a slot last: its guests are still up."""

    def take(self, lesson: str, visitor: str) -> int:
        """A free slot: last this visitor's with this lesson, else with this lesson, else unused.

        Raises:
            ValueError: none is free.
        """

        def unlike(slot: int) -> tuple[bool, bool, bool, int]:
            last, whose = self._last[slot]
            return ((last, whose) != (lesson, visitor), last != lesson, last != "", slot)

        chosen = min(self._free, key=unlike)
        self._free.remove(chosen)
        self._last[chosen] = (lesson, visitor)
        return chosen

    def free(self, slot: int) -> None:
        """The run in a slot is over; its guests stay up."""
        self._free.add(slot)
