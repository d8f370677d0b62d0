# SPDX-License-Identifier: GPL-2.0-or-later
"""What is asked of the database of classes; the counterpart of queries.py."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from duet.classes import board
from duet.classes.queries import (
    answer_facts,
    class_facts,
    confusion_facts,
    member_facts,
    question_facts,
)
from duet.classes.records import ClassFacts, PlaceFacts, Stored
from duet.classes.tables import ANSWERS, CLASSES, CONFUSION, MEMBERS, QUESTIONS
from duet.classes.try_queries import tried
from duet.classes.words import squeezed


def open_class(connection: Connection, code: str) -> str | None:
    """Id of the open class with that code, however it is spelt."""
    of = (CLASSES.c.code_key == squeezed(code), CLASSES.c.ended_s.is_(None))
    found: str | None = connection.scalar(select(CLASSES.c.class_id).where(*of))
    return found


def load(connection: Connection, class_id: str) -> Stored | None:
    """All that is stored of a class; None: there is none of that id."""
    row = connection.execute(select(CLASSES).where(CLASSES.c.class_id == class_id)).first()
    if row is None:
        return None
    place = None
    if row.place is not None:
        place = PlaceFacts(row.place_number, row.place_at_s, row.place)
    members, questions, answers, confusion = (
        connection.execute(select(table).where(table.c.class_id == class_id).order_by(*order))
        for table, order in (
            (MEMBERS, (MEMBERS.c.joined_s, MEMBERS.c.member)),
            (QUESTIONS, (QUESTIONS.c.number,)),
            (ANSWERS, (ANSWERS.c.at_s, ANSWERS.c.member)),
            (CONFUSION, (CONFUSION.c.at_s, CONFUSION.c.step)),
        )
    )
    return Stored(
        class_facts(row),
        place,
        tuple(map(member_facts, members)),
        tuple(map(question_facts, questions)),
        tuple(map(answer_facts, answers)),
        tuple(map(confusion_facts, confusion)),
        board.load(connection, class_id),
        tried(connection, class_id),
    )


def classes_of(
    connection: Connection, instructor: str | None = None
) -> list[tuple[ClassFacts, int]]:
    """Classes, the newest first, each with the number of its members.

    Args:
        instructor: ident of the visitor that started them; None: all classes.
    """
    counted = (
        select(func.count())
        .select_from(MEMBERS)
        .where(MEMBERS.c.class_id == CLASSES.c.class_id)
        .scalar_subquery()
        .label("members")
    )
    asked = select(CLASSES, counted).order_by(CLASSES.c.started_s.desc())
    if instructor is not None:
        asked = asked.where(CLASSES.c.instructor == instructor)
    return [(class_facts(row), row.members) for row in connection.execute(asked)]
