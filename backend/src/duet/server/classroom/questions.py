# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions of a class: asked, answered, revealed. An answer is stored before it is confirmed."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from duet import messages as m
from duet.base import budgets
from duet.classes import queries
from duet.classes.records import AnswerFacts, QuestionFacts
from duet.messages.codec import pack
from duet.server.classroom import messages
from duet.server.classroom.refusals import CLOSED, FULL, not_yours, refusal
from duet.server.classroom.room import Question, Room, Seat
from duet.server.classroom.rooms import Rooms

LEAST_OPTIONS = 2


class Questions:
    """Of all classes."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def ask(self, seat: Seat, command: m.AskClass) -> None:
        """Open a question or its second round, and show it to all.

        Raises:
            InputError: a poll without text or options, or too many questions.
        """
        room = seat.room
        async with room.asking:
            known = room.questions.get((command.step, command.question))
            facts = again(known.facts, command) if known else new(room, command)
            await self._change(room, facts)

    async def reveal(self, seat: Seat, command: m.Reveal) -> None:
        """Show everyone what was answered; no further answer is taken.

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

    async def answer(self, seat: Seat, command: m.Answer) -> None:
        """Store an answer, then confirm it to all pages of its member.

        Raises:
            InputError: the question takes no such answer.
            InfraError: it is not stored.
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


def new(room: Room, command: m.AskClass) -> QuestionFacts:
    """A question that was neither asked nor answered before.

    Raises:
        InputError: a poll without text or options, or too many questions.
    """
    refuse_more(room, budgets.CLASS_QUESTIONS, len(room.questions))
    question = command.question
    if not command.step:
        if question:
            raise refusal(CLOSED, "there is no such poll.", "Make a new one.")
        if not command.text.strip() or len(command.options) < LEAST_OPTIONS:
            raise refusal(
                CLOSED, f"a poll needs a text and {LEAST_OPTIONS} options at least.", "Add them."
            )
        polls = sum(not facts.facts.step for facts in room.questions.values())
        question = f"poll-{polls + 1}"
    elif not question:
        raise refusal(CLOSED, "that step asks nothing.", "Choose a step with a question.")
    return QuestionFacts(
        command.step,
        question,
        command.text.strip(),
        tuple(command.options),
        command.round,
        by_instructor=True,
    )


def again(known: QuestionFacts, command: m.AskClass) -> QuestionFacts:
    """A question that is there: asked now, or once more; a later round takes answers again."""
    round_ = max(known.round, command.round)
    return replace(
        known,
        text=command.text.strip() or known.text,
        options=tuple(command.options) or known.options,
        round=round_,
        revealed=known.revealed and round_ == known.round,
        by_instructor=True,
    )


def refuse_unasked(room: Room, command: m.Answer) -> None:
    """Of a question that nobody asked; members together may open half of all.

    Raises:
        InputError: it may not be answered.
    """
    if not command.step:
        raise refusal(CLOSED, "there is no such poll.", "Wait until it is asked.")
    opened = sum(not question.facts.by_instructor for question in room.questions.values())
    refuse_more(room, budgets.CLASS_QUESTIONS // 2, opened)
    refuse_more(room, budgets.CLASS_QUESTIONS, len(room.questions))


def refuse_more(room: Room, most: int, there: int) -> None:
    """Raises: InputError: so many questions are there."""
    if there >= most:
        raise refusal(
            FULL, f"this class has {there} questions, which is the most.", "Start another class."
        )


def refuse_answer(facts: QuestionFacts, command: m.Answer) -> None:
    """Raises: InputError: the question takes no such answer (any more)."""
    given = [one for one in (command.choice, command.value, command.mark) if one is not None]
    if len(given) != 1:
        raise refusal(CLOSED, "an answer is one choice, one number or one mark.", "Choose one.")
    if facts.revealed:
        raise refusal(
            CLOSED, "the answers of this question are shown already.", "Wait for the next one."
        )
    if command.round != facts.round:
        raise refusal(
            CLOSED,
            f"round {facts.round} of this question is open, and the answer is of {command.round}.",
            "Answer once more.",
        )
    if facts.options and not (command.choice is not None and command.choice < len(facts.options)):
        raise refusal(
            CLOSED, f"this question has {len(facts.options)} options.", "Choose one of them."
        )
