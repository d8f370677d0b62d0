# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lab`: show and export scores, set grades, and delete answers, in the database of a
server."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from duet.plugins.labs.records import Participant
    from duet.plugins.labs.work import Work

    Rows = list[tuple[Participant, Work]]


@dataclass(frozen=True, slots=True)
class LabEntry:
    slug: str
    title: str
    points: float
    deadline: str | None


@dataclass(frozen=True, slots=True)
class LabPerson:
    person: str
    name: str
    points: float
    most: float
    complete: bool = key("bool")
    broken: str = key("where the chain of hashes is broken; empty: intact")
    tasks: Mapping[str, Any] = key(shape="{task: {points, most, state}}")
    attempts: Sequence[Mapping[str, Any]] = key("as stored")
    grades: Sequence[Mapping[str, Any]] = key("as stored")


@dataclass(frozen=True, slots=True)
class LabResult:
    action: str
    labs: Sequence[LabEntry] = key()
    people: Sequence[LabPerson] = key()
    deleted: int = key("attempts")


KEYS = keys_text(LabResult)


def lab(
    action: Annotated[
        str, typer.Argument(help="list, scores, export (CSV), grade, or forget.")
    ] = "list",
    name: Annotated[str, typer.Argument(help="Slug of the lab; for forget: key of a person.")] = "",
    person: Annotated[str, typer.Option("--person", help="For grade: key of the person.")] = "",
    attempt: Annotated[
        int, typer.Option("--attempt", min=0, help="For grade: number of the attempt.")
    ] = 0,
    points: Annotated[
        float | None, typer.Option("--points", min=0, help="For grade: points of the attempt.")
    ] = None,
    comment: Annotated[
        str, typer.Option("--comment", help="For grade: comment for the person.")
    ] = "",
    as_json: Json = False,
) -> int:
    """Show or export a lab's scores, set a grade, delete answers.

    The server may run meanwhile. A grade that is set here reaches the learning platform only when
    the server next sends this person's score. docs/LABS.md says how to write and grade a lab.
    """
    from duet.plugins.labs import files
    from duet.plugins.labs import routes as tables

    if action not in ACTIONS:
        raise InputError(
            f"./duet lab has no action '{action:.40}'.",
            remedy=f"Choose from: {', '.join(ACTIONS)}.",
        )
    if action == "list":
        return _list(as_json)
    if not name:
        what = "a person's key" if action == "forget" else "a lab"
        raise InputError(f"./duet lab {action} needs {what}.", remedy="See ./duet lab --help.")
    from duet.store.database import open_transaction

    with open_transaction() as connection:
        if action == "forget":
            return _forget(connection, name, as_json)
        if action == "grade":
            _grade(connection, name, person, attempt, points, comment)
        rows = rows_of(connection, name)
    if as_json:
        emit(LabResult(action, [], [_person(*row) for row in rows], 0))
    elif action == "export":
        file = files.find(name)
        sys.stdout.write(tables.scores_table(tables.scores_body(file, rows), list(file.lab.tasks)))
    else:
        _print(rows)
    return 0


ACTIONS = ("list", "scores", "export", "grade", "forget")
BY = "operator"
"""The grader's name for grades that are set on the command line."""


def rows_of(connection: Connection, slug: str) -> Rows:
    """Return each person's work in a lab, sorted by name."""
    from duet.plugins.labs import files, queries
    from duet.plugins.labs.work import keys_of, work_of

    file = files.find(slug)
    keys = keys_of(file)
    attempts = queries.by_person(queries.attempts(connection, slug))
    grades = queries.grades(connection, slug)
    return [
        (one, work_of(file, keys, key, attempts[key], [g for g in grades if g.person == key]))
        for key, one in queries.people(connection).items()
        if key in attempts
    ]


def _list(as_json: bool) -> int:
    from duet.plugins.labs import files
    from duet.plugins.labs import routes as tables

    found = [tables.lab_entry(file) for file in files.usable()]
    if as_json:
        emit(LabResult("list", [LabEntry(*one) for one in found], [], 0))
        return 0
    for slug, title, points, deadline in found:
        print(f"{slug:<24} {points:g} points  {title}" + (f"  due {deadline}" if deadline else ""))
    if not found:
        print("No labs. docs/LABS.md says how to write one.")
    return 0


def _grade(
    connection: Connection, slug: str, person: str, attempt: int, points: float | None, comment: str
) -> None:
    from duet.plugins.labs import queries
    from duet.plugins.labs.work import graded

    if points is None or not person:
        raise InputError(
            "a grade needs --person, --attempt and --points.",
            remedy="Run ./duet lab export LAB --json to see people's keys and attempts' numbers.",
        )
    rows = [work for one, work in rows_of(connection, slug) if one.person == person]
    if not rows:
        raise InputError(
            f"nobody with the key '{person:.64}' answered in the lab {slug}.",
            remedy="Run ./duet lab scores LAB --json for the keys of people.",
        )
    made = graded(rows[0], person, attempt, points, comment, BY, time.time())
    queries.put_grade(connection, made)


def _forget(connection: Connection, person: str, as_json: bool) -> int:
    from duet.plugins.labs import queries

    if queries.person(connection, person) is None:
        raise InputError(
            f"nobody with the key '{person:.64}' is known here.",
            remedy="Run ./duet lab scores LAB --json for the keys of people.",
        )
    deleted = queries.forget(connection, person)
    if as_json:
        emit(LabResult("forget", [], [], deleted))
    else:
        print(f"Deleted: the name, and {deleted} attempts with their grades.")
    return 0


def _person(one: Participant, work: Work) -> LabPerson:
    from duet.plugins.labs.records import broken

    tasks = {
        t.task: {"points": t.points, "most": t.most, "state": t.state} for t in work.score.tasks
    }
    return LabPerson(
        *(one.person, one.name, work.score.points, work.score.most, work.score.complete),
        broken(work.attempts),
        tasks,
        [asdict(attempt) for attempt in work.attempts],
        [asdict(grade) for grade in work.grades.values()],
    )


def _print(rows: Rows) -> None:
    from duet.plugins.labs.records import broken

    writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    for one, work in rows:
        states = [f"{t.points:g}" if t.state == "scored" else t.state for t in work.score.tasks]
        said = broken(work.attempts)
        points = f"{work.score.points:g}/{work.score.most:g}"
        writer.writerow([one.name, one.person, points, *states, *([said] if said else [])])
    if not rows:
        print("Nobody has answered yet.")
