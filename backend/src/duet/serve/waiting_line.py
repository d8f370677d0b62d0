# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that wait for their start: in the queue, or behind another one of their visitor. Pure.

A visitor has one place in the queue. What he wants as well, a judgement with a run, a run with a
judgement, or what he tries in a class, is behind until he has none.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class Request:
    """A live run that somebody wants.

    Args:
        run_id: of the run, waiting or running.
        owner: the visitor who asked first; when he withdraws, the next of `sharers`.
        key: requests with equal keys share one run.
        kind: runs of one kind take about the same multiple of `expected_s`.
        expected_s: how long it takes, as far as its parameters say.
        alone: nothing else may run meanwhile.
        judges: it is a judgement.
        sort: a newer request of its visitor replaces one of the same sort; those of others stay.
        sharers: visitors who asked for the same later.
        began_s: when it started; None: it waits.
        ends: it has ended for whoever watches it, or is to end: nobody shares it any more.
    """

    run_id: str
    owner: str
    key: Hashable
    kind: Hashable = None
    expected_s: float = 0.0
    alone: bool = False
    judges: bool = False
    sharers: list[str] = field(default_factory=list)
    began_s: float | None = None
    sort: Hashable = None
    ends: bool = False

    @property
    def owners(self) -> tuple[str, ...]:
        """All who asked for it."""
        return (self.owner, *self.sharers)


class Line:
    """The queue, and what is behind."""

    def __init__(self) -> None:
        self.queue: list[Request] = []
        self.behind: list[Request] = []

    def all(self) -> tuple[Request, ...]:
        """All that wait, those with a place first."""
        return (*self.queue, *self.behind)

    def former(self, owner: str, sort: Hashable) -> Request | None:
        """What a visitor waits for already, of this sort."""
        return next((r for r in self.of(owner) if r.sort == sort), None)

    def of(self, owner: str) -> tuple[Request, ...]:
        """All that a visitor waits for, what has a place first."""
        return tuple(request for request in self.all() if owner in request.owners)

    def waits_for(self, owner: str) -> Request | None:
        """What a visitor has a place for."""
        return next((r for r in self.queue if owner in r.owners), None)

    def comes_behind(self, owner: str) -> Request | None:
        """What a visitor wants as well."""
        return next((r for r in self.behind if owner in r.owners), None)

    def add(self, request: Request) -> None:
        """The last of all, or behind what its visitor waits for."""
        self.behind.append(request)
        self.move_up()

    def replace(self, former: Request, request: Request) -> None:
        """It stands where the former one stood."""
        line = self.queue if former in self.queue else self.behind
        line[line.index(former)] = request

    def leave(self, former: Request | None, owner: str) -> Request | None:
        """A visitor does not want it any more; returns it if nobody does."""
        if former is None:
            return None
        if former.owner != owner:
            former.sharers.remove(owner)
            return None
        if former.sharers:
            former.owner = former.sharers.pop(0)
            return None
        (self.queue if former in self.queue else self.behind).remove(former)
        return former

    def move_up(self) -> None:
        """What one of its visitors has no other place for takes the last one."""
        for one in list(self.behind):
            if any(self.waits_for(owner) is None for owner in one.owners):
                self.behind.remove(one)
                self.queue.append(one)
