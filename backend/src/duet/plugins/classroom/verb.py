# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet class`: list the classes of this server, and delete one member's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from duet.plugins.classroom.records import ClassFacts, MemberFacts


@dataclass(frozen=True, slots=True)
class ClassEntry:
    class_id: str
    title: str
    lesson: str
    started_at: str = key("ISO 8601 UTC")
    open: bool = key("bool")
    members: int = key()


@dataclass(frozen=True, slots=True)
class ClassResult:
    action: str
    classes: Sequence[ClassEntry] = key()
    deleted: int = key("rows: the member, answers, questions and votes")


KEYS = keys_text(ClassResult)


def class_(
    action: Annotated[str, typer.Argument(help="list, or forget.")] = "list",
    class_id: Annotated[
        str, typer.Argument(metavar="class", help="For forget: id of the class.")
    ] = "",
    nickname: Annotated[str, typer.Argument(help="For forget: nickname of the member.")] = "",
    server_stopped: Annotated[
        bool, typer.Option("--server-stopped", help="Allow it in a class that has not ended.")
    ] = False,
    as_json: Json = False,
) -> int:
    """List stored classes, or delete one member's data.

    A member's data are the nickname, answers, questions, votes and runs (docs/CLASSES.md).
    """
    from duet.plugins.classroom import queries as reading

    if action not in ACTIONS:
        raise InputError(
            f"./duet class has no action '{action:.40}'.",
            remedy=f"Choose from: {', '.join(ACTIONS)}.",
        )
    from duet.store.database import open_transaction

    with open_transaction() as connection:
        if action == "list":
            found = [_entry(*one) for one in reading.classes_of(connection)]
            deleted = 0
        else:
            found, deleted = [], _forget(connection, class_id, nickname, server_stopped)
    if as_json:
        emit(ClassResult(action, found, deleted))
    elif action == "forget":
        print(f"Deleted: the nickname, and {deleted - 1} answers, questions, votes and runs.")
    else:
        for one in found:
            state = "open " if one.open else "ended"
            print(f"{one.class_id}  {one.started_at}  {state}  {one.members:>3}  {one.title}")
        if not found:
            print("No classes.")
    return 0


ACTIONS = ("list", "forget")
LIST = "Run ./duet class list for the ids of classes."


def _entry(facts: ClassFacts, members: int) -> ClassEntry:
    started = datetime.fromtimestamp(facts.started_s, UTC).isoformat(timespec="seconds")
    about = (facts.class_id, facts.title, facts.lesson, started)
    return ClassEntry(*about, facts.ended_s is None, members)


def _forget(connection: Connection, class_id: str, nickname: str, stopped: bool) -> int:
    """Delete a member's stored data, and return the number of deleted rows."""
    from duet.plugins.classroom import queries
    from duet.plugins.classroom import queries as reading
    from duet.plugins.classroom import queries as try_queries

    if not class_id or not nickname:
        raise InputError("./duet class forget needs a class and a nickname.", remedy=LIST)
    stored = reading.load(connection, class_id)
    if stored is None:
        raise InputError(f"there is no class '{class_id:.40}'.", remedy=LIST)
    if stored.facts.ended_s is None and not stopped:
        # A running server that has the class in memory would still show the deleted data.
        raise InputError(
            "that class has not ended.",
            remedy=(
                "The instructor can delete a member in the panel, or end the class. "
                "If the server is stopped, add --server-stopped."
            ),
        )
    member = _member(stored.members, nickname)
    before = _rows(connection)
    queries.forget_member(connection, class_id, member.member)
    try_queries.drop_unmade(connection, class_id)
    return before - _rows(connection)


def _member(members: tuple[MemberFacts, ...], nickname: str) -> MemberFacts:
    for member in members:
        if member.name.casefold() == nickname.strip().casefold():
            return member
    raise InputError(
        f"nobody in that class is called '{nickname:.40}'.",
        remedy="Write the complete nickname, including a suffix as in 'Ada 2'.",
    )


def _rows(connection: Connection) -> int:
    from sqlalchemy import func, select

    from duet.plugins.classroom.tables import ANSWERS, MEMBERS, RAISED, TRIES, VOTES

    tables = (MEMBERS, ANSWERS, RAISED, VOTES, TRIES)
    counted = (connection.scalar(select(func.count()).select_from(table)) for table in tables)
    return sum(number or 0 for number in counted)
