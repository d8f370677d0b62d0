# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs on host processes (see serve.interfaces.Stage).

The server's own process boots nothing. A host process that dies takes its guests with it, and the
runs that went on there fail with a sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from duet.errors import DuetError, InfraError
from duet.guests.clones import TemplateCounts
from duet.hosts import requests as r
from duet.hosts.tasks import Tasks
from duet.hosts.work import Events, Handler
from duet.kernels import KernelSettings
from duet.runs.request import JudgeRequest, MeasureRequest, RunRequest, only
from duet.serve.hosted.hosts import Hosts, shared_out
from duet.serve.hosted.run import HostedRun
from duet.stream import messages as m
from duet.stream.hub import Hub

Others = Callable[[], Sequence[RunRequest]]
T = TypeVar("T", bound=BaseModel)


class HostStage:
    """Use as `async with`.

    Args:
        make: makes the hosts, given what their processes may call; None: nothing runs here.
    """

    def __init__(self, make: Callable[[dict[str, Handler]], Hosts] | None) -> None:
        self._hosts = None if make is None else make({"others": self._answer_others})
        self._tasks = Tasks()
        self._others: Others = list
        """Runs that may be asked for later: those of the page that came last."""
        self._expected: tuple[RunRequest, Others] | None = None
        self._expecting = False

    async def __aenter__(self) -> HostStage:
        if self._hosts is not None:
            await self._hosts.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._tasks.end()
        if self._hosts is not None:
            await self._hosts.__aexit__(None, None, None)

    @property
    def hosts(self) -> Hosts:
        """Where they are.

        Raises:
            InfraError: nothing runs here.
        """
        if self._hosts is None:
            raise InfraError(
                "this server shows recordings only.", remedy="Start it without --no-guests."
            )
        return self._hosts

    @property
    def saves_first(self) -> bool:
        """See serve.interfaces.Stage."""
        return self._hosts is not None and self._hosts.saves_first

    def prepare(self, request: RunRequest, run_id: str, hub: Hub) -> HostedRun:
        """A run that publishes into the hub."""
        return HostedRun(self.hosts, request, run_id, hub)

    def expect(self, request: RunRequest, others: Others) -> None:
        """Park guests for a run that may be asked for, then for others, while nothing runs."""
        if self._hosts is None:
            return
        self._expected = (request, others)
        if not self._expecting:
            self._expecting = True
            self._tasks.spawn(self._expect_all(), "expect runs")

    async def _expect_all(self) -> None:
        """One after another; of those that come meanwhile the last one."""
        try:
            while self._expected is not None:
                (request, self._others), self._expected = self._expected, None
                with contextlib.suppress(DuetError):  # a run that is asked for will say so
                    await self._expect_one(request)
        finally:
            self._expecting = False

    async def _expect_one(self, request: RunRequest) -> None:
        places = await self.hosts.ready(0, lanes=len(request.arms))
        for place, arms in zip(places, shared_out(request.arms, len(places)), strict=True):
            run = await asyncio.to_thread(r.wanted, only(request, arms))
            place.peer.note("expect", r.Expect(run=run).packed())

    async def _answer_others(self, body: bytes, event: Events) -> bytes:
        def found() -> r.Others:
            return r.Others(runs=[r.wanted(one) for one in self._others()])

        return (await asyncio.to_thread(found)).packed()

    def parked(self) -> TemplateCounts:
        """How parked guests stand."""
        return TemplateCounts() if self._hosts is None else self._hosts.parked()

    async def measure(
        self, request: MeasureRequest, run_id: str, publish: Callable[[m.Measured], None]
    ) -> None:
        """Measure lanes one after another, with no other guest alive."""
        run = await asyncio.to_thread(r.wanted, request.run)
        asked = r.MeasureIt(run_id=run_id, run=run, repeats=request.repeats)
        async with self.hosts.alone() as peer:
            await peer.call("measure", asked.packed(), None, _taker(m.Measured, publish))

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        """Measure what a challenge wants, and stress, with no other guest alive."""
        run = await asyncio.to_thread(r.wanted, request.run)
        asked = r.JudgeIt(run=run, challenge=request.challenge, arm=request.arm)
        async with self.hosts.alone() as peer:
            await peer.call("judge", asked.packed(), None, _taker(m.Judged, publish))

    async def rest(self) -> None:
        """Close all lanes; the next run boots them again."""
        if self._hosts is not None:
            await self._hosts.rest()


def begin_of(settings: KernelSettings, slots: int) -> r.Begin:
    """What a host process is to be."""
    return r.Begin(
        slots=slots,
        source=None if settings.source is None else str(settings.source),
        base_name=settings.base_name,
    )


def _taker(kind: type[T], publish: Callable[[T], None]) -> Callable[[bytes], None]:
    """Publishes messages of that kind that come as events."""

    def take(body: bytes) -> None:
        try:
            message = kind.model_validate_json(body)
        except ValidationError as error:
            raise InfraError(
                "the host process has sent a message that cannot be read.",
                remedy="Start it again; if it happens again, look at the server's log.",
            ) from error
        publish(message)

    return take
