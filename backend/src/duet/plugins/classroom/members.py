# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles members who join a class, leave it, say that they are lost, or are deleted."""

from __future__ import annotations

import secrets
import time

from duet import messages as m
from duet.base import budgets
from duet.lessons import load as lesson_cache
from duet.messages.codec import pack
from duet.plugins.classroom import broadcast as messages
from duet.plugins.classroom import broadcast as try_messages
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries
from duet.plugins.classroom.limits import BUCKET_S
from duet.plugins.classroom.observe import Observations
from duet.plugins.classroom.records import ClassFacts, MemberFacts
from duet.plugins.classroom.refusals import (
    FULL,
    NICKNAME,
    UNKNOWN,
    not_yours,
    refusal,
    unknown_class,
)
from duet.plugins.classroom.room import Member, Room, Seat, hashed
from duet.plugins.classroom.rooms import Rooms, store_place
from duet.plugins.classroom.text import cleaned
from duet.stream.hub import Viewer


class Members:
    """Members of all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def confused(self, seat: Seat) -> None:
        """Count a member as lost, at most once in ten seconds and without a name.

        Raises:
            InputError: the page belongs to no member.
        """
        rooms, room, member = self._rooms, seat.room, seat.member
        if member is None:
            raise not_yours("members are lost")
        at_s = int((time.time() - room.facts.started_s) // BUCKET_S) * BUCKET_S
        if room.lost[0] != at_s:
            room.lost = (at_s, set())
        if member.ident in room.lost[1]:
            return
        room.lost[1].add(member.ident)
        step = "" if room.place is None else str(room.place.fields["step"])
        class_id = room.facts.class_id
        await room.ask(rooms.store, lambda c: queries.add_confusion(c, class_id, at_s, step))
        room.confusion[at_s, step] = room.confusion.get((at_s, step), 0) + 1
        rooms.notices(room).confusion.soon()

    async def forget(self, seat: Seat) -> None:
        """Delete what is stored about a member, at the member's own request.

        Raises:
            InputError: the page belongs to no member.
        """
        if seat.member is None:
            raise not_yours("members can delete their data")
        await self._forget(seat.room, seat.member)

    async def remove(self, seat: Seat, command: cm.RemoveMember) -> None:
        """Delete what is stored about a member, at the instructor's request.

        Raises:
            InputError: there is no such member.
        """
        member = seat.room.members.get(command.member)
        if member is None:
            raise refusal(UNKNOWN, "that member has left the class.", "Check the list of members.")
        await self._forget(seat.room, member)

    async def _forget(self, room: Room, member: Member) -> None:
        """Delete a member's nickname, answers, questions and votes. The member's pages leave the
        class."""
        rooms = self._rooms
        class_id, ident = room.facts.class_id, member.ident
        await room.ask(rooms.store, lambda c: queries.forget_member(c, class_id, ident))
        pages = [other for other in room.seats.values() if other.member is member]
        touched = room.drop_member(ident)
        for page in pages:
            rooms.remove_page(page.viewer)
            page.viewer.put(pack(messages.state(page, gone=True)))
        notices = rooms.notices(room)
        notices.state_now()
        notices.people()
        notices.tally(*touched)
        notices.raised.soon()


# Lets a page start, join or resume a class, and sends the page what it needs to show the class.

ID_BYTES = 9
SECRET_BYTES = 24
SECRET_CHARS = 32
"""Number of characters in a secret from `new_secret`."""


class Entering:
    """Lets pages enter classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def enter(
        self, viewer: Viewer, command: cm.StartClass | cm.ResumeClass | cm.JoinClass
    ) -> None:
        """Let a page enter a class.

        Raises:
            InputError: the page is refused.
        """
        match command:
            case cm.StartClass():
                await self.start(viewer, command)
            case cm.ResumeClass():
                await self.resume(viewer, command)
            case cm.JoinClass():
                await self.join(viewer, command)

    async def start(self, viewer: Viewer, command: cm.StartClass) -> None:
        """Start a class. The page becomes a page of the class's instructor.

        Raises:
            InputError: there is no such lesson, or too many classes are open.
        """
        lesson = lesson_cache.find(command.lesson)
        title = cleaned(command.title) or lesson.lesson.title[:120]
        ident = secrets.token_urlsafe(ID_BYTES)
        visitor = viewer.visitor.ident
        facts = ClassFacts(ident, "", title, lesson.slug, visitor, time.time())
        async with self._rooms.made(facts) as room:
            self._greet(self._rooms.add_page(viewer, room, None), "")

    async def resume(self, viewer: Viewer, command: cm.ResumeClass) -> None:
        """Let the instructor's page return to its class.

        Raises:
            InputError: this visitor started no such class, or it has ended.
        """
        async with self._rooms.found(class_id=command.class_id) as room:
            if room.facts.instructor != viewer.visitor.ident:
                raise unknown_class()
            self._greet(self._rooms.add_page(viewer, room, None), "")

    async def join(self, viewer: Viewer, command: cm.JoinClass) -> None:
        """Let a member join or return.

        Raises:
            InputError: there is no such class, the nickname is missing, or the class is full.
        """
        async with self._rooms.found(code=command.code) as room:
            member, secret = room.by_secret(command.secret), command.secret
            if member is None:
                secret = self._secret(secret)
                member = await self._added(room, cleaned(command.nickname), secret)
            member.used_s = time.monotonic()
            self._greet(self._rooms.add_page(viewer, room, member), secret)

    def _secret(self, given: str) -> str:
        """Return a new member's secret. If several servers share classes, the server that serves
        the member's page has made the secret."""
        made = self._rooms.store.server and len(given) == SECRET_CHARS
        return given if made else new_secret()

    async def _added(self, room: Room, nickname: str, secret: str) -> Member:
        if not nickname:
            raise refusal(NICKNAME, "you need a nickname to join the class.", "Type a nickname.")
        if len(room.members) >= budgets.CLASS_MEMBERS:
            raise refusal(
                FULL, f"this class has {len(room.members)} members, which is the limit.", "Watch."
            )
        ident = secrets.token_urlsafe(ID_BYTES)
        facts = MemberFacts(ident, room.free_name(nickname), hashed(secret), time.time())
        # reserve the name while the database stores the member
        member = room.members[ident] = Member(facts)
        try:
            await room.ask(
                self._rooms.store, lambda c: queries.add_member(c, room.facts.class_id, facts)
            )
        except Exception:
            room.members.pop(ident, None)
            raise
        return member

    def _greet(self, seat: Seat, secret: str) -> None:
        """Send everything that a page needs to show the class."""
        room, member = seat.room, seat.member
        sent: list[m.ServerMessage] = [messages.welcome(seat, secret), messages.state(seat)]
        if room.place is not None:
            sent.append(messages.class_place(room.facts.class_id, room.place))
        questions = list(room.questions.values())
        seen = [q for q in questions if member is None or q.facts.by_instructor]
        sent += [messages.class_question(room, one) for one in seen]
        if member is not None:
            sent += [messages.answered(room, one) for one in room.answers_of(member.ident)]
        counted = [q for q in questions if member is None or q.facts.revealed]
        sent += [messages.tally(room, one) for one in counted]
        if member is None:
            sent += [messages.roster(room), messages.confusion(room)]
        sent += greeting(room, self._rooms.observations, member)
        sent += [try_messages.opened(room), try_messages.tries_for(room, seat)]
        for message in sent:
            seat.viewer.put(pack(message))


