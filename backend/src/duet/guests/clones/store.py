# SPDX-License-Identifier: GPL-2.0-or-later
"""The templates of a server: made in the background when nothing runs, found by their keys."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from duet.errors import DuetError
from duet.guests.clones.make import make_template
from duet.guests.clones.queue import Queue
from duet.guests.clones.template import Template, template_key
from duet.guests.qemu import known_version
from duet.guests.types import GuestSpec

LOG = logging.getLogger("duet.clones")
USUAL_BYTES = 130 << 20
"""Of one template, before any has been made. Usual: 110-125 MiB."""
Make = Callable[[str, GuestSpec], Awaitable[Template]]


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
    """

    held: int = 0
    held_bytes: int = 0
    making: int = 0
    waiting: int = 0
    later: int = 0
    made: int = 0
    failed: int = 0
    refused: int = 0


class Templates:
    """Owns templates. Use as `async with`: leaving gives all their memory back.

    Args:
        budget_bytes: of memory for all of them; beyond it the one that was used longest ago goes.
        make: makes one.
    """

    def __init__(self, budget_bytes: int, make: Make = make_template) -> None:
        self._budget_bytes, self._make = budget_bytes, make
        self._held: OrderedDict[str, Template] = OrderedDict()
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
        given = [give_back(template) for template in self._held.values()]
        self._held.clear()
        await asyncio.gather(*given)

    def find(self, key: str | None) -> Template | None:
        """The template of a key, if it is there."""
        template = self._held.get(key) if key else None
        if template is not None:
            self._held.move_to_end(template.key)
        return template

    def has(self, spec: GuestSpec) -> bool:
        """A guest is parked that a guest of this spec can be a copy of."""
        version = known_version()
        return version is not None and template_key(spec, version) in self._held

    def want(self, key: str | None, spec: GuestSpec, later: bool = False) -> None:
        """Make it, when there is time, unless it is there or has failed too often; `later`: after
        all others, and only where no other has to go for it.
        """
        if not key or key in self._held or not self._queue.may(key):
            return
        if later:
            self._queue.add_later(key, spec)
        else:
            self._queue.add(key, spec)
            if self._making is not None and self._made_now in self._queue.later:
                self._making.cancel()
            self._settled.clear()
        self._moved.set()

    def discard(self, key: str) -> None:
        """A copy of it failed: it is not used again."""
        template = self._held.pop(key, None)
        if template is not None:
            give_back(template)
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
        return sum(template.held_bytes for template in self._held.values())

    @property
    def count(self) -> int:
        """Templates that are there."""
        return len(self._held)

    def counts(self) -> TemplateCounts:
        """How they stand now."""
        return replace(
            self._counts,
            held=self.count,
            held_bytes=self.held_bytes,
            making=int(self._making is not None),
            waiting=len(self._queue.now),
            later=len(self._queue.later),
        )

    async def wait_settled(self) -> None:
        """Until all that is wanted is there, or has failed too often."""
        await self._settled.wait()

    async def _make_all(self) -> None:
        while True:
            while not self._busy and (key := self._next()) is not None:
                self._made_now = key
                self._making = asyncio.create_task(self._make_one(key), name=f"template {key}")
                await asyncio.wait([self._making])
                self._making = None
            self._moved.clear()
            await self._moved.wait()

    def _next(self) -> str | None:
        if not self._queue.now:
            self._settled.set()
        most = max((one.held_bytes for one in self._held.values()), default=USUAL_BYTES)
        return self._queue.next(room=self.held_bytes + most <= self._budget_bytes)

    async def _make_one(self, key: str) -> None:
        spec = self._queue.spec(key)
        try:
            template = await self._make(key, spec)
        except DuetError as error:
            self._queue.fail(key)
            self._counts.failed += 1
            say = LOG.info if self._queue.may(key) else LOG.warning  # the first is tried again
            say("%s %s", error.sentence, error.remedy)
        except Exception:  # a full disk, no more descriptors, a fault of ours: the lane boots
            self._queue.fail(key)
            self._counts.failed += 1
            LOG.exception("lane %s: no guest could be parked; its guests boot.", spec.arm)
        else:
            self._held[key] = template
            if key in self._queue.later:
                self._held.move_to_end(key, last=False)  # nobody has used it: it goes first
            self._queue.made(key)
            self._counts.made += 1
            self._fit()
            LOG.info("lane %s: a guest is parked (%.1f s)", spec.arm, template.made_s)

    def _fit(self) -> None:
        """Give up those that were used longest ago, beyond the budget; the newest stays."""
        while len(self._held) > 1 and self.held_bytes > self._budget_bytes:
            give_back(self._held.popitem(last=False)[1])


def give_back(template: Template) -> asyncio.Future[None]:
    """Close a template in a thread: the kernel frees its memory meanwhile, in up to 70 ms."""
    return asyncio.get_running_loop().run_in_executor(None, template.close)
