# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares classes among servers. A command is executed here or on the server that owns the class."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from duet import messages as m
from duet.base.errors import DuetError, InfraError, InputError
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries as try_queries
from duet.plugins.classroom.classrooms import Classrooms
from duet.plugins.classroom.members import new_secret
from duet.plugins.classroom.records import ClassFacts, Stored
from duet.plugins.classroom.refusals import NO_CLASS, Elsewhere
from duet.plugins.classroom.room import Room
from duet.plugins.classroom.rooms import Ownership, Rooms, let_go
from duet.plugins.classroom.try_parts import LiveParts
from duet.plugins.federation import wire
from duet.plugins.federation.entrance import ServerEntrance
from duet.plugins.federation.limits import FIND_S, GIVE_UP_S, HELD_S, LOOK_S, RETRY_S
from duet.plugins.federation.relay import MOVED, Broken, Relay, Relays
from duet.plugins.federation.tables import SECRETS
from duet.store import database as claims
from duet.store.database import CLASSES_DAYS
from duet.store.store import Store
from duet.stream.hub import Viewer

log = logging.getLogger("duet.store")


class Silent(InfraError):
    """The class's owner does not answer, but still holds the class's lock."""


class OwnerFinder:
    """Finds the owner of a class: this server, or the other server that holds the class's lock.

    Args:
        server: the address at which other servers reach this server.
    """

    def __init__(self, server: str, relays: Relays) -> None:
        self._server = server
        self._relays = relays
        self._logged_s = -math.inf

    async def at_owner(
        self, here: Callable[[], Awaitable[None]], there: Callable[[Relay], Awaitable[None]]
    ) -> None:
        """Run an action on the server that owns the class. Retry while that server is dying.

        Args:
            here: runs the action here, or raises Elsewhere.
            there: runs the action on another server.

        Raises:
            Silent: the owner does not answer, and the database does not release the owner's lock.
            DuetError: the action failed.
        """
        until_s = time.monotonic() + FIND_S
        while True:
            try:
                await here()
                return
            except Elsewhere as error:
                owner, trouble = error.server, error.sentence
            if owner and owner != self._server:
                try:
                    await there(await self._relays.to(owner))
                    return
                except InfraError as error:
                    if not isinstance(error, Broken) and error.code != Elsewhere.code:
                        raise
                    trouble = error.sentence
            if time.monotonic() > until_s:
                raise self._silent(owner, trouble)
            await asyncio.sleep(RETRY_S)

    def _silent(self, owner: str, trouble: str) -> Silent:
        remedy = (
            f"End the server {owner or 'that has its lock'}: another one takes its classes over at "
            "once, and pages reconnect by themselves."
        )
        sentence = f"the server that holds this class does not answer: {trouble}"
        error = Silent(sentence, remedy=remedy)
        if time.monotonic() - self._logged_s > FIND_S:  # log this once, and not for each page
            self._logged_s = time.monotonic()
            log.error("%s %s", error.sentence, error.remedy)
        return error


# Polls the database every second, to detect when it becomes unreachable.
#
# If the database cannot reach a server for DEAD_PEER_S, the database releases that server's
# classes, and another server may load them. So a server that cannot reach the database releases its
# classes a little earlier.

LEAST_S: Final = 0.1


class DatabasePoll:
    """Polls the database.

    Args:
        look: queries the database within the given number of seconds. Raises DuetError if the
            database does not answer.
        held: reads from the database which saved runs are pinned by classes. Raises DuetError.
        lost: releases all classes. Called once each time the database becomes unreachable.
    """

    def __init__(
        self,
        look: Callable[[float], Awaitable[None]],
        held: Callable[[], Awaitable[None]],
        lost: Callable[[], None],
    ) -> None:
        self._look, self._held, self._lost = look, held, lost
        self._answered_s = time.monotonic()
        self._away = False

    async def go_on(self) -> None:
        """Poll for ever."""
        self._answered_s = held_s = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self._once()
                if not self._away and time.monotonic() - held_s > HELD_S:
                    held_s = time.monotonic()
                    async with asyncio.timeout(GIVE_UP_S / 2):
                        await self._held()
            except (DuetError, TimeoutError) as error:
                log.debug("the database of classes was not read: %s", error)
            except Exception:
                log.exception("polling for the classes of other servers failed")

    async def _once(self) -> None:
        began_s = time.monotonic()
        left_s = LOOK_S if self._away else self._answered_s + GIVE_UP_S - began_s
        try:
            await self._look(max(LEAST_S, left_s))
            self._answered_s, self._away = began_s, False
        finally:
            silent_s = time.monotonic() - self._answered_s
            if not self._away and silent_s >= GIVE_UP_S:
                self._away = True
                log.error(
                    "the database of classes has not answered for %.0f s: all classes are released",
                    silent_s,
                )
                self._lost()


RELAY: Final = "relay"
"""Name of the secret by which servers recognize each other."""
SECRET_BYTES: Final = 32


def shared_secret(connection: Connection) -> str:
    """Return the secret that all servers of this database share. The first server creates the
    secret."""
    made = {"name": RELAY, "secret": secrets.token_urlsafe(SECRET_BYTES)}
    connection.execute(insert(SECRETS).values(made).on_conflict_do_nothing())
    return str(connection.scalar(select(SECRETS.c.secret).where(SECRETS.c.name == RELAY)))


