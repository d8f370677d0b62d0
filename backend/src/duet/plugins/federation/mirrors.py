# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows other servers' live runs. Each run is fetched once for all pages.

Pages of this server can watch such a run, but not control it. When the run is over and saved, pages
get its file instead.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from weakref import WeakValueDictionary

import msgpack
from pydantic import JsonValue, ValidationError

from duet import messages as m
from duet.base.errors import DuetError, InfraError
from duet.host.protocol import SEQ_BYTES, read_packet
from duet.lessons.own import are_changed
from duet.messages.codec import Packet, failure, pack
from duet.plugins.federation.limits import HAS_RUN_S, MIRRORS, RUN_S
from duet.plugins.federation.relay import Relay
from duet.plugins.federation.shared import SharedClassrooms
from duet.rpc.peer import Tasks
from duet.server.interfaces import Run
from duet.server.services import Opens, Service
from duet.stream.hub import OVER, Hub, RunLog, Viewer

WHERE = "this run is on another server"
REMEDY = "Wait until the run is saved; then every server has all of it."


class Mirror:
    """A live run of another server. Implements Run (server/interfaces.py).

    Attributes:
        begun: set when the run can be shown, or when `trouble` says why it cannot be shown.
        over: true if no more messages of the run will arrive.
        broken: true if the run is incomplete because its server disappeared.
    """

    def __init__(self, run_id: str, hub: Hub) -> None:
        self.log = RunLog(run_id, run_id.split(":")[1])
        self.begun = asyncio.Event()
        self.over = self.broken = False
        self.trouble: DuetError | None = None
        self._hub = hub
        self._first: m.Run | None = None
        self._newest: m.Run | None = None

    def take(self, travelled: bytes) -> None:
        """Take a message of the run, and pass it on to pages.

        Raises:
            InfraError: the message is invalid, or the run cannot be shown here.
        """
        body = travelled[SEQ_BYTES:]
        try:
            kind = msgpack.unpackb(body)["type"]
            if kind in ("gap", "error"):
                packet = self._said(kind, body)
            else:
                packet = self._of_run(kind, travelled, body)
        except (ValueError, TypeError, KeyError, ValidationError) as error:
            raise InfraError(
                "another server sent a message that does not belong to the run.",
                remedy="Use the same version of Kernel Duet on both servers.",
            ) from error
        self._hub.publish(self.log, packet)
        self.begun.set()

    @property
    def goes_on(self) -> bool:
        """Is the run still active, as far as this server knows?"""
        return not self.over and (self._newest is None or self._newest.phase not in OVER)

    def whole(self) -> None:
        """Mark the run as over if all of it has been received."""
        self.over = self._newest is not None and self._newest.phase in OVER

    def broke(self, error: DuetError) -> None:
        """Mark the run as broken unless all of it has been received."""
        if self.over:
            return
        self.over = self.broken = True
        if self._newest is None:
            self.trouble = error
        else:
            failed = {"phase": "failed", "message": f"The run's server is gone: {error.sentence}"}
            self._hub.publish(self.log, pack(self._newest.model_copy(update=failed)))
        self.begun.set()

    def _said(self, kind: str, body: bytes) -> Packet:
        tree = msgpack.unpackb(body)
        message = (m.Gap if kind == "gap" else m.ErrorMessage).model_validate(tree)
        return pack(message)

    def _of_run(self, kind: str, travelled: bytes, body: bytes) -> Packet:
        if self._first is None:
            self._first = m.Run.model_validate(msgpack.unpackb(body))
            if are_changed(self._first.arms):
                raise InfraError(f"{WHERE}, and has a changed patch.", remedy=REMEDY)
        message, packet = read_packet(travelled, self._first)
        if isinstance(message, m.Run):
            self._newest = message
        return packet

    # Operations that only the server of the run can perform

    async def perform(self) -> None:
        """Do nothing, because the other server performs the run."""

    async def stop(self) -> None:
        raise self._elsewhere()

    async def act(self, name: str, value: int) -> None:
        raise self._elsewhere()

    async def hold(self, on: bool, after: int) -> None:
        raise self._elsewhere()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        raise self._elsewhere()

    def bundle(self) -> Path | bytes | None:
        return None

    def _elsewhere(self) -> InfraError:
        return InfraError(f"{WHERE}, and only that server can do this.", remedy=REMEDY)


