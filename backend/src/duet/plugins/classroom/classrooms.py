# SPDX-License-Identifier: GPL-2.0-or-later
"""Carry out the commands of classes. A command that has begun runs to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fastapi import FastAPI

from duet import messages as m
from duet.api.identity import TokensOnly
from duet.base import plugins
from duet.base.errors import InfraError, InputError
from duet.messages.codec import pack
from duet.plugins.classroom import broadcast as messages
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom import routes
from duet.plugins.classroom.driver import Driving
from duet.plugins.classroom.members import Entering, Members, delete, end
from duet.plugins.classroom.purge import Purge
from duet.plugins.classroom.questions import MemberQuestions, Questions
from duet.plugins.classroom.records import ClassFacts, Stored
from duet.plugins.classroom.refusals import not_yours
from duet.plugins.classroom.room import Room, Seat
from duet.plugins.classroom.rooms import OpenClasses, Ownership, Rooms, keep_storing, store_all
from duet.plugins.classroom.tries import Tries, carry_out_try
from duet.plugins.classroom.try_parts import BackgroundWork, LiveParts
from duet.server.doors import Door
from duet.server.services import Core, Service
from duet.store.database import CLASSES_DAYS, classes_days
from duet.store.store import Store
from duet.stream.hub import Viewer

COMMANDS: tuple[type[m.Command], ...] = tuple(
    one
    for one in vars(cm).values()
    if isinstance(one, type) and issubclass(one, m.Command) and one is not m.Command
)


class Dispatcher:
    """Dispatch the commands of pages that are in a class.

    Args:
        tries: handles runs that members try; None if members cannot try runs.
    """

    def __init__(self, rooms: Rooms, tries: Tries | None) -> None:
        self._rooms = rooms
        self._tries = tries
        self._questions = Questions(rooms)
        self._members = Members(rooms)
        self._member_questions = MemberQuestions(rooms)
        self.driving = Driving(rooms)

    async def carry_out(self, seat: Seat, command: m.Command) -> None:
        """Carry out one command.

        Raises:
            DuetError: the command is refused.
        """
        match command:
            case cm.Answer():
                await self._questions.answer(seat, command)
            case cm.Confused():
                await self._members.confused(seat)
            case cm.ForgetMe():
                if self._tries is not None and seat.member is not None:
                    await self._tries.forget(seat.room, seat.member)
                await self._members.forget(seat)
            case cm.TryRun() | cm.TakeBackTry() | cm.OpenStep() | cm.ShowGallery():
                await carry_out_try(self._tries, seat, command)
            case cm.RaiseQuestion():
                await self._member_questions.ask(seat, command)
            case cm.Upvote():
                await self._member_questions.vote(seat, command)
            case cm.Consent():
                self._rooms.observations.consent(seat, command)
            case _ if seat.member is not None:
                raise not_yours("the instructor may send this command")
            case _:
                await self._lead(seat, command)

    async def _lead(self, seat: Seat, command: m.Command) -> None:
        match command:
            case cm.AskClass():
                await self._questions.ask(seat, command)
            case cm.Reveal():
                await self._questions.reveal(seat, command)
            case cm.HandWheel():
                await self.driving.hand(seat, command.member)
            case cm.SettleRaised():
                await self._member_questions.settle(seat, command)
            case cm.ShowRaised():
                await self._member_questions.show(seat, command)
            case cm.CountDown():
                await self._member_questions.count_down(seat, command)
            case cm.WatchMember():
                self._rooms.observations.watch(seat, command)
            case cm.RemoveMember():
                member = seat.room.members.get(command.member)
                if self._tries is not None and member is not None:
                    await self._tries.forget(seat.room, member)
                await self._members.remove(seat, command)
            case cm.EndClass():
                await end(self._rooms, seat.room)


class Classrooms(Service):
    """All classes of a server.

    Args:
        store: where classes are stored; None if the server has no classes.
        live: where members try runs; None if members cannot try runs.
        days: number of days for which ended classes are stored.
        ownership: which classes this server owns.
    """

    commands = COMMANDS
    actions = routes.ACTIONS

    def __init__(
        self,
        store: Store | None,
        live: LiveParts | None = None,
        days: int = CLASSES_DAYS,
        ownership: Ownership | None = None,
    ) -> None:
        self.store = store
        self._work = BackgroundWork()
        self._storing: asyncio.Task[None] | None = None
        self._rooms: Rooms | None = None
        self._tries: Tries | None = None
        self.going: OpenClasses | None = None
        if store is not None:
            self._rooms = Rooms(store, ownership or Ownership())
            self._purge = Purge(store, days)
            self.going = self._rooms.going
            self._entering = Entering(self._rooms)
            if live is not None:
                self._tries = Tries(self._rooms, live)
            self._dispatcher = Dispatcher(self._rooms, self._tries)

    async def __aenter__(self) -> Classrooms:
        if self.store is not None and self._rooms is not None:
            await self._rooms.going.load(self.store)
            if self._tries is not None:
                await self._tries.begin()
            self._storing = asyncio.create_task(
                keep_storing(self.store, self._rooms, self._purge), name="class places"
            )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self.store is None or self._rooms is None:
            return
        if self._storing is not None:
            self._storing.cancel()
        await self.idle()
        if self._tries is not None:
            await self._tries.close()
        await store_all(self.store, self._rooms)
        self._rooms.close()

    async def idle(self) -> None:
        """Wait until no command is running."""
        await self._work.idle()

    def admit(self, door: Door) -> None:
        """Admit browsers that send the code of an open class."""
        if isinstance(door, TokensOnly) and self.going is not None:
            door.join_by_code(self.going)

    def add_routes(self, app: FastAPI) -> None:
        routes.add_class_routes(app, self)

    def gauges(self) -> Iterable[tuple[str, str, float]]:
        yield "duet_classes_open", "Classes in memory, with pages or not.", len(self.rooms())

    def rooms(self) -> list[Room]:
        """Return the classes in memory."""
        return [] if self._rooms is None else list(self._rooms)

    def viewer_left(self, viewer: Viewer) -> None:
        """Remove a disconnected page from its class."""
        if self._rooms is not None:
            self._rooms.remove_page(viewer)

    async def of_instructor(self, visitor: str) -> list[tuple[ClassFacts, int]]:
        """Return the classes that a visitor started, each with its member count."""
        if self.store is None:
            return []
        return await self.store.ask(lambda c: reading.classes_of(c, visitor))

    async def stored(self, visitor: str, class_id: str) -> Stored:
        """Load all stored data of a class that this visitor started.

        Raises:
            InputError: there is no such class.
        """
        found = None
        if self.store is not None:
            found = await self.store.ask(lambda c: reading.load(c, class_id))
        if found is None or found.facts.instructor != visitor:
            raise InputError(
                f"this browser started no class '{class_id:.40}'.",
                remedy="Open the report in the browser that started the class.",
            )
        return found

    async def delete(self, visitor: str, class_id: str) -> None:
        """Delete a class that this visitor started. An open class is ended first.

        Raises:
            InputError: there is no such class.
        """
        await self.stored(visitor, class_id)
        if self._rooms is not None:
            await self._work.until_done(delete(self._rooms, class_id))

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out one command.

        Raises:
            DuetError: the command is refused.
        """
        if self._rooms is None:
            raise InfraError("this server has no classes.", remedy="Use a server that has classes.")
        match command:
            case cm.Drive():
                self._dispatcher.driving.drive(self._rooms.seat(viewer), command)
            case cm.Follow():
                self._dispatcher.driving.follow(self._rooms.seat(viewer), command)
            case cm.ShowPlace():
                self._rooms.observations.here(self._rooms.seat(viewer), command)
            case cm.LeaveClass():
                self._leave(self._rooms, self._rooms.seat(viewer))
            case cm.StartClass() | cm.ResumeClass() | cm.JoinClass():
                await self._work.until_done(self._entering.enter(viewer, command))
            case _:
                seat = self._rooms.seat(viewer)
                await self._work.until_done(self._dispatcher.carry_out(seat, command))

    def _leave(self, rooms: Rooms, seat: Seat) -> None:
        rooms.remove_page(seat.viewer)
        seat.viewer.put(pack(messages.state(seat, gone=True)))
        if seat.member is not None and seat.drives:
            self._work.begin(self._dispatcher.driving.hand(seat, ""))


def service(core: Core) -> Classrooms:
    """Return the object that manages a server's classes. Another plug-in can replace it."""
    live = LiveParts(core.live_runs, core.read, core.no_runs, core.no_patches, core.hold)
    for other in plugins.offered("classrooms"):
        made: Classrooms | None = other.classrooms(core.store, live, classes_days())
        if made is not None:
            return made
    return Classrooms(core.store, live, classes_days())
