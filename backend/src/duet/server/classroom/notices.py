# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends what changes all the time, no more often than limits.py says, and the last of it always."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from duet.classes.records import Key
from duet.messages.codec import Packet, pack
from duet.server.classroom import messages
from duet.server.classroom.limits import (
    CONFUSION_EVERY_S,
    RAISED_EVERY_S,
    ROSTER_EVERY_S,
    STATE_EVERY_S,
    TALLY_EVERY_S,
    TRIES_EVERY_S,
)
from duet.server.classroom.room import Room
from duet.server.classroom.try_messages import send_tries


class Throttle:
    """Calls `send` soon after it is asked to, and not again before `every_s`."""

    def __init__(self, every_s: float, send: Callable[[], None]) -> None:
        self._every_s = every_s
        self._send = send
        self._next_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def soon(self) -> None:
        """Something has changed."""
        if self._timer is None:
            wait_s = max(0.0, self._next_s - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._now)

    def cancel(self) -> None:
        """Send nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _now(self) -> None:
        self._timer = None
        self._next_s = time.monotonic() + self._every_s
        self._send()


class Notices:
    """Of one class."""

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
        """Answers of these questions have changed."""
        self._tallies.update(keys)
        self._tally.soon()

    def people(self) -> None:
        """Somebody came, went or moved."""
        self.state.soon()
        self.roster.soon()

    def state_now(self) -> None:
        """The class to each page of it; there are four kinds of pages, so it is packed so often."""
        packets: dict[tuple[bool, bool], Packet] = {}
        for seat in self._room.seats.values():
            kind = (seat.member is None, seat.drives)
            if kind not in packets:
                packets[kind] = pack(messages.state(seat))
            seat.viewer.put(packets[kind])

    def close(self) -> None:
        """The class leaves the memory."""
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
