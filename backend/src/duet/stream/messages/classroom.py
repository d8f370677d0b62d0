# SPDX-License-Identifier: GPL-2.0-or-later
"""What pages of a class receive."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import Message
from duet.stream.messages.class_commands import MarkFields, PlaceFields, Round, SpotFields

ClassPart = Literal["instructor", "member"]


class Spot(SpotFields):
    """The driver's spotlight."""


class Pointed(MarkFields):
    """Where somebody pointed."""


class ClassWelcome(Message):
    """This page is in the class now. `class`, `class_place` and all `class_question` follow."""

    type: Literal["class_welcome"] = "class_welcome"
    class_id: str
    part: ClassPart
    member: str = Field(description="id of the member; empty: the instructor")
    name: str = Field(description="as the class sees it, with a suffix if it was taken")
    secret: str = Field(
        description="of the member, to come back by; the page stores it. Empty: the instructor"
    )


class ClassState(Message):
    """The class; latest wins. It goes to each page of it."""

    type: Literal["class"] = "class"
    class_id: str
    title: str
    lesson: str
    code: str = Field(description="three words with - between")
    link: str = Field(description="relative to the page's folder: ?class=CODE")
    open: bool = Field(description="false: it has ended, or this page left it")
    part: ClassPart
    driving: bool = Field(description="this page may send class_drive")
    driver: str = Field(description="name of who drives; empty: the instructor")
    driver_member: str = Field(description="its id; empty: the instructor")
    members: int
    connected: int


class ClassPlace(PlaceFields):
    """Where the driver is; latest wins. Newcomers and reconnects get it at once."""

    type: Literal["class_place"] = "class_place"
    spotlight: Spot | None = None
    class_id: str
    number: int = Field(description="rises with each place; also over a restart of the server")
    age_s: float = Field(
        default=0.0, ge=0, description="since the driver sent it; a page that plays adds it"
    )
    sent_ns: float = Field(default=0.0, description="Unix time in ns when the server sent it")


class RosterMember(Message):
    """A member as the instructor sees it."""

    member: str
    name: str
    connected: bool
    following: bool = Field(description="false: explores")
    step: str
    idle_s: float = Field(description="since the member's last command, when this was sent")
    driving: bool
    answered: int = Field(description="questions answered in any round")


class ClassRoster(Message):
    """All members, to the instructor, at most once a second; latest wins."""

    type: Literal["class_roster"] = "class_roster"
    class_id: str
    members: list[RosterMember]


class ClassQuestion(Message):
    """A question that was asked; latest wins per (step, question). To all."""

    type: Literal["class_question"] = "class_question"
    class_id: str
    step: str = Field(description="empty: a free poll")
    question: str
    text: str
    options: list[str]
    round: Round = Field(description="that is open, or was the last")
    revealed: bool


class Bar(Message):
    """How many chose one answer."""

    choice: int | None = Field(description="number of the option; null: this is a value")
    value: float | None
    count: int


class TallyRound(Message):
    """One round."""

    round: Round
    answers: int
    bars: list[Bar]
    marks: list[Pointed] = Field(description="without names")
    right: int | None = Field(description="how many were right; null: nobody was judged")


class ClassTally(Message):
    """What was answered; latest wins per (step, question).

    To the instructor live, at most 4 a second; to everyone once it is revealed, never before.
    """

    type: Literal["class_tally"] = "class_tally"
    class_id: str
    step: str
    question: str
    revealed: bool
    rounds: list[TallyRound]


class ClassAnswered(Message):
    """An answer is stored on disk; to who gave it, and on coming back for each former answer."""

    type: Literal["class_answered"] = "class_answered"
    class_id: str
    step: str
    question: str
    round: Round
    choice: int | None
    value: float | None
    mark: Pointed | None


class Confusion(Message):
    """How many members were lost in ten seconds."""

    at_s: int = Field(description="seconds since the class began, a multiple of 10")
    count: int
    step: str = Field(description="where the driver was")


class ClassConfusion(Message):
    """The curve of confusion, to the instructor; latest wins."""

    type: Literal["class_confusion"] = "class_confusion"
    class_id: str
    points: list[Confusion]


ClassMessage = (
    ClassWelcome
    | ClassState
    | ClassPlace
    | ClassRoster
    | ClassQuestion
    | ClassTally
    | ClassAnswered
    | ClassConfusion
)
