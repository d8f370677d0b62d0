# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of guests for lanes: copies of templates, or booted guests if there is no template."""

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
from duet.host.fetching import FetchKernels, fetch_nothing
from duet.kernels import KernelSettings
from duet.rpc.peer import Tasks
from duet.runs.sources import kernel_sources
from duet.session import LaneSource, RunSpec
from duet.session.lane.setup import guest_of

LOG = logging.getLogger("duet.clones")
LATER_S = 20.0
"""Delay from the opening of a lesson until templates for other lessons are made. By then the page
is painted, and a viewer who wants to run the lesson has started a run."""
LOOK_AGAIN_S = 300.0
"""Interval between checks whether templates for other lessons can be made. Between two checks, new
kernels may appear, or memory may become free."""
Others = Callable[[], Sequence[RunSpec]]


def _key(spec: RunSpec) -> Hashable:
    """Return a key that is equal for identical requests."""
    knobs = tuple(sorted(spec.params.items()))
    return spec.folder.slug, spec.arms, spec.workload, knobs, spec.clock


class Parking:
    """Owner of a host process's templates. Use with `async with`.

    Args:
        budget_bytes: largest memory of all templates together; 0 to boot every guest.
        fetch: function that fetches missing kernels.
    """

    def __init__(
        self, settings: KernelSettings, budget_bytes: int, fetch: FetchKernels = fetch_nothing
    ) -> None:
        self._settings, self._fetch = settings, fetch
        self.templates: Templates | None = None
        if budget_bytes:
            self.templates = Templates(budget_bytes, prepare=prepare_copy)
        self._owned = AsyncExitStack()
        self._tasks = Tasks()
        self._looking = False
        self._expected: set[Hashable] = set()
        """Keys (from _key) of runs whose templates are being requested."""

    async def __aenter__(self) -> Parking:
        if self.templates is not None:
            await self._owned.enter_async_context(self.templates)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._tasks.end()
        await self._owned.aclose()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Make no templates while the context is open."""
        if self.templates is None:
            yield
            return
        async with self.templates.paused():
            yield

    async def sources(self, spec: RunSpec) -> dict[str, LaneSource]:
        """Return the guest sources for a run's lanes. The kernels must be on this host.

        Raises:
            InfraError: a kernel is not built, or the guests' root cannot be built.
        """
        return await kernel_sources(
            spec.folder, spec.arms, self._settings, templates=self.templates
        )

    async def fetch_sources(self, spec: RunSpec) -> dict[str, LaneSource]:
        """Fetch missing kernels, then return the guest sources for a run's lanes.

        Raises:
            InfraError: a kernel is not built or cannot be fetched, or the guests' root cannot be
                built.
        """
        await self._fetch(spec.folder, spec.arms, self._settings)
        return await self.sources(spec)

    def counts(self) -> TemplateCounts:
        """Return the counts of templates; all are 0 if every guest boots."""
        return TemplateCounts() if self.templates is None else self.templates.counts()

    def expect(self, spec: RunSpec, others: Others) -> None:
        """Request templates for a run.

        The templates are made one after another while no lane runs.

        Args:
            others: function that returns other runs, whose templates have low priority. It is
                called in a thread after LATER_S, and then at most every LOOK_AGAIN_S.
        """
        if self.templates is None:
            return
        # If `_expected` contains the request's key, another page has already opened the lesson.
        if _key(spec) not in self._expected:
            self._expected.add(_key(spec))
            self._tasks.spawn(self._expect_once(spec), f"expect {spec.folder.slug}")
        if not self._looking:
            self._looking = True
            self._tasks.spawn(self._expect_others(others), "expect other lessons")

    async def _expect_once(self, spec: RunSpec) -> None:
        try:
            await self._expect(spec)
        finally:
            self._expected.remove(_key(spec))

    async def _expect_others(self, others: Others) -> None:
        try:
            await asyncio.sleep(LATER_S)
            for request in await asyncio.to_thread(others):
                await self._expect(request, later=True)
            await asyncio.sleep(LOOK_AGAIN_S)
        finally:
            self._looking = False

    async def _expect(self, spec: RunSpec, later: bool = False) -> None:
        if spec.clock != "wall":
            return
        try:
            sources = await (self.sources if later else self.fetch_sources)(spec)
            for arm in reversed(spec.arms):  # reversed, because the last request is served first
                source = sources[arm]
                plugin = None
                if (request := spec.scope(arm)) and source.scope:
                    plugin = await source.scope(request)
                if source.park is not None:
                    await source.park(guest_of(spec, source, plugin), later)
        except DuetError as error:
            # If viewers start this run, the run reports the error to them.
            LOG.info("%s: no guest is parked: %s", spec.folder.slug, error.sentence)


# Number of concurrent live runs, and memory size for templates.

MIB_DIGITS = 7


def live_runs() -> int:
    """Return the number of concurrent live runs: $DUET_LIVE_RUNS, or what CPUs and memory allow.

    Raises:
        InputError: $DUET_LIVE_RUNS is not a whole number from 1 to budgets.LIVE_RUNS_MOST.
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    if given == "":
        by_cpus = len(os.sched_getaffinity(0)) // RUN_CPUS
        by_memory = psutil.virtual_memory().available // RUN_BYTES
        return max(1, min(by_cpus, by_memory, LIVE_RUNS_MOST))
    return _given_runs(given)


def pooled_runs() -> int:
    """Return the number of concurrent live runs on a pool: $DUET_LIVE_RUNS or POOLED_RUNS.

    Raises:
        InputError: $DUET_LIVE_RUNS is not a whole number from 1 to budgets.LIVE_RUNS_MOST.
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    return _given_runs(given) if given else POOLED_RUNS


def _given_runs(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= LIVE_RUNS_MOST:
        raise InputError(
            f"DUET_LIVE_RUNS must be a whole number from 1 to {LIVE_RUNS_MOST}, "
            f"but is {given!r:.40}.",
            remedy="Unset DUET_LIVE_RUNS to allow as many runs as this host can perform.",
        )
    return int(given)


def template_bytes() -> int:
    """Return the memory for templates: $DUET_TEMPLATES_MIB, or a share of the host's memory.

    Raises:
        InputError: $DUET_TEMPLATES_MIB is not a whole number of MiB.
    """
    given = os.environ.get("DUET_TEMPLATES_MIB", "")
    if given == "":
        total = psutil.virtual_memory().total
        return min(TEMPLATE_BYTES_MOST, int(total * TEMPLATE_SHARE))
    if not given.isdecimal() or len(given) > MIB_DIGITS:
        raise InputError(
            f"DUET_TEMPLATES_MIB must be a whole number of MiB, but is {given!r:.40}.",
            remedy="Unset DUET_TEMPLATES_MIB to use an eighth of the host's memory, or set it to 0 "
            "to boot every guest.",
        )
    return int(given) << 20
