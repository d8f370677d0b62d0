# SPDX-License-Identifier: GPL-2.0-or-later
"""One run on real guests, from the request to its file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from duet.budgets import SLOT_GUESTS
from duet.errors import InputError
from duet.hosts.feed import Feed
from duet.hosts.parking import Parking, live_spec
from duet.kernels import KernelSettings
from duet.lessons.acts import act_line
from duet.lessons.roles import cpus
from duet.runs.pack import bundle_bytes
from duet.runs.request import RunRequest
from duet.session import Lanes, LaneSource, RunResult, RunSession
from duet.stream import messages as m
from duet.stream.codec import Packet


def first_message(request: RunRequest, run_id: str) -> m.Run:
    """What is said of a run before it has begun."""
    return m.Run(
        run_id=run_id,
        lesson=request.folder.slug,
        source="live",
        clock=request.clock,
        shift=request.shift,
        params=request.params,
        workload=request.workload,
        arms=[*request.arms, *request.missing],
        phase="preparing",
    )


def now() -> str:
    """This moment, ISO 8601 UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Performance:
    """One live run.

    Args:
        pool: the guests of its slot.
        parking: where its lanes come from.
        first: its message before it began.
        send: where packets go.
        together: the lanes begin when `go` was called, with those of other hosts.
    """

    def __init__(
        self,
        pool: Lanes,
        parking: Parking,
        settings: KernelSettings,
        request: RunRequest,
        first: m.Run,
        send: Callable[[Packet], None],
        together: bool = False,
    ) -> None:
        self._pool, self._parking, self._settings = pool, parking, settings
        self._request = request
        self._run_id = first.run_id
        self._session: RunSession | None = None
        self._result: RunResult | None = None
        self._stopping = asyncio.Event()
        self._waits = together
        self._feed = Feed(first, send, vcpus=cpus(request.folder.lesson, request.params))

    async def perform(self) -> None:
        """Copy or boot what is not up, run, drain; failures of single lanes are messages.

        Raises:
            DuetError: no lane can begin.
        """
        self._feed.announce(started_at=now(), message="")
        async with self._parking.aside():
            await self._perform()

    async def _perform(self) -> None:
        request = self._request
        spec = live_spec(request, self._run_id)
        try:
            sources = await self._unless_stopped(self._parking.fetched(request))
        except Exception:
            self._feed.announce(phase="failed")
            raise
        if sources is None:
            self._feed.announce(phase="stopped")
            return
        await make_room(self._pool, request.arms)
        self._session = RunSession(self._pool, spec, sources, self._feed, self._waits)
        if self._stopping.is_set():
            self._feed.announce(phase="stopped")
            return
        self._result = await self._session.execute()

    async def _unless_stopped(
        self, getting: Coroutine[Any, Any, dict[str, LaneSource]]
    ) -> dict[str, LaneSource] | None:
        """The lanes, for which kernels may have to be fetched; None: the run was stopped."""
        tasks = asyncio.create_task(getting), asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return await tasks[0] if tasks[0].done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def go(self) -> None:
        """Lanes of this run on other hosts are ready as well."""
        self._waits = False
        if self._session is not None:
            self._session.go()

    async def stop(self) -> None:
        """End the workload; perform() then returns."""
        self._stopping.set()
        if self._session is not None:
            await self._session.stop()

    def close(self) -> None:
        """Give up transcripts, packets and children now.

        They refer to each other, and the collector of cycles counts objects, not bytes: without
        this some hundred MB could wait for it.
        """
        if self._session is not None:
            self._session.close()
        self._session = self._result = None
        del self._feed

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts on every lane.

        Raises:
            InputError: not one of this run's workload, a value out of range, or nothing runs.
        """
        line = act_line(
            self._request.folder.lesson, self._request.workload, name, value, self._request.params
        )
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        await self._session.say(line)

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or let them go.

        Raises:
            InputError: none can be held now.
        """
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        if on:
            self._session.hold(after, self._feed.on_hold)
        else:
            self._session.let_go()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment. Blocking."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> bytes | None:
        """The whole run as a bundle; blocking."""
        result = self._result
        return None if result is None else bundle_bytes(self._request, result, self._settings)


async def make_room(pool: Lanes, arms: Sequence[str]) -> None:
    """End guests of other runs that are up still, until those of a run fit its slot."""
    for arm in pool.up:
        if arm not in arms and len({*pool.up, *arms}) > SLOT_GUESTS:
            await pool.close(arm)
