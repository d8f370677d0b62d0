# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes that wait for their build, and the one that is built. Pure, on one event loop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from duet.budgets import CHANGES_WAITING
from duet.changes import Change
from duet.errors import InfraError
from duet.lessons.load import LessonFolder


@dataclass(eq=False, slots=True)
class OwnBuild:
    """A change that waits or is built.

    Args:
        folder: the lesson with its arm.
        owners: visitors that wait for it; without any it is given up.
        asked_s: when it was first asked for, monotonic.
    """

    change: Change
    folder: LessonFolder
    owners: set[str] = field(default_factory=set)
    asked_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Since it was asked for."""
        return round(time.monotonic() - self.asked_s, 1)


class OwnQueue:
    """First come, first served; at most one build that waits or goes on is a visitor's."""

    def __init__(self) -> None:
        self.waiting: list[OwnBuild] = []
        self.current: OwnBuild | None = None

    def ask(self, owner: str, change: Change, folder: LessonFolder) -> tuple[OwnBuild, bool]:
        """The build of a change; equal ones are one. Also whether the current one is given up.

        Raises:
            InfraError: too many wait.
        """
        ended = self.drop(owner, but=change.name)
        for known in self._all():
            if known.change.name == change.name:
                known.owners.add(owner)
                return known, ended
        if len(self.waiting) >= CHANGES_WAITING:
            error = InfraError(
                f"{len(self.waiting)} changes wait to be compiled already.",
                remedy="Try again in a minute.",
            )
            error.code = "busy"
            raise error
        made = OwnBuild(change, folder, {owner})
        self.waiting.append(made)
        return made, ended

    def drop(self, owner: str, name: str | None = None, but: str | None = None) -> bool:
        """A visitor gives up what he waits for; True: nobody waits for the current build.

        Args:
            name: only this one; None: whatever it is.
            but: not this one.
        """
        for one in self._all():
            if one.change.name != but and name in (None, one.change.name):
                one.owners.discard(owner)
        self.waiting = [one for one in self.waiting if one.owners]
        return self.current is not None and not self.current.owners

    def next(self) -> OwnBuild | None:
        """Take the next one; it is the current one until `over`."""
        self.current = self.waiting.pop(0) if self.waiting else None
        return self.current

    def over(self) -> None:
        """The current one has ended."""
        self.current = None

    def ahead(self, one: OwnBuild) -> int:
        """Builds that come before it."""
        if one not in self.waiting:
            return 0
        return self.waiting.index(one) + (self.current is not None)

    def _all(self) -> list[OwnBuild]:
        return [*([self.current] if self.current is not None else []), *self.waiting]
