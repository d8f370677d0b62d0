# SPDX-License-Identifier: GPL-2.0-or-later
"""How many connections and sockets the server takes, in total and from one address.

Who says nothing makes room: when all seats are taken, the one that has been silent for longest
is dropped for the newcomer, so idle connections cannot keep a reader's page out.
"""

from __future__ import annotations

import resource
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from duet import budgets

FEWEST = 64
"""Connections that are taken even where hardly any file may be opened."""


class Seat:
    """One connection's place; it is silent until it speaks.

    Attributes:
        dropped: it was closed for a newcomer; sends that fail from then on are no news.
    """

    __slots__ = ("_seats", "address", "drop", "dropped")

    def __init__(self, seats: Seats, address: str, drop: Callable[[], object]) -> None:
        self._seats = seats
        self.address = address
        self.drop = drop
        self.dropped = False

    def speak(self) -> None:
        """It asked for something: it stays."""
        self._seats.speak(self)

    def hush(self) -> None:
        """It was answered, and is the last of the silent ones."""
        self._seats.hush(self)

    def leave(self) -> None:
        """It is gone; more than once is as good as once."""
        self._seats.leave(self)


class Seats:
    """Places of one kind.

    Args:
        total: places.
        per_address: most places of one address.
        shared: addresses that many stand behind; they may take all places.
    """

    def __init__(self, total: int, per_address: int, shared: Container[str] = ()) -> None:
        self.total = total
        self._shared = shared
        self.per_address = min(per_address, total)
        self.dropped = 0
        self.refused = 0
        self._taken: set[Seat] = set()
        self._of: Counter[str] = Counter()
        self._silent: OrderedDict[Seat, None] = OrderedDict()
        self._silent_of: defaultdict[str, OrderedDict[Seat, None]] = defaultdict(OrderedDict)

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, address: str, drop: Callable[[], object]) -> Seat | None:
        """A place for a newcomer; None: there is no room.

        Args:
            drop: closes the connection when its place is wanted for another; must not wait.
        """
        own = self._of[address] >= self.per_address and address not in self._shared
        if (own and not self._drop(self._silent_of[address])) or (
            len(self._taken) >= self.total and not self._drop(self._silent)
        ):
            self.refused += 1
            return None
        seat = Seat(self, address, drop)
        self._taken.add(seat)
        self._of[address] += 1
        self.hush(seat)
        return seat

    def speak(self, seat: Seat) -> None:
        """See Seat.speak."""
        if self._silent.pop(seat, seat) is None:
            of = self._silent_of[seat.address]
            of.pop(seat, None)
            if not of:
                del self._silent_of[seat.address]

    def hush(self, seat: Seat) -> None:
        """See Seat.hush."""
        if seat in self._taken:
            for silent in (self._silent, self._silent_of[seat.address]):
                silent[seat] = None
                silent.move_to_end(seat)

    def leave(self, seat: Seat) -> None:
        """See Seat.leave."""
        if seat not in self._taken:
            return
        self._taken.discard(seat)
        self.speak(seat)
        self._of[seat.address] -= 1
        if not self._of[seat.address]:
            del self._of[seat.address]

    def _drop(self, silent: OrderedDict[Seat, None]) -> bool:
        """Drop the longest silent one."""
        seat = next(iter(silent), None)
        if seat is None:
            return False
        self.dropped += 1
        self.leave(seat)
        seat.dropped = True
        seat.drop()
        return True


def connections_allowed() -> int:
    """CONNECTIONS, or fewer where this process may open few files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return budgets.CONNECTIONS
    return max(FEWEST, min(budgets.CONNECTIONS, soft - budgets.FILES_RESERVED))


def _connections(proxies: Container[str] = ()) -> Seats:
    total = connections_allowed()
    return Seats(total, min(budgets.CONNECTIONS_PER_ADDRESS, max(FEWEST, total // 2)), proxies)


@dataclass(slots=True)
class Admission:
    """The places of one server."""

    connections: Seats = field(default_factory=_connections)
    sockets: Seats = field(
        default_factory=lambda: Seats(budgets.SOCKETS, budgets.SOCKETS_PER_ADDRESS)
    )

    @classmethod
    def behind(cls, proxies: Container[str]) -> Admission:
        """Places where all connections may come from a proxy; sockets know their browser's."""
        return cls(connections=_connections(proxies))

    def counts(self) -> dict[str, dict[str, int]]:
        """For /api/health."""
        return {
            name: {
                "open": len(seats),
                "most": seats.total,
                "dropped": seats.dropped,
                "refused": seats.refused,
            }
            for name, seats in (("connections", self.connections), ("sockets", self.sockets))
        }
