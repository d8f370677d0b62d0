# SPDX-License-Identifier: GPL-2.0-or-later
"""State of a run and of its lanes."""

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
    """State of a run; latest wins."""

    latest_by = ("run_id",)
    type: Literal["run"] = "run"
    run_id: str
    lesson: str
    source: Source
    purpose: Literal["explain", "measure"] = "explain"
    clock: Clock
    shift: int = Field(default=0, description="count clock: 2^shift ns an instruction")
    params: dict[str, int]
    workload: str
    arms: list[str]
    phase: RunPhase
    started_at: str | None = Field(default=None, description="ISO 8601 UTC; null before the start")
    recorded_at: str | None = Field(default=None, description="ISO 8601 UTC of a recording")
    apart: bool = Field(default=False, description="its lanes ran one after another")
    message: str = ""


class Contention(Message):
    """CPU time that a lane's vCPUs wanted of the host, since its workload's start.

    A run is distorted where the sum of its lanes waited for more than `bound` of what they wanted.
    """

    ran_s: float = Field(ge=0, description="seconds they had, all vCPUs together")
    waited_s: float = Field(
        ge=0, description="seconds another thread or another machine had the CPU"
    )
    bound: float = Field(description="share of waiting beyond which times are distorted, 0 to 1")


class Lane(SessionMessage):
    """State of one lane; latest wins."""

    latest_by = ("run_id", "arm")
    type: Literal["lane"] = "lane"
    run_id: str
    arm: str
    phase: LanePhase
    message: str = ""
    remedy: str = ""
    detail: str = Field(default="", description="console tail or log tail; shown on demand")
    accel: str | None = None
    pid: int | None = Field(default=None, description="process of the guest, while it lives")
    kernel: str | None = Field(default=None, description="uname -r of the guest")
    boot_s: float | None = None
    cloned: bool = Field(
        default=False, description="a copy of a guest that was parked; boot_s is the time of that"
    )
    contention: Contention | None = Field(
        default=None, description="null: not measured, as on the count clock, which it cannot harm"
    )


class Row(Message):
    """A row of a lane: a thread of the workload, another process of it, or a track."""

    row: int = Field(ge=0)
    tid: int
    name: str
    role: Literal["thread", "other", "track"]


class Rows(SessionMessage):
    """All rows of a lane known so far; replaces the former list."""

    latest_by = ("run_id", "arm")
    type: Literal["rows"] = "rows"
    run_id: str
    arm: str
    rows: list[Row]


# What a lane measured: columns, counts, lines, and what was lost.


class Batch(SessionMessage):
    """New rows of one table as columns: raw little-endian bytes, `n` values each."""

    type: Literal["batch"] = "batch"
    run_id: str
    arm: str
    table: str = Field(description="spans, ops, links; open replaces its former self")
    seq: int = Field(description="running number of this table of this lane, from 0")
    n: int = Field(ge=0)
    watermark_ns: float = Field(description="the lane's data are complete up to here")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    sent_ns: float = Field(description="Unix time in ns when the server encoded it")
    newest_event_host_ms: float | None = Field(
        default=None, description="Unix time in ms when the newest event in it happened (estimate)"
    )

    def key(self) -> Key | None:
        """Open spans replace the former ones."""
        return ("open", self.run_id, self.arm) if self.table == "open" else None

    def span(self) -> Span | None:
        """Its rows; open spans are not numbered, since they are replaced."""
        if self.table == "open":
            return None
        return Span(self.run_id, self.arm, self.table, self.seq, self.n)


class Reading(ServerMessage):
    """How far a recording is read; stands among its batches. Until it is `whole` more comes."""

    type: Literal["reading"] = "reading"
    run_id: str
    read: int = Field(ge=0, description="bytes of its transcripts that are decoded, at least")
    total: int = Field(ge=0, description="all bytes of its transcripts; 0: not known yet")
    whole: bool = Field(description="nothing more comes")

    def key(self) -> Key | None:
        """The last one replaces all others; these stand among the batches."""
        return ("reading", self.run_id) if self.whole else None


class Waits(Message):
    """Quantiles of the waits of the lesson; null where nothing waited."""

    p50: float | None
    p95: float | None
    max: float | None
    n: int


class Metrics(SessionMessage):
    """Counts so far of one lane; latest wins."""

    latest_by = ("run_id", "arm")
    type: Literal["metrics"] = "metrics"
    run_id: str
    arm: str
    watermark_ns: float
    start_ns: int | None = Field(
        default=None,
        description="the guest's monotonic clock where its time here is 0; null: not known",
    )
    ops: int
    spans: dict[str, int]
    events_read: int
    events_lost: int
    cycles: int = Field(description="ended cycles of the lesson's first track")
    wait_ns: Waits


class Gap(ServerMessage):
    """Batches that this browser was not sent, because it or the replay buffer was full."""

    type: Literal["gap"] = "gap"
    run_id: str
    arm: str
    table: str
    from_seq: int
    to_seq: int = Field(description="inclusive")
    rows: int


class Loss(SessionMessage):
    """Events lost before the stream."""

    type: Literal["loss"] = "loss"
    run_id: str
    arm: str
    t0_ns: float
    t1_ns: float
    events: int | None = Field(description="null: it is not known how many")
    where: Literal["ring buffer", "kprobe", "host"]


class Line(SessionMessage):
    """One line of the workload, verbatim."""

    type: Literal["line"] = "line"
    run_id: str
    arm: str
    stream: Literal["out", "err"]
    text: str
    t_ns: float


# Which segments of a run there are; the page fetches them over HTTP (docs/SEGMENTS.md).


class SegmentLine(Message):
    """One segment. Its address is `segments/RUN/N-DIGEST`, below the page's own."""

    n: int = Field(ge=0, description="running number in its run, from 0")
    digest: str = Field(description="of its bytes, with a key of the run: nobody can guess it")
    bytes: int = Field(ge=0, description="as it travels")
    through_ns: float = Field(description="every lane that it has is complete up to here")


class Segments(ServerMessage):
    """These segments exist; a page applies them by number, each before what comes after this."""

    latest_by = ("run_id",)
    type: Literal["segments"] = "segments"
    run_id: str
    segments: list[SegmentLine]


# Who controls which live run, and who waits.

Purpose = Literal["explain", "measure"]


class Control(ServerMessage):
    """Who controls the live run that this page watches; latest wins."""

    latest_by = ()
    lasting = True
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
    clock: Clock
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


class Runs(ServerMessage):
    """What runs live on this server, and what this visitor waits for; latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["runs"] = "runs"
    live: list[LiveRun]
    waiting: WaitingRun | None = None


class Begun(ServerMessage):
    """A run that this page asked for begins; the page shows it. Its messages follow."""

    latest_by = ()
    lasting = True
    type: Literal["begun"] = "begun"
    run_id: str
