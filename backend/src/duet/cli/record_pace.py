# SPDX-License-Identifier: GPL-2.0-or-later
"""How long recordings took on this machine, for estimates of what is left."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from duet.base import files as durable
from duet.guests import Clock
from duet.measure.plan import PERTURBED, default_repeats
from duet.server.recorded_items import Item

GUEST_S = 12.0
"""Seconds of a run of one guest, before any was timed here."""


def guests(item: Item) -> int:
    """Runs that an item takes."""
    if item.kind == "recording":
        return len(item.arms)
    count = item.clock == "count"
    return len(item.arms) * (default_repeats(Clock(item.clock)) + (PERTURBED if count else 0))


class Pace:
    """Seconds of each item that was made on this machine.

    Args:
        path: where they are stored; an unreadable file counts as none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, float] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_bytes())
            if isinstance(found, dict):
                self._known = {
                    str(title): float(seconds)
                    for title, seconds in found.items()
                    if isinstance(seconds, int | float) and seconds > 0
                }
        self._runs = 0
        self._seconds = 0.0

    def left_s(self, items: Iterable[Item]) -> float:
        """Seconds that these will take: as they took last time, else by what a guest took."""
        each = self._seconds / self._runs if self._runs else GUEST_S
        return sum(self._known.get(item.title, each * guests(item)) for item in items)

    def took(self, item: Item, seconds: float) -> None:
        """One was made."""
        self._runs += guests(item)
        self._seconds += seconds
        self._known[item.title] = round(seconds, 1)
        with contextlib.suppress(OSError):  # only an estimate
            self._path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(self._path, json.dumps(self._known, indent=1).encode())
