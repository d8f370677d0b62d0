# SPDX-License-Identifier: GPL-2.0-or-later
"""All classes in memory, and their pages. A class is loaded when a page enters it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

from sqlalchemy import Connection, select

from duet.base import budgets
from duet.base.callbacks import Callbacks
from duet.base.errors import DuetError
from duet.messages.codec import Packet, pack
from duet.plugins.classroom import broadcast as messages
from duet.plugins.classroom import queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.broadcast import send_tries
from duet.plugins.classroom.limits import (
    CONFUSION_EVERY_S,
    DELETE_EVERY_S,
    PLACE_EVERY_S,
    RAISED_EVERY_S,
    ROSTER_EVERY_S,
    STATE_EVERY_S,
    TALLY_EVERY_S,
    TRIES_EVERY_S,
)
from duet.plugins.classroom.observe import Observations
from duet.plugins.classroom.purge import Purge
from duet.plugins.classroom.queries import squeezed
from duet.plugins.classroom.records import ClassFacts, Key, Stored
from duet.plugins.classroom.refusals import Elsewhere, no_room, not_here, not_owned, unknown_class
from duet.plugins.classroom.room import Member, Room, Seat
from duet.plugins.classroom.tables import CLASSES
from duet.store.limits import CALL_S
from duet.store.store import Store
from duet.stream.hub import Viewer, ViewerId

# Caches the codes and ids of open classes in memory, because each request of a member needs them.


class OpenClasses:
    """The open classes. They are read from the database once, and updated when a class starts or
    ends."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        """Normalized code -> class id."""
        self._changes = 0

    async def load(self, store: Store) -> None:
        """Read the open classes. If reading fails, or if the classes change meanwhile, keep the old
        state."""
        with contextlib.suppress(DuetError):
            await self.look(store)

    async def look(self, store: Store, within_s: float = CALL_S) -> None:
        """Read the open classes. If they change meanwhile, keep the old state.

        Raises:
            InfraError: the database does not answer within `within_s`.
        """

        def read(connection: Connection) -> list[tuple[str, str]]:
            of = CLASSES.c.ended_s.is_(None)
            found = connection.execute(select(CLASSES.c.code_key, CLASSES.c.class_id).where(of))
            return [(row.code_key, row.class_id) for row in found]

        before = self._changes
        found = dict(await store.ask(read, within_s))
        if self._changes == before:
            self._codes = found

    def add(self, code: str, class_id: str) -> None:
        self._changes += 1
        self._codes[squeezed(code)] = class_id

    def drop(self, class_id: str) -> None:
        self._changes += 1
        self._codes = {code: known for code, known in self._codes.items() if known != class_id}

    def by_code(self, code: str) -> str | None:
        return self._codes.get(squeezed(code))

    def goes_on(self, class_id: str) -> bool:
        """Is the class open?"""
        return class_id in self._codes.values()


# The only server of a database owns all classes. If several servers share a database, each server
# owns the classes whose locks the server holds.


class Ownership:
    """Class ownership for the only server of a database. All methods run in the store's thread."""

    def start(self, connection: Connection, facts: ClassFacts) -> ClassFacts:
        """Store a new class, which this server owns."""
        return queries.start_class(connection, facts)

    def find(self, connection: Connection, class_id: str, code: str) -> Stored | str | None:
        """Load an open class by its id or its code. Returns the same as load()."""
        known = class_id or reading.open_class(connection, code)
        return self.load(connection, known) if known else None

    def load(self, connection: Connection, class_id: str) -> Stored | str | None:
        """Load an open class. Return None if there is no such class, or a string with the owner's
        address if another server owns the class."""
        stored = reading.load(connection, class_id)
        return None if stored is None or stored.facts.ended_s is not None else stored

    def release(self, connection: Connection, class_id: str) -> None:
        """Release a class that was evicted from memory."""


# Sends throttled messages, at most as often as limits.py allows. They always show the latest state.


class Throttle:
    """Calls `send` soon after a change, but at most once every `every_s`."""

    def __init__(self, every_s: float, send: Callable[[], None]) -> None:
        self._every_s = every_s
        self._send = send
        self._next_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def soon(self) -> None:
        """Schedule a call."""
        if self._timer is None:
            wait_s = max(0.0, self._next_s - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._now)

    def cancel(self) -> None:
        """Cancel the scheduled call."""
        if self._timer is not None:
            self._timer.cancel()

    def _now(self) -> None:
        self._timer = None
        self._next_s = time.monotonic() + self._every_s
        self._send()


