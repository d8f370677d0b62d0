# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions that members ask, with their votes, and the timer of a class: both directions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.stream.messages.base import Message
from duet.stream.messages.class_commands import Word

RAISED_CHARS = 280
TIMER_S = 3600
RaisedNumber = Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class RaiseQuestion(Message):
    """A member asks the instructor something, without its name. `class_own` confirms it.

    Args:
        text: plain text.
        step: the one that the member sees.
    """

    type: Literal["class_raise"]
    text: Annotated[str, Field(min_length=1, max_length=RAISED_CHARS)]
    step: Word = ""


class Upvote(Message):
    """A member has the same question, or takes that back."""

    type: Literal["class_upvote"]
    number: RaisedNumber
    on: StrictBool = True


class SettleRaised(Message):
    """The instructor says how a question stands.

    Args:
        answered: the class has had its answer.
        hidden: members and reports do not have it.
    """

    type: Literal["class_settle"]
    number: RaisedNumber
    answered: StrictBool
    hidden: StrictBool


class ShowRaised(Message):
    """The instructor shows the questions to all members, or to nobody but the instructor."""

    type: Literal["class_show_raised"]
    shown: StrictBool


class CountDown(Message):
    """The instructor starts the timer, gives it more time, or stops it.

    Args:
        act: start sets it anew.
        seconds: from now, or more.
    """

    type: Literal["class_count_down"]
    act: Literal["start", "extend", "stop"]
    seconds: Annotated[StrictInt, Field(ge=1, le=TIMER_S)] = 60


class RemoveMember(Message):
    """The instructor deletes what the class holds of a member, who leaves it.

    Args:
        member: from the roster.
    """

    type: Literal["class_remove"]
    member: Annotated[str, Field(min_length=1, max_length=64)]


class Raised(Message):
    """A question of a member; nothing here says whose it is."""

    number: int
    step: str = Field(description="on which it was asked")
    text: str
    votes: int
    answered: bool
    hidden: bool = Field(description="only the instructor and who asked it have it")


class ClassRaised(Message):
    """Questions of members, those with the most votes first; latest wins.

    The instructor has all of them, members those that are not hidden, once they are shown.
    """

    type: Literal["class_raised"] = "class_raised"
    class_id: str
    shown: bool = Field(description="to all members")
    questions: list[Raised]


class ClassOwn(Message):
    """To the pages of one member: what it has asked, as it is stored, and where it voted."""

    type: Literal["class_own"] = "class_own"
    class_id: str
    asked: list[Raised]
    voted: list[int] = Field(description="numbers of questions")


class ClassTimer(Message):
    """The timer of all screens; latest wins. A page counts down by its own clock."""

    type: Literal["class_timer"] = "class_timer"
    class_id: str
    length_s: float = Field(description="for which it was set, with what was added; 0: none is set")
    ends_ns: float | None = Field(description="Unix time in ns; null: there is no timer")
    sent_ns: float = Field(description="Unix time in ns when the server sent this")


BoardCommand = RaiseQuestion | Upvote | SettleRaised | ShowRaised | CountDown | RemoveMember
BoardMessage = ClassRaised | ClassOwn | ClassTimer
