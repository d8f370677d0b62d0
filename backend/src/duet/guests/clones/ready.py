# SPDX-License-Identifier: GPL-2.0-or-later
"""Ready copies: a confined QEMU has loaded its template and waits for a lane.

Of the time until a copy's first event, starting QEMU and loading the state take a third, and
translating guest code takes half. These steps do not depend on the lane, so they are done in
advance. First a plain copy is made, and later a rehearsed copy replaces the plain copy. The store
decides when copies are made.
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

# Queue of the templates to make, without I/O.

WAITING = 32
"""Largest number of queued templates. Above the limit, the oldest request is dropped."""
FAILURES = 2
"""Number of attempts to make one template. After that its guests boot until the server restarts."""


class TemplateQueue:
    """Queued templates: `now` for those that a lane needs, `later` for low priority."""

    def __init__(self) -> None:
        self.now: OrderedDict[str, GuestSpec] = OrderedDict()
        self.later: OrderedDict[str, GuestSpec] = OrderedDict()
        self._failed: dict[str, int] = {}

    def may_try(self, key: str) -> bool:
        return self._failed.get(key, 0) < FAILURES

    def add(self, key: str, spec: GuestSpec) -> None:
        """Queue a template as the next to be made."""
        self.later.pop(key, None)
        self.now[key] = spec
        self.now.move_to_end(key)
        while len(self.now) > WAITING:
            self.now.popitem(last=False)

    def add_later(self, key: str, spec: GuestSpec) -> None:
        """Queue a template with low priority (FIFO), unless the low-priority queue is full."""
        if key not in self.now and len(self.later) < WAITING:
            self.later[key] = spec

    def next(self, room: bool) -> str | None:
        """Return the key of the next template without removing it.

        Args:
            room: whether there is memory for a low-priority template. If not, all low-priority
                templates are dropped.
        """
        if self.now:
            return next(reversed(self.now))
        if not room:
            self.later.clear()
        return next(iter(self.later), None)

    def spec(self, key: str) -> GuestSpec:
        return self.now[key] if key in self.now else self.later[key]

    def fail(self, key: str) -> None:
        """Count a failure to make or copy a template. Low-priority templates are not retried."""
        self._failed[key] = self._failed.get(key, 0) + 1
        self.later.pop(key, None)
        if not self.may_try(key):
            self.now.pop(key, None)

    def remove(self, key: str) -> None:
        self.later.pop(key, None)
        self.now.pop(key, None)


LOG = logging.getLogger("duet.clones")
MOST_READY = 4
"""Largest number of ready copies: two lanes of the current lesson, and two of the previous
lesson."""


class ReadyCopies:
    """Owner of the ready copies of the templates that lanes used last.

    Args:
        prepare: function that makes a copy; None to keep no ready copies.
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
        """Number of copies whose QEMU runs."""
        return sum(copy.machine.alive for copy in self._standing.values())

    def most_bytes(self, key: str) -> int:
        """Return an upper estimate of the memory that the next copy of a template takes."""
        rehearsed = self._is_ready(key)
        alike = (one.held_bytes for one in self._standing.values() if one.rehearsed == rehearsed)
        return max(alike, default=REHEARSED_BYTES if rehearsed else READY_BYTES)

    def expect(self, key: str, spec: GuestSpec) -> None:
        """Record a template that a lane will likely need. At most MOST_READY are recorded."""
        if self._prepare is None:
            return
        if key in self._expected and not _alike(self._expected[key], spec):
            self._end(key)
        self._expected[key] = spec
        self._expected.move_to_end(key)
        while len(self._expected) > MOST_READY:
            self.forget(next(iter(self._expected)))

    def take(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        """Return a ready copy, which the caller then owns; None if none is ready."""
        self.expect(key, spec)
        copy = self._standing.get(key)
        if copy is None or not copy.machine.alive:
            return None
        del self._standing[key]
        copy.machine.assign(spec)
        return copy.machine

    def next(self) -> str | None:
        """Return the key of the template to copy next. The last recorded template comes first.

        All plain copies are made before the first rehearsed copy, so that lanes can use plain
        copies while rehearsals run.
        """
        for rehearsed in (False, True):
            for key in reversed(self._expected):
                if self._lacks(key, rehearsed) and self._failed[key, rehearsed] < FAILURES:
                    return key
        return None

    def _is_ready(self, key: str) -> bool:
        return key in self._standing and self._standing[key].machine.alive

    def _lacks(self, key: str, rehearsed: bool) -> bool:
        if not self._is_ready(key):
            return not rehearsed
        # Copies with a microscope are not rehearsed, because the microscope would count the
        # rehearsal's accesses.
        able = self._expected[key].microscope is None
        return rehearsed and able and not self._standing[key].rehearsed

    async def make(self, template: Template) -> None:
        """Make a ready copy: rehearsed if a plain copy exists, else plain. Log any failure.

        After FAILURES failures, copies of this template are made only on demand.
        """
        assert self._prepare is not None
        key, began = template.key, time.monotonic()
        spec, rehearsed = self._expected[key], self._is_ready(key)
        if not rehearsed:
            self._end(key)  # remove the old copy, if any: its QEMU has ended
        try:
            copy = await self._prepare(template, spec, rehearsed)
        except Exception as error:  # count every error, to limit the attempts
            self._failed[key, rehearsed] += 1
            expected = isinstance(error, DuetError | OSError)
            what = "cannot rehearse a copy" if rehearsed else "cannot make a ready copy"
            LOG.warning("lane %s: %s: %s", spec.arm, what, error, exc_info=not expected)
            return
        wanted = self._expected.get(key)
        self._end(key)  # the new copy replaces the old one
        self._standing[key] = copy
        # The template may have been evicted while the copy was made.
        if wanted is None or not _alike(wanted, spec):
            self._end(key)
            return
        if not copy.machine.alive:
            self._failed[key, rehearsed] += 1
            return
        del self._failed[key, rehearsed]
        what = "rehearsed copy" if rehearsed else "copy"
        LOG.info("lane %s: a %s is ready (%.2f s)", spec.arm, what, time.monotonic() - began)

    def forget(self, key: str) -> None:
        self._expected.pop(key, None)
        for rehearsed in (False, True):
            del self._failed[key, rehearsed]
        self._end(key)

    def evict_oldest(self) -> bool:
        """End the copy whose template was recorded longest ago; return False if there is none."""
        key = next((key for key in self._expected if key in self._standing), None)
        if key is None:
            return False
        self.forget(key)
        return True

    async def close(self) -> None:
        """End all copies and wait for them."""
        for key in list(self._standing):
            self._end(key)
        await self.wait_ended()

    async def wait_ended(self) -> None:
        """Wait until the processes of all discarded copies have ended."""
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
    """Return whether two specs differ only in their plans, so that a copy fits both specs."""
    return replace(one, plan=None) == replace(other, plan=None)


# Templates and ready copies, which share one memory budget.
#
# A template saves more time than a ready copy does, so ready copies get only memory that no
# template uses.

USUAL_BYTES = 130 << 20
"""Assumed memory of a template until the first template has been made. Usual: 110-125 MiB."""


class TemplateCache:
    """LRU cache that owns templates and their ready copies.

    Args:
        budget_bytes: largest total memory. Above the limit, ready copies are evicted first, then
            the least recently used templates.
        prepare: function that makes a ready copy; None to keep no ready copies.
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
        """Return a cached template, and mark it as the most recently used."""
        self._held.move_to_end(key)
        return self._held[key]

    def take_ready(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        return self.ready.take(key, spec) if key in self._held else None

    def add(self, template: Template, spec: GuestSpec, later: bool) -> None:
        """Add a new template, and evict templates and copies that exceed the budget.

        Args:
            later: whether no lane has requested the template. Such a template is evicted first, and
                gets no ready copy.
        """
        self._held[template.key] = template
        if later:
            self._held.move_to_end(template.key, last=False)
        else:
            self.ready.expect(template.key, spec)
        while not self._has_room(0) and self.ready.evict_oldest():
            pass
        while len(self._held) > 1 and self.held_bytes > self._budget_bytes:
            self.evict(next(iter(self._held)))  # the newest template is never evicted

    def evict(self, key: str) -> None:
        """Close a template and its ready copy, if they exist."""
        self.ready.forget(key)
        template = self._held.pop(key, None)
        if template is not None:
            close_in_thread(template)

    def has_room_for_template(self) -> bool:
        """Return whether one more template fits into the budget after evicting all ready copies."""
        most = max((one.held_bytes for one in self._held.values()), default=USUAL_BYTES)
        return self.held_bytes + most <= self._budget_bytes

    def next_ready(self) -> Template | None:
        """Return the template to copy next; None if no copy is needed or memory is lacking."""
        key = self.ready.next()
        return self._held[key] if key and self._has_room(self.ready.most_bytes(key)) else None

    async def close(self) -> None:
        await self.ready.close()
        closing = [close_in_thread(template) for template in self._held.values()]
        self._held.clear()
        await asyncio.gather(*closing)

    def _has_room(self, more_bytes: int) -> bool:
        return self.held_bytes + self.ready.held_bytes + more_bytes <= self._budget_bytes


def close_in_thread(template: Template) -> asyncio.Future[None]:
    """Close a template in a thread, because freeing its memory takes up to 70 ms."""
    return asyncio.get_running_loop().run_in_executor(None, template.close)


@dataclass(slots=True)
class TemplateCounts:
    """Counts of templates and ready copies, for an operator.

    Args:
        held: templates that can be copied now.
        held_bytes: memory of these templates.
        making: 1 while a template is being made.
        waiting: queued templates, including the template that is being made.
        later: queued templates with low priority, which are made last and only if there is enough
            memory.
        made: templates made since the start.
        failed: failed attempts to make a template since the start.
        refused: failed copies since the start; for each, the lane booted a guest instead.
        ready: ready copies.
        ready_bytes: memory of the ready copies.
        taken: lanes that used a ready copy since the start.
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
