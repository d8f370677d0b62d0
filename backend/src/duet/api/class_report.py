# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a class, made of what is stored; without names, and without hashes."""

from __future__ import annotations

import csv
import io
import time
from collections import Counter
from datetime import UTC, datetime

from duet.api import bodies
from duet.api.class_tries import try_of, try_row
from duet.classes.board import BoardStored
from duet.classes.records import QuestionFacts, Stored
from duet.classes.scores import Score, changed, scores

COLUMNS = ("step", "question", "text", "round", "kind", "answer", "label", "count")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would calculate a text that begins so."""


def report_of(stored: Stored) -> bodies.ClassReport:
    """What a class answered, asked, and where it was lost."""
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
    """A report as a table: a row for each different answer of each round.

    Then one for each question of a member, with its votes, and one for each ten seconds in which
    somebody was lost.
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
    """What a choice is called; empty: the page knows it, or it is a number."""
    number = int(answer) if answer.isdecimal() else -1
    return question.options[number] if 0 <= number < len(question.options) else ""


def plain(text: str) -> str:
    """A cell that no spreadsheet calculates."""
    return f"'{text}" if text.startswith(FORMULA) else text
