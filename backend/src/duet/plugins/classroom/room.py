# SPDX-License-Identifier: GPL-2.0-or-later
"""A class in memory, with its members, questions, pages, and the driver's position."""

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

# The board of a class in memory, with members' questions, votes, and the timer. Pure.


class Raised:
    """A member's question, and the hashes of its voters."""

    def __init__(self, facts: RaisedFacts) -> None:
        self.facts = facts
        self.voters: set[str] = set()

    def message(self) -> cm.Raised:
        """Return the question as pages see it, without hashes."""
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
    """The board of one class.

    Args:
        stored: the board as it was loaded from the store.
    """

    def __init__(self, class_id: str, stored: BoardStored) -> None:
        self.class_id = class_id
        self.facts: BoardFacts = stored.facts
        self.raised = {one.number: Raised(one) for one in stored.raised}
        for number, voter in stored.votes:
            self.raised[number].voters.add(voter)
        self.last = max(self.raised, default=0)
        """The highest question number so far."""

    def drop_member(self, member: str) -> None:
        """Forget a member's questions and votes."""
        who = hash_of(self.class_id, member)
        self.raised = {n: one for n, one in self.raised.items() if one.facts.asker_sha256 != who}
        for one in self.raised.values():
            one.voters.discard(who)

    def asked_by(self, member: str) -> list[Raised]:
        """Return a member's questions, oldest first."""
        who = hash_of(self.class_id, member)
        return [one for one in self.raised.values() if one.facts.asker_sha256 == who]

    def seen_by_members(self) -> list[Raised]:
        """Return the questions that are shown to all members."""
        return [one for one in self.raised.values() if self.facts.shown and not one.facts.hidden]

    # Messages

    def to_instructor(self) -> cm.ClassRaised:
        return self._message(list(self.raised.values()))

    def to_members(self) -> cm.ClassRaised:
        return self._message(self.seen_by_members())

    def _message(self, questions: list[Raised]) -> cm.ClassRaised:
        found = [one.message() for one in sorted(questions, key=_rank)]
        return cm.ClassRaised(class_id=self.class_id, shown=self.facts.shown, questions=found)

    def own(self, member: str) -> cm.ClassOwn:
        """Return the message with a member's own questions and votes."""
        who = hash_of(self.class_id, member)
        seen = self.seen_by_members()
        return cm.ClassOwn(
            class_id=self.class_id,
            asked=[one.message() for one in self.asked_by(member)],
            voted=[one.facts.number for one in seen if who in one.voters],
        )

    def timer(self) -> cm.ClassTimer:
        """Return the timer for pages. It disappears some time after it has run out."""
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
    """Return a key that sorts open questions first, then questions with more votes, then older
    questions."""
    facts = one.facts
    return facts.answered or facts.hidden, -len(one.voters), facts.number


def counted_down(facts: BoardFacts, command: cm.CountDown, now_s: float) -> BoardFacts:
    """Return the settings of the board after a command for the timer.

    Args:
        now_s: Unix time.
    """
    if command.act == "stop":
        return replace(facts, timer_s=None, timer_ends_s=None)
    if command.act == "start" or facts.timer_s is None or facts.timer_ends_s is None:
        return replace(facts, timer_s=command.seconds, timer_ends_s=now_s + command.seconds)
    # A timer that has run out restarts with the added time.
    ends_s = max(facts.timer_ends_s, now_s) + command.seconds
    ends_s = min(ends_s, now_s + cm.TIMER_S)
    whole_s = max(command.seconds, min(facts.timer_s + command.seconds, cm.TIMER_S))
    return replace(facts, timer_s=whole_s, timer_ends_s=ends_s)


# The tries of one class in memory: the open steps, the runs with their makers, and whether all
# members see all tries.


@dataclass(slots=True)
class Try:
    """A run that members requested.

    Args:
        folder: the lesson with the arms that the run uses. None if the run ended before this server
            started.
        askers: member -> ident of the browser that requested the run on this server.
    """

    facts: TryFacts
    folder: LessonFolder | None = None
    askers: dict[str, str] = field(default_factory=dict)

    def stands(self, **changes: object) -> None:
        """Change the state of the try."""
        self.facts = replace(self.facts, **changes)  # type: ignore[arg-type]


def no_place(run_id: str) -> Place | None:
    """Return None, because a run has no place in the queue until tries are set up for the class."""
    return None


class Trying:
    """The tries of one class.

    Args:
        stored: the tries as they were loaded from the store.
    """

    def __init__(self, stored: Tried) -> None:
        self.opened = {(one.lesson, one.step): one for one in stored.opened}
        self.shown = stored.shown
        self.tries = {one.number: Try(one) for one in stored.tries}
        self.place_of: Callable[[str], Place | None] = no_place
        self.no_runs = ""
        """A sentence that says why runs cannot be tried on this server. Empty if they can."""
        self.no_patches = ""
        """A sentence that says why patches cannot be changed here. Empty if they can."""

    def change(self, facts: OpenedFacts, knobs: bool) -> None:
        """Open a step for tries, or close it."""
        if knobs:
            self.opened[facts.lesson, facts.step] = facts
        else:
            self.opened.pop((facts.lesson, facts.step), None)

    def new_number(self) -> int:
        return max(self.tries, default=0) + 1

    def equal(self, key: Hashable) -> Try | None:
        """Return the newest try that has that key and has not failed."""
        found = (one for one in reversed(self.tries.values()) if one.facts.state != "failed")
        return next((one for one in found if one.facts.key == key), None)

    def of(self, member: str) -> list[Try]:
        """Return the tries of a member."""
        return [one for one in self.tries.values() if member in one.facts.makers]

    def waiting(self, member: str) -> int:
        """Count a member's tries that have not begun."""
        return sum(one.facts.state == "waiting" for one in self.of(member))

    def leave(self, one: Try, member: str) -> bool:
        """Remove a member from the makers of a try. If no maker is left, drop the try and return
        true."""
        one.stands(makers=tuple(maker for maker in one.facts.makers if maker != member))
        one.askers.pop(member, None)
        if one.facts.makers:
            return False
        self.tries.pop(one.facts.number, None)
        return True


