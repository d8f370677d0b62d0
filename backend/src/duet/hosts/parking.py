# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes of the server: copies of parked guests where there are some, else guests that boot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from duet.errors import DuetError
from duet.guests import Clock
from duet.guests.clones import TemplateCounts, Templates, prepare_copy
from duet.hosts.fetching import Bring, nothing
from duet.hosts.tasks import Tasks
from duet.kernels import KernelSettings
from duet.runs.request import RunRequest
from duet.runs.sources import kernel_sources
from duet.session import LaneSource, RunSpec
from duet.session.lane.request import guest_of
from duet.settings import live_buffer_kb

LOG = logging.getLogger("duet.clones")
LATER_S = 20.0
"""From a page's opening of a lesson to the first guest that is parked for another one. The page
has been painted by then, and who wanted to run the lesson has begun."""
LOOK_AGAIN_S = 300.0
"""Until guests for other lessons are looked at again: kernels have been built, memory is free."""
Others = Callable[[], Sequence[RunRequest]]


def live_spec(request: RunRequest, run_id: str) -> RunSpec:
    """A request as a session gets it."""
    return RunSpec(
        run_id=run_id,
        folder=request.folder,
        arms=request.arms,
        workload=request.workload,
        params=request.params,
        clock=Clock(request.clock),
        shift=request.shift,
        buffer_kb=live_buffer_kb(),
    )


def _key(request: RunRequest) -> Hashable:
    """What two equal requests share."""
    knobs = tuple(sorted(request.params.items()))
    return request.folder.slug, request.arms, request.workload, knobs, request.clock


class Parking:
    """Owns the server's templates. Use as `async with`.

    Args:
        budget_bytes: of memory for all templates; 0: every guest boots.
        bring: has kernels come that are not here.
    """

    def __init__(self, settings: KernelSettings, budget_bytes: int, bring: Bring = nothing) -> None:
        self._settings, self._bring = settings, bring
        self.templates: Templates | None = None
        if budget_bytes:
            self.templates = Templates(budget_bytes, prepare=prepare_copy)
        self._owned = AsyncExitStack()
        self._tasks = Tasks()
        self._looking = False
        self._expected: set[Hashable] = set()
        """Runs for which guests are being parked, or wait to be; see _key()."""

    async def __aenter__(self) -> Parking:
        if self.templates is not None:
            await self._owned.enter_async_context(self.templates)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._tasks.end()
        await self._owned.aclose()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """No guest is parked meanwhile."""
        if self.templates is None:
            yield
            return
        async with self.templates.aside():
            yield

    async def sources(self, request: RunRequest) -> dict[str, LaneSource]:
        """The lanes of a run. Raises as kernel_sources()."""
        return await kernel_sources(
            request.folder, request.arms, self._settings, templates=self.templates
        )

    async def fetched(self, request: RunRequest) -> dict[str, LaneSource]:
        """The same; kernels that are not here are fetched before, which takes time."""
        await self._bring(request.folder, request.arms, self._settings)
        return await self.sources(request)

    def counts(self) -> TemplateCounts:
        """How parked guests stand; zeros where every guest boots."""
        return TemplateCounts() if self.templates is None else self.templates.counts()

    def expect(self, request: RunRequest, others: Others) -> None:
        """Have guests parked for a run, one after another, when nothing runs.

        Args:
            others: gives runs for which guests are parked after those, if there is room. It is
                called in a thread, LATER_S after this and then not again for LOOK_AGAIN_S.
        """
        if self.templates is None:
            return
        if _key(request) not in self._expected:  # else another page has opened the lesson, too
            self._expected.add(_key(request))
            self._tasks.spawn(self._expect_once(request), f"expect {request.folder.slug}")
        if not self._looking:
            self._looking = True
            self._tasks.spawn(self._expect_others(others), "expect other lessons")

    async def _expect_once(self, request: RunRequest) -> None:
        try:
            await self._expect(request)
        finally:
            self._expected.remove(_key(request))

    async def _expect_others(self, others: Others) -> None:
        try:
            await asyncio.sleep(LATER_S)
            for request in await asyncio.to_thread(others):
                await self._expect(request, later=True)
            await asyncio.sleep(LOOK_AGAIN_S)
        finally:
            self._looking = False

    async def _expect(self, request: RunRequest, later: bool = False) -> None:
        if request.clock != "wall":
            return
        spec = live_spec(request, "expected")
        try:
            sources = await (self.sources if later else self.fetched)(request)
            for arm in reversed(request.arms):  # the one that is wanted last is made first
                source = sources[arm]
                plugin = await source.scope(spec.scope) if spec.scope and source.scope else None
                if source.park is not None:
                    await source.park(guest_of(spec, source, plugin), later)
        except DuetError as error:  # a run that is asked for will say so
            LOG.info("%s: no guest is parked: %s", request.folder.slug, error.sentence)
