# SPDX-License-Identifier: GPL-2.0-or-later
"""A change that a visitor makes to an arm: what the page sends, and how far its kernel is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from duet.stream.messages.base import Message
from duet.stream.messages.failure import ErrorMessage

CHANGE_CHARS = 48_000
"""Of a diff, so that its message stays below the bound of one. Usual: 500."""
ChangePhase = Literal[
    "refused", "wait", "extract", "patch", "config", "compile", "link", "store", "built", "failed"
]


class Change(Message):
    """Build an arm with a change on top, for this visitor.

    The same change of the same arm is the same arm of the visitor's own, so that sending it again
    starts nothing anew. A new one replaces the one that this visitor waits for.

    Args:
        arm: of the lesson, which the change is made to.
        diff: as `git diff` writes it, between the arm's sources and the changed ones.
    """

    type: Literal["change"]
    lesson: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]
    diff: Annotated[str, Field(max_length=CHANGE_CHARS)]


class DropChange(Message):
    """Give up the change that is waited for or built; its kernel is not made."""

    type: Literal["drop_change"]
    arm: Annotated[str, Field(max_length=64)]


class Problem(Message):
    """What the compiler or patch(1) says of a line."""

    file: str = Field(description="relative to the kernel's source")
    line: int = Field(ge=1, description="of the changed file")
    column: int = Field(ge=0, description="from 1; 0: the whole line")
    severity: Literal["error", "warning"]
    text: str


class Changed(Message):
    """How far a visitor's change is; latest wins per arm. It goes to the visitor's pages only.

    From `wait` on the lesson has come once more, with the arm in it: `start` and `measure` take
    it as any other once it is `built`.
    """

    type: Literal["changed"] = "changed"
    lesson: str
    base: str = Field(description="the arm that was changed")
    arm: str = Field(description="name of the visitor's own arm; empty: the change was refused")
    phase: ChangePhase
    ahead: int = Field(default=0, ge=0, description="builds that come before it")
    done: int = Field(default=0, ge=0, description="objects made so far")
    total: int = Field(default=0, ge=0, description="objects expected")
    elapsed_s: float = Field(default=0.0, ge=0, description="since the change was asked for")
    message: str = ""
    error: ErrorMessage | None = None
    problems: list[Problem] = Field(default=[])
