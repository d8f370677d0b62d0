# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles the instructor's and members' questions. Each question, answer and vote is stored before
it is confirmed."""

from __future__ import annotations

import time
from dataclasses import replace

from sqlalchemy import Connection

from duet.base import budgets
from duet.messages.codec import pack
from duet.plugins.classroom import board as stored
from duet.plugins.classroom import broadcast as messages
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries
from duet.plugins.classroom.board import BoardFacts, RaisedFacts, hash_of
from duet.plugins.classroom.records import AnswerFacts, QuestionFacts
from duet.plugins.classroom.refusals import CLOSED, FULL, not_here, not_yours, refusal
from duet.plugins.classroom.room import Member, Question, Raised, Room, Seat, counted_down
from duet.plugins.classroom.rooms import Rooms
from duet.plugins.classroom.text import cleaned

LEAST_OPTIONS = 2


class Questions:
    """Handles the instructor's questions in all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def ask(self, seat: Seat, command: cm.AskClass) -> None:
        """Open a question, or its second round, and show it to everyone.

        Raises:
            InputError: the poll has no text or options, or the class has too many questions.
        """
        room = seat.room
        async with room.asking:
            known = room.questions.get((command.step, command.question))
            facts = (
                reopened_question(known.facts, command) if known else new_question(room, command)
            )
            await self._change(room, facts)

    async def reveal(self, seat: Seat, command: cm.Reveal) -> None:
        """Show everyone the answers. Further answers to the question are refused.

        Raises:
            InputError: there is no such question.
        """
        room = seat.room
        async with room.asking:
            known = room.questions.get((command.step, command.question))
            if known is None:
                raise refusal(CLOSED, "nobody has answered that question yet.", "Ask it first.")
            await self._change(room, replace(known.facts, revealed=True, by_instructor=True))

    async def _change(self, room: Room, facts: QuestionFacts) -> None:
        await room.ask(
            self._rooms.store, lambda c: queries.put_question(c, room.facts.class_id, facts)
        )
        question = room.questions.setdefault(facts.key, Question(facts))
        question.facts = facts
        room.send(pack(messages.class_question(room, question)), room.seats.values())
        self._rooms.notices(room).tally(facts.key)

    async def answer(self, seat: Seat, command: cm.Answer) -> None:
        """Store an answer, then confirm it on all pages of the member who gave it.

        Raises:
            InputError: the question does not accept such an answer.
            InfraError: the database refused.
        """
        room, member = seat.room, seat.member
        if member is None:
            raise not_yours("members answer")
        opened = QuestionFacts(command.step, command.question)
        question = room.questions.get(opened.key)
        if question is None:
            refuse_unasked(room, command)
        refuse_answer(opened if question is None else question.facts, command)
        mark = None if command.mark is None else command.mark.model_dump()
        facts = AnswerFacts(
            *opened.key,
            command.round,
            member.ident,
            command.choice,
            command.value,
            mark,
            command.right,
        )

        def store(connection: Connection) -> None:
            if question is None:
                queries.open_question(connection, room.facts.class_id, opened)
            queries.put_answer(connection, room.facts.class_id, facts)

        await room.ask(self._rooms.store, store)
        room.questions.setdefault(opened.key, Question(opened))
        room.put_answer(facts)
        pages = (s for s in room.seats.values() if s.member is member)
        room.send(pack(messages.answered(room, facts)), pages)
        notices = self._rooms.notices(room)
        notices.tally(facts.key)
        notices.roster.soon()


def new_question(room: Room, command: cm.AskClass) -> QuestionFacts:
    """Make a new question. Called if the question has not been asked or answered before.

    Raises:
        InputError: the poll has no text or options, or the class has too many questions.
    """
    refuse_more(room, budgets.CLASS_QUESTIONS, len(room.questions))
    question = command.question
    if not command.step:
        if question:
            raise refusal(CLOSED, "there is no such poll.", "Start a new poll.")
        if not command.text.strip() or len(command.options) < LEAST_OPTIONS:
            raise refusal(
                CLOSED, f"a poll needs a text and at least {LEAST_OPTIONS} options.", "Add them."
            )
        polls = sum(not facts.facts.step for facts in room.questions.values())
        question = f"poll-{polls + 1}"
    elif not question:
        raise refusal(CLOSED, "that step has no question.", "Choose a step with a question.")
    return QuestionFacts(
        command.step,
        question,
        command.text.strip(),
        tuple(command.options),
        command.round,
        by_instructor=True,
    )


