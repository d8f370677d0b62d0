# SPDX-License-Identifier: GPL-2.0-or-later
"""Which template is made next, and which is not tried again. Pure."""

from __future__ import annotations

from collections import OrderedDict

from duet.guests.types import GuestSpec

WAITING = 32
"""Templates that wait to be made; beyond it the oldest is forgotten."""
FAILURES = 2
"""Tries at one template; then its guests boot until the server starts anew."""


class Queue:
    """Templates that are to be made: those that somebody waits for, then those of later."""

    def __init__(self) -> None:
        self.now: OrderedDict[str, GuestSpec] = OrderedDict()
        self.later: OrderedDict[str, GuestSpec] = OrderedDict()
        self._failed: dict[str, int] = {}

    def may(self, key: str) -> bool:
        """It has not failed too often."""
        return self._failed.get(key, 0) < FAILURES

    def add(self, key: str, spec: GuestSpec) -> None:
        """Somebody waits for it: it is made next."""
        self.later.pop(key, None)
        self.now[key] = spec
        self.now.move_to_end(key)
        while len(self.now) > WAITING:
            self.now.popitem(last=False)

    def add_later(self, key: str, spec: GuestSpec) -> None:
        """Nobody waits for it: those that came first are made first."""
        if key not in self.now and len(self.later) < WAITING:
            self.later[key] = spec

    def next(self, room: bool) -> str | None:
        """What is made now.

        Args:
            room: there is some for one that nobody waits for; without it those are forgotten.
        """
        if self.now:
            return next(reversed(self.now))
        if not room:
            self.later.clear()
        return next(iter(self.later), None)

    def spec(self, key: str) -> GuestSpec:
        """Of one that waits."""
        return self.now[key] if key in self.now else self.later[key]

    def fail(self, key: str) -> None:
        """A try at it, or a copy of it, has failed. One for later is not tried again by itself."""
        self._failed[key] = self._failed.get(key, 0) + 1
        self.later.pop(key, None)
        if not self.may(key):
            self.now.pop(key, None)

    def made(self, key: str) -> None:
        """It is there."""
        self.later.pop(key, None)
        self.now.pop(key, None)
