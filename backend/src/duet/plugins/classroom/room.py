# SPDX-License-Identifier: GPL-2.0-or-later
"""One class in memory: its members, questions, place, and the pages that are in it."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlalchemy import Connection

from duet.lessons.load import LessonFolder
from duet.messages.codec import Packet
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom.board import BoardFacts, BoardStored, RaisedFacts, hash_of
from duet.plugins.classroom.limits import NUMBERS_SKIPPED, TIMER_SEEN_S
from duet.plugins.classroom.records import (
    AnswerFacts,
    ClassFacts,
    ConfusionFacts,
    Key,
    MemberFacts,
    OpenedFacts,
    PlaceFacts,
    QuestionFacts,
    Stored,
    Tried,
    TryFacts,
)
from duet.plugins.classroom.refusals import not_owned
from duet.server.queue import Place
from duet.store.store import Store
from duet.stream.hub import Viewer, ViewerId
from duet.stream.packets import Framed

# The board of a class in memory, and what pages see of it. Pure.


class Raised:
    """A question of a member, and who has it, too; by hashes."""

    def __init__(self, facts: RaisedFacts) -> None:
        self.facts = facts
        self.voters: set[str] = set()

    def message(self) -> cm.Raised:
        """As pages have it: without any hash."""
        facts = self.facts
        return cm.Raised(
            number=facts.number,
            step=facts.step,
            text=facts.text,
            votes=len(self.voters),
            answered=facts.answered,
            hidden=facts.hidden,
        )


class Board:
    """Of one class.

    Args:
        stored: as the store has it.
    """

    def __init__(self, class_id: str, stored: BoardStored) -> None:
        self.class_id = class_id
        self.facts: BoardFacts = stored.facts
        self.raised = {one.number: Raised(one) for one in stored.raised}
        for number, voter in stored.votes:
            self.raised[number].voters.add(voter)
        self.last = max(self.raised, default=0)
        """The highest number that was given to a question."""

    def drop_member(self, member: str) -> None:
        """A member is forgotten."""
        who = hash_of(self.class_id, member)
        self.raised = {n: one for n, one in self.raised.items() if one.facts.asker_sha256 != who}
        for one in self.raised.values():
            one.voters.discard(who)

    def asked_by(self, member: str) -> list[Raised]:
        """A member's questions, the oldest first."""
        who = hash_of(self.class_id, member)
        return [one for one in self.raised.values() if one.facts.asker_sha256 == who]

    def seen_by_members(self) -> list[Raised]:
        """What all members see."""
        return [one for one in self.raised.values() if self.facts.shown and not one.facts.hidden]

    # Messages

    def to_instructor(self) -> cm.ClassRaised:
        """All questions."""
        return self._message(list(self.raised.values()))

    def to_members(self) -> cm.ClassRaised:
        """Those that are shown."""
        return self._message(self.seen_by_members())

    def _message(self, questions: list[Raised]) -> cm.ClassRaised:
        found = [one.message() for one in sorted(questions, key=_rank)]
        return cm.ClassRaised(class_id=self.class_id, shown=self.facts.shown, questions=found)

    def own(self, member: str) -> cm.ClassOwn:
        """To that member alone."""
        who = hash_of(self.class_id, member)
        seen = self.seen_by_members()
        return cm.ClassOwn(
            class_id=self.class_id,
            asked=[one.message() for one in self.asked_by(member)],
            voted=[one.facts.number for one in seen if who in one.voters],
        )

    def timer(self) -> cm.ClassTimer:
        """For each page; it is over for good a while after its end."""
        length, ends = self.facts.timer_s, self.facts.timer_ends_s
        now_s = time.time()
        stands = length is not None and ends is not None and now_s < ends + TIMER_SEEN_S
        return cm.ClassTimer(
            class_id=self.class_id,
            length_s=length if stands and length is not None else 0.0,
            ends_ns=ends * 1e9 if stands and ends is not None else None,
            sent_ns=now_s * 1e9,
        )


def _rank(one: Raised) -> tuple[bool, int, int]:
    """Open ones before those that are answered, then by votes, then the oldest."""
    facts = one.facts
    return facts.answered or facts.hidden, -len(one.voters), facts.number


def counted_down(facts: BoardFacts, command: cm.CountDown, now_s: float) -> BoardFacts:
    """The timer after a command.

    Args:
        now_s: Unix time.
    """
    if command.act == "stop":
        return replace(facts, timer_s=None, timer_ends_s=None)
    if command.act == "start" or facts.timer_s is None or facts.timer_ends_s is None:
        return replace(facts, timer_s=command.seconds, timer_ends_s=now_s + command.seconds)
    # One that has run out begins anew with what it gets.
    ends_s = max(facts.timer_ends_s, now_s) + command.seconds
    ends_s = min(ends_s, now_s + cm.TIMER_S)
    whole_s = max(command.seconds, min(facts.timer_s + command.seconds, cm.TIMER_S))
    return replace(facts, timer_s=whole_s, timer_ends_s=ends_s)


# What one class tries, in memory: open steps, runs with their makers, and who may see them.


@dataclass(slots=True)
class Try:
    """A run that members asked for.

    Args:
        folder: its lesson, with the arms that it runs; None: it was over when this server began.
        askers: member -> ident of the browser that asked for it here.
    """

    facts: TryFacts
    folder: LessonFolder | None = None
    askers: dict[str, str] = field(default_factory=dict)

    def stands(self, **changes: object) -> None:
        """It stands otherwise now."""
        self.facts = replace(self.facts, **changes)  # type: ignore[arg-type]


def no_place(run_id: str) -> Place | None:
    """Of a class that has not tried anything yet."""
    return None


class Trying:
    """Of one class.

    Args:
        stored: as the store has it.
    """

    def __init__(self, stored: Tried) -> None:
        self.opened = {(one.lesson, one.step): one for one in stored.opened}
        self.shown = stored.shown
        self.tries = {one.number: Try(one) for one in stored.tries}
        self.place_of: Callable[[str], Place | None] = no_place
        self.no_runs = ""
        """Why nothing can be tried on this server, a sentence; empty: it can."""
        self.no_patches = ""
        """The same of patches."""

    def change(self, facts: OpenedFacts, knobs: bool) -> None:
        """A step is open, or is not any more."""
        if knobs:
            self.opened[facts.lesson, facts.step] = facts
        else:
            self.opened.pop((facts.lesson, facts.step), None)

    def new_number(self) -> int:
        """Of the next try."""
        return max(self.tries, default=0) + 1

    def equal(self, key: Hashable) -> Try | None:
        """The newest run of that key that has not failed."""
        found = (one for one in reversed(self.tries.values()) if one.facts.state != "failed")
        return next((one for one in found if one.facts.key == key), None)

    def of(self, member: str) -> list[Try]:
        """Those that a member made."""
        return [one for one in self.tries.values() if member in one.facts.makers]

    def waiting(self, member: str) -> int:
        """How many of a member's have not begun."""
        return sum(one.facts.state == "waiting" for one in self.of(member))

    def leave(self, one: Try, member: str) -> bool:
        """A member is no maker of it any more; whether nobody is, and it is gone."""
        one.stands(makers=tuple(maker for maker in one.facts.makers if maker != member))
        one.askers.pop(member, None)
        if one.facts.makers:
            return False
        self.tries.pop(one.facts.number, None)
        return True


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

    async def ask(self, store: Store, work: Callable[[Connection], Result]) -> Result:
        """Do something with the class in the database; see Store.ask.

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
