# SPDX-License-Identifier: GPL-2.0-or-later
"""What one class tries, in memory: open steps, runs with their makers, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from duet.classes.try_records import OpenedFacts, Tried, TryFacts
from duet.lessons.load import LessonFolder
from duet.server.queue import Place


@dataclass(slots=True)
class Try:
    """A run that members asked for.

    Args:
        folder: its lesson, with the arms that it runs; None: it was over when this server began.
        askers: member -> ident of the browser that asked for it here.
    """

    facts: TryFacts
    folder: LessonFolder | None = None
    askers: dict[str, str] = field(default_factory=dict)

    def stands(self, **changes: object) -> None:
        """It stands otherwise now."""
        self.facts = replace(self.facts, **changes)  # type: ignore[arg-type]


def no_place(run_id: str) -> Place | None:
    """Of a class that has not tried anything yet."""
    return None


class Trying:
    """Of one class.

    Args:
        stored: as the store has it.
    """

    def __init__(self, stored: Tried) -> None:
        self.opened = {(one.lesson, one.step): one for one in stored.opened}
        self.shown = stored.shown
        self.tries = {one.number: Try(one) for one in stored.tries}
        self.place_of: Callable[[str], Place | None] = no_place
        self.no_runs = ""
        """Why nothing can be tried on this server, a sentence; empty: it can."""
        self.no_patches = ""
        """The same of patches."""

    def change(self, facts: OpenedFacts, knobs: bool) -> None:
        """A step is open, or is not any more."""
        if knobs:
            self.opened[facts.lesson, facts.step] = facts
        else:
            self.opened.pop((facts.lesson, facts.step), None)

    def new_number(self) -> int:
        """Of the next try."""
        return max(self.tries, default=0) + 1

    def equal(self, key: Hashable) -> Try | None:
        """The newest run of that key that has not failed."""
        found = (one for one in reversed(self.tries.values()) if one.facts.state != "failed")
        return next((one for one in found if one.facts.key == key), None)

    def of(self, member: str) -> list[Try]:
        """Those that a member made."""
        return [one for one in self.tries.values() if member in one.facts.makers]

    def waiting(self, member: str) -> int:
        """How many of a member's have not begun."""
        return sum(one.facts.state == "waiting" for one in self.of(member))

    def leave(self, one: Try, member: str) -> bool:
        """A member is no maker of it any more; whether nobody is, and it is gone."""
        one.stands(makers=tuple(maker for maker in one.facts.makers if maker != member))
        one.askers.pop(member, None)
        if one.facts.makers:
            return False
        self.tries.pop(one.facts.number, None)
        return True