class Notices:
    """The throttled messages of one class."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._tallies: set[Key] = set()
        self.state = Throttle(STATE_EVERY_S, self.state_now)
        self.roster = Throttle(ROSTER_EVERY_S, self._roster)
        self.confusion = Throttle(CONFUSION_EVERY_S, self._confusion)
        self.raised = Throttle(RAISED_EVERY_S, self._raised)
        self.tries = Throttle(TRIES_EVERY_S, lambda: send_tries(room))
        self._tally = Throttle(TALLY_EVERY_S, self._send_tallies)

    def tally(self, *keys: Key) -> None:
        """Send new tallies soon, because answers to these questions have changed."""
        self._tallies.update(keys)
        self._tally.soon()

    def people(self) -> None:
        """Send the state and the roster soon, because a member joined, left or moved."""
        self.state.soon()
        self.roster.soon()

    def state_now(self) -> None:
        """Send the state of the class to all its pages.

        Pages with the same role and the same right to drive share one encoded message.
        """
        packets: dict[tuple[bool, bool], Packet] = {}
        for seat in self._room.seats.values():
            kind = (seat.member is None, seat.drives)
            if kind not in packets:
                packets[kind] = pack(messages.state(seat))
            seat.viewer.put(packets[kind])

    def close(self) -> None:
        """Stop sending, because the class is evicted from memory."""
        throttles = (self.state, self.roster, self.confusion, self.tries, self.raised, self._tally)
        for throttle in throttles:
            throttle.cancel()

    def _roster(self) -> None:
        if seats := self._room.instructors():
            self._room.send(pack(messages.roster(self._room)), seats)

    def _confusion(self) -> None:
        if seats := self._room.instructors():
            self._room.send(pack(messages.confusion(self._room)), seats)

    def _raised(self) -> None:
        room = self._room
        if seats := room.instructors():
            room.send(pack(room.board.to_instructor()), seats)
        members = [seat for seat in room.seats.values() if seat.member is not None]
        if members:
            room.send(pack(room.board.to_members()), members)

    def _send_tallies(self) -> None:
        keys, self._tallies = self._tallies, set()
        for key in keys:
            question = self._room.questions.get(key)
            if question is None:
                continue
            everyone = question.facts.revealed
            seats = list(self._room.seats.values()) if everyone else self._room.instructors()
            if seats:
                self._room.send(pack(messages.tally(self._room, question)), seats)


# The driver's position changes ten times a second, so it is stored only every few seconds.

log = logging.getLogger("duet.store")


async def store_place(store: Store, room: Room) -> None:
    """Store the driver's position, if it has changed.

    Raises:
        InfraError: the position cannot be stored.
    """
    place = room.place
    if place is not None and place is not room.place_stored:
        await room.ask(store, lambda c: queries.put_place(c, room.facts.class_id, place))
        room.place_stored = place


async def store_all(store: Store, rooms: Iterable[Room]) -> None:
    """Store the positions of all classes. Errors are logged, and the next call tries again."""
    for room in rooms:
        if not room.owned:  # another server owns the class by now
            continue
        try:
            await store_place(store, room)
        except DuetError as error:
            log.warning("the driver's position in a class is not stored: %s", error)


async def keep_storing(store: Store, rooms: Iterable[Room], purge: Purge) -> None:
    """Loop that stores positions, and purges old classes twice a day.

    `rooms` is iterated in each pass of the loop.
    """
    tidied_s = time.monotonic()
    while True:
        await asyncio.sleep(PLACE_EVERY_S)
        await store_all(store, rooms)
        if time.monotonic() - tidied_s >= DELETE_EVERY_S:
            tidied_s = time.monotonic()
            # if this fails, the next purge deletes these classes
            with contextlib.suppress(DuetError):
                await purge.delete_old()


class Rooms:
    """Classes in memory by id, and seats by page. A seat is a page's membership in a class.

    Args:
        ownership: claims and releases the classes of this server.
    """

    def __init__(self, store: Store, ownership: Ownership) -> None:
        self.store = store
        self.ownership = ownership
        self.going = OpenClasses()
        self.observations = Observations()
        self._rooms: dict[str, Room] = {}
        self._notices: dict[str, Notices] = {}
        self._seats: dict[ViewerId, Seat] = {}
        self._emptied = 0  # how many times all classes were evicted
        self.loading = asyncio.Lock()
        """Lets only one class be loaded at a time."""
        self.added, self.ended, self.dropped = (
            Callbacks[[Room]](),
            Callbacks[[Room]](),
            Callbacks[[Room]](),
        )
        """Called with each class when it is loaded, when it ends, and when it is evicted."""

    def __iter__(self) -> Iterator[Room]:
        return iter(list(self._rooms.values()))

    def notices(self, room: Room) -> Notices:
        """Return the sender of a class's throttled messages."""
        if (known := self._notices.get(room.facts.class_id)) is None:
            known = Notices(room)
            if room.facts.class_id in self._rooms:
                self._notices[room.facts.class_id] = known
        return known

    def seat(self, viewer: Viewer) -> Seat:
        """Return a page's seat.

        Raises:
            InputError: the page is in no class.
        """
        found = self._seats.get(viewer.ident)
        if found is None:
            raise not_here()
        return found

    # Classes

    @contextlib.asynccontextmanager
    async def made(self, facts: ClassFacts) -> AsyncIterator[Room]:
        """Start a class, and keep it in memory during the `async with` block.

        Raises:
            InputError: too many classes are open.
        """
        async with self.loading:
            await self._make_room()
            emptied = self._emptied
            stored = await self.store.ask(lambda c: self.ownership.start(c, facts))
            room = self._add(Stored(stored, None, (), (), (), ()), emptied)
            self.going.add(stored.code, stored.class_id)
        with _held(room):
            yield room

    @contextlib.asynccontextmanager
    async def found(self, class_id: str = "", code: str = "") -> AsyncIterator[Room]:
        """Find or load an open class, and keep it in memory during the `async with` block.

        Raises:
            InputError: there is no such class, or too many classes are open.
            InfraError: the class cannot be loaded. The subclass Elsewhere says that another server
                owns it.
        """
        room = _in(self._rooms, class_id, code)
        if room is None:
            async with self.loading:
                room = _in(self._rooms, class_id, code) or await self._loaded(class_id, code)
        with _held(room):
            yield room

    async def _loaded(self, class_id: str, code: str) -> Room:
        emptied = self._emptied
        stored = await self.store.ask(lambda c: self.ownership.find(c, class_id, code))
        if isinstance(stored, str):
            raise Elsewhere(stored)
        if stored is None:
            raise unknown_class()
        async with _or_released(self, stored.facts.class_id):
            await self._make_room()
            return self._add(stored, emptied)

    def _add(self, stored: Stored, emptied: int) -> Room:
        """Add a class, unless all classes have been evicted from memory since this class was
        read."""
        if emptied != self._emptied:
            raise not_owned()
        room = Room(stored)
        self._rooms[room.facts.class_id] = room
        self.added(room)
        return room

    async def _make_room(self) -> None:
        """If the maximum number of classes is in memory, evict the class that has been empty
        longest."""
        while len(self._rooms) >= budgets.CLASSES_OPEN:
            empty = next((r for r in self._rooms.values() if not r.seats and not r.busy), None)
            if empty is None:
                raise no_room(len(self._rooms))
            await store_place(self.store, empty)
            if not empty.seats and not empty.busy:
                self.drop(empty)

    def drop(self, room: Room) -> None:
        """Drop a class from memory."""
        for seat in list(room.seats.values()):
            self._seats.pop(seat.viewer.ident, None)
        room.seats.clear()
        self.observations.dropped(room)
        self._rooms.pop(room.facts.class_id, None)
        if (notices := self._notices.pop(room.facts.class_id, None)) is not None:
            notices.close()
        self.dropped(room)

    # Seats

    def add_page(self, viewer: Viewer, room: Room, member: Member | None) -> Seat:
        """Put a page into a class, and remove it from any other class.

        Raises:
            InputError: the page has been closed meanwhile, or the class has ended.
            InfraError: this server no longer owns the class.
        """
        refuse_gone(viewer, room)
        self.remove_page(viewer)
        seat = Seat(room, viewer, member)
        self._seats[viewer.ident] = room.seats[viewer.ident] = seat
        self.notices(room).people()
        return seat

    def remove_page(self, viewer: Viewer) -> Seat | None:
        """Remove a page from its class, and return its former seat."""
        seat = self._seats.pop(viewer.ident, None)
        if seat is not None:
            seat.room.seats.pop(viewer.ident, None)
            self.observations.left(seat)
            self._rooms[seat.room.facts.class_id] = self._rooms.pop(seat.room.facts.class_id)
            self.notices(seat.room).people()
        return seat

    def close(self) -> None:
        """Drop all classes from memory."""
        self._emptied += 1
        for room in self:
            self.drop(room)