def new_secret() -> str:
    """Make a new secret, with which a member can enter the class again."""
    return secrets.token_urlsafe(SECRET_BYTES)


def greeting(
    room: Room, observations: Observations, member: Member | None
) -> list[m.ServerMessage]:
    """Return messages about the board, and about whether the instructor observes the page's
    member."""
    board = room.board
    sent: list[m.ServerMessage] = [board.to_instructor() if member is None else board.to_members()]
    if member is not None:
        sent += [board.own(member.ident), observations.watched(room, member)]
    timer = board.timer()
    return sent if timer.ends_ns is None else [*sent, timer]


async def end(rooms: Rooms, room: Room) -> None:
    """End a class for all its pages. Its answers are kept for the report.

    Raises:
        InfraError: the end cannot be stored, so the class stays open.
    """
    await store_place(rooms.store, room)
    await room.ask(rooms.store, lambda c: queries.end_class(c, room.facts.class_id, time.time()))
    room.open = False
    rooms.going.drop(room.facts.class_id)
    rooms.ended(room)
    rooms.notices(room).state_now()
    rooms.drop(room)


async def delete(rooms: Rooms, class_id: str) -> None:
    """Delete a class with all its stored data. An open class is ended first.

    Raises:
        InfraError: the class cannot be deleted.
    """
    for room in rooms:
        if room.facts.class_id == class_id:
            await end(rooms, room)
    await rooms.store.ask(lambda c: queries.delete_class(c, class_id))
    rooms.going.drop(class_id)
