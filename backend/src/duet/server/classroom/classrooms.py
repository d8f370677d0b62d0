# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out the commands of classes; one that has begun is carried out to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from starlette.websockets import WebSocket

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.classes import queries as reading
from duet.classes.records import ClassFacts, Stored
from duet.classes.store import ClassStore
from duet.messages.codec import pack
from duet.server.classroom import messages
from duet.server.classroom.driver import Wheel
from duet.server.classroom.members import Entering, Members, delete, end
from duet.server.classroom.questions import Questions, Raising
from duet.server.classroom.refusals import not_yours
from duet.server.classroom.room import Room, Seat
from duet.server.classroom.rooms import OpenClasses, Owning, Rooms, Shared, keep_storing, store_all
from duet.server.classroom.tries import Tries, tried
from duet.server.classroom.try_parts import LiveParts, Whole
from duet.stream.hub import Viewer

# Carries out what a page that sits in a class asks for: a member's, then the instructor's.

Command = m.ClassCommand | m.BoardCommand | m.WatchCommand | m.TryCommand


class Seated:
    """Of all classes.

    Args:
        tries: runs that members try; None: nowhere.
    """

    def __init__(self, rooms: Rooms, tries: Tries | None) -> None:
        self._rooms = rooms
        self._tries = tries
        self._questions = Questions(rooms)
        self._members = Members(rooms)
        self._raising = Raising(rooms)
        self.wheel = Wheel(rooms)

    async def carry_out(self, seat: Seat, command: Command) -> None:
        """One command.

        Raises:
            DuetError: why not.
        """
        match command:
            case m.Answer():
                await self._questions.answer(seat, command)
            case m.Confused():
                await self._members.confused(seat)
            case m.ForgetMe():
                if self._tries is not None and seat.member is not None:
                    await self._tries.forget(seat.room, seat.member)
                await self._members.forget(seat)
            case m.TryRun() | m.TakeBackTry() | m.OpenStep() | m.ShowGallery():
                await tried(self._tries, seat, command)
            case m.RaiseQuestion():
                await self._raising.ask(seat, command)
            case m.Upvote():
                await self._raising.vote(seat, command)
            case m.Consent():
                self._rooms.shoulder.consent(seat, command)
            case _ if seat.member is not None:
                raise not_yours("the instructor may do that")
            case _:
                await self._lead(seat, command)

    async def _lead(self, seat: Seat, command: Command) -> None:
        match command:
            case m.AskClass():
                await self._questions.ask(seat, command)
            case m.Reveal():
                await self._questions.reveal(seat, command)
            case m.HandWheel():
                await self.wheel.hand(seat, command.member)
            case m.SettleRaised():
                await self._raising.settle(seat, command)
            case m.ShowRaised():
                await self._raising.show(seat, command)
            case m.CountDown():
                await self._raising.count_down(seat, command)
            case m.WatchMember():
                self._rooms.shoulder.watch(seat, command)
            case m.RemoveMember():
                member = seat.room.members.get(command.member)
                if self._tries is not None and member is not None:
                    await self._tries.forget(seat.room, member)
                await self._members.remove(seat, command)
            case m.EndClass():
                await end(self._rooms, seat.room)


class Classrooms:
    """All classes of a server. Use as `async with`.

    Args:
        store: where classes are stored; it begins and ends with this. None: there are no classes.
        live: where members try runs; None: nowhere.
    """

    def __init__(self, store: ClassStore | None, live: LiveParts | None = None) -> None:
        self.store = store
        self.doors: Mapping[str, Callable[[WebSocket], Awaitable[None]]] = {}
        """Where other servers come in, by path."""
        self._work = Whole()
        self._storing: asyncio.Task[None] | None = None
        self._rooms: Rooms | None = None
        self._tries: Tries | None = None
        self.going: OpenClasses | None = None
        if store is not None:
            self._rooms = Rooms(store, Shared() if store.server else Owning())
            self.going = self._rooms.going
            self._entering = Entering(self._rooms)
            if live is not None:
                self._tries = Tries(self._rooms, live)
            self._seated = Seated(self._rooms, self._tries)

    async def __aenter__(self) -> Classrooms:
        if self.store is not None and self._rooms is not None:
            self.store.begin()
            await self._rooms.going.load(self.store)
            if self._tries is not None:
                await self._tries.begin()
            self._storing = asyncio.create_task(
                keep_storing(self.store, self._rooms), name="class places"
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
        await self.store.close()

    async def idle(self) -> None:
        """Until no command is being carried out."""
        await self._work.idle()

    def rooms(self) -> list[Room]:
        """Classes in memory."""
        return [] if self._rooms is None else list(self._rooms)

    def left(self, viewer: Viewer) -> None:
        """A page has gone."""
        if self._rooms is not None:
            self._rooms.rise(viewer)

    async def of_instructor(self, visitor: str) -> list[tuple[ClassFacts, int]]:
        """Classes that a visitor started, each with the number of its members."""
        if self.store is None:
            return []
        return await self.store.ask(lambda c: reading.classes_of(c, visitor))

    async def stored(self, visitor: str, class_id: str) -> Stored:
        """All that is stored of a class that this visitor started.

        Raises:
            InputError: there is none.
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
        """Delete a class that this visitor started; one that goes on ends.

        Raises:
            InputError: there is none.
        """
        await self.stored(visitor, class_id)
        if self._rooms is not None:
            await self._work.until_done(delete(self._rooms, class_id))

    async def command(self, viewer: Viewer, command: Command) -> None:
        """Carry out one command.

        Raises:
            DuetError: why not.
        """
        if self._rooms is None:
            raise InfraError("this server holds no classes.", remedy="Use one that does.")
        match command:
            case m.Drive():
                self._seated.wheel.drive(self._rooms.seat(viewer), command)
            case m.Follow():
                self._seated.wheel.follow(self._rooms.seat(viewer), command)
            case m.ShowPlace():
                self._rooms.shoulder.here(self._rooms.seat(viewer), command)
            case m.LeaveClass():
                self._leave(self._rooms, self._rooms.seat(viewer))
            case m.StartClass() | m.ResumeClass() | m.JoinClass():
                await self._work.until_done(self._entering.enter(viewer, command))
            case _:
                seat = self._rooms.seat(viewer)
                await self._work.until_done(self._seated.carry_out(seat, command))

    def _leave(self, rooms: Rooms, seat: Seat) -> None:
        rooms.rise(seat.viewer)
        seat.viewer.put(pack(messages.state(seat, gone=True)))
        if seat.member is not None and seat.drives:
            self._work.begin(self._seated.wheel.hand(seat, ""))
