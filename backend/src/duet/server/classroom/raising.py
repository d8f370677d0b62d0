# SPDX-License-Identifier: GPL-2.0-or-later
"""Members' questions to the instructor, their votes, and the timer; stored before confirmed.

Who asks is nowhere but in a hash (duet.classes.board): nothing here touches the roster, where a
member that was idle and is not any more would give it away.
"""

from __future__ import annotations

import time
from dataclasses import replace

from duet import messages as m
from duet.base import budgets
from duet.classes import board as stored
from duet.classes.board import BoardFacts, RaisedFacts, hash_of
from duet.messages.codec import pack
from duet.server.classroom.board import Raised, counted_down
from duet.server.classroom.refusals import CLOSED, FULL, not_here, not_yours, refusal
from duet.server.classroom.room import Member, Room, Seat
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.text import cleaned


class Raising:
    """Of all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def ask(self, seat: Seat, command: m.RaiseQuestion) -> None:
        """A member asks something.

        Raises:
            InputError: it is no member's page, nothing can be read, or it asks too often.
            InfraError: it is not stored.
        """
        room, member = seat.room, member_of(seat, "members ask the instructor")
        text = cleaned(command.text)
        if not text:
            raise refusal(CLOSED, "that question has no text.", "Type one.")
        refuse_often(room, member)
        member.raised_s = time.monotonic()
        room.board.last += 1
        class_id, ident = room.facts.class_id, member.ident
        facts = RaisedFacts(room.board.last, command.step, text, hash_of(class_id, ident))
        try:
            known = await room.ask(
                self._rooms.store, lambda c: stored.add_raised(c, class_id, ident, facts)
            )
        except Exception:
            member.raised_s = -budgets.CLASS_RAISE_EVERY_S
            raise
        if not known or room.members.get(ident) is not member:
            raise not_here()
        room.board.raised[facts.number] = Raised(facts)
        self._own(room, member)
        self._rooms.notices(room).raised.soon()

    async def vote(self, seat: Seat, command: m.Upvote) -> None:
        """A member has the same question, or takes that back.

        Raises:
            InputError: members do not see that question.
            InfraError: it is not stored.
        """
        room, member = seat.room, member_of(seat, "members vote")
        if command.number not in {one.facts.number for one in room.board.seen_by_members()}:
            raise refusal(CLOSED, "that question is not shown to members.", "Ask it yourself.")
        class_id, ident = room.facts.class_id, member.ident
        number, on = command.number, command.on
        known = await room.ask(
            self._rooms.store, lambda c: stored.put_vote(c, class_id, ident, number, on)
        )
        raised = room.board.raised.get(number)
        if not known or raised is None or room.members.get(ident) is not member:
            return  # one of both has been deleted meanwhile
        voter = hash_of(class_id, ident)
        if on:
            raised.voters.add(voter)
        else:
            raised.voters.discard(voter)
        self._own(room, member)
        self._rooms.notices(room).raised.soon()

    async def settle(self, seat: Seat, command: m.SettleRaised) -> None:
        """The instructor marks a question as answered, or hides it.

        Raises:
            InputError: there is no such question.
        """
        room = seat.room
        async with room.asking:
            raised = room.board.raised.get(command.number)
            if raised is None:
                raise refusal(CLOSED, "that question has been deleted.", "Choose another one.")
            facts = replace(raised.facts, answered=command.answered, hidden=command.hidden)
            await room.ask(
                self._rooms.store, lambda c: stored.settle(c, room.facts.class_id, facts)
            )
            raised.facts = facts
        self._shown_anew(room)

    async def show(self, seat: Seat, command: m.ShowRaised) -> None:
        """Members see the questions of all from now on, or not any more."""
        room = seat.room
        async with room.asking:
            await self._put(room, replace(room.board.facts, shown=command.shown))
        self._shown_anew(room)

    async def count_down(self, seat: Seat, command: m.CountDown) -> None:
        """Start, extend or stop the timer."""
        room = seat.room
        async with room.asking:
            await self._put(room, counted_down(room.board.facts, command, time.time()))
        room.send(pack(room.board.timer()), room.seats.values())

    async def _put(self, room: Room, facts: BoardFacts) -> None:
        await room.ask(self._rooms.store, lambda c: stored.put_board(c, room.facts.class_id, facts))
        room.board.facts = facts

    def _own(self, room: Room, member: Member) -> None:
        pages = (seat for seat in room.seats.values() if seat.member is member)
        room.send(pack(room.board.own(member.ident)), pages)

    def _shown_anew(self, room: Room) -> None:
        """Each member learns how its own questions stand, whether they are shown or not."""
        for member in {s.member.ident: s.member for s in room.seats.values() if s.member}.values():
            self._own(room, member)
        self._rooms.notices(room).raised.soon()


def member_of(seat: Seat, what: str) -> Member:
    """Raises: InputError: it is no member's page."""
    if seat.member is None:
        raise not_yours(what)
    return seat.member


def refuse_often(room: Room, member: Member) -> None:
    """Raises: InputError: this member or this class has asked too much."""
    wait_s = member.raised_s + budgets.CLASS_RAISE_EVERY_S - time.monotonic()
    if wait_s > 0:
        raise refusal(
            CLOSED,
            f"one question in {budgets.CLASS_RAISE_EVERY_S:.0f} s is taken from a member.",
            f"Ask again in {max(1, round(wait_s))} s.",
        )
    own, all_ = len(room.board.asked_by(member.ident)), len(room.board.raised)
    if own >= budgets.CLASS_RAISED_EACH or all_ >= budgets.CLASS_RAISED:
        raise refusal(
            FULL,
            f"{own} questions of yours and {all_} of the class are stored, which is the most.",
            "Ask aloud.",
        )
