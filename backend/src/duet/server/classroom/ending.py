# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a class, and its deletion."""

from __future__ import annotations

import time

from duet.classes import queries
from duet.server.classroom.room import Room
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.storing import store_place


async def end(rooms: Rooms, room: Room) -> None:
    """The class is over for all its pages; its answers stay for the report.

    Raises:
        InfraError: the end is not stored, so the class goes on.
    """
    await store_place(rooms.store, room)
    await room.ask(rooms.store, lambda c: queries.end_class(c, room.facts.class_id, time.time()))
    room.open = False
    rooms.going.drop(room.facts.class_id)
    rooms.ended(room)
    rooms.notices(room).state_now()
    rooms.drop(room)


async def delete(rooms: Rooms, class_id: str) -> None:
    """Delete a class with all that is stored of it; one that goes on ends.

    Raises:
        InfraError: it is not deleted.
    """
    for room in rooms:
        if room.facts.class_id == class_id:
            await end(rooms, room)
    await rooms.store.ask(lambda c: queries.delete_class(c, class_id))
    rooms.going.drop(class_id)
