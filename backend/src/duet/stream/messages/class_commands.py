# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page of a class sends: its instructor, its driver, its members."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.stream.messages.base import Message

NAME_CHARS = 32
MOST_OPTIONS = 6
Word = Annotated[str, Field(max_length=64)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e18, le=1e18)]
Round = Annotated[StrictInt, Field(ge=1, le=2)]
Part = Annotated[float, Field(ge=0, le=1)]


class SpotFields(Message):
    """A mark that pulses on all screens, or the lane that everyone is to look at.

    Args:
        arm: the lane.
        row: of that lane; null: the whole lane.
        t_ns: the moment; null: no single one.
    """

    arm: Word
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class MarkFields(Message):
    """Where somebody pointed, as parts of the picture's width and height, and what is there."""

    x: Part
    y: Part
    arm: Word = ""
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class Spotlight(SpotFields):
    """As the driver sends it."""


class Mark(MarkFields):
    """As a member sends it."""


class PlaceFields(Message):
    """Where the driver is: a place, no data.

    Args:
        lesson: slug of the lesson that is open.
        step: its step.
        place: the page's own address as its `writePlace` makes it ("?lesson=...&step=..."): run,
            arms, knobs, clock, workload, window, alignment, panes. The server passes it on as it
            is; pages read it as they read a link, and leave out what makes no sense.
        moment_ns: frame time; null: where the step looks.
        mode: what the playback does from there.
        direction: 1 forwards, -1 backwards.
        speed: guest seconds per second; null: the step's own.
    """

    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Word = ""
    place: Annotated[str, Field(max_length=1024)] = ""
    moment_ns: Number | None = None
    mode: Literal["play", "paused", "scope"] = "paused"
    direction: Annotated[StrictInt, Field(ge=-1, le=1)] = 1
    speed: Annotated[float, Field(gt=0, le=1e6)] | None = None


class StartClass(Message):
    """Start a class of a lesson; this visitor is its instructor. `class_welcome` answers."""

    type: Literal["class_start"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    title: Annotated[str, Field(max_length=120)] = ""


class ResumeClass(Message):
    """The instructor's page comes (back) to a class that this visitor started."""

    type: Literal["class_resume"]
    class_id: Word


class JoinClass(Message):
    """Join by the code, or come back by the secret that `class_welcome` gave.

    Args:
        code: three words, with spaces or `-` between.
        nickname: whatever the student wants to be called; a known secret makes it superfluous.
        secret: of a former `class_welcome` of this class; an unknown one joins anew.
    """

    type: Literal["class_join"]
    code: Word
    nickname: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    secret: Word = ""


class LeaveClass(Message):
    """This page leaves the class; its member may come back by the secret."""

    type: Literal["class_leave"]


class EndClass(Message):
    """The instructor ends the class; answers stay for the report."""

    type: Literal["class_end"]


class Drive(PlaceFields):
    """The driver is at another place. As often as 10 a second; later ones replace earlier ones."""

    type: Literal["class_drive"]
    spotlight: Spotlight | None = None


class Follow(Message):
    """A member follows or explores, and at which step it is; sent on change and on activity.

    Args:
        step: the one that the member sees.
    """

    type: Literal["class_follow"]
    following: StrictBool
    step: Word = ""


class HandWheel(Message):
    """The instructor gives the wheel to a member, or takes it back.

    Args:
        member: from the roster; empty: the instructor drives.
    """

    type: Literal["class_hand"]
    member: Word = ""


class AskClass(Message):
    """The instructor opens a question to the class, or its second round.

    Args:
        step: of a prediction of the lesson; empty: a free poll.
        question: the prediction's id (the page's), or a former poll's; empty: a new poll.
        round: 2 opens the second vote of think-pair-share.
        text: of a new poll.
        options: of a new poll, 2 to 6; of a prediction what its choices are called, or none.
    """

    type: Literal["class_ask"]
    step: Word = ""
    question: Word = ""
    round: Round = 1
    text: Annotated[str, Field(max_length=300)] = ""
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=120)]], Field(max_length=MOST_OPTIONS)
    ] = Field(default_factory=list)


class Answer(Message):
    """A member answers; one of choice, value and mark. A later answer of a round replaces it.

    Args:
        step: empty: a free poll.
        question: id of the prediction or poll.
        choice: number of the option, from 0.
        value: of a question for a number.
        right: the page's judgement, if the prediction has one; shown in reports only.
    """

    type: Literal["class_answer"]
    step: Word = ""
    question: Annotated[str, Field(min_length=1, max_length=64)]
    round: Round = 1
    choice: Annotated[StrictInt, Field(ge=0, le=63)] | None = None
    value: Number | None = None
    mark: Mark | None = None
    right: StrictBool | None = None


class Reveal(Message):
    """The instructor shows everyone what was answered; answers after it are refused."""

    type: Literal["class_reveal"]
    step: Word = ""
    question: Annotated[str, Field(min_length=1, max_length=64)]


class Confused(Message):
    """A member is lost just now. Counted without a name."""

    type: Literal["class_confused"]


class ForgetMe(Message):
    """Delete what this class holds of this member: the nickname and all answers."""

    type: Literal["class_forget"]


ClassCommand = (
    StartClass
    | ResumeClass
    | JoinClass
    | LeaveClass
    | EndClass
    | Drive
    | Follow
    | HandWheel
    | AskClass
    | Answer
    | Reveal
    | Confused
    | ForgetMe
)
