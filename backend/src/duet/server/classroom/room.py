# SPDX-License-Identifier: GPL-2.0-or-later
"""One class in memory: its members, questions, place, and the pages that are in it."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import Connection

from duet.classes.records import (
    AnswerFacts,
    ClassFacts,
    ConfusionFacts,
    Key,
    MemberFacts,
    PlaceFacts,
    QuestionFacts,
    Stored,
)
from duet.classes.store import ClassStore
from duet.messages.codec import Packet
from duet.server.classroom.board import Board
from duet.server.classroom.limits import NUMBERS_SKIPPED
from duet.server.classroom.refusals import not_owned
from duet.server.classroom.tried import Trying
from duet.stream.hub import Viewer, ViewerId
from duet.stream.packets import Framed

Result = TypeVar("Result")


class Member:
    """A member as this server saw it last."""

    def __init__(self, facts: MemberFacts) -> None:
        self.facts = facts
        self.following = True
        self.step = ""
        self.used_s = time.monotonic()
        self.answered: set[Key] = set()
        self.raised_s = -math.inf
        """When it asked the instructor something last; of this process's monotonic clock."""
        self.consent: bool | None = None
        """Whether the instructor may look over its shoulder; None: nobody has asked."""

    @property
    def ident(self) -> str:
        """Its id."""
        return self.facts.member


class Question:
    """A question and all its answers, by round and member."""

    def __init__(self, facts: QuestionFacts) -> None:
        self.facts = facts
        self.answers: dict[tuple[int, str], AnswerFacts] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """A page that is in a class; without a member it is the instructor's."""

    room: Room
    viewer: Viewer
    member: Member | None

    @property
    def drives(self) -> bool:
        """Whether this page may send where it is."""
        return self.room.facts.driver == ("" if self.member is None else self.member.ident)


class Room:
    """An open class.

    Args:
        stored: as the store has it.
    """

    def __init__(self, stored: Stored) -> None:
        self.facts: ClassFacts = stored.facts
        self.open = stored.facts.ended_s is None
        self.owned = True
        """Whether this server owns it; else nothing of it is stored here any more."""
        self.members = {one.member: Member(one) for one in stored.members}
        self.questions = {one.key: Question(one) for one in stored.questions}
        self.confusion: dict[tuple[int, str], int] = {}
        for found in stored.confusion:
            self.confusion[found.at_s, found.step] = found.count
        self.board = Board(stored.facts.class_id, stored.board)
        self.lost: tuple[int, set[str]] = (-1, set())
        """Members who are counted in the bucket that goes on."""
        self.place: PlaceFacts | None = None
        if stored.place is not None:
            skipped = stored.place.number + NUMBERS_SKIPPED
            self.place = replace(stored.place, number=skipped)
        self.place_stored = self.place
        self.seats: dict[ViewerId, Seat] = {}
        self.busy = 0
        """Commands that are about to sit down here."""
        self.asking = asyncio.Lock()
        """The instructor's questions change one after another."""
        self.trying = Trying(stored.tried)
        for answer in stored.answers:
            self.put_answer(answer)

    async def ask(self, store: ClassStore, work: Callable[[Connection], Result]) -> Result:
        """Do something with the class in the database; see ClassStore.ask.

        Raises:
            InfraError: this server does not own the class any more, or the database refused.
            DuetError: what the work itself raised.
        """
        if not self.owned:
            raise not_owned()
        return await store.ask(work)

    def put_answer(self, answer: AnswerFacts) -> None:
        """An answer is stored."""
        member, question = self.members.get(answer.member), self.questions.get(answer.key)
        if member is None or question is None:
            return
        question.answers[answer.round, answer.member] = answer
        member.answered.add(answer.key)

    def drop_member(self, ident: str) -> list[Key]:
        """A member is forgotten; gives the questions that it had answered."""
        member = self.members.pop(ident, None)
        self.board.drop_member(ident)
        touched = sorted(member.answered) if member is not None else []
        for key in touched:
            answers = self.questions[key].answers
            for at in [at for at in answers if at[1] == ident]:
                del answers[at]
        if self.facts.driver == ident:
            self.facts = replace(self.facts, driver="")
        return touched

    def answers_of(self, ident: str) -> list[AnswerFacts]:
        """All answers of a member."""
        found = (q.answers.values() for q in self.questions.values())
        return [one for answers in found for one in answers if one.member == ident]

    def by_secret(self, secret: str) -> Member | None:
        """The member whose secret that is."""
        wanted = hashed(secret)
        found = (m for m in self.members.values() if m.facts.secret_sha256 == wanted)
        return next(found, None) if secret else None

    def free_name(self, nickname: str) -> str:
        """The nickname, with a number where another has it."""
        taken = {member.facts.name.casefold() for member in self.members.values()}
        name, number = nickname, 1
        while name.casefold() in taken:
            number += 1
            name = f"{nickname} {number}"
        return name

    def connected(self) -> set[str]:
        """Members with a page."""
        return {s.member.ident for s in self.seats.values() if s.member is not None}

    def instructors(self) -> list[Seat]:
        """Pages of the instructor."""
        return [seat for seat in self.seats.values() if seat.member is None]

    def points(self) -> list[ConfusionFacts]:
        """The curve of confusion."""
        return [ConfusionFacts(at, step, n) for (at, step), n in sorted(self.confusion.items())]

    @staticmethod
    def send(packet: Packet, seats: Iterable[Seat]) -> None:
        """To some pages."""
        framed = Framed(packet)
        for seat in seats:
            seat.viewer.give(framed)


def hashed(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
