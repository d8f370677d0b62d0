# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which request for a live run starts next, and in which slot. Pure: no clock, tasks or
guests.

The order is first come, first served, with one waiting and one running request per visitor. So
visitors take turns, and no waiting request starves. A visitor whose run is active is passed over.
Identical requests share one run. A request that needs the machine alone (a measurement) starts when
nothing runs, and no later request starts before it.

A judgement and a run do not replace or end each other. A class's request never replaces or ends a
visitor's own judgement or run. A visitor with several requests has one place in the queue, for the
first request. The visitor's other requests wait behind the first request, without a place. When the
first request starts, the second request gets the last place in the queue. So a visitor who makes
five requests together delays other visitors no more than a visitor who makes five requests one
after another.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from statistics import median

from duet.base.budgets import WAITING_RUNS
from duet.base.errors import InputError
from duet.lessons.load import duration_s
from duet.runs.sources import Job, JudgeRequest, MeasureRequest, run_of
from duet.server.archive import new_name

# Requests that wait in the queue, or behind another request from the same visitor. Pure.
#
# A visitor has at most one place in the queue. The visitor's further requests wait without a place
# until that place is free. Examples are a judgement in addition to a run, and a class's request.


@dataclass(eq=False, slots=True)
class Request:
    """A request for a live run.

    Args:
        run_id: id of the waiting or running run.
        owner: the visitor who made the request first. If that visitor withdraws, the first of
            `sharers` becomes the owner.
        key: requests with the same key share one run.
        kind: for runs of one kind, the real duration divided by `expected_s` is similar.
        expected_s: duration estimated from the run's parameters.
        alone: whether nothing else may run at the same time.
        judges: whether the run is a judgement.
        sort: a newer request replaces the same visitor's request of the same sort, and no other.
        sharers: visitors who made an identical request later.
        began_s: when the run started; None while it waits.
        ends: whether the run has ended for its viewers or is stopping, so that nobody may join it.
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
        return (self.owner, *self.sharers)


class WaitingRequests:
    """All waiting requests: those in the queue, and those that wait behind their visitor's other
    request."""

    def __init__(self) -> None:
        self.queue: list[Request] = []
        self.behind: list[Request] = []

    def all(self) -> tuple[Request, ...]:
        """Return all waiting requests, beginning with those in the queue."""
        return (*self.queue, *self.behind)

    def replaceable(self, owner: str, sort: Hashable) -> Request | None:
        """Return the visitor's waiting request of this sort, or None."""
        return next((r for r in self.requests_of(owner) if r.sort == sort), None)

    def requests_of(self, owner: str) -> tuple[Request, ...]:
        """Return all waiting requests of a visitor, beginning with the request in the queue."""
        return tuple(request for request in self.all() if owner in request.owners)

    def waits_for(self, owner: str) -> Request | None:
        """Return a visitor's request in the queue, or None."""
        return next((r for r in self.queue if owner in r.owners), None)

    def comes_behind(self, owner: str) -> Request | None:
        """Return a visitor's first request that has no place in the queue yet, or None."""
        return next((r for r in self.behind if owner in r.owners), None)

    def add(self, request: Request) -> None:
        """Append a request to the queue, or let it wait without a place if its visitor has a
        place."""
        self.behind.append(request)
        self.move_up()

    def replace(self, former: Request, request: Request) -> None:
        requests = self.queue if former in self.queue else self.behind
        requests[requests.index(former)] = request

    def withdraw(self, former: Request | None, owner: str) -> Request | None:
        """Withdraw a visitor from a request. Return the request if no other visitor wants it."""
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
        """Append waiting requests to the queue if one of their visitors has no place in the
        queue."""
        for one in list(self.behind):
            if any(self.waits_for(owner) is None for owner in one.owners):
                self.behind.remove(one)
                self.queue.append(one)


DURATIONS = 8
"""Number of past runs of a kind from which the duration of the next run is estimated."""


@dataclass(frozen=True, slots=True)
class Place:
    """A waiting request's place in the queue.

    Args:
        place: position in the queue; 1 starts next.
        waiting: number of requests in the queue.
        estimate_s: estimated time until the request starts.
    """

    place: int
    waiting: int
    estimate_s: float


