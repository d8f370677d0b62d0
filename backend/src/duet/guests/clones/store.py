# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates of a server, by key. Templates are made in the background while no lane runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace

from duet.base.errors import DuetError
from duet.guests.clones.copy import CloneMachine, Prepare
from duet.guests.clones.make import make_template
from duet.guests.clones.ready import TemplateCache, TemplateCounts, TemplateQueue
from duet.guests.clones.template import Template, template_key
from duet.guests.qemu import known_version
from duet.guests.types import GuestSpec

LOG = logging.getLogger("duet.clones")
Make = Callable[[str, GuestSpec], Awaitable[Template]]


class Templates:
    """Owner of the templates. Use with `async with`, which frees their memory at the end.

    Args:
        budget_bytes: largest memory of all templates and ready copies together.
        make: function that makes a template.
        prepare: function that makes a ready copy; None if copies are made only when a lane needs
            them.
    """

    def __init__(
        self, budget_bytes: int, make: Make = make_template, prepare: Prepare | None = None
    ) -> None:
        self._make = make
        self._cache = TemplateCache(budget_bytes, prepare)
        self._queue = TemplateQueue()
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
        await self._cache.close()

    def find(self, key: str | None) -> Template | None:
        """Return the template for a key, and mark it as used; None if there is no template."""
        return self._cache.use(key) if key and key in self._cache else None

    def take_ready(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        """Return a ready copy, which the caller then owns; None if none is ready.

        Another copy is made later.
        """
        machine = self._cache.take_ready(key, spec)
        self._counts.taken += machine is not None
        self._settled.clear()
        self._moved.set()
        return machine

    def has(self, spec: GuestSpec) -> bool:
        """Return whether a template for this spec exists."""
        version = known_version()
        return version is not None and template_key(spec, version) in self._cache

    def request(self, key: str | None, spec: GuestSpec, later: bool = False) -> None:
        """Queue a template to be made, unless it exists or has failed too often.

        Args:
            key: template_key() of the spec; None if no template is possible.
            later: use low priority: the template is made after all others, and evicts no other
                template.
        """
        if not key or not self._queue.may_try(key) or (later and key in self._cache):
            return
        if key in self._cache:
            self._cache.ready.expect(key, spec)
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
        """Drop a template if one of its copies has failed, and count the failure."""
        self._cache.evict(key)
        self._counts.refused += 1
        self._queue.fail(key)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Make no template inside the block. Cancel work on a template, and repeat it later."""
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
        return self._cache.held_bytes

    @property
    def count(self) -> int:
        """Number of templates."""
        return len(self._cache)

    def counts(self) -> TemplateCounts:
        return replace(
            self._counts,
            held=self.count,
            held_bytes=self.held_bytes,
            making=int(self._making is not None and bool(self._made_now)),
            waiting=len(self._queue.now),
            later=len(self._queue.later),
            ready=self._cache.ready.count,
            ready_bytes=self._cache.ready.held_bytes,
        )

    async def wait_settled(self) -> None:
        """Wait until each requested template and ready copy exists or has failed.

        When this function returns, replaced copies have also ended.
        """
        await self._settled.wait()
        await self._cache.ready.wait_ended()

    async def _make_all(self) -> None:
        while True:
            while not self._busy and (making := self._next()) is not None:
                self._making = asyncio.create_task(making, name=f"template {self._made_now}")
                await asyncio.wait([self._making])
                self._making = None
            self._moved.clear()
            await self._moved.wait()

    def _next(self) -> Coroutine[None, None, None] | None:
        """Choose what to make next: a requested template, a ready copy or a `later` template."""
        self._made_now = ""
        if not self._queue.now:
            template = self._cache.next_ready()
            if template is not None:
                return self._cache.ready.make(template)
            self._settled.set()
        self._made_now = self._queue.next(room=self._cache.has_room_for_template()) or ""
        return self._make_one(self._made_now) if self._made_now else None

    async def _make_one(self, key: str) -> None:
        spec = self._queue.spec(key)
        try:
            template = await self._make(key, spec)
        except Exception as error:  # for example a full disk, no free descriptor, or a bug
            self._queue.fail(key)
            self._counts.failed += 1
            log_failure(error, spec, last=not self._queue.may_try(key))
        else:
            self._cache.add(template, spec, later=key in self._queue.later)
            self._queue.remove(key)
            self._counts.made += 1
            LOG.info("lane %s: a guest is parked (%.1f s)", spec.arm, template.made_s)


def log_failure(error: Exception, spec: GuestSpec, last: bool) -> None:
    """Log why no guest could be parked.

    Args:
        last: whether this was the last attempt.
    """
    if isinstance(error, DuetError):
        LOG.log(logging.WARNING if last else logging.INFO, "%s %s", error.sentence, error.remedy)
    else:
        text = "lane %s: no guest could be parked; its guests boot."
        LOG.error(text, spec.arm, exc_info=error)
