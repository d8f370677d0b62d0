# SPDX-License-Identifier: GPL-2.0-or-later
"""What a browser sends."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.base.access import Action
from duet.base.clock import Clock
from duet.messages.base import ClientMessage, Command


class Open(Command):
    """Show me a lesson: the run that is named, or the recording that fits the step.

    Args:
        run: an id (of a live run, too), the name of one of the lesson's recordings, `recorded` as
            if nothing was named, or `none` for the lesson alone.
        step: the recording that fits this step best; an unknown or absent one is the first.
        segments: this page can fetch a run's segments; without it all messages come here.
    """

    needs = Action.WATCH
    type: Literal["open"]
    lesson: Annotated[str, Field(max_length=64)]
    run: Annotated[str, Field(max_length=128)] | None = None
    step: Annotated[str, Field(max_length=64)] | None = None
    segments: StrictBool = False


Params = Annotated[dict[Annotated[str, Field(max_length=64)], StrictInt], Field(max_length=32)]
Arms = Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=5)]


class Start(Command):
    """Run live, now or when it is this visitor's turn (`runs` tells his place).

    It replaces the request that he waits for. His own run that goes on is stopped for it, unless
    others wait or asked for that run. A request that equals another's shares its run.
    """

    boots = True
    needs = Action.RUN
    type: Literal["start"]
    lesson: Annotated[str, Field(max_length=64)]
    arms: Arms
    workload: Annotated[str, Field(max_length=64)] | None = None
    params: Params = Field(default_factory=dict)
    clock: Clock | None = None


class Stop(Command):
    """End a live run or a measurement, or withdraw a request that waits.

    Args:
        run: its id; without one, what this visitor waits for and the live run he watches or runs.
    """

    needs = Action.RUN
    type: Literal["stop"]
    run: Annotated[str, Field(max_length=128)] | None = None


class Again(Command):
    """Start the live run that is watched once more, or this visitor's last one."""

    boots = True
    needs = Action.RUN
    type: Literal["again"]


class Do(Command):
    """Do one of the lesson's acts on the live run that this page watches."""

    needs = Action.RUN
    type: Literal["act"]
    name: Annotated[str, Field(max_length=64)]
    value: Annotated[StrictInt, Field(ge=0, le=1 << 31)] = 0


class Hold(Command):
    """Hold the guests of the live run that this page watches, or let them go."""

    needs = Action.RUN
    type: Literal["hold"]
    on: StrictBool
    after: Annotated[StrictInt, Field(ge=0, le=1 << 30)] = 0


class Measure(Command):
    """Fill the measured table: one guest at a time, untraced, A B B A."""

    boots = True
    needs = Action.MEASURE
    type: Literal["measure"]
    lesson: Annotated[str, Field(max_length=64)]
    arms: Arms
    workload: Annotated[str, Field(max_length=64)] | None = None
    params: Params = Field(default_factory=dict)
    clock: Clock | None = None
    repeats: Annotated[StrictInt, Field(ge=1, le=20)] = 3


class TakeControl(Command):
    """Take or give back control of the live run that this page watches."""

    needs = Action.RUN
    type: Literal["control"]
    take: StrictBool


class Ack(ClientMessage):
    """So many messages have been handled. A page that acks is never sent far ahead."""

    type: Literal["ack"]
    n: Annotated[StrictInt, Field(ge=0)]
