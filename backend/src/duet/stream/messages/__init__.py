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
from duet.stream.messages.class_board import (
    TIMER_S,
    BoardCommand,
    BoardMessage,
    ClassOwn,
    ClassRaised,
    ClassTimer,
    CountDown,
    Raised,
    RaiseQuestion,
    RemoveMember,
    SettleRaised,
    ShowRaised,
    Upvote,
)
from duet.stream.messages.class_commands import (
    Answer,
    AskClass,
    ClassCommand,
    Confused,
    Drive,
    EndClass,
    Follow,
    ForgetMe,
    HandWheel,
    JoinClass,
    LeaveClass,
    Mark,
    ResumeClass,
    Reveal,
    Spotlight,
    StartClass,
)
from duet.stream.messages.class_tries import (
    Better,
    ClassOpened,
    ClassTries,
    ClassTry,
    Maker,
    OpenedStep,
    OpenStep,
    ShowGallery,
    TakeBackTry,
    TryCommand,
    TryLane,
    TryMessage,
    TryResult,
    TryRun,
)
from duet.stream.messages.class_watching import (
    ClassSeen,
    ClassWatched,
    ClassWatching,
    Consent,
    ShowPlace,
    WatchCommand,
    WatchMember,
    WatchMessage,
    WatchPhase,
)
from duet.stream.messages.classroom import (
    Bar,
    ClassAnswered,
    ClassConfusion,
    ClassMessage,
    ClassPlace,
    ClassQuestion,
    ClassRoster,
    ClassState,
    ClassTally,
    ClassWelcome,
    Confusion,
    Pointed,
    RosterMember,
    Spot,
    TallyRound,
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
from duet.stream.messages.greeting import Heartbeat, Hello, LessonCard, LessonMessage
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
from duet.stream.messages.segments import SegmentLine, Segments
from duet.stream.messages.sharing import Begun, Control, LiveRun, Purpose, Runs, WaitingRun
from duet.stream.messages.tables import Batch, Gap, Line, Loss, Metrics, Reading, Waits

__all__ = [
    "CHANGE_CHARS",
    "PROTOCOL",
    "TIMER_S",
    "Ack",
    "ActionName",
    "Again",
    "Answer",
    "AskClass",
    "Bar",
    "Batch",
    "Begun",
    "Better",
    "BoardCommand",
    "Build",
    "BuildPhase",
    "Change",
    "ChangePhase",
    "Changed",
    "ClassAnswered",
    "ClassCommand",
    "ClassConfusion",
    "ClassMessage",
    "ClassOpened",
    "ClassOwn",
    "ClassPlace",
    "ClassQuestion",
    "ClassRaised",
    "ClassRoster",
    "ClassSeen",
    "ClassState",
    "ClassTally",
    "ClassTimer",
    "ClassTries",
    "ClassTry",
    "ClassWatched",
    "ClassWatching",
    "ClassWelcome",
    "ClientMessage",
    "ClockName",
    "Command",
    "Confused",
    "Confusion",
    "Consent",
    "Contention",
    "Control",
    "CountDown",
    "Do",
    "Drive",
    "DropChange",
    "Dtype",
    "EndClass",
    "ErrorMessage",
    "Follow",
    "ForgetMe",
    "Gap",
    "HandWheel",
    "Heartbeat",
    "Held",
    "Hello",
    "Hold",
    "JoinClass",
    "Judge",
    "JudgePhase",
    "Judged",
    "JudgedLine",
    "Lane",
    "LanePhase",
    "LeaveClass",
    "Lens",
    "LessonCard",
    "LessonMessage",
    "Line",
    "LiveRun",
    "Loss",
    "Made",
    "MadeArm",
    "MadePatch",
    "Maker",
    "Mark",
    "Measure",
    "Measured",
    "MeasuredRow",
    "MeasuredTable",
    "Message",
    "Metrics",
    "Open",
    "OpenStep",
    "OpenedStep",
    "Pointed",
    "Problem",
    "Purpose",
    "RaiseQuestion",
    "Raised",
    "Reading",
    "RemoveMember",
    "ResumeClass",
    "Reveal",
    "RosterMember",
    "Row",
    "Rows",
    "Run",
    "RunPhase",
    "Runs",
    "Sample",
    "SegmentLine",
    "Segments",
    "ServerMessage",
    "SettleRaised",
    "ShowGallery",
    "ShowPlace",
    "ShowRaised",
    "Source",
    "Spot",
    "Spotlight",
    "Start",
    "StartClass",
    "Stop",
    "TakeBackTry",
    "TakeControl",
    "TallyRound",
    "TryCommand",
    "TryLane",
    "TryMessage",
    "TryResult",
    "TryRun",
    "Upvote",
    "WaitingRun",
    "Waits",
    "WatchCommand",
    "WatchMember",
    "WatchPhase",
]

ServerMessage = Annotated[
    Heartbeat
    | Hello
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
    | Segments
    | Changed
    | Judged
    | ClassMessage
    | BoardMessage
    | WatchMessage
    | TryMessage
    | ErrorMessage,
    Field(discriminator="type"),
]
Command = (
    Open
    | Start
    | Stop
    | Again
    | Do
    | Hold
    | Measure
    | Judge
    | TakeControl
    | Change
    | DropChange
    | ClassCommand
    | BoardCommand
    | WatchCommand
    | TryCommand
)
ClientMessage = Annotated[Command | Ack, Field(discriminator="type")]
