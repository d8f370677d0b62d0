# SPDX-License-Identifier: GPL-2.0-or-later
"""What a member does for itself: being lost, and being forgotten."""

from __future__ import annotations

import time

from duet import messages as m
from duet.classes import queries
from duet.messages.codec import pack
from duet.server.classroom import messages
from duet.server.classroom.limits import BUCKET_S
from duet.server.classroom.refusals import UNKNOWN, not_yours, refusal
from duet.server.classroom.room import Member, Room, Seat
from duet.server.classroom.rooms import Rooms


class Members:
    """Of all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def confused(self, seat: Seat) -> None:
        """A member is lost; it counts once in ten seconds, without a name.

        Raises:
            InputError: it is no member's page.
        """
        rooms, room, member = self._rooms, seat.room, seat.member
        if member is None:
            raise not_yours("members are lost")
        at_s = int((time.time() - room.facts.started_s) // BUCKET_S) * BUCKET_S
        if room.lost[0] != at_s:
            room.lost = (at_s, set())
        if member.ident in room.lost[1]:
            return
        room.lost[1].add(member.ident)
        step = "" if room.place is None else str(room.place.fields["step"])
        class_id = room.facts.class_id
        await room.ask(rooms.store, lambda c: queries.add_confusion(c, class_id, at_s, step))
        room.confusion[at_s, step] = room.confusion.get((at_s, step), 0) + 1
        rooms.notices(room).confusion.soon()

    async def forget(self, seat: Seat) -> None:
        """Delete what is stored of a member, which asks for it.

        Raises:
            InputError: it is no member's page.
        """
        if seat.member is None:
            raise not_yours("members can be forgotten")
        await self._forget(seat.room, seat.member)

    async def remove(self, seat: Seat, command: m.RemoveMember) -> None:
        """Delete what is stored of a member, as the instructor wants it.

        Raises:
            InputError: there is no such member.
        """
        member = seat.room.members.get(command.member)
        if member is None:
            raise refusal(UNKNOWN, "that member is not in the class any more.", "Look again.")
        await self._forget(seat.room, member)

    async def _forget(self, room: Room, member: Member) -> None:
        """Nickname, answers, questions and votes; its pages are out of the class."""
        rooms = self._rooms
        class_id, ident = room.facts.class_id, member.ident
        await room.ask(rooms.store, lambda c: queries.forget_member(c, class_id, ident))
        pages = [other for other in room.seats.values() if other.member is member]
        touched = room.drop_member(ident)
        for page in pages:
            rooms.rise(page.viewer)
            page.viewer.put(pack(messages.state(page, gone=True)))
        notices = rooms.notices(room)
        notices.state_now()
        notices.people()
        notices.tally(*touched)
        notices.raised.soon()
