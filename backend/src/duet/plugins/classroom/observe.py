# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the instructor observe a member who has agreed to it. Nothing is stored.

In each class, one page of the instructor observes one member at a time. The observation ends when
that page or that member leaves. After a restart of the server, the member is asked for consent
again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from duet.messages.codec import pack
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom.refusals import UNKNOWN, UNWATCHED, not_yours, refusal
from duet.plugins.classroom.room import Member, Room, Seat

Ended = Literal["none", "refused", "away"]
Phase = Literal["none", "asking", "watched", "refused", "away"]


@dataclass(slots=True)
class Observation:
    """An instructor's page that observes a member, or waits for the member's consent.

    Args:
        seat: the seat of the instructor's page.
        number: the number of the last position that was sent.
    """

    seat: Seat
    member: Member
    number: int = 0


class Observations:
    """The current observations in all classes."""

    def __init__(self) -> None:
        self._observations: dict[str, Observation] = {}

    def watch(self, seat: Seat, command: cm.WatchMember) -> None:
        """Start or stop observing a member.

        Raises:
            InputError: the member is unknown or has no open page.
        """
        room = seat.room
        self._end(room, "none")
        if not command.member:
            seat.viewer.put(pack(watching(room, None, "none")))
            return
        member = room.members.get(command.member)
        if member is None or member.ident not in room.connected():
            raise refusal(UNKNOWN, "that member has no page open.", "Choose another member.")
        if member.consent is False:
            seat.viewer.put(pack(watching(room, member, "refused")))
            return
        watch = self._observations[room.facts.class_id] = Observation(seat, member)
        self._say(watch)

    def consent(self, seat: Seat, command: cm.Consent) -> None:
        """Record that a member agrees to be observed, or no longer agrees.

        Raises:
            InputError: the page belongs to no member.
        """
        room, member = seat.room, seat.member
        if member is None:
            raise not_yours("members may agree to be observed")
        member.consent = command.allowed
        watch = self._of(room, member)
        if watch is None:
            room.send(pack(self.watched(room, member)), pages(room, member))
        elif command.allowed:
            self._say(watch)
        else:
            self._end(room, "refused")

    def here(self, seat: Seat, command: cm.ShowPlace) -> None:
        """Send an observed member's new position to the instructor.

        Raises:
            InputError: nobody observes the member, or the member has not agreed.
        """
        room, member = seat.room, seat.member
        if member is None:
            raise not_yours("members can send their position")
        watch = self._of(room, member)
        if watch is None or not member.consent:
            raise refusal(
                UNWATCHED,
                "no instructor observes this member with the member's consent.",
                "Agree when asked.",
            )
        watch.number += 1
        fields = command.model_dump(exclude={"type"})
        about = {"class_id": room.facts.class_id, "member": member.ident, "number": watch.number}
        seen = cm.ClassSeen.model_validate(fields | about | {"sent_ns": float(time.time_ns())})
        watch.seat.viewer.put(pack(seen))

    def left(self, seat: Seat) -> None:
        """End the observation if it depended on the page that has left."""
        room = seat.room
        watch = self._observations.get(room.facts.class_id)
        if watch is None:
            return
        if watch.seat is seat:
            self._end(room, "none")
        elif seat.member is watch.member and not pages(room, watch.member):
            self._end(room, "away")

    def dropped(self, room: Room) -> None:
        """Forget the observation in a class that is evicted from memory."""
        self._observations.pop(room.facts.class_id, None)

    def watched(self, room: Room, member: Member) -> cm.ClassWatched:
        """Return the message that tells the member whether they are observed."""
        phase: cm.WatchPhase = "none"
        if self._of(room, member) is not None:
            phase = "watched" if member.consent else "asking"
        return cm.ClassWatched(class_id=room.facts.class_id, phase=phase, allowed=member.consent)

    def _of(self, room: Room, member: Member) -> Observation | None:
        watch = self._observations.get(room.facts.class_id)
        return watch if watch is not None and watch.member is member else None

    def _say(self, watch: Observation) -> None:
        room, member = watch.seat.room, watch.member
        phase: Literal["asking", "watched"] = "watched" if member.consent else "asking"
        room.send(pack(self.watched(room, member)), pages(room, member))
        watch.seat.viewer.put(pack(watching(room, member, phase)))

    def _end(self, room: Room, why: Ended) -> None:
        watch = self._observations.pop(room.facts.class_id, None)
        if watch is None:
            return
        room.send(pack(self.watched(room, watch.member)), pages(room, watch.member))
        watch.seat.viewer.put(pack(watching(room, watch.member, why)))


def pages(room: Room, member: Member) -> list[Seat]:
    """Return the seats of a member's open pages."""
    return [seat for seat in room.seats.values() if seat.member is member]


def watching(room: Room, member: Member | None, phase: Phase) -> cm.ClassWatching:
    """Return the message that tells the instructor's page the state of the observation."""
    seen = None if phase == "none" else member
    return cm.ClassWatching(
        class_id=room.facts.class_id,
        member="" if seen is None else seen.ident,
        name="" if seen is None else seen.facts.name,
        phase=phase,
    )
