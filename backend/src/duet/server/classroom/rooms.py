# SPDX-License-Identifier: GPL-2.0-or-later
"""All classes in memory and who sits in them; loads a class from the store when somebody comes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from duet.base import budgets
from duet.base.errors import DuetError
from duet.classes.records import ClassFacts, Stored
from duet.classes.store import ClassStore
from duet.classes.words import squeezed
from duet.server.classroom.notices import Notices
from duet.server.classroom.open_classes import OpenClasses
from duet.server.classroom.owning import Owning
from duet.server.classroom.refusals import Elsewhere, no_room, not_here, not_owned, unknown_class
from duet.server.classroom.room import Member, Room, Seat
from duet.server.classroom.shoulder import Shoulder
from duet.server.classroom.storing import store_place
from duet.stream.hub import Viewer, ViewerId


class Rooms:
    """Classes by id, seats by page.

    Args:
        owning: which classes are this server's.
    """

    def __init__(self, store: ClassStore, owning: Owning) -> None:
        self.store = store
        self.owning = owning
        self.going = OpenClasses()
        self.shoulder = Shoulder()
        self._rooms: dict[str, Room] = {}
        self._notices: dict[str, Notices] = {}
        self._seats: dict[ViewerId, Seat] = {}
        self._emptied = 0  # how often all classes have left the memory
        self.loading = asyncio.Lock()
        """Classes come into memory one after another."""
        self.added: Callable[[Room], None] = lambda room: None
        self.ended: Callable[[Room], None] = lambda room: None
        self.dropped: Callable[[Room], None] = lambda room: None
        """Called with each class that comes into memory, that ends, that leaves the memory."""

    def __iter__(self) -> Iterator[Room]:
        return iter(list(self._rooms.values()))

    def notices(self, room: Room) -> Notices:
        """What sends for a class."""
        if (known := self._notices.get(room.facts.class_id)) is None:
            known = Notices(room)
            if room.facts.class_id in self._rooms:
                self._notices[room.facts.class_id] = known
        return known

    def seat(self, viewer: Viewer) -> Seat:
        """Where a page sits.

        Raises:
            InputError: in no class.
        """
        found = self._seats.get(viewer.ident)
        if found is None:
            raise not_here()
        return found

    # Classes

    @contextlib.asynccontextmanager
    async def made(self, facts: ClassFacts) -> AsyncIterator[Room]:
        """A new class, which stays in memory within the block.

        Raises:
            InputError: too many go on.
        """
        async with self.loading:
            await self._make_room()
            emptied = self._emptied
            stored = await self.store.ask(lambda c: self.owning.start(c, facts))
            room = self._add(Stored(stored, None, (), (), (), ()), emptied)
            self.going.add(stored.code, stored.class_id)
        with _held(room):
            yield room

    @contextlib.asynccontextmanager
    async def found(self, class_id: str = "", code: str = "") -> AsyncIterator[Room]:
        """An open class by its id or its code, which stays in memory within the block.

        Raises:
            InputError: there is none, or too many go on.
            InfraError: it cannot be loaded; as Elsewhere: another server owns it.
        """
        room = _in(self._rooms, class_id, code)
        if room is None:
            async with self.loading:
                room = _in(self._rooms, class_id, code) or await self._loaded(class_id, code)
        with _held(room):
            yield room

    async def _loaded(self, class_id: str, code: str) -> Room:
        emptied = self._emptied
        stored = await self.store.ask(lambda c: self.owning.find(c, class_id, code))
        if isinstance(stored, str):
            raise Elsewhere(stored)
        if stored is None:
            raise unknown_class()
        async with _or_released(self, stored.facts.class_id):
            await self._make_room()
            return self._add(stored, emptied)

    def _add(self, stored: Stored, emptied: int) -> Room:
        """A class comes into memory, unless all have left that since it was read."""
        if emptied != self._emptied:
            raise not_owned()
        room = Room(stored)
        self._rooms[room.facts.class_id] = room
        self.added(room)
        return room

    async def _make_room(self) -> None:
        """Where the memory holds as many classes as it may, the longest empty one leaves it."""
        while len(self._rooms) >= budgets.CLASSES_OPEN:
            empty = next((r for r in self._rooms.values() if not r.seats and not r.busy), None)
            if empty is None:
                raise no_room(len(self._rooms))
            await store_place(self.store, empty)
            if not empty.seats and not empty.busy:
                self.drop(empty)

    def drop(self, room: Room) -> None:
        """A class leaves the memory."""
        for seat in list(room.seats.values()):
            self._seats.pop(seat.viewer.ident, None)
        room.seats.clear()
        self.shoulder.dropped(room)
        self._rooms.pop(room.facts.class_id, None)
        if (notices := self._notices.pop(room.facts.class_id, None)) is not None:
            notices.close()
        self.dropped(room)

    # Seats

    def sit(self, viewer: Viewer, room: Room, member: Member | None) -> Seat:
        """A page is in a class now, and in no other.

        Raises:
            InputError: the page has gone meanwhile, or the class has ended.
            InfraError: this server does not own the class any more.
        """
        refuse_gone(viewer, room)
        self.rise(viewer)
        seat = Seat(room, viewer, member)
        self._seats[viewer.ident] = room.seats[viewer.ident] = seat
        self.notices(room).people()
        return seat

    def rise(self, viewer: Viewer) -> Seat | None:
        """A page is in no class any more; gives where it was."""
        seat = self._seats.pop(viewer.ident, None)
        if seat is not None:
            seat.room.seats.pop(viewer.ident, None)
            self.shoulder.left(seat)
            self._rooms[seat.room.facts.class_id] = self._rooms.pop(seat.room.facts.class_id)
            self.notices(seat.room).people()
        return seat

    def close(self) -> None:
        """All classes leave the memory."""
        self._emptied += 1
        for room in self:
            self.drop(room)


def _in(rooms: Mapping[str, Room], class_id: str, code: str) -> Room | None:
    """A class that is in memory, by its id or its code."""
    if class_id:
        return rooms.get(class_id)
    wanted = squeezed(code)
    return next((r for r in rooms.values() if squeezed(r.facts.code) == wanted), None)


def refuse_gone(viewer: Viewer, room: Room) -> None:
    """Raises: DuetError: a page cannot sit down there (any more)."""
    if not room.owned:
        raise not_owned()
    if viewer.gone or not room.open:
        raise unknown_class()


@contextlib.asynccontextmanager
async def _or_released(rooms: Rooms, class_id: str) -> AsyncIterator[None]:
    """A class that does not come into memory within the block is free for another server."""
    try:
        yield
    except DuetError:
        with contextlib.suppress(DuetError):
            await rooms.store.ask(lambda c: rooms.owning.release(c, class_id))
        raise


async def let_go(rooms: Rooms, class_id: str) -> None:
    """Own a class no more that has left the memory, unless it has come back.

    Raises:
        InfraError: the database refused.
    """
    async with rooms.loading:
        if all(room.facts.class_id != class_id for room in rooms):
            # What was asked before is committed then: calls that wait together share a commit,
            # and the lock is given back before it.
            await rooms.store.ask(lambda c: None)
            await rooms.store.ask(lambda c: rooms.owning.release(c, class_id))


@contextlib.contextmanager
def _held(room: Room) -> Iterator[None]:
    """Keep a class in memory."""
    room.busy += 1
    try:
        yield
    finally:
        room.busy -= 1
