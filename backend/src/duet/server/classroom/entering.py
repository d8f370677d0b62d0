# SPDX-License-Identifier: GPL-2.0-or-later
"""Coming into a class: starting, joining, coming back; and what a page is sent then."""

from __future__ import annotations

import secrets
import time

from duet import messages as m
from duet.base import budgets
from duet.classes import queries
from duet.classes.records import ClassFacts, MemberFacts
from duet.lessons import load as lesson_cache
from duet.messages.codec import pack
from duet.server.classroom import messages, try_messages
from duet.server.classroom.refusals import FULL, NICKNAME, refusal, unknown_class
from duet.server.classroom.room import Member, Room, Seat, hashed
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.shoulder import Shoulder
from duet.server.classroom.text import cleaned
from duet.stream.hub import Viewer

ID_BYTES = 9
SECRET_BYTES = 24
SECRET_CHARS = 32
"""Of one that `new_secret` makes."""


class Entering:
    """Into all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def enter(
        self, viewer: Viewer, command: m.StartClass | m.ResumeClass | m.JoinClass
    ) -> None:
        """Into a class.

        Raises:
            InputError: why not.
        """
        match command:
            case m.StartClass():
                await self.start(viewer, command)
            case m.ResumeClass():
                await self.resume(viewer, command)
            case m.JoinClass():
                await self.join(viewer, command)

    async def start(self, viewer: Viewer, command: m.StartClass) -> None:
        """A new class; the page is its instructor's.

        Raises:
            InputError: no such lesson, or too many classes go on.
        """
        lesson = lesson_cache.find(command.lesson)
        title = cleaned(command.title) or lesson.lesson.title[:120]
        ident = secrets.token_urlsafe(ID_BYTES)
        visitor = viewer.visitor.ident
        facts = ClassFacts(ident, "", title, lesson.slug, visitor, time.time())
        async with self._rooms.made(facts) as room:
            self._greet(self._rooms.sit(viewer, room, None), "")

    async def resume(self, viewer: Viewer, command: m.ResumeClass) -> None:
        """The instructor's page is back.

        Raises:
            InputError: there is no such open class of this visitor.
        """
        async with self._rooms.found(class_id=command.class_id) as room:
            if room.facts.instructor != viewer.visitor.ident:
                raise unknown_class()
            self._greet(self._rooms.sit(viewer, room, None), "")

    async def join(self, viewer: Viewer, command: m.JoinClass) -> None:
        """A member comes, or comes back.

        Raises:
            InputError: no such class, no nickname, or the class is full.
        """
        async with self._rooms.found(code=command.code) as room:
            member, secret = room.by_secret(command.secret), command.secret
            if member is None:
                secret = self._secret(secret)
                member = await self._added(room, cleaned(command.nickname), secret)
            member.used_s = time.monotonic()
            self._greet(self._rooms.sit(viewer, room, member), secret)

    def _secret(self, given: str) -> str:
        """Of a new member; among several servers the one with its page has made it."""
        made = self._rooms.store.server and len(given) == SECRET_CHARS
        return given if made else new_secret()

    async def _added(self, room: Room, nickname: str, secret: str) -> Member:
        if not nickname:
            raise refusal(
                NICKNAME, "a nickname is needed to join the class.", "Type what to be called."
            )
        if len(room.members) >= budgets.CLASS_MEMBERS:
            raise refusal(
                FULL, f"this class has {len(room.members)} members, which is the most.", "Watch."
            )
        ident = secrets.token_urlsafe(ID_BYTES)
        facts = MemberFacts(ident, room.free_name(nickname), hashed(secret), time.time())
        member = room.members[ident] = Member(facts)  # the name is taken from now on
        try:
            await room.ask(
                self._rooms.store, lambda c: queries.add_member(c, room.facts.class_id, facts)
            )
        except Exception:
            room.members.pop(ident, None)
            raise
        return member

    def _greet(self, seat: Seat, secret: str) -> None:
        """All that a page of the class needs to show it."""
        room, member = seat.room, seat.member
        sent: list[m.Message] = [messages.welcome(seat, secret), messages.state(seat)]
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
        sent += greeting(room, self._rooms.shoulder, member)
        sent += [try_messages.opened(room), try_messages.tries_for(room, seat)]
        for message in sent:
            seat.viewer.put(pack(message))


def new_secret() -> str:
    """By which a member comes back."""
    return secrets.token_urlsafe(SECRET_BYTES)


def greeting(room: Room, shoulder: Shoulder, member: Member | None) -> list[m.Message]:
    """What a page needs of the class's board, and whether it is watched."""
    board = room.board
    sent: list[m.Message] = [board.to_instructor() if member is None else board.to_members()]
    if member is not None:
        sent += [board.own(member.ident), shoulder.watched(room, member)]
    timer = board.timer()
    return sent if timer.ends_ns is None else [*sent, timer]
