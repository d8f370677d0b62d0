# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of HTTP responses about classes."""

from __future__ import annotations

from pydantic import BaseModel, Field

from duet.api.bodies import Body


class ClassLine(Body):
    """A class in the list of classes that this visitor started."""

    class_id: str
    title: str
    lesson: str
    code: str
    open: bool
    started_at: str = Field(description="ISO 8601 UTC")
    members: int


class ReportRound(Body):
    """One round of a question."""

    round: int
    answers: int
    right: int | None = Field(description="null: nobody was judged")
    counts: dict[str, int] = Field(description="choice, or value, as text -> answers")
    marks: list[list[float]] = Field(
        description="where members pointed: x and y as fractions of the picture's size"
    )


class ReportQuestion(Body):
    """One question put to a class. The step is empty for a free poll."""

    step: str
    question: str
    text: str
    options: list[str]
    rounds: list[ReportRound]
    changed: int = Field(description="members whose second answer differs from their first")


class ReportRaised(Body):
    """A question that a member asked, without anything that identifies the member."""

    step: str
    text: str
    votes: int
    answered: bool


class ReportLost(Body):
    """Number of members who said in one ten-second interval that they were lost."""

    at_s: int = Field(description="since the class began")
    step: str = Field(description="where the driver was")
    count: int


class ReportTry(Body):
    """A run that members requested."""

    number: int
    lesson: str
    step: str
    makers: int = Field(description="how many members requested it")
    turned: dict[str, int] = Field(description="knobs whose values differed from the step's")
    summary: str = Field(description="the changed patch in one line; empty: no patch was changed")
    workload: str
    clock: str
    run: str
    state: str
    sentence: str = Field(description="why it failed")
    title: str = Field(description="title of the run's one number; empty: it has none")
    unit: str
    values: dict[str, float] = Field(description="arm -> value, of at most two arms")
    ratio: float | None = Field(
        description="second value divided by the first; null: there are not two values"
    )


class ClassReport(Body):
    """The answers, questions and tries of a class, without names."""

    class_id: str
    title: str
    lesson: str
    members: int
    started_at: str = Field(description="ISO 8601 UTC")
    lasted_s: float = Field(description="until its end, or until now")
    open: bool
    questions: list[ReportQuestion]
    raised: list[ReportRaised] = Field(description="those with the most votes first")
    lost: list[ReportLost]
    tries: list[ReportTry]


HTTP: tuple[type[BaseModel], ...] = (ClassLine, ClassReport)
