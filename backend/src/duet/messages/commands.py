# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages from browsers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.base.access import Action
from duet.base.clock import Clock
from duet.messages.base import ClientMessage, Command

CHANGE_CHARS = 48_000
"""Largest diff, chosen so that its message stays below the message size limit. Usual: 500."""


class Open(Command):
    """Show a lesson with a given run, or with the recording that best fits a step.

    Args:
        run: id of a run, which may be live; name of a recording of the lesson; `recorded` for the
            default; or `none` for the lesson without a run.
        step: the step that the recording must fit; default: the first step.
        segments: whether this page can fetch segments. If False, the page gets all messages over
            the WebSocket.
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
    """Start a live run, now or when the request reaches the head of the queue (see `runs`).

    The request replaces the visitor's queued request. It also stops the visitor's current run,
    unless other visitors share that run or wait in the queue. Identical requests share a run.
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
    """End a live run or a measurement, or cancel a queued request.

    Args:
        run: id of the run. Without an id, the command applies to the visitor's queued request and
            to the live run that the visitor watches or has started.
    """

    needs = Action.RUN
    type: Literal["stop"]
    run: Annotated[str, Field(max_length=128)] | None = None


class Again(Command):
    """Repeat the live run that this page watches, or the visitor's last live run."""

    boots = True
    needs = Action.RUN
    type: Literal["again"]


class Do(Command):
    """Perform one of the lesson's acts on the live run that this page watches."""

    needs = Action.RUN
    type: Literal["act"]
    name: Annotated[str, Field(max_length=64)]
    value: Annotated[StrictInt, Field(ge=0, le=1 << 31)] = 0


class Hold(Command):
    """Hold the guests of the live run that this page watches, or resume them.

    Args:
        on: True to hold them, False to resume them.
        after: number of further accesses before the guests stop.
    """

    needs = Action.RUN
    type: Literal["hold"]
    on: StrictBool
    after: Annotated[StrictInt, Field(ge=0, le=1 << 30)] = 0


class Measure(Command):
    """Fill the measured table by running one guest at a time, untraced, in the order A B B A."""

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
    """Take or release control of the live run that this page watches."""

    needs = Action.RUN
    type: Literal["control"]
    take: StrictBool


class Ack(ClientMessage):
    """Report that the page has handled `n` messages in total. This limits messages in flight."""

    type: Literal["ack"]
    n: Annotated[StrictInt, Field(ge=0)]


class Change(Command):
    """Build one of the lesson's arms with a change that this visitor made.

    Sending the same change of an arm again does not start a second build. A new change replaces the
    visitor's queued change.

    Args:
        arm: the lesson's arm to change.
        diff: output of `git diff` between the arm's sources and the changed sources.
    """

    needs = Action.CHANGE
    type: Literal["change"]
    lesson: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]
    diff: Annotated[str, Field(max_length=CHANGE_CHARS)]


class DropChange(Command):
    """Cancel a queued or running build of a change."""

    needs = Action.CHANGE
    type: Literal["drop_change"]
    arm: Annotated[str, Field(max_length=64)]


class Judge(Command):
    """Judge an arm by a challenge of its lesson, when the request reaches the head of the queue.

    Args:
        arm: the challenge's base arm with a visitor's change, which must be built already.
    """

    boots = True
    needs = Action.MEASURE
    type: Literal["judge"]
    lesson: Annotated[str, Field(max_length=64)]
    challenge: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]
