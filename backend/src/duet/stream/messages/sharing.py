# SPDX-License-Identifier: GPL-2.0-or-later
"""Who controls which live run, and who waits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import ClockName, Message

Purpose = Literal["explain", "measure"]


class Control(Message):
    """Who controls the live run that this page watches; latest wins."""

    type: Literal["control"] = "control"
    run_id: str
    by: Literal["you", "other", "nobody"]
    may_take: bool = Field(description="this visitor could have control by asking for it")
    yours: bool = Field(description="this visitor asked for the run")


class LiveRun(Message):
    """A run that goes on, as others see it."""

    run_id: str = Field(description="opens the run now, and its file later")
    lesson: str
    purpose: Purpose
    arms: list[str]
    workload: str
    params: dict[str, int]
    clock: ClockName
    yours: bool


class WaitingRun(Message):
    """The run that this visitor waits for."""

    run_id: str
    lesson: str
    purpose: Purpose
    arms: list[str]
    place: int = Field(description="1: the next to start")
    waiting: int = Field(description="requests that wait, in all")
    estimate_s: float = Field(description="until it starts, when this was sent")
    behind: Purpose | None = Field(
        default=None, description="what this visitor wants as well, and what begins after it"
    )


class Runs(Message):
    """What runs live on this server, and what this visitor waits for; latest wins."""

    type: Literal["runs"] = "runs"
    live: list[LiveRun]
    waiting: WaitingRun | None = None


class Begun(Message):
    """A run that this page asked for begins; the page shows it. Its messages follow."""

    type: Literal["begun"] = "begun"
    run_id: str
