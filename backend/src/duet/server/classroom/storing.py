# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores the driver's place now and then, since it changes ten times a second."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable

from duet.base.errors import DuetError
from duet.classes import queries
from duet.classes.store import ClassStore
from duet.server.classroom.limits import DELETE_EVERY_S, PLACE_EVERY_S
from duet.server.classroom.room import Room

log = logging.getLogger("duet.classes")


async def store_place(store: ClassStore, room: Room) -> None:
    """Store where the driver of a class is, if that has changed.

    Raises:
        InfraError: it is not stored.
    """
    place = room.place
    if place is not None and place is not room.place_stored:
        await room.ask(store, lambda c: queries.put_place(c, room.facts.class_id, place))
        room.place_stored = place


async def store_all(store: ClassStore, rooms: Iterable[Room]) -> None:
    """Of all classes; trouble goes into the log, and is tried again."""
    for room in rooms:
        if not room.owned:  # it was lost while another one was stored
            continue
        try:
            await store_place(store, room)
        except DuetError as error:
            log.warning("the place of a class is not stored: %s", error)


async def keep_storing(store: ClassStore, rooms: Iterable[Room]) -> None:
    """For ever; `rooms` is read anew each time. Twice a day what is too old is deleted."""
    tidied_s = time.monotonic()
    while True:
        await asyncio.sleep(PLACE_EVERY_S)
        await store_all(store, rooms)
        if time.monotonic() - tidied_s >= DELETE_EVERY_S:
            tidied_s = time.monotonic()
            with contextlib.suppress(DuetError):  # the next time will do
                await store.delete_old()
