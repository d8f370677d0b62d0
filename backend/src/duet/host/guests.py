# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests for lanes: copies of parked guests where there are some, else guests that boot."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import psutil

from duet.base.budgets import (
    LIVE_RUNS_MOST,
    POOLED_RUNS,
    RUN_BYTES,
    RUN_CPUS,
    TEMPLATE_BYTES_MOST,
    TEMPLATE_SHARE,
)
from duet.base.errors import DuetError, InputError
from duet.guests.clones import TemplateCounts, Templates, prepare_copy
from duet.host.fetching import Bring, nothing
from duet.kernels import KernelSettings
from duet.rpc.peer import Tasks
from duet.runs.sources import kernel_sources
from duet.session import LaneSource, RunSpec
from duet.session.lane.request import guest_of

LOG = logging.getLogger("duet.clones")
LATER_S = 20.0
"""From a page's opening of a lesson to the first guest that is parked for another one. The page
has been painted by then, and who wanted to run the lesson has begun."""
LOOK_AGAIN_S = 300.0
"""Until guests for other lessons are looked at again: kernels have been built, memory is free."""
Others = Callable[[], Sequence[RunSpec]]


def _key(request: RunSpec) -> Hashable:
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

    async def sources(self, request: RunSpec) -> dict[str, LaneSource]:
        """The lanes of a run. Raises as kernel_sources()."""
        return await kernel_sources(
            request.folder, request.arms, self._settings, templates=self.templates
        )

    async def fetched(self, request: RunSpec) -> dict[str, LaneSource]:
        """The same; kernels that are not here are fetched before, which takes time."""
        await self._bring(request.folder, request.arms, self._settings)
        return await self.sources(request)

    def counts(self) -> TemplateCounts:
        """How parked guests stand; zeros where every guest boots."""
        return TemplateCounts() if self.templates is None else self.templates.counts()

    def expect(self, request: RunSpec, others: Others) -> None:
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

    async def _expect_once(self, request: RunSpec) -> None:
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

    async def _expect(self, request: RunSpec, later: bool = False) -> None:
        if request.clock != "wall":
            return
        try:
            sources = await (self.sources if later else self.fetched)(request)
            for arm in reversed(request.arms):  # the one that is wanted last is made first
                source = sources[arm]
                plugin = None
                if request.scope and source.scope:
                    plugin = await source.scope(request.scope)
                if source.park is not None:
                    await source.park(guest_of(request, source, plugin), later)
        except DuetError as error:  # a run that is asked for will say so
            LOG.info("%s: no guest is parked: %s", request.folder.slug, error.sentence)


# How many live runs the host carries at once, and how much memory parked guests may take.

MIB_DIGITS = 7


def live_runs() -> int:
    """Live runs at once: $DUET_LIVE_RUNS, else as many as the CPUs and the memory carry.

    Raises:
        InputError: not a whole number from 1 to budgets.LIVE_RUNS_MOST.
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    if given == "":
        by_cpus = len(os.sched_getaffinity(0)) // RUN_CPUS
        by_memory = psutil.virtual_memory().available // RUN_BYTES
        return max(1, min(by_cpus, by_memory, LIVE_RUNS_MOST))
    return _given_runs(given)


def pooled_runs() -> int:
    """Live runs at once on a pool: $DUET_LIVE_RUNS, else budgets.POOLED_RUNS.

    Raises:
        InputError: see live_runs().
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    return _given_runs(given) if given else POOLED_RUNS


def _given_runs(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= LIVE_RUNS_MOST:
        raise InputError(
            f"DUET_LIVE_RUNS must be a whole number from 1 to {LIVE_RUNS_MOST}, "
            f"but {given!r:.40} came.",
            remedy="Unset it for what this host carries.",
        )
    return int(given)


def template_bytes() -> int:
    """Memory for parked guests: $DUET_TEMPLATES_MIB, else a share of the host's; 0 is none.

    Raises:
        InputError: not a whole number of MiB.
    """
    given = os.environ.get("DUET_TEMPLATES_MIB", "")
    if given == "":
        total = psutil.virtual_memory().total
        return min(TEMPLATE_BYTES_MOST, int(total * TEMPLATE_SHARE))
    if not given.isdecimal() or len(given) > MIB_DIGITS:
        raise InputError(
            f"DUET_TEMPLATES_MIB must be a whole number of MiB, but {given!r:.40} came.",
            remedy="Unset it for an eighth of the host's memory, or set 0 to boot every guest.",
        )
    return int(given) << 20
