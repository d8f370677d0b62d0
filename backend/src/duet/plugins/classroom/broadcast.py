# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the messages that a room sends to its class's pages. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable

from duet.messages.codec import Packet, pack
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom.records import AnswerFacts, PlaceFacts, Score, scores
from duet.plugins.classroom.room import Question, Room, Seat, Try


def state(seat: Seat, gone: bool = False) -> cm.ClassState:
    """Return the class's state as one page sees it.

    Args:
        gone: whether this page has left the class.
    """
    room, facts = seat.room, seat.room.facts
    driver = room.members.get(facts.driver)
    return cm.ClassState(
        class_id=facts.class_id,
        title=facts.title,
        lesson=facts.lesson,
        code=facts.code,
        link=f"?class={facts.code}",
        open=room.open and not gone,
        part="instructor" if seat.member is None else "member",
        driving=seat.drives and room.open and not gone,
        driver="" if driver is None else driver.facts.name,
        driver_member="" if driver is None else driver.ident,
        members=len(room.members),
        connected=len(room.connected()),
    )


def welcome(seat: Seat, secret: str) -> cm.ClassWelcome:
    return cm.ClassWelcome(
        class_id=seat.room.facts.class_id,
        part="instructor" if seat.member is None else "member",
        member="" if seat.member is None else seat.member.ident,
        name="" if seat.member is None else seat.member.facts.name,
        secret=secret,
    )


def class_place(class_id: str, place: PlaceFacts) -> cm.ClassPlace:
    """Return the message with the driver's position and the position's age."""
    now_ns = time.time_ns()
    return cm.ClassPlace.model_validate(
        place.fields
        | {
            "class_id": class_id,
            "number": place.number,
            "age_s": max(0.0, now_ns / 1e9 - place.at_s),
            "sent_ns": float(now_ns),
        }
    )


def roster(room: Room) -> cm.ClassRoster:
    now_s, connected = time.monotonic(), room.connected()
    return cm.ClassRoster(
        class_id=room.facts.class_id,
        members=[
            cm.RosterMember(
                member=member.ident,
                name=member.facts.name,
                connected=member.ident in connected,
                following=member.following,
                step=member.step,
                idle_s=round(now_s - member.used_s, 1),
                driving=room.facts.driver == member.ident,
                answered=len(member.answered),
            )
            for member in room.members.values()
        ],
    )


def class_question(room: Room, question: Question) -> cm.ClassQuestion:
    facts = question.facts
    return cm.ClassQuestion(
        class_id=room.facts.class_id,
        step=facts.step,
        question=facts.question,
        text=facts.text,
        options=list(facts.options),
        round=facts.round,
        revealed=facts.revealed,
    )


def tally(room: Room, question: Question) -> cm.ClassTally:
    return cm.ClassTally(
        class_id=room.facts.class_id,
        step=question.facts.step,
        question=question.facts.question,
        revealed=question.facts.revealed,
        rounds=[_round(score) for score in scores(question.answers.values())],
    )


def _round(score: Score) -> cm.TallyRound:
    return cm.TallyRound(
        round=score.round,
        answers=score.answers,
        bars=[cm.Bar(choice=c, value=v, count=n) for c, v, n in score.bars],
        marks=[cm.Pointed.model_validate(mark) for mark in score.marks],
        right=score.right,
    )


def answered(room: Room, answer: AnswerFacts) -> cm.ClassAnswered:
    return cm.ClassAnswered(
        class_id=room.facts.class_id,
        step=answer.step,
        question=answer.question,
        round=answer.round,
        choice=answer.choice,
        value=answer.value,
        mark=None if answer.mark is None else cm.Pointed.model_validate(answer.mark),
    )


def confusion(room: Room) -> cm.ClassConfusion:
    points = [cm.Confusion(at_s=p.at_s, count=p.count, step=p.step) for p in room.points()]
    return cm.ClassConfusion(class_id=room.facts.class_id, points=points)


# Messages about tries.


def opened(room: Room) -> cm.ClassOpened:
    trying = room.trying
    steps = [
        cm.OpenedStep(lesson=one.lesson, step=one.step, patches=one.patches)
        for one in trying.opened.values()
    ]
    return cm.ClassOpened(
        class_id=room.facts.class_id,
        steps=steps,
        gallery=trying.shown,
        no_runs=trying.no_runs,
        no_patches=trying.no_patches,
    )


def tries_for(room: Room, seat: Seat) -> cm.ClassTries:
    """Return the tries that one page may see: either all tries, or only the tries of its member."""
    trying, member = room.trying, seat.member
    if member is None or trying.shown:
        return tries(room, trying.tries.values())
    return tries(room, trying.of(member.ident))


def tries(room: Room, found: Iterable[Try]) -> cm.ClassTries:
    return cm.ClassTries(
        class_id=room.facts.class_id, tries=[class_try(room, one) for one in found]
    )


def class_try(room: Room, one: Try) -> cm.ClassTry:
    """Return the message with a try's state."""
    facts = one.facts
    place = room.trying.place_of(facts.run_id) if facts.state == "waiting" else None
    makers = [room.members[member] for member in facts.makers if member in room.members]
    return cm.ClassTry.model_validate(
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
"""Fields that a try's message and record have in common."""


def send_tries(room: Room) -> None:
    """Send each page the tries that it may see. Pages with the same rights share a packet."""
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
