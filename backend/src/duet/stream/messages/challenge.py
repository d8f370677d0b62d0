# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's challenge: what the page asks to be judged, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from duet.stream.messages.base import Message
from duet.stream.messages.failure import ErrorMessage

JudgePhase = Literal["waiting", "measuring", "building", "stress", "done", "failed"]


class Judge(Message):
    """Judge an arm by a challenge of its lesson, when it is this visitor's turn.

    Args:
        arm: the arm that the challenge starts from, with a change that is built.
    """

    type: Literal["judge"]
    lesson: Annotated[str, Field(max_length=64)]
    challenge: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]


class JudgedLine(Message):
    """One thing that was judged."""

    kind: Literal["goal", "rule", "without", "order", "stress"]
    says: str = Field(description="what was to hold")
    wanted: str = Field(description="limits of a goal or rule; else empty")
    found: str
    holds: bool | None = Field(description="null: it could not be judged here")


class Judged(Message):
    """How far a judgement is; latest wins per challenge. It goes to who asked for it."""

    type: Literal["judged"] = "judged"
    lesson: str
    challenge: str
    arm: str
    phase: JudgePhase
    done: int = Field(default=0, ge=0, description="guests that have run")
    total: int = Field(default=0, ge=0)
    met: bool | None = Field(default=None, description="null before it is done")
    because: str = Field(default="", description="one sentence")
    lines: list[JudgedLine] = Field(default=[])
    error: ErrorMessage | None = None
