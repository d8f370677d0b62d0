# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP routes for labs: tasks and answers for students, scores and grades for instructors."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, TypeVar

from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from duet.api import bodies
from duet.api.csv_cells import plain
from duet.base.access import Action, Visitor
from duet.base.errors import InputError
from duet.plugins.labs import bodies as b
from duet.plugins.labs import bodies as views
from duet.plugins.labs import files
from duet.plugins.labs.bodies import found_words, iso, run_of
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.grades import LabScore
from duet.plugins.labs.language import in_language
from duet.plugins.labs.records import Attempt, Participant, broken
from duet.plugins.labs.schema import BODY_BYTES
from duet.plugins.labs.scoring import in_time, share
from duet.plugins.labs.words import rubric_words
from duet.plugins.labs.work import Work
from duet.stream.viewer import visitor_of

# All participants' scores and attempts for instructors, as JSON and as CSV.

Rows = Sequence[tuple[Participant, Work]]


def scores_body(file: LabFile, rows: Rows) -> b.LabScores:
    people = [_person(file, one, work) for one, work in rows]
    return b.LabScores(lab=file.slug, title=file.lab.title, most=file.lab.most, people=people)


def _person(file: LabFile, one: Participant, work: Work) -> b.PersonScore:
    deadline = file.lab.deadline
    late = 0
    if deadline is not None:
        late = sum(attempt.at_s > deadline.timestamp() for attempt in work.attempts)
    return person_score(work.score, one.name, late)


def person_score(score: LabScore, name: str, late: int) -> b.PersonScore:
    """Return one row of the scores."""
    return b.PersonScore(
        person=score.person,
        name=name,
        points=round(score.points, 6),
        most=score.most,
        complete=score.complete,
        late=late,
        at=iso(score.at_s),
        tasks=[b.TaskPoints(**asdict(task)) for task in score.tasks],
    )


def scores_table(scores: b.LabScores, tasks: Sequence[str]) -> str:
    """Format the scores as CSV, with a row for each person and a column for each task."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["name", "person", "points", "most", "complete", "late", "at", *tasks])
    for one in scores.people:
        cells = [f"{task.points:g}" if task.state == "scored" else task.state for task in one.tasks]
        head = [plain(one.name), plain(one.person), f"{one.points:g}", f"{one.most:g}"]
        writer.writerow([*head, "yes" if one.complete else "no", one.late, one.at, *cells])
    return text.getvalue()


def record_body(file: LabFile, rows: Rows) -> b.LabRecord:
    """Return all attempts of all participants."""
    tasks = file.lab.tasks
    rubrics = {name: words for name, task in tasks.items() if (words := rubric_words(task))}
    people = [_record(one, work) for one, work in rows]
    return b.LabRecord(lab=file.slug, rubrics=rubrics, people=people)


def _record(one: Participant, work: Work) -> b.PersonRecord:
    attempts = [_recorded(work, attempt) for attempt in work.attempts]
    return b.PersonRecord(
        person=one.person, name=one.name, broken=broken(work.attempts), attempts=attempts
    )


def _recorded(work: Work, one: Attempt) -> b.RecordedAttempt:
    task, grade = work.file.lab.tasks.get(one.task), work.grades.get(one.number)
    worth = None if task is None else share(task, one, grade, work.keys[one.task])
    return b.RecordedAttempt(
        number=one.number,
        task=one.task,
        answer=b.AnswerGiven(**one.answer),
        found=[] if task is None else found_words(work.file, task, one.found),
        run=run_of(one),
        at=iso(one.at_s),
        counts=in_time(work.file.lab, one),
        sha256=one.sha256,
        share=worth,
        grade=None if grade is None else grade.points,
        comment="" if grade is None else grade.comment,
    )


def lab_entry(file: LabFile) -> tuple[str, str, float, str | None]:
    """Return a lab's slug, title, points and deadline."""
    deadline = file.lab.deadline
    return file.slug, file.lab.title, file.lab.most, deadline.isoformat() if deadline else None


if TYPE_CHECKING:
    from duet.plugins.labs.labs import Labs

Model = TypeVar("Model", bound=BaseModel)
BODY_S = 20.0
"""Time limit for the arrival of a request's body."""


ACTIONS: Final[Mapping[str, Action]] = {
    "/api/labs": Action.WATCH,
    "/api/labs/{lab}": Action.WATCH,
    "/api/labs/{lab}/mine": Action.WATCH,
    "/api/labs/{lab}/attempts": Action.ANSWER,
    "/api/labs/{lab}/scores": Action.TEACH,
    "/api/labs/{lab}/scores.csv": Action.TEACH,
    "/api/labs/{lab}/answers": Action.TEACH,
    "/api/labs/{lab}/grades": Action.TEACH,
    "/api/labs/{lab}/regrade": Action.TEACH,
    "/api/people/me": Action.WATCH,
}


