# SPDX-License-Identifier: GPL-2.0-or-later
"""Which request for a live run starts next, and in which slot. Pure: no clock, tasks or guests.

First come, first served, with one waiting and one running request per visitor: so visitors take
turns, and nobody who waits is overtaken for ever. A visitor whose run goes on is passed over.
Equal requests share one run. A request that wants the machine alone (a measurement) starts when
nothing runs, and nothing that came later starts before it.

A judgement is no run: neither replaces or ends the other, and what a member tries in a class
replaces nothing either. Who waits for one and asks for another as well keeps one place: the second
request takes a place of its own, the last, when the first one starts. So it is as if he had asked
for it at that moment, and nobody who came before it waits more: one member with five requests
holds nobody back.
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

# Requests that wait for their start: in the queue, or behind another one of their visitor. Pure.
#
# A visitor has one place in the queue. What he wants as well, a judgement with a run, a run with a
# judgement, or what he tries in a class, is behind until he has none.


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


DURATIONS = 8
"""Past runs of a kind from which the next one's duration is estimated."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a waiting request stands.

    Args:
        place: 1 is the next to start.
        waiting: requests that wait, in all.
        estimate_s: until it starts.
    """

    place: int
    waiting: int
    estimate_s: float


class Scheduler:
    """The queue of requests and what runs.

    Args:
        slots: runs at once.
        most_waiting: requests that may wait.
    """

    def __init__(self, slots: int, most_waiting: int = WAITING_RUNS) -> None:
        self.slots = slots
        self._most_waiting = most_waiting
        self._line = Line()
        self.asked_by = self._line.of
        self._running: dict[str, Request] = {}
        self._slowness: defaultdict[Hashable, deque[float]] = defaultdict(
            lambda: deque(maxlen=DURATIONS)
        )

    @property
    def waiting(self) -> tuple[Request, ...]:
        """Requests that wait, the next one first."""
        return tuple(self._line.queue)

    @property
    def running(self) -> tuple[Request, ...]:
        """Requests that run, the oldest first."""
        return tuple(self._running.values())

    def waits_for(self, owner: str) -> Request | None:
        """The request that a visitor waits for, as its owner or as a sharer."""
        return self._line.waits_for(owner)

    def comes_behind(self, owner: str) -> Request | None:
        """What a visitor wants as well, and what has no place yet."""
        return self._line.comes_behind(owner)

    def runs_of(self, owner: str) -> Request | None:
        """The run that a visitor started and that goes on."""
        return next((r for r in self._running.values() if r.owner == owner), None)

    def ask(self, request: Request) -> tuple[Request, Request | None]:
        """Add a request.

        Returns:
            The request that will run: this one, or an equal one that is there already; and the
            waiting one of the same visitor that is withdrawn for it, if nobody else wants that.

        Raises:
            InputError: too many wait.
        """
        equal, owner = self._equal(request), request.owner
        former = self._line.former(owner, request.sort)
        if equal is not None:
            withdrawn = None if former in (None, equal) else self._line.leave(former, owner)
            if owner not in equal.owners:
                equal.sharers.append(owner)
            self._line.move_up()
            return equal, withdrawn
        replaces = former is not None and former.owners == (owner,)
        # What comes behind something of its own visitor keeps no place from others.
        line = self._line.behind if self._line.waits_for(owner) else self._line.queue
        if not replaces and len(line) >= self._most_waiting:
            raise _queue_full(len(line))
        if replaces and former is not None:  # a changed knob does not cost the place
            self._line.replace(former, request)
            return request, former
        self._line.leave(former, owner)
        self._line.add(request)
        return request, None

    def withdraw(self, owner: str, run_id: str | None = None) -> Request | None:
        """Take back what a visitor waits for; returns the request if nobody else wants it.

        Args:
            run_id: which of two; None: the one that has a place.
        """
        found = next((r for r in self._line.of(owner) if run_id in (None, r.run_id)), None)
        withdrawn = self._line.leave(found, owner)
        self._line.move_up()
        return withdrawn

    def next(self, now_s: float) -> Request | None:
        """The request that may start now, which then runs; None: nothing may."""
        found = _first(self._line.queue, list(self._running.values()), self.slots)
        if found is not None:
            self._line.queue.remove(found)
            found.began_s = now_s
            self._running[found.run_id] = found
            self._line.move_up()
        return found

    def over(self, run_id: str, now_s: float, whole: bool = True) -> None:
        """A run has ended.

        Args:
            whole: it came to its own end, so its duration says something of the next one's.
        """
        request = self._running.pop(run_id, None)
        if request is None or request.began_s is None:
            return
        if whole and request.expected_s > 0:
            took = (now_s - request.began_s) / request.expected_s
            self._slowness[request.kind].append(took)

    def gives_way(self, owner: str) -> Request | None:
        """The run of a visitor that is to be stopped for what he waits for.

        It is when nobody else asked for that run and nobody else waits: then the machine is free
        for him at once. Otherwise his next run waits for its turn like any other.
        """
        mine, waits = self.runs_of(owner), self.waits_for(owner)
        if mine is None or waits is None or mine.sharers or len(self._line.queue) > 1:
            return None
        return mine if mine.sort == waits.sort else None

    def place(self, run_id: str, now_s: float) -> Place | None:
        """Where a request stands; None: it does not wait."""
        waiting = [r.run_id for r in self._line.queue]
        if run_id not in waiting:
            return None
        begins = dict(self._forecast(now_s))
        order = sorted(waiting, key=lambda ident: (begins[ident], waiting.index(ident)))
        at = order.index(run_id) + 1
        return Place(at, len(waiting), max(0.0, begins[run_id] - now_s))

    def _equal(self, request: Request) -> Request | None:
        there = (*self._line.all(), *self._running.values())
        return next((r for r in there if r.key == request.key and not r.ends), None)

    def _duration_s(self, request: Request) -> float:
        seen = self._slowness.get(request.kind)
        return request.expected_s * (median(seen) if seen else 1.0)

    def _forecast(self, now_s: float) -> Iterator[tuple[str, float]]:
        """When each waiting request starts, if every run takes as long as is expected."""
        waiting = list(self._line.queue)
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
        f"{waiting} runs wait already, and no more than that may.",
        remedy="Watch one of the live runs, or try again in some minutes.",
    )
    error.code = "queue-full"
    return error


def _first(waiting: list[Request], running: list[Request], slots: int) -> Request | None:
    """The first that may start beside what runs."""
    if len(running) >= slots or any(request.alone for request in running):
        return None
    busy = {request.owner for request in running}
    for request in waiting:
        if request.alone:
            return None if running else request
        if request.owner not in busy:
            return request
    return None


# A visitor's request as the scheduler takes it: key, expected time, name of the run.


BOOT_S = 15.0
"""What a run takes beyond its own seconds, until runs have shown what they take here."""
USUAL_SECONDS = 10
"""Of a lesson without that parameter."""


def queue_request(owner: str, job: Job, number: int, tries: bool = False) -> Request:
    """What the scheduler needs of a visitor's request; equal ones have equal keys.

    Args:
        tries: a member of a class tries it; it replaces nothing that this visitor waits for.
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


# Which slot a live run takes: one whose guests are likely to be those it needs. Pure.


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
