# SPDX-License-Identifier: GPL-2.0-or-later
"""The browser contract: every message of the socket, both directions, as one tagged union each.

On the wire each is a msgpack map whose `type` tells which. `make contract` generates
the page's types and checks from these models. Times are nanoseconds since the lane's workload
start unless the name says otherwise.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duet.stream.messages.base import (
    PROTOCOL,
    ActionName,
    BuildPhase,
    ClockName,
    Dtype,
    LanePhase,
    Message,
    RunPhase,
    Source,
)
from duet.stream.messages.challenge import Judge, Judged, JudgedLine, JudgePhase
from duet.stream.messages.change import (
    CHANGE_CHARS,
    Change,
    Changed,
    ChangePhase,
    DropChange,
    Problem,
)
from duet.stream.messages.commands import (
    Ack,
    Again,
    Do,
    Hold,
    Measure,
    Open,
    Start,
    Stop,
    TakeControl,
)
from duet.stream.messages.failure import ErrorMessage
from duet.stream.messages.greeting import Hello, LessonCard, LessonMessage
from duet.stream.messages.lenses import Held, Lens, Sample
from duet.stream.messages.measured import (
    Build,
    Made,
    MadeArm,
    MadePatch,
    Measured,
    MeasuredRow,
    MeasuredTable,
)
from duet.stream.messages.run import Contention, Lane, Row, Rows, Run
from duet.stream.messages.sharing import Begun, Control, LiveRun, Purpose, Runs, WaitingRun
from duet.stream.messages.tables import Batch, Gap, Line, Loss, Metrics, Reading, Waits

__all__ = [
    "CHANGE_CHARS",
    "PROTOCOL",
    "Ack",
    "ActionName",
    "Again",
    "Batch",
    "Begun",
    "Build",
    "BuildPhase",
    "Change",
    "ChangePhase",
    "Changed",
    "ClientMessage",
    "ClockName",
    "Command",
    "Contention",
    "Control",
    "Do",
    "DropChange",
    "Dtype",
    "ErrorMessage",
    "Gap",
    "Held",
    "Hello",
    "Hold",
    "Judge",
    "JudgePhase",
    "Judged",
    "JudgedLine",
    "Lane",
    "LanePhase",
    "Lens",
    "LessonCard",
    "LessonMessage",
    "Line",
    "LiveRun",
    "Loss",
    "Made",
    "MadeArm",
    "MadePatch",
    "Measure",
    "Measured",
    "MeasuredRow",
    "MeasuredTable",
    "Message",
    "Metrics",
    "Open",
    "Problem",
    "Purpose",
    "Reading",
    "Row",
    "Rows",
    "Run",
    "RunPhase",
    "Runs",
    "Sample",
    "ServerMessage",
    "Source",
    "Start",
    "Stop",
    "TakeControl",
    "WaitingRun",
    "Waits",
]

ServerMessage = Annotated[
    Hello
    | LessonMessage
    | Run
    | Lane
    | Rows
    | Batch
    | Reading
    | Metrics
    | Gap
    | Loss
    | Line
    | Sample
    | Lens
    | Held
    | Build
    | Measured
    | Control
    | Runs
    | Begun
    | Changed
    | Judged
    | ErrorMessage,
    Field(discriminator="type"),
]
Command = (
    Open | Start | Stop | Again | Do | Hold | Measure | Judge | TakeControl | Change | DropChange
)
ClientMessage = Annotated[Command | Ack, Field(discriminator="type")]
