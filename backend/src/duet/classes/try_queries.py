# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done to the tries of a class in the database; each runs within a transaction."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from duet.classes.tables import CLASSES
from duet.classes.try_records import OpenedFacts, Tried, TryFacts
from duet.classes.try_tables import GALLERIES, MAKERS, OPENED, TRIES

ENDED = "The server ended before this run was over. Try it again."


def open_step(connection: Connection, class_id: str, facts: OpenedFacts) -> None:
    """The class may try in a step."""
    close_step(connection, class_id, facts.lesson, facts.step)
    connection.execute(insert(OPENED).values(class_id=class_id, **asdict(facts)))


def close_step(connection: Connection, class_id: str, lesson: str, step: str) -> None:
    """The class may not try there any more."""
    of = (OPENED.c.class_id == class_id, OPENED.c.lesson == lesson, OPENED.c.step == step)
    connection.execute(delete(OPENED).where(*of))


def show_gallery(connection: Connection, class_id: str, shown: bool) -> None:
    """Whether members see what the class tries."""
    connection.execute(delete(GALLERIES).where(GALLERIES.c.class_id == class_id))
    connection.execute(insert(GALLERIES).values(class_id=class_id, shown=shown))


def put_try(connection: Connection, class_id: str, facts: TryFacts) -> None:
    """Store a try, or how it stands now; one whose class is deleted is left out."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number == facts.number)
    values = asdict(facts) | {"class_id": class_id, "arms": list(facts.arms)}
    makers = values.pop("makers")
    if not connection.execute(update(TRIES).where(*of).values(values)).rowcount:
        there = select(CLASSES.c.class_id).where(CLASSES.c.class_id == class_id)
        if connection.execute(there).first() is None:
            return
        connection.execute(insert(TRIES).values(values))
    for member in makers:
        add_maker(connection, class_id, facts.number, member)


def add_maker(connection: Connection, class_id: str, number: int, member: str) -> None:
    """A member asked for it as well."""
    of = (
        MAKERS.c.class_id == class_id,
        MAKERS.c.number == number,
        MAKERS.c.member == member,
    )
    if connection.execute(select(MAKERS.c.member).where(*of)).first() is None:
        values = {"class_id": class_id, "number": number, "member": member}
        values["asked_s"] = time.time()
        connection.execute(insert(MAKERS).values(values))


def drop_maker(connection: Connection, class_id: str, number: int, member: str) -> None:
    """A member does not want it any more."""
    of = (MAKERS.c.class_id == class_id, MAKERS.c.number == number, MAKERS.c.member == member)
    connection.execute(delete(MAKERS).where(*of))


def end_try(connection: Connection, class_id: str, facts: TryFacts) -> None:
    """How a try ended; one that was deleted meanwhile stays so."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number == facts.number)
    values = {"state": facts.state, "sentence": facts.sentence, "result": facts.result}
    connection.execute(update(TRIES).where(*of).values(values))


def drop_tries(connection: Connection, class_id: str, numbers: list[int]) -> None:
    """Delete tries; their makers are forgotten."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number.in_(numbers))
    connection.execute(delete(TRIES).where(*of))


def drop_unmade(connection: Connection, class_id: str) -> None:
    """Delete the tries of a class that nobody is a maker of any more."""
    made = select(MAKERS.c.number).where(MAKERS.c.class_id == class_id)
    of = (TRIES.c.class_id == class_id, TRIES.c.number.not_in(made))
    connection.execute(delete(TRIES).where(*of))


def end_unfinished(connection: Connection, class_id: str | None = None) -> None:
    """What waited or ran when the former server ended has failed.

    Args:
        class_id: of this class alone, which a server takes over; None: of all.
    """
    unfinished = update(TRIES).where(TRIES.c.state.in_(("waiting", "running")))
    if class_id is not None:
        unfinished = unfinished.where(TRIES.c.class_id == class_id)
    connection.execute(unfinished.values(state="failed", sentence=ENDED))


def held_runs(connection: Connection) -> list[tuple[str, str]]:
    """Runs that classes which go on have made, each with its class, the oldest first."""
    query = (
        select(TRIES.c.run_id, TRIES.c.class_id)
        .join(CLASSES, CLASSES.c.class_id == TRIES.c.class_id)
        .where(CLASSES.c.ended_s.is_(None), TRIES.c.state == "done")
        .order_by(TRIES.c.asked_s)
    )
    return [(row.run_id, row.class_id) for row in connection.execute(query)]


def tried(connection: Connection, class_id: str) -> Tried:
    """All that is stored of what a class tries."""
    opened, galleries, tries, makers = (
        connection.execute(select(table).where(table.c.class_id == class_id).order_by(*order))
        for table, order in (
            (OPENED, (OPENED.c.lesson, OPENED.c.step)),
            (GALLERIES, ()),
            (TRIES, (TRIES.c.number,)),
            (MAKERS, (MAKERS.c.number, MAKERS.c.asked_s)),
        )
    )
    of: dict[int, list[str]] = {}
    for row in makers:
        of.setdefault(row.number, []).append(row.member)
    return Tried(
        tuple(OpenedFacts(row.lesson, row.step, row.patches) for row in opened),
        any(row.shown for row in galleries),
        tuple(try_facts(row, tuple(of.get(row.number, ()))) for row in tries),
    )


def try_facts(row: Row[Any], makers: tuple[str, ...]) -> TryFacts:
    """A row of the table of tries."""
    names = set(TryFacts.__dataclass_fields__) - {"makers"}
    values = {name: value for name, value in row._mapping.items() if name in names}
    return TryFacts(**values | {"arms": tuple(row.arms), "makers": makers})
