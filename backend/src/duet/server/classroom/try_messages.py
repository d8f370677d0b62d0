# SPDX-License-Identifier: GPL-2.0-or-later
"""What pages of a class receive of what it tries, made of a room. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from duet import messages as m
from duet.messages.codec import Packet, pack
from duet.server.classroom.room import Room, Seat
from duet.server.classroom.tried import Try


def opened(room: Room) -> m.ClassOpened:
    """Where the class may try."""
    trying = room.trying
    steps = [
        m.OpenedStep(lesson=one.lesson, step=one.step, patches=one.patches)
        for one in trying.opened.values()
    ]
    return m.ClassOpened(
        class_id=room.facts.class_id,
        steps=steps,
        gallery=trying.shown,
        no_runs=trying.no_runs,
        no_patches=trying.no_patches,
    )


def tries_for(room: Room, seat: Seat) -> m.ClassTries:
    """What one page may see: all, or what its member made."""
    trying, member = room.trying, seat.member
    if member is None or trying.shown:
        return tries(room, trying.tries.values())
    return tries(room, trying.of(member.ident))


def tries(room: Room, found: Iterable[Try]) -> m.ClassTries:
    """These of the class."""
    return m.ClassTries(class_id=room.facts.class_id, tries=[class_try(room, one) for one in found])


def class_try(room: Room, one: Try) -> m.ClassTry:
    """A run as it stands."""
    facts = one.facts
    place = room.trying.place_of(facts.run_id) if facts.state == "waiting" else None
    makers = [room.members[member] for member in facts.makers if member in room.members]
    return m.ClassTry.model_validate(
        {
            **{name: getattr(facts, name) for name in SAME},
            "arms": list(facts.arms),
            "makers": [{"member": maker.ident, "name": maker.facts.name} for maker in makers],
            "run": facts.run_id,
            "place": None if place is None else place.place,
            "estimate_s": None if place is None else round(place.estimate_s, 1),
        }
    )


SAME = (
    *("number", "lesson", "step", "params", "turned", "workload", "clock", "summary", "state"),
    *("sentence", "result"),
)
"""Fields that message and record have in common."""


def send_tries(room: Room) -> None:
    """To each page what it may see; all that may see the same get one packet."""
    packets: dict[str, Packet] = {}
    makers = {maker for one in room.trying.tries.values() for maker in one.facts.makers}
    for seat in list(room.seats.values()):
        member = "" if seat.member is None else seat.member.ident
        if seat.member is None or room.trying.shown:
            kind = "all"
        else:
            kind = f"of {member}" if member in makers else "none"
        if kind not in packets:
            packets[kind] = pack(tries_for(room, seat))
        seat.viewer.put(packets[kind])
