# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes over HTTP: those of a visitor, and what a class answered, without names."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from fastapi import FastAPI, Request
from starlette.responses import Response

from duet.api import bodies
from duet.api.class_tries import try_of, try_row
from duet.classes.records import ClassFacts, QuestionFacts, Stored
from duet.classes.scores import Score, changed, scores
from duet.serve.director import Director
from duet.stream.endpoint import visitor_of

COLUMNS = ("step", "question", "text", "round", "kind", "answer", "label", "count")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would calculate a text that begins so."""


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


def report_of(stored: Stored) -> bodies.ClassReport:
    """What a class answered."""
    return bodies.ClassReport(
        class_id=stored.facts.class_id,
        title=stored.facts.title,
        lesson=stored.facts.lesson,
        members=len(stored.members),
        questions=[_question(stored, facts) for facts in stored.questions],
        tries=[try_of(facts) for facts in stored.tried.tries],
    )


def _question(stored: Stored, facts: QuestionFacts) -> bodies.ReportQuestion:
    answers = [one for one in stored.answers if one.key == facts.key]
    return bodies.ReportQuestion(
        step=facts.step,
        question=facts.question,
        text=facts.text,
        options=list(facts.options),
        rounds=[_round(score) for score in scores(answers)],
        changed=changed(answers),
    )


def _round(score: Score) -> bodies.ReportRound:
    counts = {
        str(choice) if value is None else f"{value:.15g}": n for choice, value, n in score.bars
    }
    marks = [[float(mark["x"]), float(mark["y"])] for mark in score.marks]
    return bodies.ReportRound(
        round=score.round, answers=score.answers, right=score.right, counts=counts, marks=marks
    )


def csv_of(report: bodies.ClassReport) -> str:
    """A report as a table: a row for each different answer of each round."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for question in report.questions:
        named = [question.step, question.question, question.text]
        for one in question.rounds:
            before = [*map(plain, named), one.round]
            for answer, count in one.counts.items():
                label = label_of(question, answer)
                writer.writerow([*before, "answer", answer, plain(label), count])
            for x, y in one.marks:
                writer.writerow([*before, "mark", f"{x:.4f} {y:.4f}", "", 1])
            if one.right is not None:
                writer.writerow([*before, "right", "", "", one.right])
    writer.writerows([plain(str(cell)) for cell in row] for row in map(try_row, report.tries))
    return text.getvalue()


def label_of(question: bodies.ReportQuestion, answer: str) -> str:
    """What a choice is called; empty: the page knows it, or it is a number."""
    number = int(answer) if answer.isdecimal() else -1
    return question.options[number] if 0 <= number < len(question.options) else ""


def plain(text: str) -> str:
    """A cell that no spreadsheet calculates."""
    return f"'{text}" if text.startswith(FORMULA) else text
