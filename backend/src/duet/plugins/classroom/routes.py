# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP routes that list a visitor's classes, and return reports without names."""

from __future__ import annotations

import csv
import io
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request
from starlette.responses import Response

from duet.api.bodies import Deleted
from duet.api.csv_cells import plain
from duet.base.access import Action
from duet.plugins.classroom import bodies
from duet.plugins.classroom.board import BoardStored
from duet.plugins.classroom.records import (
    ClassFacts,
    QuestionFacts,
    Score,
    Stored,
    TryFacts,
    changed,
    scores,
)
from duet.stream.viewer import visitor_of

# Formats a class's tries for its report, as JSON and as CSV rows. Members' names are left out.
# Pure.


def try_of(facts: TryFacts) -> bodies.ReportTry:
    result = facts.result or {}
    return bodies.ReportTry(
        number=facts.number,
        lesson=facts.lesson,
        step=facts.step,
        makers=len(facts.makers),
        turned=facts.turned,
        summary=facts.summary,
        workload=facts.workload,
        clock=facts.clock,
        run=facts.run_id,
        state=facts.state,
        sentence=facts.sentence,
        title=result.get("title", ""),
        unit=result.get("unit", ""),
        values={lane["arm"]: lane["value"] for lane in result.get("lanes", [])},
        ratio=result.get("ratio"),
    )


def try_row(one: bodies.ReportTry) -> list[str | int]:
    """Return a try's row in the table of answers.

    The ratio of the try's lanes is in the column `answer`. Its changes are in the column `text`.
    """
    changes = [f"{name}={value}" for name, value in one.turned.items()]
    changed = "; ".join([*changes, *([one.summary] if one.summary else [])]) or "as the step has it"
    values = ", ".join(f"{arm} {value:.6g}" for arm, value in one.values.items())
    ratio = "" if one.ratio is None else f"{one.ratio:.4g}"
    label = f"{one.title}: {values} {one.unit}" if one.values else one.sentence or one.state
    return [one.step, f"try-{one.number}", changed, "", "try", ratio, label, one.makers]


# Makes the report of a class from the stored data. The report contains neither names nor hashes.

COLUMNS = ("step", "question", "text", "round", "kind", "answer", "label", "count")


def report_of(stored: Stored) -> bodies.ClassReport:
    """Report what the members of a class answered, asked and tried, and where they were lost."""
    facts = stored.facts
    ended_s = time.time() if facts.ended_s is None else facts.ended_s
    return bodies.ClassReport(
        class_id=facts.class_id,
        title=facts.title,
        lesson=facts.lesson,
        members=len(stored.members),
        started_at=datetime.fromtimestamp(facts.started_s, UTC).isoformat(timespec="seconds"),
        lasted_s=round(max(0.0, ended_s - facts.started_s), 1),
        open=facts.ended_s is None,
        questions=[_question(stored, one) for one in stored.questions],
        tries=[try_of(one) for one in stored.tried.tries],
        raised=_raised(stored.board),
        lost=[
            bodies.ReportLost(at_s=one.at_s, step=one.step, count=one.count)
            for one in stored.confusion
        ],
    )


def _raised(board: BoardStored) -> list[bodies.ReportRaised]:
    votes = Counter(number for number, _ in board.votes)
    shown = [one for one in board.raised if not one.hidden]
    return [
        bodies.ReportRaised(
            step=one.step, text=one.text, votes=votes[one.number], answered=one.answered
        )
        for one in sorted(shown, key=lambda one: (-votes[one.number], one.number))
    ]


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
    """Format a report as CSV. Each round of a question has one row per different answer.

    Further rows follow: one per try, one with the votes for each member's question, and one per
    ten-second interval in which members were lost.
    """
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
    for raised in report.raised:
        about = "answered" if raised.answered else ""
        cells = [plain(raised.step), "", plain(raised.text), ""]
        writer.writerow([*cells, "question", "", about, raised.votes])
    for lost in report.lost:
        writer.writerow([plain(lost.step), "", "", "", "lost", lost.at_s, "", lost.count])
    return text.getvalue()


def label_of(question: bodies.ReportQuestion, answer: str) -> str:
    """Return a choice's label. Return "" if only the page knows the label, or if the answer is a
    number."""
    number = int(answer) if answer.isdecimal() else -1
    return question.options[number] if 0 <= number < len(question.options) else ""


if TYPE_CHECKING:
    from duet.plugins.classroom.classrooms import Classrooms

ACTIONS: Final[Mapping[str, Action]] = {
    "/api/classes": Action.WATCH,
    "/api/classes/{class_id}": Action.WATCH,
    "/api/classes/{class_id}/report": Action.WATCH,
    "/api/classes/{class_id}/report.csv": Action.WATCH,
}
"""The access right that each route needs. Only the visitor who started a class sees its report."""


def add_class_routes(app: FastAPI, classes: Classrooms) -> None:
    """Add the routes. A request for another visitor's class gets the same answer as a request for
    an unknown class."""

    @app.get("/api/classes")
    async def own_classes(request: Request) -> list[bodies.ClassLine]:
        found = await classes.of_instructor(visitor_of(request.scope).ident)
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
    async def delete_class(request: Request, class_id: str) -> Deleted:
        await classes.delete(visitor_of(request.scope).ident, class_id)
        return Deleted(deleted=class_id)

    async def made(request: Request, class_id: str) -> bodies.ClassReport:
        return report_of(await classes.stored(visitor_of(request.scope).ident, class_id))


def class_line(facts: ClassFacts, members: int) -> bodies.ClassLine:
    return bodies.ClassLine(
        class_id=facts.class_id,
        title=facts.title,
        lesson=facts.lesson,
        code=facts.code,
        open=facts.ended_s is None,
        started_at=datetime.fromtimestamp(facts.started_s, UTC).isoformat(timespec="seconds"),
        members=members,
    )