class Mirrors(Service):
    """Finds and shows other servers' live runs.

    Args:
        here: says whether a run takes place on this server.
        file_of: returns a saved run's file, or None.
    """

    def __init__(
        self,
        hub: Hub,
        classes: SharedClassrooms,
        here: Callable[[str], bool],
        file_of: Callable[[str], Path | None],
    ) -> None:
        self._hub, self._classes = hub, classes
        self._here, self._file_of = here, file_of
        self._mirrors: OrderedDict[str, Mirror] = OrderedDict()
        self._tasks = Tasks()
        self._looking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """A lock for each run that a page is waiting for."""

    async def __aexit__(self, *error: object) -> None:
        await self._tasks.end()

    async def open(self, viewer: Viewer, command: m.Open, opens: Opens) -> bool:
        """Show another server's run on a page. Pages of this server cannot control such a run."""
        try:
            await self._look(command.run)
        except DuetError as error:  # show the lesson without the run
            opens(viewer, command.model_copy(update={"run": "none"}))
            viewer.put(pack(failure(error, command.run)))
            return True
        opens(viewer, command)
        watched = None if viewer.log is None else self._mirrors.get(viewer.log.run_id)
        if watched is not None and watched.goes_on:
            control = m.Control(run_id=watched.log.run_id, by="other", may_take=False, yours=False)
            viewer.put(pack(control))
        return True

    async def _look(self, run_id: str | None) -> None:
        if run_id is None or not run_id.startswith("kept:") or self._known(run_id):
            return
        looking = self._looking.setdefault(run_id, asyncio.Lock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RUN_S), looking:
                if not self._known(run_id):
                    await self._fetch(run_id)

    def find_run(self, run_id: str) -> Run | None:
        """Return a mirrored run. Return None if there is none, or if pages can get its file
        instead."""
        found = self._mirrors.get(run_id)
        if found is not None and found.over and self._file_of(run_id) is not None:
            return None
        return found

    def _known(self, run_id: str) -> bool:
        there = run_id in self._mirrors or self._here(run_id)
        return there or self._file_of(run_id) is not None

    async def _fetch(self, run_id: str) -> None:
        server = await self._where(run_id)
        if server is None:
            return
        mirror = Mirror(run_id, self._hub)
        self._mirrors[run_id] = mirror
        self._tasks.spawn(self._follow(mirror, server), f"follow {run_id}")
        await mirror.begun.wait()
        if mirror.trouble is not None:
            self._mirrors.pop(run_id, None)
            raise mirror.trouble
        while len(self._mirrors) > MIRRORS:
            over = next((one for one in self._mirrors.values() if one.over), None)
            if over is None:
                break
            del self._mirrors[over.log.run_id]

    async def _where(self, run_id: str) -> str | None:
        """Return the server that has a run.

        All servers are asked in parallel, so a silent server delays nobody.
        """
        others = await self._classes.directory.others()
        asked = [asyncio.create_task(self._has(other, run_id)) for other in others]
        try:
            for found in asyncio.as_completed(asked, timeout=HAS_RUN_S):
                with contextlib.suppress(DuetError):
                    return await found
        except TimeoutError:
            pass
        finally:
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        return None

    async def _has(self, server: str, run_id: str) -> str:
        await (await self._classes.relays.to(server)).has_run(run_id)
        return server

    async def _follow(self, mirror: Mirror, server: str) -> None:
        """Receive the run over a separate connection, so that it delays no class."""
        relay, run_id = Relay(server, lambda _: None), mirror.log.run_id
        try:
            await relay.dial(await self._classes.directory.secret())
            await relay.watch_run(run_id, mirror.take)
            mirror.whole()
        except DuetError as error:
            mirror.broke(error)
        finally:
            mirror.broke(InfraError("its server sends nothing more.", remedy="Open the run again."))
            if mirror.broken and self._mirrors.get(run_id) is mirror:
                # pages that show this run keep the part that they have received
                del self._mirrors[run_id]
            await relay.close()