def add_lab_routes(app: FastAPI, labs: Labs) -> None:
    @app.get("/api/labs")
    async def all_labs() -> list[b.LabLine]:
        return [views.lab_line(file) for file in await asyncio.to_thread(files.usable)]

    @app.get("/api/labs/{lab}")
    async def one_lab(lab: str, lang: str = "") -> b.LabView:
        file = await asyncio.to_thread(files.find, lab)
        view = await asyncio.to_thread(views.lab_view, file, time.time())
        return await asyncio.to_thread(in_language, view, file, lang)

    @app.get("/api/labs/{lab}/mine")
    async def mine(request: Request, lab: str, lang: str = "") -> b.MyLab:
        return await standing(visitor_of(request.scope), lab, lang)

    @app.post("/api/labs/{lab}/attempts")
    async def attempt(request: Request, lab: str, lang: str = "") -> b.MyLab:
        sent = await read_body(request, b.Answered)
        visitor = visitor_of(request.scope)
        await labs.answer(visitor, lab, sent.task, sent.answer, sent.name)
        return await standing(visitor, lab, lang)

    @app.get("/api/labs/{lab}/scores")
    async def scores(lab: str) -> b.LabScores:
        return await scores_of(await asyncio.to_thread(files.find, lab))

    @app.get("/api/labs/{lab}/scores.csv")
    async def scores_csv(lab: str) -> Response:
        file = await asyncio.to_thread(files.find, lab)
        text = scores_table(await scores_of(file), list(file.lab.tasks))
        disposition = {"content-disposition": f'attachment; filename="{file.slug}-scores.csv"'}
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=disposition)

    @app.get("/api/labs/{lab}/answers")
    async def answers(lab: str) -> b.LabRecord:
        file = await asyncio.to_thread(files.find, lab)
        return await asyncio.to_thread(record_body, file, await labs.all_work(file))

    @app.post("/api/labs/{lab}/grades")
    async def grade(request: Request, lab: str) -> b.LabScores:
        sent = await read_body(request, b.Graded)
        by = visitor_of(request.scope).key
        await labs.grade(by, lab, sent.person, sent.attempt, sent.points, sent.comment)
        return await scores_of(await asyncio.to_thread(files.find, lab))

    @app.post("/api/labs/{lab}/regrade")
    async def regrade(request: Request, lab: str) -> b.LabScores:
        sent = await read_body(request, b.Regrade)
        await labs.regrade(lab, sent.person)
        return await scores_of(await asyncio.to_thread(files.find, lab))

    @app.get("/api/people/me")
    async def my_data(request: Request) -> b.MyData:
        visitor = visitor_of(request.scope)
        attempts, grades = await labs.of_person(visitor.key)
        return b.MyData(
            person=visitor.key,
            name=await labs.name_of(visitor),
            attempts=[asdict(one) for one in attempts],
            grades=[asdict(one) for one in grades],
        )

    @app.delete("/api/people/me")
    async def forget_me(request: Request) -> bodies.Deleted:
        key = visitor_of(request.scope).key
        await labs.forget(key)
        return bodies.Deleted(deleted=key)

    async def standing(visitor: Visitor, lab: str, lang: str) -> b.MyLab:
        file = await asyncio.to_thread(files.find, lab)
        work, name = await labs.work(visitor.key, file), await labs.name_of(visitor)
        named = visitor.person is not None and bool(visitor.person.name)
        mine = await asyncio.to_thread(views.my_lab, work, name, named, time.time())
        return await asyncio.to_thread(in_language, mine, file, lang)

    async def scores_of(file: LabFile) -> b.LabScores:
        return scores_body(file, await labs.all_work(file))


async def read_body(request: Request, model: type[Model]) -> Model:
    """Read a request's body within limits of time and size.

    Raises:
        InputError: the body is too large, too slow, or invalid.
    """
    text = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                text += chunk
                if len(text) > BODY_BYTES:
                    raise InputError(
                        f"the request has more than {BODY_BYTES:,} bytes.", remedy="Send less."
                    )
    except TimeoutError as error:
        raise InputError(
            f"the request did not arrive within {BODY_S:.0f} s.", remedy="Send it again."
        ) from error
    try:
        return model.model_validate_json(bytes(text) or b"{}")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise InputError(
            f"the request is invalid: {place}: {first['msg']}.",
            remedy="docs/LABS.md describes the requests.",
        ) from error