class Scheduler:
    """The queue, and the running requests.

    Args:
        slots: number of simultaneous runs.
        most_waiting: maximum length of the queue.
    """

    def __init__(self, slots: int, most_waiting: int = WAITING_RUNS) -> None:
        self.slots = slots
        self._most_waiting = most_waiting
        self._waiting = WaitingRequests()
        self.asked_by = self._waiting.requests_of
        self._running: dict[str, Request] = {}
        self._slowness: defaultdict[Hashable, deque[float]] = defaultdict(
            lambda: deque(maxlen=DURATIONS)
        )

    @property
    def waiting(self) -> tuple[Request, ...]:
        """Requests in the queue; the next to start is first."""
        return tuple(self._waiting.queue)

    @property
    def running(self) -> tuple[Request, ...]:
        """Running requests, the oldest first."""
        return tuple(self._running.values())

    def waits_for(self, owner: str) -> Request | None:
        """Return the queued request that a visitor owns or shares."""
        return self._waiting.waits_for(owner)

    def comes_behind(self, owner: str) -> Request | None:
        """Return a visitor's request that has no place in the queue yet."""
        return self._waiting.comes_behind(owner)

    def runs_of(self, owner: str) -> Request | None:
        """Return the running request that a visitor owns."""
        return next((r for r in self._running.values() if r.owner == owner), None)

    def ask(self, request: Request) -> tuple[Request, Request | None]:
        """Add a request.

        Returns:
            Two requests. The first is the request that will run: the new request, or an existing
            identical request. The second is the visitor's earlier request that was replaced. It is
            None if there was none, or if another visitor still wants it.

        Raises:
            InputError: the queue is full.
        """
        equal, owner = self._equal(request), request.owner
        former = self._waiting.replaceable(owner, request.sort)
        if equal is not None:
            withdrawn = None if former in (None, equal) else self._waiting.withdraw(former, owner)
            if owner not in equal.owners:
                equal.sharers.append(owner)
            self._waiting.move_up()
            return equal, withdrawn
        replaces = former is not None and former.owners == (owner,)
        # Requests without a place in the queue have a limit of their own.
        line = self._waiting.behind if self._waiting.waits_for(owner) else self._waiting.queue
        if not replaces and len(line) >= self._most_waiting:
            raise _queue_full(len(line))
        if replaces and former is not None:  # the new request keeps the visitor's place
            self._waiting.replace(former, request)
            return request, former
        self._waiting.withdraw(former, owner)
        self._waiting.add(request)
        return request, None

    def withdraw(self, owner: str, run_id: str | None = None) -> Request | None:
        """Withdraw a visitor's waiting request. Return the request if no other visitor wants it.

        Args:
            run_id: the request's run; None means the request in the queue.
        """
        found = next(
            (r for r in self._waiting.requests_of(owner) if run_id in (None, r.run_id)), None
        )
        withdrawn = self._waiting.withdraw(found, owner)
        self._waiting.move_up()
        return withdrawn

    def next(self, now_s: float) -> Request | None:
        """Start and return the next request that may start. Return None if no request may start."""
        found = _first(self._waiting.queue, list(self._running.values()), self.slots)
        if found is not None:
            self._waiting.queue.remove(found)
            found.began_s = now_s
            self._running[found.run_id] = found
            self._waiting.move_up()
        return found

    def over(self, run_id: str, now_s: float, whole: bool = True) -> None:
        """Record that a run has ended.

        Args:
            whole: whether the run ended without being stopped. Its duration then improves later
                estimates.
        """
        request = self._running.pop(run_id, None)
        if request is None or request.began_s is None:
            return
        if whole and request.expected_s > 0:
            took = (now_s - request.began_s) / request.expected_s
            self._slowness[request.kind].append(took)

    def gives_way(self, owner: str) -> Request | None:
        """Return the visitor's active run if it should be stopped, so that the visitor's queued
        request can start. Otherwise return None.

        A run that another visitor shares is never stopped. If other requests wait too, the run is
        not stopped, because another request might start instead. The visitor's request then waits
        for its turn.
        """
        mine, waits = self.runs_of(owner), self.waits_for(owner)
        if mine is None or waits is None or mine.sharers or len(self._waiting.queue) > 1:
            return None
        return mine if mine.sort == waits.sort else None

    def place(self, run_id: str, now_s: float) -> Place | None:
        """Return a request's place in the queue; None if it has none."""
        waiting = [r.run_id for r in self._waiting.queue]
        if run_id not in waiting:
            return None
        begins = dict(self._forecast(now_s))
        order = sorted(waiting, key=lambda ident: (begins[ident], waiting.index(ident)))
        at = order.index(run_id) + 1
        return Place(at, len(waiting), max(0.0, begins[run_id] - now_s))

    def _equal(self, request: Request) -> Request | None:
        there = (*self._waiting.all(), *self._running.values())
        return next((r for r in there if r.key == request.key and not r.ends), None)

    def _duration_s(self, request: Request) -> float:
        seen = self._slowness.get(request.kind)
        return request.expected_s * (median(seen) if seen else 1.0)

    def _forecast(self, now_s: float) -> Iterator[tuple[str, float]]:
        """Yield the expected start time of each queued request, with the id of its run."""
        waiting = list(self._waiting.queue)
        going: list[tuple[float, Request]] = []
        for request in self._running.values():
            began = now_s if request.began_s is None else request.began_s
            going.append((max(now_s, began + self._duration_s(request)), request))
        at = now_s
        while waiting:
            found = _first(waiting, [r for _, r in going], self.slots)
            if found is not None:
                waiting.remove(found)
                going.append((at + self._duration_s(found), found))
                yield found.run_id, at
                continue
            going.sort(key=lambda each: each[0])
            at = max(at, going.pop(0)[0])