def _in(rooms: Mapping[str, Room], class_id: str, code: str) -> Room | None:
    """Return a class in memory, by its id or its code."""
    if class_id:
        return rooms.get(class_id)
    wanted = squeezed(code)
    return next((r for r in rooms.values() if squeezed(r.facts.code) == wanted), None)


def refuse_gone(viewer: Viewer, room: Room) -> None:
    """Refuse a page that cannot enter a class.

    Raises:
        DuetError: the page has been closed, the class has ended, or this server does not own it.
    """
    if not room.owned:
        raise not_owned()
    if viewer.gone or not room.open:
        raise unknown_class()


@contextlib.asynccontextmanager
async def _or_released(rooms: Rooms, class_id: str) -> AsyncIterator[None]:
    """If the `async with` block fails to load the class, release it for other servers."""
    try:
        yield
    except DuetError:
        with contextlib.suppress(DuetError):
            await rooms.store.ask(lambda c: rooms.ownership.release(c, class_id))
        raise


async def let_go(rooms: Rooms, class_id: str) -> None:
    """Release a class that was evicted from memory, unless it has been loaded again.

    Raises:
        InfraError: the database refused.
    """
    async with rooms.loading:
        if all(room.facts.class_id != class_id for room in rooms):
            # The first call commits earlier work. Queued calls share one commit, so without the
            # first call, the lock would be released before earlier work is committed.
            await rooms.store.ask(lambda c: None)
            await rooms.store.ask(lambda c: rooms.ownership.release(c, class_id))


@contextlib.contextmanager
def _held(room: Room) -> Iterator[None]:
    """Keep a class in memory during the `with` block."""
    room.busy += 1
    try:
        yield
    finally:
        room.busy -= 1
