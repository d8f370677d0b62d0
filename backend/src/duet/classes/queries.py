# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done to classes in the database; each function runs within a transaction of the store."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from duet.classes import board
from duet.classes.records import (
    AnswerFacts,
    ClassFacts,
    ConfusionFacts,
    MemberFacts,
    PlaceFacts,
    QuestionFacts,
)
from duet.classes.tables import ANSWERS, CLASSES, CONFUSION, MEMBERS, QUESTIONS
from duet.classes.words import new_code, squeezed


def start_class(connection: Connection, facts: ClassFacts) -> ClassFacts:
    """Store a new class; its code is chosen here, unlike those of all open classes."""
    taken = set(connection.scalars(select(CLASSES.c.code_key).where(CLASSES.c.ended_s.is_(None))))
    code = new_code(taken)
    values = asdict(facts) | {"code": code, "code_key": squeezed(code)}
    values |= {"used_s": facts.started_s, "place_number": 0}
    connection.execute(insert(CLASSES).values(values))
    return ClassFacts(**(asdict(facts) | {"code": code}))


def end_class(connection: Connection, class_id: str, now_s: float) -> None:
    """The class is over; its code is free."""
    _change(connection, class_id, ended_s=now_s)


def delete_class(connection: Connection, class_id: str) -> None:
    """Delete a class with all that is stored of it."""
    connection.execute(delete(CLASSES).where(CLASSES.c.class_id == class_id))


def set_driver(connection: Connection, class_id: str, driver: str) -> None:
    """Another has the wheel; empty: the instructor."""
    _change(connection, class_id, driver=driver)


def put_place(connection: Connection, class_id: str, place: PlaceFacts) -> None:
    """Where the driver is."""
    _change(
        connection,
        class_id,
        place_number=place.number,
        place_at_s=place.at_s,
        place=place.fields,
        used_s=place.at_s,
    )


def add_member(connection: Connection, class_id: str, member: MemberFacts) -> None:
    """A member joined."""
    connection.execute(insert(MEMBERS).values(class_id=class_id, **asdict(member)))
    _change(connection, class_id, used_s=member.joined_s)


def forget_member(connection: Connection, class_id: str, member: str) -> None:
    """Delete a member's nickname, answers, questions and votes."""
    board.forget(connection, class_id, member)
    of = (MEMBERS.c.class_id == class_id, MEMBERS.c.member == member)
    connection.execute(delete(MEMBERS).where(*of))
    driven = (CLASSES.c.class_id == class_id, CLASSES.c.driver == member)
    connection.execute(update(CLASSES).where(*driven).values(driver=""))


def put_question(connection: Connection, class_id: str, question: QuestionFacts) -> None:
    """Store a question, or how it stands now."""
    values = asdict(question) | {"options": list(question.options)}
    this = _that_question(class_id, question)
    if connection.execute(update(QUESTIONS).where(*this).values(values)).rowcount:
        return
    asked = select(func.count()).select_from(QUESTIONS).where(QUESTIONS.c.class_id == class_id)
    number = connection.scalar(asked)
    connection.execute(insert(QUESTIONS).values(values | {"class_id": class_id, "number": number}))


def open_question(connection: Connection, class_id: str, question: QuestionFacts) -> None:
    """Store a question that an answer opens, unless it is there."""
    there = select(QUESTIONS.c.number).where(*_that_question(class_id, question))
    if connection.execute(there).first() is None:
        put_question(connection, class_id, question)


def _that_question(class_id: str, question: QuestionFacts) -> tuple[ColumnElement[bool], ...]:
    return (
        QUESTIONS.c.class_id == class_id,
        QUESTIONS.c.step == question.step,
        QUESTIONS.c.question == question.question,
    )


def put_answer(connection: Connection, class_id: str, answer: AnswerFacts) -> None:
    """Store an answer; it replaces the member's former one of that round."""
    of = (
        ANSWERS.c.class_id == class_id,
        ANSWERS.c.step == answer.step,
        ANSWERS.c.question == answer.question,
        ANSWERS.c.round == answer.round,
        ANSWERS.c.member == answer.member,
    )
    values = asdict(answer) | {"class_id": class_id, "at_s": time.time()}
    if not connection.execute(update(ANSWERS).where(*of).values(values)).rowcount:
        connection.execute(insert(ANSWERS).values(values))


def add_confusion(connection: Connection, class_id: str, at_s: int, step: str) -> None:
    """One more member was lost in these ten seconds."""
    of = (
        CONFUSION.c.class_id == class_id,
        CONFUSION.c.at_s == at_s,
        CONFUSION.c.step == step,
    )
    more = update(CONFUSION).where(*of).values(count=CONFUSION.c.count + 1)
    if not connection.execute(more).rowcount:
        values = {"class_id": class_id, "at_s": at_s, "step": step, "count": 1}
        connection.execute(insert(CONFUSION).values(values))


def end_unused(connection: Connection, before_s: float, now_s: float) -> None:
    """End classes that nobody ended and nobody visited since."""
    unused = (CLASSES.c.ended_s.is_(None), CLASSES.c.used_s < before_s)
    connection.execute(update(CLASSES).where(*unused).values(ended_s=now_s))


def delete_ended(connection: Connection, before_s: float) -> int:
    """Delete classes that ended before, with all that is stored of them; how many these were."""
    return connection.execute(delete(CLASSES).where(CLASSES.c.ended_s < before_s)).rowcount


def _change(connection: Connection, class_id: str, **values: Any) -> None:
    connection.execute(update(CLASSES).where(CLASSES.c.class_id == class_id).values(values))


def class_facts(row: Row[Any]) -> ClassFacts:
    """A row of the table of classes."""
    names = ClassFacts.__dataclass_fields__
    return ClassFacts(**{name: value for name, value in row._mapping.items() if name in names})


def member_facts(row: Row[Any]) -> MemberFacts:
    """A row of the table of members."""
    return MemberFacts(row.member, row.name, row.secret_sha256, row.joined_s)


def question_facts(row: Row[Any]) -> QuestionFacts:
    """A row of the table of questions."""
    options = tuple(row.options)
    return QuestionFacts(
        row.step, row.question, row.text, options, row.round, row.revealed, row.by_instructor
    )


def answer_facts(row: Row[Any]) -> AnswerFacts:
    """A row of the table of answers."""
    names = AnswerFacts.__dataclass_fields__
    return AnswerFacts(**{name: value for name, value in row._mapping.items() if name in names})


def confusion_facts(row: Row[Any]) -> ConfusionFacts:
    """A row of the table of confusion."""
    return ConfusionFacts(row.at_s, row.step, row._mapping["count"])
