# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes over HTTP: those of a visitor, and what a class answered, without names."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import FastAPI, Request
from starlette.responses import Response

from duet.api import bodies
from duet.api.class_report import csv_of, report_of
from duet.classes.records import ClassFacts
from duet.server.director import Director
from duet.stream.viewer import visitor_of


def add_class_routes(app: FastAPI, director: Director) -> None:
    """The routes; a class of somebody else is as unknown as one that was never there."""

    @app.get("/api/classes")
    async def classes(request: Request) -> list[bodies.ClassLine]:
        found = await director.classes.of_instructor(visitor_of(request.scope).ident)
        return [class_line(facts, members) for facts, members in found]

    @app.get("/api/classes/{class_id}/report")
    async def report(request: Request, class_id: str) -> bodies.ClassReport:
        return await made(request, class_id)

    @app.get("/api/classes/{class_id}/report.csv")
    async def report_csv(request: Request, class_id: str) -> Response:
        text = csv_of(await made(request, class_id))
        disposition = {"content-disposition": 'attachment; filename="class-report.csv"'}
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=disposition)

    @app.delete("/api/classes/{class_id}")
    async def delete_class(request: Request, class_id: str) -> bodies.Deleted:
        await director.classes.delete(visitor_of(request.scope).ident, class_id)
        return bodies.Deleted(deleted=class_id)

    async def made(request: Request, class_id: str) -> bodies.ClassReport:
        return report_of(await director.classes.stored(visitor_of(request.scope).ident, class_id))


def class_line(facts: ClassFacts, members: int) -> bodies.ClassLine:
    """A class in the list."""
    return bodies.ClassLine(
        class_id=facts.class_id,
        title=facts.title,
        lesson=facts.lesson,
        code=facts.code,
        open=facts.ended_s is None,
        started_at=datetime.fromtimestamp(facts.started_s, UTC).isoformat(timespec="seconds"),
        members=members,
    )
