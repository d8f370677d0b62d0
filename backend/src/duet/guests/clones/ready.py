# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies that stand ready: QEMU is up in its enclosure and has loaded its template, and waits.

Starting QEMU and loading the state is a third of the time to a copy's first event, and depends on
nothing that the lane decides; nor does the translation of guest code, which is half of it. So one
is made at once, and then, in its place, one that has rehearsed. The store says when one may be
made; a lane takes it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, replace

from duet.base.errors import DuetError
from duet.guests.clones.copy import READY_BYTES, REHEARSED_BYTES, CloneMachine, Prepare, ReadyCopy
from duet.guests.clones.template import Template
from duet.guests.types import GuestSpec

# Which template is made next, and which is not tried again. Pure.

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
        return self.now[key] if key in self.now else self.later[key]

    def fail(self, key: str) -> None:
        """A try at it, or a copy of it, has failed. One for later is not tried again by itself."""
        self._failed[key] = self._failed.get(key, 0) + 1
        self.later.pop(key, None)
        if not self.may(key):
            self.now.pop(key, None)

    def made(self, key: str) -> None:
        self.later.pop(key, None)
        self.now.pop(key, None)


LOG = logging.getLogger("duet.clones")
MOST_READY = 4
"""Copies that stand ready: two lanes of the lesson at hand, and of the one before."""