Result = TypeVar("Result")


class Member:
    """The state of a member on this server."""

    def __init__(self, facts: MemberFacts) -> None:
        self.facts = facts
        self.following = True
        self.step = ""
        self.used_s = time.monotonic()
        self.answered: set[Key] = set()
        self.raised_s = -math.inf
        """Time of the member's last question, on this process's monotonic clock."""
        self.consent: bool | None = None
        """Whether the instructor may observe this member. None until the member has been asked."""

    @property
    def ident(self) -> str:
        return self.facts.member


class Question:
    """A question and all its answers, which are keyed by round and member."""

    def __init__(self, facts: QuestionFacts) -> None:
        self.facts = facts
        self.answers: dict[tuple[int, str], AnswerFacts] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """A page that is in a class. A seat without a member belongs to the instructor."""

    room: Room
    viewer: Viewer
    member: Member | None

    @property
    def drives(self) -> bool:
        """May this page send the driver's position?"""
        return self.room.facts.driver == ("" if self.member is None else self.member.ident)


class Room:
    """An open class.

    Args:
        stored: the class as it was loaded from the store.
    """

    def __init__(self, stored: Stored) -> None:
        self.facts: ClassFacts = stored.facts
        self.open = stored.facts.ended_s is None
        self.owned = True
        """Whether this server owns the class. If it does not, it must not store the class's
        data.
        """
        self.members = {one.member: Member(one) for one in stored.members}
        self.questions = {one.key: Question(one) for one in stored.questions}
        self.confusion: dict[tuple[int, str], int] = {}
        for found in stored.confusion:
            self.confusion[found.at_s, found.step] = found.count
        self.board = Board(stored.facts.class_id, stored.board)
        self.lost: tuple[int, set[str]] = (-1, set())
        """The current ten-second bucket, and the lost members that were counted in it."""
        self.place: PlaceFacts | None = None
        if stored.place is not None:
            skipped = stored.place.number + NUMBERS_SKIPPED
            self.place = replace(stored.place, number=skipped)
        self.place_stored = self.place
        self.seats: dict[ViewerId, Seat] = {}
        self.busy = 0
        """Number of commands and runs in progress. They keep the class in memory."""
        self.asking = asyncio.Lock()
        """Serializes changes of the instructor's questions."""
        self.trying = Trying(stored.tried)
        for answer in stored.answers:
            self.put_answer(answer)

    async def ask(self, store: Store, work: Callable[[Connection], Result]) -> Result:
        """Pass database work on this class to Store.ask.

        Raises:
            InfraError: this server no longer owns the class, or the database refused.
            DuetError: the work itself raised this error.
        """
        if not self.owned:
            raise not_owned()
        return await store.ask(work)

    def put_answer(self, answer: AnswerFacts) -> None:
        """Add an answer that has been stored."""
        member, question = self.members.get(answer.member), self.questions.get(answer.key)
        if member is None or question is None:
            return
        question.answers[answer.round, answer.member] = answer
        member.answered.add(answer.key)

    def drop_member(self, ident: str) -> list[Key]:
        """Remove a member, and return the questions that the member had answered."""
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
        found = (q.answers.values() for q in self.questions.values())
        return [one for answers in found for one in answers if one.member == ident]

    def by_secret(self, secret: str) -> Member | None:
        """Return the member who has that secret."""
        wanted = hashed(secret)
        found = (m for m in self.members.values() if m.facts.secret_sha256 == wanted)
        return next(found, None) if secret else None

    def free_name(self, nickname: str) -> str:
        """Return the nickname, with a number appended if the name is taken."""
        taken = {member.facts.name.casefold() for member in self.members.values()}
        name, number = nickname, 1
        while name.casefold() in taken:
            number += 1
            name = f"{nickname} {number}"
        return name

    def connected(self) -> set[str]:
        """Return the idents of members who have an open page."""
        return {s.member.ident for s in self.seats.values() if s.member is not None}

    def instructors(self) -> list[Seat]:
        """Return the seats of the instructor's pages."""
        return [seat for seat in self.seats.values() if seat.member is None]

    def points(self) -> list[ConfusionFacts]:
        """Return the number of lost members over time."""
        return [ConfusionFacts(at, step, n) for (at, step), n in sorted(self.confusion.items())]

    @staticmethod
    def send(packet: Packet, seats: Iterable[Seat]) -> None:
        framed = Framed(packet)
        for seat in seats:
            seat.viewer.give(framed)


def hashed(secret: str) -> str:
    """Return a secret's hash, as it is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()
