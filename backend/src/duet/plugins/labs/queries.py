# SPDX-License-Identifier: GPL-2.0-or-later
"""Database operations for labs. Each function runs within a transaction of the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from duet.base.errors import InputError
from duet.plugins.labs.records import FIRST, Attempt, Grade, Participant, linked
from duet.plugins.labs.schema import ATTEMPTS as MOST
from duet.plugins.labs.tables import ATTEMPTS, GRADES, PEOPLE


def put_person(connection: Connection, person: Participant) -> None:
    """Store a participant or their new name."""
    of = PEOPLE.c.person == person.person
    if not connection.execute(update(PEOPLE).where(of).values(name=person.name)).rowcount:
        connection.execute(insert(PEOPLE).values(asdict(person)))


def person(connection: Connection, key: str) -> Participant | None:
    """Return the participant with that key, or None if there is none."""
    row = connection.execute(select(PEOPLE).where(PEOPLE.c.person == key)).first()
    return None if row is None else Participant(**row._mapping)


def people(connection: Connection) -> dict[str, Participant]:
    """Return all participants, by key, sorted by name."""
    rows = connection.execute(select(PEOPLE).order_by(PEOPLE.c.name, PEOPLE.c.person))
    return {row.person: Participant(**row._mapping) for row in rows}


def add_attempt(
    connection: Connection, lab: str, key: str, task: str, most: int | None,
    answer: dict[str, Any], found: dict[str, Any], at_s: float,
) -> Attempt:  # fmt: skip
    """Store an attempt at the end of its hash chain.

    Args:
        most: number of attempts that the task allows. None means any number.

    Raises:
        InputError: no attempt is left.
    """
    of = (ATTEMPTS.c.lab == lab, ATTEMPTS.c.person == key)
    newest = connection.execute(
        select(ATTEMPTS.c.number, ATTEMPTS.c.sha256)
        .where(*of)
        .order_by(ATTEMPTS.c.number.desc())
        .limit(1)
    ).first()
    number, previous = (1, FIRST) if newest is None else (newest.number + 1, newest.sha256)
    counted = select(func.count()).select_from(ATTEMPTS).where(*of, ATTEMPTS.c.task == task)
    made = connection.scalar(counted) or 0
    if most is not None and made >= most:
        raise InputError(
            f"no attempt is left: {made} of {most} are used.", remedy="Continue with another task."
        )
    if number > MOST:
        raise InputError(
            f"you have made {MOST:,} attempts in this lab, which is the limit.",
            remedy="Ask your instructor.",
        )
    attempt = linked(previous, lab, key, number, task, answer, found, at_s)
    connection.execute(insert(ATTEMPTS).values(asdict(attempt)))
    return attempt


def attempts(connection: Connection, lab: str, key: str | None = None) -> list[Attempt]:
    """Return the attempts of one person or of everybody. Each person's attempts are in order."""
    asked = select(ATTEMPTS).where(ATTEMPTS.c.lab == lab)
    if key is not None:
        asked = asked.where(ATTEMPTS.c.person == key)
    rows = connection.execute(asked.order_by(ATTEMPTS.c.person, ATTEMPTS.c.number))
    return [Attempt(**row._mapping) for row in rows]


def put_grade(connection: Connection, grade: Grade) -> Attempt:
    """Store the grade for an attempt. It replaces an earlier grade.

    Raises:
        InputError: there is no such attempt.
    """
    of = (
        ATTEMPTS.c.lab == grade.lab,
        ATTEMPTS.c.person == grade.person,
        ATTEMPTS.c.number == grade.attempt,
    )
    row = connection.execute(select(ATTEMPTS).where(*of)).first()
    if row is None:
        raise InputError(
            f"this person made no attempt {grade.attempt} in the lab {grade.lab}.",
            remedy="Reload the attempts of the lab: some may have been deleted.",
        )
    this = (
        GRADES.c.lab == grade.lab,
        GRADES.c.person == grade.person,
        GRADES.c.attempt == grade.attempt,
    )
    values = asdict(grade)
    if not connection.execute(update(GRADES).where(*this).values(values)).rowcount:
        connection.execute(insert(GRADES).values(values))
    return Attempt(**row._mapping)


def grades(connection: Connection, lab: str, key: str | None = None) -> list[Grade]:
    """Return the grades of one person or of everybody."""
    asked = select(GRADES).where(GRADES.c.lab == lab)
    if key is not None:
        asked = asked.where(GRADES.c.person == key)
    return [Grade(**row._mapping) for row in connection.execute(asked)]


def of_person(connection: Connection, key: str) -> tuple[list[Attempt], list[Grade]]:
    """Return a person's attempts and grades in all labs."""
    made = select(ATTEMPTS).where(ATTEMPTS.c.person == key)
    rows = connection.execute(made.order_by(ATTEMPTS.c.lab, ATTEMPTS.c.number))
    given = connection.execute(select(GRADES).where(GRADES.c.person == key))
    return [Attempt(**row._mapping) for row in rows], [Grade(**row._mapping) for row in given]


def forget(connection: Connection, key: str) -> int:
    """Delete a person with all attempts and grades. Return the number of deleted attempts."""
    counted = select(func.count()).select_from(ATTEMPTS).where(ATTEMPTS.c.person == key)
    made: int = connection.scalar(counted) or 0
    connection.execute(delete(PEOPLE).where(PEOPLE.c.person == key))
    return made


def delete_old(connection: Connection, before_s: float) -> int:
    """Delete people who have been inactive since `before_s`, and their answers. Return the number
    of people."""
    used = select(func.max(ATTEMPTS.c.at_s)).where(ATTEMPTS.c.person == PEOPLE.c.person)
    newest = func.coalesce(used.scalar_subquery(), PEOPLE.c.since_s)
    return connection.execute(delete(PEOPLE).where(newest < before_s)).rowcount


def by_person(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """Group attempts by person."""
    found: dict[str, list[Attempt]] = {}
    for one in attempts:
        found.setdefault(one.person, []).append(one)
    return found