class ReadyCopies:
    """Owns copies that stand ready, of the templates that lanes asked for last.

    Args:
        prepare: makes one; None: there are none.
    """

    def __init__(self, prepare: Prepare | None) -> None:
        self._prepare = prepare
        self._expected: OrderedDict[str, GuestSpec] = OrderedDict()
        self._standing: dict[str, ReadyCopy] = {}
        self._failed: Counter[tuple[str, bool]] = Counter()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def held_bytes(self) -> int:
        return sum(copy.held_bytes for copy in self._standing.values())

    @property
    def count(self) -> int:
        """Those that a lane can take."""
        return sum(copy.machine.alive for copy in self._standing.values())

    def most_bytes(self, key: str) -> int:
        """What the next one of this template may take."""
        rehearsed = self._stands(key)
        alike = (one.held_bytes for one in self._standing.values() if one.rehearsed == rehearsed)
        return max(alike, default=REHEARSED_BYTES if rehearsed else READY_BYTES)

    def expect(self, key: str, spec: GuestSpec) -> None:
        """A lane like this one is likely; it pushes out the one that was expected longest ago."""
        if self._prepare is None:
            return
        if key in self._expected and not _alike(self._expected[key], spec):
            self._end(key)
        self._expected[key] = spec
        self._expected.move_to_end(key)
        while len(self._expected) > MOST_READY:
            self.forget(next(iter(self._expected)))

    def take(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        """One for this lane, which owns it from now on; None: there is none."""
        self.expect(key, spec)
        copy = self._standing.get(key)
        if copy is None or not copy.machine.alive:
            return None
        del self._standing[key]
        copy.machine.begin(spec)
        return copy.machine

    def next(self) -> str | None:
        """The template of which one is made next, the last that was asked for first.

        Those that rehearse come after all others: until they are there, a lane takes one of these.
        """
        for rehearsed in (False, True):
            for key in reversed(self._expected):
                if self._lacks(key, rehearsed) and self._failed[key, rehearsed] < FAILURES:
                    return key
        return None

    def _stands(self, key: str) -> bool:
        return key in self._standing and self._standing[key].machine.alive

    def _lacks(self, key: str, rehearsed: bool) -> bool:
        if not self._stands(key):
            return not rehearsed
        # A microscope would count the rehearsal.
        able = self._expected[key].microscope is None
        return rehearsed and able and not self._standing[key].rehearsed

    async def make(self, template: Template) -> None:
        """Make one. What fails is tried again once; its lanes are copied as they come."""
        assert self._prepare is not None
        key, began = template.key, time.monotonic()
        spec, rehearsed = self._expected[key], self._stands(key)
        if not rehearsed:
            self._end(key)  # it has died
        try:
            copy = await self._prepare(template, spec, rehearsed)
        except Exception as error:  # as in the store: whatever it is, it is not tried for ever
            self._failed[key, rehearsed] += 1
            expected = isinstance(error, DuetError | OSError)
            what = "no copy has rehearsed" if rehearsed else "no copy stands ready"
            LOG.warning("lane %s: %s: %s", spec.arm, what, error, exc_info=not expected)
            return
        wanted = self._expected.get(key)
        self._end(key)  # this one takes its place
        self._standing[key] = copy
        if wanted is None or not _alike(wanted, spec):  # meanwhile its template has gone
            self._end(key)
            return
        if not copy.machine.alive:
            self._failed[key, rehearsed] += 1
            return
        del self._failed[key, rehearsed]
        what = "has rehearsed and" if rehearsed else "now"
        LOG.info("lane %s: a copy %s stands (%.2f s)", spec.arm, what, time.monotonic() - began)

    def forget(self, key: str) -> None:
        self._expected.pop(key, None)
        for rehearsed in (False, True):
            del self._failed[key, rehearsed]
        self._end(key)

    def give_up_one(self) -> bool:
        """End the one that was expected longest ago, for its memory; whether there was one."""
        key = next((key for key in self._expected if key in self._standing), None)
        if key is None:
            return False
        self.forget(key)
        return True

    async def close(self) -> None:
        """End all, and wait for it."""
        for key in list(self._standing):
            self._end(key)
        await self.wait_ended()

    async def wait_ended(self) -> None:
        """Until those that are being ended have ended."""
        if self._ending:
            await asyncio.wait(self._ending)

    def _end(self, key: str) -> None:
        copy = self._standing.pop(key, None)
        if copy is not None:
            task = asyncio.create_task(_close(copy.machine), name=f"end ready copy {key}")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


async def _close(machine: CloneMachine) -> None:
    try:
        await machine.close()
    except DuetError as error:
        LOG.warning("%s %s", error.sentence, error.remedy)


def _alike(one: GuestSpec, other: GuestSpec) -> bool:
    """They differ in their plans at most; templates of one key have plans of one kind."""
    return replace(one, plan=None) == replace(other, plan=None)


# Templates that are there and copies that stand ready, within one budget of memory.
#
# A template saves more time than a ready copy, so these take what templates leave.

USUAL_BYTES = 130 << 20
"""Of one template, before any has been made. Usual: 110-125 MiB."""


class Stock:
    """Owns them; those that were used longest ago come first.

    Args:
        budget_bytes: of memory for all; beyond it ready copies go, then the template that was
            used longest ago.
        prepare: makes a copy that stands ready; None: there are none.
    """

    def __init__(self, budget_bytes: int, prepare: Prepare | None) -> None:
        self._budget_bytes = budget_bytes
        self._held: OrderedDict[str, Template] = OrderedDict()
        self.ready = ReadyCopies(prepare)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held_bytes(self) -> int:
        """Memory of all templates."""
        return sum(template.held_bytes for template in self._held.values())

    def use(self, key: str) -> Template:
        """The template of a key that is there; it goes last."""
        self._held.move_to_end(key)
        return self._held[key]

    def take_ready(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        return self.ready.take(key, spec) if key in self._held else None

    def add(self, template: Template, spec: GuestSpec, later: bool) -> None:
        """A new one.

        Args:
            later: nobody has asked for it: it goes first, and no copy of it stands ready.
        """
        self._held[template.key] = template
        if later:
            self._held.move_to_end(template.key, last=False)
        else:
            self.ready.expect(template.key, spec)
        while not self._has_room(0) and self.ready.give_up_one():
            pass
        while len(self._held) > 1 and self.held_bytes > self._budget_bytes:
            self.give_up(next(iter(self._held)))  # the newest stays

    def give_up(self, key: str) -> None:
        """End it and its ready copy, if they are there."""
        self.ready.forget(key)
        template = self._held.pop(key, None)
        if template is not None:
            give_back(template)

    def room_for_one(self) -> bool:
        """For a further template that nobody waits for; ready copies would go for it."""
        most = max((one.held_bytes for one in self._held.values()), default=USUAL_BYTES)
        return self.held_bytes + most <= self._budget_bytes

    def next_ready(self) -> Template | None:
        """The template of which a ready copy is made now, if one is to be and there is room."""
        key = self.ready.next()
        return self._held[key] if key and self._has_room(self.ready.most_bytes(key)) else None

    async def close(self) -> None:
        await self.ready.close()
        given = [give_back(template) for template in self._held.values()]
        self._held.clear()
        await asyncio.gather(*given)

    def _has_room(self, more_bytes: int) -> bool:
        return self.held_bytes + self.ready.held_bytes + more_bytes <= self._budget_bytes


def give_back(template: Template) -> asyncio.Future[None]:
    """Close a template in a thread: the kernel frees its memory meanwhile, in up to 70 ms."""
    return asyncio.get_running_loop().run_in_executor(None, template.close)


# How many guests are parked, in the making, and have failed.


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
