# SPDX-License-Identifier: GPL-2.0-or-later
"""The templates of a server: made in the background when nothing runs, found by their keys."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace

from duet.base.errors import DuetError
from duet.guests.clones.copy import CloneMachine, Prepare
from duet.guests.clones.make import make_template
from duet.guests.clones.ready import Queue, Stock, TemplateCounts
from duet.guests.clones.template import Template, template_key
from duet.guests.qemu import known_version
from duet.guests.types import GuestSpec

LOG = logging.getLogger("duet.clones")
Make = Callable[[str, GuestSpec], Awaitable[Template]]


class Templates:
    """Owns templates. Use as `async with`: leaving gives all their memory back.

    Args:
        budget_bytes: see Stock.
        make: makes one.
        prepare: makes a copy that stands ready; None: each copy is made when a lane needs it.
    """

    def __init__(
        self, budget_bytes: int, make: Make = make_template, prepare: Prepare | None = None
    ) -> None:
        self._make = make
        self._stock = Stock(budget_bytes, prepare)
        self._queue = Queue()
        self._moved = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._busy = 0
        self._counts = TemplateCounts()
        self._maker: asyncio.Task[None] | None = None
        self._making: asyncio.Task[None] | None = None
        self._made_now = ""

    async def __aenter__(self) -> Templates:
        self._maker = asyncio.create_task(self._make_all(), name="templates")
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in (self._maker, self._making):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self._stock.close()

    def find(self, key: str | None) -> Template | None:
        """The template of a key, if it is there."""
        return self._stock.use(key) if key and key in self._stock else None

    def take_ready(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        """A copy that stands ready, or None. Who takes it owns it; another is made later."""
        machine = self._stock.take_ready(key, spec)
        self._counts.taken += machine is not None
        self._settled.clear()
        self._moved.set()
        return machine

    def has(self, spec: GuestSpec) -> bool:
        """A guest is parked that a guest of this spec can be a copy of."""
        version = known_version()
        return version is not None and template_key(spec, version) in self._stock

    def want(self, key: str | None, spec: GuestSpec, later: bool = False) -> None:
        """Make it, when there is time, unless it is there or has failed too often; `later`: after
        all others, and only where no other has to go for it.
        """
        if not key or not self._queue.may(key) or (later and key in self._stock):
            return
        if key in self._stock:
            self._stock.ready.expect(key, spec)
            self._settled.clear()
        elif later:
            self._queue.add_later(key, spec)
        else:
            self._queue.add(key, spec)
            if self._making is not None and self._made_now in self._queue.later:
                self._making.cancel()
            self._settled.clear()
        self._moved.set()

    def discard(self, key: str) -> None:
        """A copy of it failed: it is not used again."""
        self._stock.give_up(key)
        self._counts.refused += 1
        self._queue.fail(key)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Make none meanwhile: the machine is needed. One in the making is made later."""
        self._busy += 1
        try:
            if self._making is not None:
                self._making.cancel()
                await asyncio.wait([self._making])
            yield
        finally:
            self._busy -= 1
            self._moved.set()

    @property
    def held_bytes(self) -> int:
        """Memory of all templates."""
        return self._stock.held_bytes

    @property
    def count(self) -> int:
        """Templates that are there."""
        return len(self._stock)

    def counts(self) -> TemplateCounts:
        return replace(
            self._counts,
            held=self.count,
            held_bytes=self.held_bytes,
            making=int(self._making is not None and bool(self._made_now)),
            waiting=len(self._queue.now),
            later=len(self._queue.later),
            ready=self._stock.ready.count,
            ready_bytes=self._stock.ready.held_bytes,
        )

    async def wait_settled(self) -> None:
        """Until all that is wanted is there, copies that stand ready included, or has failed.

        A copy whose place another one took has ended by then.
        """
        await self._settled.wait()
        await self._stock.ready.wait_ended()

    async def _make_all(self) -> None:
        while True:
            while not self._busy and (making := self._next()) is not None:
                self._making = asyncio.create_task(making, name=f"template {self._made_now}")
                await asyncio.wait([self._making])
                self._making = None
            self._moved.clear()
            await self._moved.wait()

    def _next(self) -> Coroutine[None, None, None] | None:
        """What is made now: what a lane waits for, its ready copy, what may be wanted later."""
        self._made_now = ""
        if not self._queue.now:
            template = self._stock.next_ready()
            if template is not None:
                return self._stock.ready.make(template)
            self._settled.set()
        self._made_now = self._queue.next(room=self._stock.room_for_one()) or ""
        return self._make_one(self._made_now) if self._made_now else None

    async def _make_one(self, key: str) -> None:
        spec = self._queue.spec(key)
        try:
            template = await self._make(key, spec)
        except Exception as error:  # also a full disk, no more descriptors, a fault of ours
            self._queue.fail(key)
            self._counts.failed += 1
            log_failure(error, spec, last=not self._queue.may(key))
        else:
            self._stock.add(template, spec, later=key in self._queue.later)
            self._queue.made(key)
            self._counts.made += 1
            LOG.info("lane %s: a guest is parked (%.1f s)", spec.arm, template.made_s)


def log_failure(error: Exception, spec: GuestSpec, last: bool) -> None:
    """Why no guest could be parked.

    Args:
        last: it is not tried again.
    """
    if isinstance(error, DuetError):
        LOG.log(logging.WARNING if last else logging.INFO, "%s %s", error.sentence, error.remedy)
    else:
        text = "lane %s: no guest could be parked; its guests boot."
        LOG.error(text, spec.arm, exc_info=error)
