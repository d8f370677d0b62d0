# SPDX-License-Identifier: GPL-2.0-or-later
"""The browser contract: every message of the socket, both directions, as one tagged union each.

On the wire each is a msgpack map whose `type` tells which. `make contract` generates
the page's types and checks from these models. Times are nanoseconds since the lane's workload
start unless the name says otherwise.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duet.messages.base import (
    PROTOCOL,
    ActionName,
    BuildPhase,
    ClockName,
    Dtype,
    ErrorMessage,
    LanePhase,
    Message,
    RunPhase,
    Source,
)
from duet.messages.classroom import (
    TIMER_S,
    Answer,
    AskClass,
    Bar,
    Better,
    BoardCommand,
    BoardMessage,
    ClassAnswered,
    ClassCommand,
    ClassConfusion,
    ClassMessage,
    ClassOpened,
    ClassOwn,
    ClassPlace,
    ClassQuestion,
    ClassRaised,
    ClassRoster,
    ClassSeen,
    ClassState,
    ClassTally,
    ClassTimer,
    ClassTries,
    ClassTry,
    ClassWatched,
    ClassWatching,
    ClassWelcome,
    Confused,
    Confusion,
    Consent,
    CountDown,
    Drive,
    EndClass,
    Follow,
    ForgetMe,
    HandWheel,
    JoinClass,
    LeaveClass,
    Maker,
    Mark,
    OpenedStep,
    OpenStep,
    Pointed,
    Raised,
    RaiseQuestion,
    RemoveMember,
    ResumeClass,
    Reveal,
    RosterMember,
    SettleRaised,
    ShowGallery,
    ShowPlace,
    ShowRaised,
    Spot,
    Spotlight,
    StartClass,
    TakeBackTry,
    TallyRound,
    TryCommand,
    TryLane,
    TryMessage,
    TryResult,
    TryRun,
    Upvote,
    WatchCommand,
    WatchMember,
    WatchMessage,
    WatchPhase,
)
from duet.messages.commands import Ack, Again, Do, Hold, Measure, Open, Start, Stop, TakeControl
from duet.messages.lesson import (
    CHANGE_CHARS,
    Build,
    Change,
    Changed,
    ChangePhase,
    DropChange,
    Heartbeat,
    Held,
    Hello,
    Judge,
    Judged,
    JudgedLine,
    JudgePhase,
    Lens,
    LessonCard,
    LessonMessage,
    Made,
    MadeArm,
    MadePatch,
    Measured,
    MeasuredRow,
    MeasuredTable,
    Problem,
    Sample,
)
from duet.messages.run import (
    Batch,
    Begun,
    Contention,
    Control,
    Gap,
    Lane,
    Line,
    LiveRun,
    Loss,
    Metrics,
    Purpose,
    Reading,
    Row,
    Rows,
    Run,
    Runs,
    SegmentLine,
    Segments,
    WaitingRun,
    Waits,
)

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