class Directory:
    """Knows the other servers of the same database, and the secret that all of them share."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known_secret = ""

    async def others(self) -> list[str]:
        """Return the addresses of all other servers.

        Raises:
            InfraError: the database does not answer.
        """
        found = await self._store.ask(claims.servers)
        return [server for server in found if server != self._store.server]

    async def secret(self) -> str:
        """Return the secret that other servers require from this server.

        Raises:
            InfraError: the database does not answer.
        """
        if not self._known_secret:
            self._known_secret = await self._store.ask(shared_secret)
        return self._known_secret


class SharedOwnership(Ownership):
    """Ownership of classes that several servers share."""

    def start(self, connection: Connection, facts: ClassFacts) -> ClassFacts:
        """Claim a new class and store it."""
        claims.claim(connection, facts.class_id)
        return super().start(connection, facts)

    def load(self, connection: Connection, class_id: str) -> Stored | str | None:
        """Claim and load a class. Mark its unfinished runs as failed, because their server has
        ended."""
        owner = claims.claim(connection, class_id)
        if owner is not None:
            return owner
        try_queries.end_unfinished(connection, class_id)
        stored = super().load(connection, class_id)
        if stored is None:
            claims.release(connection, class_id)
        return stored

    def release(self, connection: Connection, class_id: str) -> None:
        claims.release(connection, class_id)


SILENT = "The server of this class does not answer; this page tries again."
AWAY = "This class cannot be loaded now; this page tries again."


class SharedClassrooms(Classrooms):
    """Classes that several servers share.

    This server handles the commands of pages that are in its own classes. A relay carries the other
    commands to the server that owns the class.
    """

    def __init__(self, store: Store, live: LiveParts | None, days: int = CLASSES_DAYS) -> None:
        super().__init__(store, live, days, SharedOwnership())
        assert self._rooms is not None
        self._store: Store = store
        self._own: Rooms = self._rooms
        self.directory = Directory(store)
        self.relays = Relays(self.directory.secret)
        self._finding = OwnerFinder(store.server, self.relays)
        self._place: dict[Viewer, Relay] = {}
        self._looking: asyncio.Task[None] | None = None
        self.entrance = ServerEntrance(self, self.directory.secret)
        self.doors = {wire.PATH: self.entrance.serve}
        self._own.dropped.register(self._dropped)
        store.sessions.lost.register(self._lost)

    async def __aenter__(self) -> SharedClassrooms:
        await super().__aenter__()
        log.info("one of several servers; the others reach it at %s", self._store.server)
        looking = DatabasePoll(self._look, self._look_at_held, self._lost)
        self._looking = asyncio.create_task(looking.go_on(), name="classes of other servers")
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self.entrance.close("this server ends")
        await self.relays.close()
        await super().__aexit__(*error)

    # Commands from pages

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out a command here, or on the server that owns the class."""
        relay = self._place.get(viewer)
        match command:
            case cm.StartClass():
                await self.here(viewer, command)
                self._is_at(viewer, None)
            case cm.ResumeClass() | cm.JoinClass():
                await self._enter(viewer, command)
            case _ if relay is None:
                await self.here(viewer, command)
            case _:
                await relay.command(viewer, command)
                if isinstance(command, cm.LeaveClass | cm.ForgetMe):
                    self._is_at(viewer, None)

    async def here(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out a command for a class that this server owns.

        Raises:
            Elsewhere: another server owns the class.
            DuetError: the command is refused.
        """
        await super().command(viewer, command)

    def viewer_left(self, viewer: Viewer) -> None:
        self._is_at(viewer, None)
        super().viewer_left(viewer)

    async def delete(self, visitor: str, class_id: str) -> None:
        """Delete a class. An open class is deleted by its owner."""
        await self.stored(visitor, class_id)
        who = wire.Who(ident=visitor, role="instructor")
        await self._finding.at_owner(
            lambda: self.delete_here(visitor, class_id),
            lambda relay: relay.delete(who, class_id),
        )

    async def delete_here(self, visitor: str, class_id: str) -> None:
        """Delete a class that this server owns, or that has ended.

        Raises:
            Elsewhere: another server owns the class.
            DuetError: the class cannot be deleted.
        """
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._own.found(class_id=class_id))
            except InputError as error:
                if error.code != NO_CLASS:
                    raise
            await super().delete(visitor, class_id)

    async def _enter(self, viewer: Viewer, command: cm.ResumeClass | cm.JoinClass) -> None:
        back = isinstance(command, cm.ResumeClass) or command.secret != ""
        # with this secret, a retry adds no second member
        if isinstance(command, cm.JoinClass) and not back:
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
        """Record the relay through which a page is in a class, or None if it uses no relay."""
        former = self._place.pop(viewer, None)
        if former is not None and former is not relay:
            former.viewer_left(viewer)
        if relay is not None and not viewer.gone:
            self._place[viewer] = relay
            super().viewer_left(viewer)

    # Classes that this server owns

    def _dropped(self, room: Room) -> None:
        """Release a class that was evicted from memory, so that another server can own it."""
        room.owned = not room.open
        self._work.begin(let_go(self._own, room.facts.class_id))

    def _lost(self) -> None:
        """Disconnect all pages, because without a database session this server owns no class."""
        for room in self._own:
            for seat in list(room.seats.values()):
                seat.viewer.expel(MOVED, comes_back=True)
        self._own.close()
        self.entrance.close("its session with the database broke")

    async def _look(self, within_s: float) -> None:
        """Read which classes other servers have started and ended. This also tests the database
        session."""
        await self._own.going.look(self._store, within_s)

    async def _look_at_held(self) -> None:
        """Read which saved runs are pinned by the classes of all servers."""
        if self._tries is not None:
            await self._tries.look_at_held()
