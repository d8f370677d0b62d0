# SPDX-License-Identifier: GPL-2.0-or-later
"""One live run on host processes, as the server has it (see serve.interfaces.QueuedRun).

All its lanes are on one, or each is on one of its own. Those wait for each other: when all are
ready, all begin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from pydantic import JsonValue

from duet.errors import DuetError, InfraError
from duet.hosts import requests as r
from duet.hosts.packets import RunMessage
from duet.hosts.performance import first_message
from duet.runs.join import joined
from duet.runs.request import RunRequest
from duet.serve.hosted.hosts import Hosts
from duet.serve.hosted.merging import Merged
from duet.serve.hosted.share import Share
from duet.serve.hosted.shares import Shares
from duet.serve.meters import LaneStarts
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.hub import Hub
from duet.stream.runlog import OVER, RunLog

T = TypeVar("T")


class HostedRun:
    """One live run (see serve.interfaces.QueuedRun)."""

    def __init__(self, hosts: Hosts, request: RunRequest, run_id: str, hub: Hub) -> None:
        self.log = RunLog(run_id, request.folder.slug)
        self._hosts = hosts
        self._request = request
        self._hub = hub
        self._first = first = first_message(request, run_id)
        self._shares = Shares((), first, ())
        self._merged = Merged(first, 0)
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._starts = LaneStarts()
        self._say(first.model_copy(update={"message": "This run waits for its turn."}))
        self._say_all(not_built(run_id, request.missing))

    def _say(self, message: m.Message) -> None:
        self._send(pack(message))

    def _say_all(self, messages: Iterable[m.Message]) -> None:
        for message in messages:
            self._say(message)

    def _send(self, packet: Packet) -> None:
        self._hub.publish(self.log, packet)

    async def perform(self, slot: int = 0) -> None:
        """Run until all lanes have ended; failures of single lanes are messages.

        Raises:
            DuetError: no lane can begin, or all host processes are gone.
        """
        self._starts.begin()
        arms = self._request.arms
        try:
            run = await asyncio.to_thread(r.wanted, self._request)
            places = await self._hosts.ready(slot, lanes=len(arms), begins=True)
            self._shares = Shares(places, self._first, arms)
            self._merged = Merged(self._first, len(self._shares))
            if self._stopped.is_set():
                self.withdraw()
                return
            async with asyncio.TaskGroup() as group:
                ends = [group.create_task(self._perform(share, run)) for share in self._shares]
            errors = [error for end in ends if (error := end.result()) is not None]
            if len(errors) == len(ends):
                raise errors[0]
        except DuetError as error:
            self._fail(error)
            raise
        except asyncio.CancelledError:
            self._fail(InfraError("the run was ended before its end.", remedy="Start it again."))
            raise

    async def _perform(self, share: Share, run: r.Wanted) -> DuetError | None:
        """A share that fails takes no other one along."""
        why = None
        try:
            await share.perform(run, self._take, together=len(self._shares) > 1)
        except DuetError as error:
            why = error
            self._say_all(failed(self.log, share.arms, error))
            self._say_run(self._merged.fail(self._shares.index(share), error))
        self._shares.ended(share, self.log.lanes())
        return why

    def _take(self, share: Share, message: RunMessage, packet: Packet) -> None:
        if isinstance(message, m.Run):
            self._say_run(self._merged.report(self._shares.index(share), message))
            return
        self._send(packet)
        if isinstance(message, m.Batch):
            self._starts.on_batch(message.arm)
        elif isinstance(message, m.Lane):
            self._starts.on_lane(message)
            self._shares.go_if_ready(self.log.lanes())

    def _say_run(self, merged: m.Run | None) -> None:
        if merged is not None:
            self._say(merged)

    def _fail(self, error: DuetError) -> None:
        """No host process can say any more what has become of run and lanes."""
        last = self.log.run()
        if last is None or self.log.over:
            return
        self._say_all(failed(self.log, self._request.arms, error))
        self._say(last.model_copy(update={"phase": "failed", "message": error.sentence}))

    async def stop(self) -> None:
        """End the workload; perform() then returns."""
        self._stopped.set()
        if self._shares:
            await self._shares.everywhere("stop", r.OfRun(run_id=self.log.run_id))

    def withdraw(self) -> None:
        """It will not begin."""
        self._say(self._first.model_copy(update={"phase": "stopped"}))

    def close(self) -> None:
        """Give up what host processes have of it."""
        self._shares.close()

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts on every lane. Raises as Performance.act()."""
        run_id = self.log.run_id
        await self._shares.everywhere("act", r.OfRun(run_id=run_id, name=name, value=value))

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or let them go. Raises as Performance.hold()."""
        run_id = self.log.run_id
        await self._shares.everywhere("hold", r.OfRun(run_id=run_id, on=on, value=after))

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment. Blocking; not on the event loop."""
        if not self._shares:
            return []
        where = r.OfRun(
            run_id=self.log.run_id, arm=arm, around_ns=around_ns, row=row, most=n, cpu=cpu
        )
        return self._wait(self._shares.raw_events(where))

    def bundle(self) -> bytes | None:
        """The whole run as a bundle; None: no lane has any. Blocking; not on the event loop.

        Raises:
            DuetError: a host process is gone, or has sent no bundle.
        """
        parts = self._wait(self._shares.bundles()) if self._shares else []
        if len(self._shares) < 2 or not parts:
            return parts[0].content if parts else None
        lanes = self.log.lanes().values()
        left_out = {lane.arm: lane.message for lane in lanes if lane.phase == "failed"}
        return joined(parts, self._request.arms, left_out)

    def _wait(self, asking: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result()


def not_built(run_id: str, arms: Iterable[str]) -> list[m.Lane]:
    """Lanes that cannot run now."""
    why = "Its kernel is not built yet; run again when it is."
    return [m.Lane(run_id=run_id, arm=arm, phase="building", message=why) for arm in arms]


def failed(log: RunLog, arms: Iterable[str], error: DuetError) -> list[m.Lane]:
    """Those lanes, failed, of which nobody has said yet that they are over."""
    lanes = log.lanes()
    waiting = [m.Lane(run_id=log.run_id, arm=arm, phase="waiting") for arm in arms]
    found = [lanes.get(lane.arm, lane) for lane in waiting]
    how = {"phase": "failed", "message": error.sentence, "remedy": error.remedy}
    return [lane.model_copy(update=how) for lane in found if lane.phase not in OVER]
