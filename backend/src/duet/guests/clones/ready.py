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
from dataclasses import replace

from duet.errors import DuetError
from duet.guests.clones.machines import CloneMachine
from duet.guests.clones.prepared import READY_BYTES, REHEARSED_BYTES, Prepare, ReadyCopy
from duet.guests.clones.queue import FAILURES
from duet.guests.clones.template import Template
from duet.guests.types import GuestSpec

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
        """Memory of all."""
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
        """None of this template any more."""
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
