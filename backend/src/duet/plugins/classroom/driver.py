# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles driving and following. The driver's position goes to all pages, bypassing the
database."""

from __future__ import annotations

import time
from dataclasses import replace
from urllib.parse import parse_qs

from duet.messages.codec import pack
from duet.plugins.classroom import broadcast as messages
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries
from duet.plugins.classroom.records import PlaceFacts
from duet.plugins.classroom.refusals import UNKNOWN, not_yours, refusal
from duet.plugins.classroom.room import Seat
from duet.plugins.classroom.rooms import Rooms


class Driving:
    """Tracks who drives each class, and which steps the driver and the members see."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def drive(self, seat: Seat, command: cm.Drive) -> None:
        """Send the driver's new position to all other pages.

        Raises:
            InputError: this page is not the driver's.
        """
        room = seat.room
        if not seat.drives:
            raise not_yours("the driver may lead the class")
        if seat.member is not None and "with" in parse_qs(command.place.lstrip("?")):
            raise not_yours("the instructor may show the class two runs side by side")
        number = 1 if room.place is None else room.place.number + 1
        fields = command.model_dump(exclude={"type"})
        room.place = PlaceFacts(number, time.time(), fields)
        packet = pack(messages.class_place(room.facts.class_id, room.place))
        room.send(packet, (other for other in room.seats.values() if other is not seat))
        self._moved(seat, command.step)

    def follow(self, seat: Seat, command: cm.Follow) -> None:
        """Record whether a member follows or explores."""
        if seat.member is not None:
            seat.member.following = command.following
        self._moved(seat, command.step)

    def _moved(self, seat: Seat, step: str) -> None:
        if seat.member is not None:
            seat.member.used_s, seat.member.step = time.monotonic(), step
            self._rooms.notices(seat.room).roster.soon()

    async def hand(self, seat: Seat, member: str) -> None:
        """Let another member drive. If `member` is empty, the instructor drives.

        Raises:
            InputError: the class has no such member.
        """
        room = seat.room
        if member and member not in room.members:
            raise refusal(UNKNOWN, "that member has left the class.", "Choose another member.")
        await room.ask(
            self._rooms.store, lambda c: queries.set_driver(c, room.facts.class_id, member)
        )
        if not member or member in room.members:
            room.facts = replace(room.facts, driver=member)
        notices = self._rooms.notices(room)
        notices.state_now()
        notices.roster.soon()
