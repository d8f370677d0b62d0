# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored board of a class, with members' questions, the votes for them, and the timer."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from duet.plugins.classroom.tables import BOARDS, MEMBERS, RAISED, VOTES


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """Settings for the whole class.

    Args:
        shown: whether members see everyone's questions.
        timer_s: length of the timer; None if there is no timer.
        timer_ends_s: when the timer ends, as Unix time.
    """

    shown: bool = False
    timer_s: float | None = None
    timer_ends_s: float | None = None


@dataclass(frozen=True, slots=True)
class RaisedFacts:
    """A question that a member asked.

    Args:
        step: the step in which it was asked.
        asker_sha256: the asker's pseudonym from hash_of. It is used for limits and deletion, and is
            never sent to a page.
        answered: whether the instructor has marked it as answered.
        hidden: whether the instructor has hidden it from other members and from reports.
    """

    number: int
    step: str
    text: str
    asker_sha256: str
    answered: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class BoardStored:
    """All stored data of one board. A vote consists of a question's number and the voter's hash."""

    facts: BoardFacts = BoardFacts()
    raised: tuple[RaisedFacts, ...] = ()
    votes: tuple[tuple[int, str], ...] = ()


NO_BOARD: Final = BoardStored()


def hash_of(class_id: str, member: str) -> str:
    """Return a member's pseudonym for questions and votes. It is valid only in this class."""
    return hashlib.sha256(f"{class_id} asks {member}".encode()).hexdigest()


def load(connection: Connection, class_id: str) -> BoardStored:
    """Load the board of a class, or an empty board if nothing is stored."""
    row = connection.execute(select(BOARDS).where(BOARDS.c.class_id == class_id)).first()
    facts = BoardFacts() if row is None else BoardFacts(row.shown, row.timer_s, row.timer_ends_s)
    raised, votes = (
        connection.execute(select(table).where(table.c.class_id == class_id).order_by(*order))
        for table, order in (
            (RAISED, (RAISED.c.number,)),
            (VOTES, (VOTES.c.number, VOTES.c.voter_sha256)),
        )
    )
    names = RaisedFacts.__dataclass_fields__
    return BoardStored(
        facts,
        tuple(RaisedFacts(**{name: row._mapping[name] for name in names}) for row in raised),
        tuple((row.number, row.voter_sha256) for row in votes),
    )


def put_board(connection: Connection, class_id: str, facts: BoardFacts) -> None:
    """Store the settings of the board."""
    values = asdict(facts)
    where = BOARDS.c.class_id == class_id
    if not connection.execute(update(BOARDS).where(where).values(values)).rowcount:
        connection.execute(insert(BOARDS).values(values | {"class_id": class_id}))


def add_raised(connection: Connection, class_id: str, member: str, facts: RaisedFacts) -> bool:
    """Store a question. Return false if its asker has been deleted meanwhile."""
    known = _is_member(connection, class_id, member)
    if known:
        connection.execute(insert(RAISED).values(class_id=class_id, **asdict(facts)))
    return known


def settle(connection: Connection, class_id: str, facts: RaisedFacts) -> None:
    """Store a question's new state."""
    of = (RAISED.c.class_id == class_id, RAISED.c.number == facts.number)
    values = {"answered": facts.answered, "hidden": facts.hidden}
    connection.execute(update(RAISED).where(*of).values(values))


def put_vote(connection: Connection, class_id: str, member: str, number: int, on: bool) -> bool:
    """Store or withdraw a member's vote. Return false if the member or the question has been
    deleted."""
    voter = hash_of(class_id, member)
    this = {"class_id": class_id, "number": number, "voter_sha256": voter}
    vote = tuple(VOTES.c[name] == value for name, value in this.items())
    connection.execute(delete(VOTES).where(*vote))
    if not on:
        return True
    raised = select(RAISED.c.number).where(RAISED.c.class_id == class_id, RAISED.c.number == number)
    known = _is_member(connection, class_id, member) and connection.execute(raised).first()
    if known:
        connection.execute(insert(VOTES).values(this))
    return bool(known)


def forget(connection: Connection, class_id: str, member: str) -> None:
    """Delete a member's questions with their votes, and the member's votes for other questions."""
    who = hash_of(class_id, member)
    of = (RAISED.c.class_id == class_id, RAISED.c.asker_sha256 == who)
    connection.execute(delete(RAISED).where(*of))
    connection.execute(
        delete(VOTES).where(VOTES.c.class_id == class_id, VOTES.c.voter_sha256 == who)
    )


def _is_member(connection: Connection, class_id: str, member: str) -> bool:
    of = (MEMBERS.c.class_id == class_id, MEMBERS.c.member == member)
    return connection.execute(select(MEMBERS.c.member).where(*of)).first() is not None
