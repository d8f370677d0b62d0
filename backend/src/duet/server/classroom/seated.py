# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out what a page that sits in a class asks for: a member's, then the instructor's."""

from __future__ import annotations

from duet import messages as m
from duet.server.classroom.ending import end
from duet.server.classroom.members import Members
from duet.server.classroom.questions import Questions
from duet.server.classroom.raising import Raising
from duet.server.classroom.refusals import not_yours
from duet.server.classroom.room import Seat
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.tries import Tries, tried
from duet.server.classroom.wheel import Wheel

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