def reopened_question(known: QuestionFacts, command: cm.AskClass) -> QuestionFacts:
    """Return a known question that is asked again. If a later round opens, the question accepts
    answers again."""
    round_ = max(known.round, command.round)
    return replace(
        known,
        text=command.text.strip() or known.text,
        options=tuple(command.options) or known.options,
        round=round_,
        revealed=known.revealed and round_ == known.round,
        by_instructor=True,
    )


def refuse_unasked(room: Room, command: cm.Answer) -> None:
    """Refuse an answer to a question that was not asked, unless the answer may open the question.

    An answer can open a question of a step, but not a poll. At most half of a class's questions can
    be opened in this way.

    Raises:
        InputError: the answer may not open the question.
    """
    if not command.step:
        raise refusal(CLOSED, "there is no such poll.", "Wait until the poll is asked.")
    opened = sum(not question.facts.by_instructor for question in room.questions.values())
    refuse_more(room, budgets.CLASS_QUESTIONS // 2, opened)
    refuse_more(room, budgets.CLASS_QUESTIONS, len(room.questions))


def refuse_more(room: Room, most: int, there: int) -> None:
    """Refuse another question if the class already has the maximum number of questions.

    Raises:
        InputError: the limit is reached.
    """
    if there >= most:
        raise refusal(
            FULL, f"this class has {there} questions, which is the limit.", "Start another class."
        )


def refuse_answer(facts: QuestionFacts, command: cm.Answer) -> None:
    """Refuse an answer that does not fit the question.

    Raises:
        InputError: the question does not accept the answer, or accepts no more answers.
    """
    given = [one for one in (command.choice, command.value, command.mark) if one is not None]
    if len(given) != 1:
        raise refusal(CLOSED, "an answer is one choice, one number or one mark.", "Choose one.")
    if facts.revealed:
        raise refusal(
            CLOSED, "the answers to this question are already shown.", "Wait for the next question."
        )
    if command.round != facts.round:
        raise refusal(
            CLOSED,
            f"this question is in round {facts.round}, but the answer is for round "
            f"{command.round}.",
            "Answer again.",
        )
    if facts.options and not (command.choice is not None and command.choice < len(facts.options)):
        raise refusal(
            CLOSED, f"this question has {len(facts.options)} options.", "Choose an option."
        )


# Handles members' questions to the instructor, their votes, and the timer. Each change is stored
# before it is confirmed.
#
# Only a hash identifies the asker (board.py). This code never updates the roster, because a
# member's changed idle time would reveal the asker.


class MemberQuestions:
    """Handles members' questions in all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def ask(self, seat: Seat, command: cm.RaiseQuestion) -> None:
        """Store a member's question.

        Raises:
            InputError: the page belongs to no member, the text is empty, or the member asks too
                often.
            InfraError: the database refused.
        """
        room, member = seat.room, member_of(seat, "members ask the instructor")
        text = cleaned(command.text)
        if not text:
            raise refusal(CLOSED, "that question has no text.", "Type a text.")
        refuse_often(room, member)
        member.raised_s = time.monotonic()
        room.board.last += 1
        class_id, ident = room.facts.class_id, member.ident
        facts = RaisedFacts(room.board.last, command.step, text, hash_of(class_id, ident))
        try:
            known = await room.ask(
                self._rooms.store, lambda c: stored.add_raised(c, class_id, ident, facts)
            )
        except Exception:
            member.raised_s = -budgets.CLASS_RAISE_EVERY_S
            raise
        if not known or room.members.get(ident) is not member:
            raise not_here()
        room.board.raised[facts.number] = Raised(facts)
        self._own(room, member)
        self._rooms.notices(room).raised.soon()

    async def vote(self, seat: Seat, command: cm.Upvote) -> None:
        """Add a member's vote to a question, or withdraw it.

        Raises:
            InputError: members do not see that question.
            InfraError: the database refused.
        """
        room, member = seat.room, member_of(seat, "members vote")
        if command.number not in {one.facts.number for one in room.board.seen_by_members()}:
            raise refusal(CLOSED, "that question is not shown to members.", "Ask it yourself.")
        class_id, ident = room.facts.class_id, member.ident
        number, on = command.number, command.on
        known = await room.ask(
            self._rooms.store, lambda c: stored.put_vote(c, class_id, ident, number, on)
        )
        raised = room.board.raised.get(number)
        if not known or raised is None or room.members.get(ident) is not member:
            return  # the member or the question has been deleted meanwhile
        voter = hash_of(class_id, ident)
        if on:
            raised.voters.add(voter)
        else:
            raised.voters.discard(voter)
        self._own(room, member)
        self._rooms.notices(room).raised.soon()

    async def settle(self, seat: Seat, command: cm.SettleRaised) -> None:
        """Mark a question as answered, or hide it.

        Raises:
            InputError: there is no such question.
        """
        room = seat.room
        async with room.asking:
            raised = room.board.raised.get(command.number)
            if raised is None:
                raise refusal(CLOSED, "that question has been deleted.", "Choose another question.")
            facts = replace(raised.facts, answered=command.answered, hidden=command.hidden)
            await room.ask(
                self._rooms.store, lambda c: stored.settle(c, room.facts.class_id, facts)
            )
            raised.facts = facts
        self._shown_anew(room)

    async def show(self, seat: Seat, command: cm.ShowRaised) -> None:
        """Show all members the questions of everyone, or hide the questions."""
        room = seat.room
        async with room.asking:
            await self._put(room, replace(room.board.facts, shown=command.shown))
        self._shown_anew(room)

    async def count_down(self, seat: Seat, command: cm.CountDown) -> None:
        room = seat.room
        async with room.asking:
            await self._put(room, counted_down(room.board.facts, command, time.time()))
        room.send(pack(room.board.timer()), room.seats.values())

    async def _put(self, room: Room, facts: BoardFacts) -> None:
        await room.ask(self._rooms.store, lambda c: stored.put_board(c, room.facts.class_id, facts))
        room.board.facts = facts

    def _own(self, room: Room, member: Member) -> None:
        pages = (seat for seat in room.seats.values() if seat.member is member)
        room.send(pack(room.board.own(member.ident)), pages)

    def _shown_anew(self, room: Room) -> None:
        """Send each member the state of the member's own questions, even if questions are
        hidden."""
        for member in {s.member.ident: s.member for s in room.seats.values() if s.member}.values():
            self._own(room, member)
        self._rooms.notices(room).raised.soon()


def member_of(seat: Seat, what: str) -> Member:
    """Return the page's member.

    Raises:
        InputError: the page belongs to no member.
    """
    if seat.member is None:
        raise not_yours(what)
    return seat.member


def refuse_often(room: Room, member: Member) -> None:
    """Refuse a member's question if the member or the class has reached a limit.

    Raises:
        InputError: this member or this class has asked too many questions, or the member asks too
            soon.
    """
    wait_s = member.raised_s + budgets.CLASS_RAISE_EVERY_S - time.monotonic()
    if wait_s > 0:
        raise refusal(
            CLOSED,
            f"a member may ask one question every {budgets.CLASS_RAISE_EVERY_S:.0f} s.",
            f"Ask again in {max(1, round(wait_s))} s.",
        )
    own, all_ = len(room.board.asked_by(member.ident)), len(room.board.raised)
    if own >= budgets.CLASS_RAISED_EACH or all_ >= budgets.CLASS_RAISED:
        raise refusal(
            FULL,
            f"no more questions are allowed: you have asked {own}, and the class has asked {all_}.",
            "Ask aloud.",
        )
