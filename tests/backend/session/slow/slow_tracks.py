# SPDX-License-Identifier: GPL-2.0-or-later
"""One strip under a lane: phases of a mechanism, reported by events of several threads. Pure."""

from __future__ import annotations

from duet.session.program import TrackRule


class Track:
    """The open phase of a strip and the threads that are inside of a phase.

    Phases follow one another; a phase that two CPUs are in ends with the last of them. A thread
    whose phase was superseded is still inside of it until it says otherwise (its wakes count),
    but its end does not end what others have begun since.
    """

    __slots__ = ("cpu", "inside", "kind", "row", "rule", "since", "span", "superseded")

    def __init__(self, rule: TrackRule) -> None:
        self.rule = rule
        self.row = -1
        self.kind = -1
        self.since = 0
        self.cpu = -1
        self.span = 0
        self.inside: dict[int, int] = {}
        """tid -> kind of the phase that it is inside of."""
        self.superseded: set[int] = set()

    def step(self, value: int, tid: int) -> int | None:
        """What an event means: a kind that begins, -1 if the open phase ends, None if neither."""
        for after, opens in self.rule.steps.get(value, ()):
            if after < 0 or after == self.kind:
                return self._apply(opens, tid)
        return None

    def _apply(self, opens: int, tid: int) -> int | None:
        if opens < 0:
            mine = self.inside.pop(tid, None)
            if tid in self.superseded:
                self.superseded.discard(tid)
                return None
            others = [t for t in self.inside if t not in self.superseded]
            if mine is not None and others:
                return None
            for other in others:  # begun by one thread, ended by another
                del self.inside[other]
            return -1 if self.kind >= 0 else None
        self.superseded.discard(tid)
        if opens == self.kind:
            self.inside[tid] = opens
            return None
        self.superseded.update(t for t in self.inside if t != tid)
        self.inside[tid] = opens
        return opens

    def forget(self) -> None:
        """Events were lost."""
        self.kind = -1
        self.inside.clear()
        self.superseded.clear()
