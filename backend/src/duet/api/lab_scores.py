# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores and attempts of all who answered a lab, for whoever teaches: as bodies and as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict

from duet.api import lab_bodies as b
from duet.api.class_report import plain
from duet.api.lab_views import found_words, iso, run_of
from duet.grades import LabScore
from duet.labs.files import LabFile
from duet.labs.records import Attempt, Participant, broken
from duet.labs.scoring import in_time, share
from duet.labs.words import rubric_words
from duet.server.labs.work import Work

Rows = Sequence[tuple[Participant, Work]]


def scores_body(file: LabFile, rows: Rows) -> b.LabScores:
    """Scores of all who answered."""
    people = [_person(file, one, work) for one, work in rows]
    return b.LabScores(lab=file.slug, title=file.lab.title, most=file.lab.most, people=people)


def _person(file: LabFile, one: Participant, work: Work) -> b.PersonScore:
    deadline = file.lab.deadline
    late = 0
    if deadline is not None:
        late = sum(attempt.at_s > deadline.timestamp() for attempt in work.attempts)
    return person_score(work.score, one.name, late)


def person_score(score: LabScore, name: str, late: int) -> b.PersonScore:
    """One line of the scores."""
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


def scores_csv(scores: b.LabScores, tasks: Sequence[str]) -> str:
    """The same as a table: a row for each person, a column for each task."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["name", "person", "points", "most", "complete", "late", "at", *tasks])
    for one in scores.people:
        cells = [f"{task.points:g}" if task.state == "scored" else task.state for task in one.tasks]
        head = [plain(one.name), plain(one.person), f"{one.points:g}", f"{one.most:g}"]
        writer.writerow([*head, "yes" if one.complete else "no", one.late, one.at, *cells])
    return text.getvalue()


def record_body(file: LabFile, rows: Rows) -> b.LabRecord:
    """All attempts of all who answered."""
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
    """Slug, title, points and deadline of a lab."""
    deadline = file.lab.deadline
    return file.slug, file.lab.title, file.lab.most, deadline.isoformat() if deadline else None
