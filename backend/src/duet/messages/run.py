# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages about a run and its lanes: state, data, losses, segments, control and queue."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.base.clock import Clock
from duet.messages.base import (
    Dtype,
    Key,
    LanePhase,
    Message,
    RunPhase,
    ServerMessage,
    SessionMessage,
    Source,
    Span,
)


class Run(SessionMessage):
    """State of a run. A newer message replaces the previous one."""

    latest_by = ("run_id",)
    type: Literal["run"] = "run"
    run_id: str
    lesson: str
    source: Source
    purpose: Literal["explain", "measure"] = "explain"
    clock: Clock
    shift: int = Field(default=0, description="count clock: 2^shift ns per instruction")
    params: dict[str, int]
    workload: str
    arms: list[str]
    phase: RunPhase
    started_at: str | None = Field(default=None, description="ISO 8601 UTC; null before the start")
    recorded_at: str | None = Field(default=None, description="ISO 8601 UTC of a recording")
    apart: bool = Field(default=False, description="true: the lanes ran one after another")
    message: str = ""


class Contention(Message):
    """CPU time that a lane's vCPUs used, and time that they waited for a CPU, since the start.

    A run is distorted if the waiting time of all lanes is more than the fraction `bound` of waiting
    time plus CPU time.
    """

    ran_s: float = Field(ge=0, description="seconds on a CPU, summed over all vCPUs")
    waited_s: float = Field(
        ge=0,
        description="seconds in which a vCPU was runnable without a CPU, or its CPU was stolen",
    )
    bound: float = Field(
        description="fraction of time spent waiting above which times are distorted, 0 to 1"
    )


class Lane(SessionMessage):
    """State of one lane. A newer message replaces the previous one."""

    latest_by = ("run_id", "arm")
    type: Literal["lane"] = "lane"
    run_id: str
    arm: str
    phase: LanePhase
    message: str = ""
    remedy: str = ""
    detail: str = Field(default="", description="end of the console or the log; shown on demand")
    accel: str | None = None
    pid: int | None = Field(default=None, description="pid of the guest's QEMU, while it runs")
    kernel: str | None = Field(default=None, description="uname -r of the guest")
    boot_s: float | None = None
    cloned: bool = Field(
        default=False, description="true: a copy of a template; boot_s is the time that it took"
    )
    contention: Contention | None = Field(
        default=None,
        description="null if not measured, as on the count clock, where contention does no harm",
    )


class Row(Message):
    """A row of a lane: a thread of the workload, another process of the workload, or a track."""

    row: int = Field(ge=0)
    tid: int
    name: str
    role: Literal["thread", "other", "track"]


class Rows(SessionMessage):
    """All known rows of a lane. The list replaces the previous one."""

    latest_by = ("run_id", "arm")
    type: Literal["rows"] = "rows"
    run_id: str
    arm: str
    rows: list[Row]


# Data of a lane: columns, counts, lines and losses.


class Batch(SessionMessage):
    """New rows of one table. Each column is raw little-endian bytes with `n` values."""

    type: Literal["batch"] = "batch"
    run_id: str
    arm: str
    table: str = Field(description="spans, ops, links; rows of open replace the previous ones")
    seq: int = Field(description="sequence number of the batch in its lane and table, from 0")
    n: int = Field(ge=0)
    watermark_ns: float = Field(description="time up to which the lane's data are complete")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    sent_ns: float = Field(description="Unix time in ns when the server encoded it")
    newest_event_host_ms: float | None = Field(
        default=None, description="estimated Unix time in ms of the batch's newest event"
    )

    def key(self) -> Key | None:
        """Return a key only for a batch of open spans, which a newer batch replaces."""
        return ("open", self.run_id, self.arm) if self.table == "open" else None

    def span(self) -> Span | None:
        """Return the numbers of the batch's rows; None for open spans, which are replaced."""
        if self.table == "open":
            return None
        return Span(self.run_id, self.arm, self.table, self.seq, self.n)


