# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs over HTTP: tasks and answers for whoever learns, scores and grades for whoever teaches."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TypeVar

from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from duet.api import bodies
from duet.api import lab_bodies as b
from duet.api import lab_scores as tables
from duet.api import lab_views as views
from duet.base.access import Visitor
from duet.base.errors import InputError
from duet.labs import files
from duet.labs.files import LabFile
from duet.labs.limits import BODY_BYTES
from duet.server.director import Director
from duet.server.labs.language import in_language
from duet.stream.viewer import visitor_of

Model = TypeVar("Model", bound=BaseModel)
BODY_S = 20.0
"""Until a request's body must have come."""


def add_lab_routes(app: FastAPI, director: Director) -> None:
    """The routes; who may call which stands in rights.py."""
    labs = director.labs

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
        text = tables.scores_csv(await scores_of(file), list(file.lab.tasks))
        disposition = {"content-disposition": f'attachment; filename="{file.slug}-scores.csv"'}
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=disposition)

    @app.get("/api/labs/{lab}/answers")
    async def answers(lab: str) -> b.LabRecord:
        file = await asyncio.to_thread(files.find, lab)
        return await asyncio.to_thread(tables.record_body, file, await labs.all_work(file))

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
        if app.state.lti is not None:
            await app.state.lti.forget(key)
        return bodies.Deleted(deleted=key)

    async def standing(visitor: Visitor, lab: str, lang: str) -> b.MyLab:
        file = await asyncio.to_thread(files.find, lab)
        work, name = await labs.work(visitor.key, file), await labs.name_of(visitor)
        named = visitor.person is not None and bool(visitor.person.name)
        mine = await asyncio.to_thread(views.my_lab, work, name, named, time.time())
        return await asyncio.to_thread(in_language, mine, file, lang)

    async def scores_of(file: LabFile) -> b.LabScores:
        return tables.scores_body(file, await labs.all_work(file))


async def read_body(request: Request, model: type[Model]) -> Model:
    """What a browser sent, bounded.

    Raises:
        InputError: it is too large, too slow, or no such document.
    """
    text = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                text += chunk
                if len(text) > BODY_BYTES:
                    raise InputError(
                        f"that is more than {BODY_BYTES:,} bytes.", remedy="Send less."
                    )
    except TimeoutError as error:
        raise InputError(
            f"the request did not come within {BODY_S:.0f} s.", remedy="Send it again."
        ) from error
    try:
        return model.model_validate_json(bytes(text) or b"{}")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise InputError(
            f"that is not usable: {place}: {first['msg']}.",
            remedy="See docs/LABS.md for what is sent.",
        ) from error
