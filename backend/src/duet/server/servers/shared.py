# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of one of several servers: carried out here, or at the server that owns the class."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.classes.store import ClassStore
from duet.server.classroom import Classrooms
from duet.server.classroom.entering import new_secret
from duet.server.classroom.refusals import NO_CLASS
from duet.server.classroom.room import Room
from duet.server.classroom.rooms import Rooms, let_go
from duet.server.classroom.seated import Command
from duet.server.classroom.try_parts import LiveParts
from duet.server.servers import wire
from duet.server.servers.directory import Directory
from duet.server.servers.entrance import ServerEntrance
from duet.server.servers.finding import Finding, Silent
from duet.server.servers.looking import Looking
from duet.server.servers.relay import MOVED, Relay
from duet.server.servers.relays import Relays
from duet.stream.hub import Viewer

log = logging.getLogger("duet.classes")
SILENT = "The server that holds this class does not answer; this page tries again."
AWAY = "This class cannot be loaded just now; this page tries again."


class SharedClassrooms(Classrooms):
    """See Classrooms. A page is in a class here, or at another server by a relay."""

    def __init__(self, store: ClassStore, live: LiveParts | None) -> None:
        super().__init__(store, live)
        assert self._rooms is not None
        self._store: ClassStore = store
        self._own: Rooms = self._rooms
        self.directory = Directory(store)
        self.relays = Relays(self.directory.secret)
        self._finding = Finding(store.server, self.relays)
        self._place: dict[Viewer, Relay] = {}
        self._looking: asyncio.Task[None] | None = None
        self.entrance = ServerEntrance(self, self.directory.secret)
        self.doors = {wire.PATH: self.entrance.serve}
        self.ending: Callable[[], Awaitable[None]] | None = None
        """Called when the server ends."""
        self._own.dropped = self._dropped
        store.sessions.lost = self._lost

    async def __aenter__(self) -> SharedClassrooms:
        await super().__aenter__()
        log.info("one of several servers; the others reach it at %s", self._store.server)
        looking = Looking(self._look, self._look_at_held, self._lost)
        self._looking = asyncio.create_task(looking.go_on(), name="classes of other servers")
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._looking is not None:
            self._looking.cancel()
        if self.ending is not None:
            await self.ending()
        self.entrance.close("this server ends")
        await self.relays.close()
        await super().__aexit__(*error)

    # What pages ask

    async def command(self, viewer: Viewer, command: Command) -> None:
        """See Classrooms."""
        relay = self._place.get(viewer)
        match command:
            case m.StartClass():
                await self.here(viewer, command)
                self._is_at(viewer, None)
            case m.ResumeClass() | m.JoinClass():
                await self._enter(viewer, command)
            case _ if relay is None:
                await self.here(viewer, command)
            case _:
                await relay.command(viewer, command)
                if isinstance(command, m.LeaveClass | m.ForgetMe):
                    self._is_at(viewer, None)

    async def here(self, viewer: Viewer, command: Command) -> None:
        """Carry out a command of a class that this server owns.

        Raises:
            Elsewhere: another one owns it.
            DuetError: why not.
        """
        await super().command(viewer, command)

    def left(self, viewer: Viewer) -> None:
        """See Classrooms."""
        self._is_at(viewer, None)
        super().left(viewer)

    async def delete(self, visitor: str, class_id: str) -> None:
        """See Classrooms; the owner of a class that goes on deletes it."""
        await self.stored(visitor, class_id)
        who = wire.Who(ident=visitor, role="instructor")
        await self._finding.at_owner(
            lambda: self.delete_here(visitor, class_id),
            lambda relay: relay.delete(who, class_id),
        )

    async def delete_here(self, visitor: str, class_id: str) -> None:
        """Delete a class that this server owns, or that has ended.

        Raises:
            Elsewhere: another one owns it.
            DuetError: why not.
        """
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._own.found(class_id=class_id))
            except InputError as error:
                if error.code != NO_CLASS:
                    raise
            await super().delete(visitor, class_id)

    async def _enter(self, viewer: Viewer, command: m.ResumeClass | m.JoinClass) -> None:
        back = isinstance(command, m.ResumeClass) or command.secret != ""
        if isinstance(command, m.JoinClass) and not back:  # asked for twice, it is one member
            command = command.model_copy(update={"secret": new_secret()})

        async def by_relay(relay: Relay) -> None:
            await relay.enter(viewer, command)
            self._is_at(viewer, relay)

        async def by_ourselves() -> None:
            await self.here(viewer, command)
            self._is_at(viewer, None)

        try:
            await self._finding.at_owner(by_ourselves, by_relay)
        except InfraError as error:
            if back:
                viewer.expel(SILENT if isinstance(error, Silent) else AWAY, comes_back=True)
            raise

    def _is_at(self, viewer: Viewer, relay: Relay | None) -> None:
        """A page is in a class by this relay; None: it is not by any."""
        former = self._place.pop(viewer, None)
        if former is not None and former is not relay:
            former.left(viewer)
        if relay is not None and not viewer.gone:
            self._place[viewer] = relay
            super().left(viewer)

    # What this server owns

    def _dropped(self, room: Room) -> None:
        """A class has left the memory; another server may have it, unless it has ended."""
        room.owned = not room.open
        self._work.begin(let_go(self._own, room.facts.class_id))

    def _lost(self) -> None:
        """The database session broke: others may own the classes soon, so all pages look."""
        for room in self._own:
            for seat in list(room.seats.values()):
                seat.viewer.expel(MOVED, comes_back=True)
        self._own.close()
        self.entrance.close("its session with the database broke")

    async def _look(self, within_s: float) -> None:
        """What other servers began and ended, and whether the session lives."""
        await self._own.going.look(self._store, within_s)

    async def _look_at_held(self) -> None:
        """What they saved."""
        if self._tries is not None:
            await self._tries.look_at_held()