class Reading(ServerMessage):
    """Progress of reading a recording, sent between batches of the recording."""

    type: Literal["reading"] = "reading"
    run_id: str
    read: int = Field(ge=0, description="minimum number of decoded transcript bytes")
    total: int = Field(ge=0, description="all bytes of the transcripts; 0: not known yet")
    whole: bool = Field(description="true: no more batches follow")

    def key(self) -> Key | None:
        """Return a key only for the last message, so that the other messages keep their order."""
        return ("reading", self.run_id) if self.whole else None


class Waits(Message):
    """Quantiles of the lesson's waits in ns; null if there were no waits."""

    p50: float | None
    p95: float | None
    max: float | None
    n: int


class Metrics(SessionMessage):
    """One lane's counts so far. A newer message replaces the previous one."""

    latest_by = ("run_id", "arm")
    type: Literal["metrics"] = "metrics"
    run_id: str
    arm: str
    watermark_ns: float
    start_ns: int | None = Field(
        default=None,
        description="guest's monotonic clock at time 0 of the lane; null: not known",
    )
    ops: int
    spans: dict[str, int]
    events_read: int
    events_lost: int
    cycles: int = Field(description="finished cycles of the lesson's first track")
    wait_ns: Waits


class Gap(ServerMessage):
    """Batches that this viewer misses because its outbox or the replay buffer was full."""

    type: Literal["gap"] = "gap"
    run_id: str
    arm: str
    table: str
    from_seq: int
    to_seq: int = Field(description="inclusive")
    rows: int


class Loss(SessionMessage):
    """Events that were lost before they reached the server."""

    type: Literal["loss"] = "loss"
    run_id: str
    arm: str
    t0_ns: float
    t1_ns: float
    events: int | None = Field(description="number of lost events; null: not known")
    where: Literal["ring buffer", "kprobe", "host"]


class Line(SessionMessage):
    """One output line of the workload, verbatim."""

    type: Literal["line"] = "line"
    run_id: str
    arm: str
    stream: Literal["out", "err"]
    text: str
    t_ns: float


# Available segments of a run; the page fetches them over HTTP (docs/SEGMENTS.md).


class SegmentLine(Message):
    """One segment. Its URL is `segments/RUN/N-DIGEST`, relative to the page."""

    n: int = Field(ge=0, description="number of the segment in its run, from 0")
    digest: str = Field(description="keyed hash of the content, which nobody can guess")
    bytes: int = Field(ge=0, description="compressed size")
    through_ns: float = Field(description="time up to which all lanes of the segment are complete")


class Segments(ServerMessage):
    """Available segments. A page applies them in order, before messages that follow this one."""

    latest_by = ("run_id",)
    type: Literal["segments"] = "segments"
    run_id: str
    segments: list[SegmentLine]


# Control of live runs, and the queue.

Purpose = Literal["explain", "measure"]


class Control(ServerMessage):
    """The visitor in control of the live run that this page watches.

    A newer message replaces the previous one.
    """

    latest_by = ()
    lasting = True
    type: Literal["control"] = "control"
    run_id: str
    by: Literal["you", "other", "nobody"]
    may_take: bool = Field(description="true: this visitor may take control")
    yours: bool = Field(description="true: this visitor requested the run")


class LiveRun(Message):
    """A live run in progress."""

    run_id: str = Field(description="id to open; after the run it opens the saved file")
    lesson: str
    purpose: Purpose
    arms: list[str]
    workload: str
    params: dict[str, int]
    clock: Clock
    yours: bool


class WaitingRun(Message):
    """The queued run of this visitor."""

    run_id: str
    lesson: str
    purpose: Purpose
    arms: list[str]
    place: int = Field(description="position in the queue; 1: the next to start")
    waiting: int = Field(description="length of the queue")
    estimate_s: float = Field(description="estimated time until the start")
    behind: Purpose | None = Field(
        default=None, description="purpose of the visitor's other queued request, which runs later"
    )


class Runs(ServerMessage):
    """Live runs of this server, and this visitor's queued run.

    A newer message replaces the previous one.
    """

    latest_by = ()
    lasting = True
    type: Literal["runs"] = "runs"
    live: list[LiveRun]
    waiting: WaitingRun | None = None


class Begun(ServerMessage):
    """A run that this page requested has begun. Its messages follow, and the page shows it."""

    latest_by = ()
    lasting = True
    type: Literal["begun"] = "begun"
    run_id: str
