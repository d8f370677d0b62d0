# SPDX-License-Identifier: GPL-2.0-or-later
"""One live run on a host process, as the server has it (see serve.interfaces.QueuedRun)."""

from __future__ import annotations

import asyncio
import json

from pydantic import JsonValue

from duet.errors import DuetError, InfraError, InputError
from duet.hosts import limits, packets
from duet.hosts import requests as r
from duet.hosts.peer import Peer
from duet.hosts.performance import first_message
from duet.hosts.work import Events
from duet.runs.request import RunRequest
from duet.serve.hosted.hosts import Hosts
from duet.serve.meters import LaneStarts
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.hub import Hub
from duet.stream.runlog import RunLog

NOT_YET = "Wait until the lanes run."
OVER = frozenset({"done", "failed", "stopped"})


class HostedRun:
    """One live run (see serve.interfaces.QueuedRun)."""

    def __init__(self, hosts: Hosts, request: RunRequest, run_id: str, hub: Hub) -> None:
        self.log = RunLog(run_id, request.folder.slug)
        self._hosts = hosts
        self._request = request
        self._hub = hub
        self._peer: Peer | None = None
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._starts = LaneStarts()
        self._first = first = first_message(request, run_id)
        self._say(first.model_copy(update={"message": "This run waits for its turn."}))
        for arm in request.missing:
            waits = "Its kernel is not built yet; run again when it is."
            self._say(m.Lane(run_id=run_id, arm=arm, phase="building", message=waits))

    def _say(self, message: m.Message) -> None:
        self._send(pack(message))

    def _send(self, packet: Packet) -> None:
        self._hub.publish(self.log, packet)

    async def perform(self, slot: int = 0) -> None:
        """Run until all lanes have ended; failures of single lanes are messages.

        Raises:
            DuetError: no lane can begin, or the host process is gone.
        """
        self._starts.begin()
        run = await asyncio.to_thread(r.wanted, self._request)
        try:
            self._peer, there = await self._hosts.ready(slot, begins=True)
            asked = r.Perform(run_id=self.log.run_id, slot=there, run=run)
            if self._stopped.is_set():
                self.withdraw()
                return
            await self._peer.call("perform", asked.packed(), None, self._take)
        except DuetError as error:
            self._fail(error)
            raise
        except asyncio.CancelledError:
            self._fail(InfraError("the run was ended before its end.", remedy="Start it again."))
            raise

    def _take(self, travelled: bytes) -> None:
        message, packet = packets.read(travelled, self._first)
        if isinstance(message, m.Lane):
            self._starts.on_lane(message)
        elif isinstance(message, m.Batch):
            self._starts.on_batch(message.arm)
        self._send(packet)

    def _fail(self, error: DuetError) -> None:
        """The host process cannot say any more what has become of run and lanes."""
        last = self.log.run()
        if last is None or last.phase in OVER:
            return
        for lane in self.log.lanes().values():
            if lane.phase not in {*OVER, "building"}:
                why = {"message": error.sentence, "remedy": error.remedy}
                self._say(lane.model_copy(update={"phase": "failed", **why}))
        self._say(last.model_copy(update={"phase": "failed", "message": error.sentence}))

    async def stop(self) -> None:
        """End the workload; perform() then returns."""
        self._stopped.set()
        if self._peer is not None:
            await self._ask("stop", r.OfRun(run_id=self.log.run_id))

    def withdraw(self) -> None:
        """It will not begin."""
        self._say(self._first.model_copy(update={"phase": "stopped"}))

    def close(self) -> None:
        """Give up what the host process has of it."""
        if self._peer is not None:
            self._peer.note("close", r.OfRun(run_id=self.log.run_id).packed())

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts on every lane. Raises as Performance.act()."""
        await self._ask("act", r.OfRun(run_id=self.log.run_id, name=name, value=value))

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or let them go. Raises as Performance.hold()."""
        await self._ask("hold", r.OfRun(run_id=self.log.run_id, on=on, value=after))

    async def _ask(
        self,
        name: str,
        asked: r.OfRun,
        timeout_s: float = limits.CALL_S,
        event: Events | None = None,
    ) -> bytes:
        if self._peer is None:
            raise InputError("nothing runs yet.", remedy=NOT_YET)
        return await self._peer.call(name, asked.packed(), timeout_s, event)

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment. Blocking; not on the event loop."""
        if self._peer is None:
            return []
        where = r.OfRun(
            run_id=self.log.run_id, arm=arm, around_ns=around_ns, row=row, most=n, cpu=cpu
        )
        found = self._wait("raw", where, limits.RAW_S)
        try:
            tree = json.loads(found)
        except ValueError as error:
            raise _unreadable("raw records") from error
        if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
            raise _unreadable("raw records")
        return tree

    def bundle(self) -> bytes | None:
        """The whole run as a bundle. Blocking; not on the event loop."""
        if self._peer is None:
            return None
        content = bytearray()

        def piece(of: bytes) -> None:
            if len(content) <= limits.BUNDLE_BYTES:
                content.extend(of)

        length = self._wait("bundle", r.OfRun(run_id=self.log.run_id), limits.BUNDLE_S, piece)
        if not length:
            return None
        if str(len(content)).encode() != length:
            raise _unreadable("a file")
        return bytes(content)

    def _wait(
        self,
        name: str,
        asked: r.OfRun,
        timeout_s: float,
        event: Events | None = None,
    ) -> bytes:
        asking = self._ask(name, asked, timeout_s, event)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result()


def _unreadable(what: str) -> InfraError:
    return InfraError(
        f"the host process has sent {what} that cannot be read.", remedy="Start the run again."
    )
