# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored board of a class: members' questions, their votes, the timer."""

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
        shown: members see the questions of all.
        timer_s: length of the timer; None: there is none.
        timer_ends_s: Unix time.
    """

    shown: bool = False
    timer_s: float | None = None
    timer_ends_s: float | None = None


@dataclass(frozen=True, slots=True)
class RaisedFacts:
    """A question of a member.

    Args:
        step: on which it was asked.
        asker_sha256: from hash_of; for limits and deletion; sent to no page.
        answered: marked by the instructor.
        hidden: by the instructor; members and reports do not have it.
    """

    number: int
    step: str
    text: str
    asker_sha256: str
    answered: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class BoardStored:
    """All that is stored of one board; a vote is the question's number and the voter's hash."""

    facts: BoardFacts = BoardFacts()
    raised: tuple[RaisedFacts, ...] = ()
    votes: tuple[tuple[int, str], ...] = ()


NO_BOARD: Final = BoardStored()


def hash_of(class_id: str, member: str) -> str:
    """Return the pseudonym of a member for questions and votes, valid in this class only."""
    return hashlib.sha256(f"{class_id} asks {member}".encode()).hexdigest()


def load(connection: Connection, class_id: str) -> BoardStored:
    """Load the board of a class; empty if nothing is stored."""
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
    """Store a question; return false if its member has been forgotten meanwhile."""
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
    """Store or withdraw a member's vote; return false if the member or the question is gone."""
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
    """Delete a member's questions, all votes on them, and the member's votes on others."""
    who = hash_of(class_id, member)
    of = (RAISED.c.class_id == class_id, RAISED.c.asker_sha256 == who)
    connection.execute(delete(RAISED).where(*of))
    connection.execute(
        delete(VOTES).where(VOTES.c.class_id == class_id, VOTES.c.voter_sha256 == who)
    )


def _is_member(connection: Connection, class_id: str, member: str) -> bool:
    of = (MEMBERS.c.class_id == class_id, MEMBERS.c.member == member)
    return connection.execute(select(MEMBERS.c.member).where(*of)).first() is not None