def _queue_full(waiting: int) -> InputError:
    error = InputError(
        f"the queue is full: {waiting} runs are already waiting.",
        remedy="Watch one of the live runs, or try again in a few minutes.",
    )
    error.code = "queue-full"
    return error


def _first(waiting: list[Request], running: list[Request], slots: int) -> Request | None:
    """Return the first request that may start while the running requests go on."""
    if len(running) >= slots or any(request.alone for request in running):
        return None
    busy = {request.owner for request in running}
    for request in waiting:
        if request.alone:
            return None if running else request
        if request.owner not in busy:
            return request
    return None


# Translates a visitor's request into the scheduler's terms: key, expected time, id of the run.


BOOT_S = 15.0
"""Expected overhead of a run beyond its workload, until runs have been timed here."""
USUAL_SECONDS = 10
"""Expected duration of a workload if its lesson has no duration parameter."""


def queue_request(owner: str, job: Job, number: int, tries: bool = False) -> Request:
    """Make the scheduler's request for a visitor's job. Identical jobs have identical keys.

    Args:
        tries: whether a class requested the run. A class's request replaces no waiting request of
            this visitor.
    """
    what = run_of(job)
    repeats = job.repeats if isinstance(job, MeasureRequest) else 0
    judged = (job.challenge, job.arm) if isinstance(job, JudgeRequest) else ()
    alone = bool(repeats or judged)
    slug = what.folder.slug
    seconds = duration_s(what.folder.lesson, what.params, USUAL_SECONDS) + BOOT_S
    return Request(
        run_id=f"measure-{number}" if alone else f"kept:{slug}:{new_name()}",
        owner=owner,
        key=(
            *(slug, repeats, what.workload, what.clock, *judged),
            *(frozenset(what.arms), frozenset(what.missing), frozenset(what.params.items())),
        ),
        kind=(slug, what.clock, alone, *judged[:1]),
        expected_s=seconds * max(1, (repeats or len(judged)) * len(what.arms)),
        alone=alone,
        judges=bool(judged),
        sort=("try", number) if tries else bool(judged),
    )


# Chooses a slot for a live run, preferably a slot whose guests the run can reuse. Pure.


class Slots:
    """A stage's slots. Runs in different slots share no guest.

    Args:
        count: number of slots.
    """

    def __init__(self, count: int) -> None:
        self._free = set(range(count))
        self._last: list[tuple[str, str]] = [("", "")] * count
        """Lesson and visitor of each slot's last run, whose guests are still up."""

    def take(self, lesson: str, visitor: str) -> int:
        """Take a free slot. Prefer the slot that this visitor last used for this lesson, then a
        slot last used for this lesson, then an unused slot.

        Raises:
            ValueError: no slot is free.
        """

        def unlike(slot: int) -> tuple[bool, bool, bool, int]:
            last, whose = self._last[slot]
            return ((last, whose) != (lesson, visitor), last != lesson, last != "", slot)

        chosen = min(self._free, key=unlike)
        self._free.remove(chosen)
        self._last[chosen] = (lesson, visitor)
        return chosen

    def free(self, slot: int) -> None:
        """Free a slot whose run has ended. This does not stop the slot's guests."""
        self._free.add(slot)
