# SPDX-License-Identifier: GPL-2.0-or-later
"""The browser contract: every message of the socket, both directions, as one tagged union each.

On the wire each is a msgpack map whose `type` tells which. `python -m duet.stream.schema` writes
the JSON schema that the page is checked against. Times are nanoseconds since the lane's workload
start unless the name says otherwise.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictInt

from duet.access import RoleName

PROTOCOL = 2
"""Raised when an old page could misread a new server."""

Source = Literal["live", "recorded"]
ClockName = Literal["wall", "count"]
Dtype = Literal["f8", "i4", "u1", "u4", "i2"]
ActionName = Literal["watch", "run", "control_others", "measure", "delete_others"]
RunPhase = Literal[
    "preparing", "booting", "ready", "running", "draining", "done", "stopped", "failed"
]
LanePhase = Literal[
    "waiting", "building", "booting", "ready", "running", "draining", "done", "stopped", "failed"
]
BuildPhase = Literal[
    "wait", "extract", "patch", "config", "compile", "link", "store", "done", "failed"
]


class Message(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class LessonCard(Message):
    """A lesson in the list of a greeting."""

    slug: str
    title: str
    question: str
    available: bool = Field(description="every kernel of the lesson is built")
    picture: bool = Field(description="it has a view; without one it is numbers only so far")


class Hello(Message):
    """First message to every viewer."""

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    version: str
    viewer: str = Field(description="this page's name in the server's log")
    live: bool = Field(default=True, description="false: this server shows recordings only")
    role: RoleName = "operator"
    denied: dict[ActionName, str] = Field(
        default_factory=dict, description="what this visitor may not do, and why in a sentence"
    )
    lessons: list[LessonCard]


class LessonMessage(Message):
    """Answer to `open`: lesson.yaml as a tree, with patch texts and prose (see lesson_view)."""

    type: Literal["lesson"] = "lesson"
    lesson: dict[str, JsonValue]


class Run(Message):
    """State of a run; latest wins."""

    type: Literal["run"] = "run"
    run_id: str
    lesson: str
    source: Source
    purpose: Literal["explain", "measure"] = "explain"
    clock: ClockName
    shift: int = Field(default=0, description="count clock: 2^shift ns an instruction")
    params: dict[str, int]
    workload: str
    arms: list[str]
    phase: RunPhase
    started_at: str | None = Field(default=None, description="ISO 8601 UTC; null before the start")
    recorded_at: str | None = Field(default=None, description="ISO 8601 UTC of a recording")
    message: str = ""


class Contention(Message):
    """CPU time that a lane's vCPUs wanted of the host, since its workload's start.

    A run is distorted where the sum of its lanes waited for more than `bound` of what they wanted.
    """

    ran_s: float = Field(description="seconds they had, all vCPUs together")
    waited_s: float = Field(description="seconds another thread or another machine had the CPU")
    bound: float = Field(description="share of waiting beyond which times are distorted, 0 to 1")


class Lane(Message):
    """State of one lane; latest wins."""

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
    contention: Contention | None = Field(
        default=None, description="null: not measured, as on the count clock, which it cannot harm"
    )


class Row(Message):
    """A row of a lane: a hog, the reader or a track."""

    row: int
    tid: int
    name: str
    role: Literal["hog", "reader", "track", "other"]


class Rows(Message):
    """All rows of a lane known so far; replaces the former list."""

    type: Literal["rows"] = "rows"
    run_id: str
    arm: str
    rows: list[Row]


class Batch(Message):
    """New rows of one table as columns: raw little-endian bytes, `n` values each."""

    type: Literal["batch"] = "batch"
    run_id: str
    arm: str
    table: str = Field(description="spans, ops, links; open replaces its former self")
    seq: int = Field(description="running number of this table of this lane, from 0")
    n: int
    watermark_ns: float = Field(description="the lane's data are complete up to here")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    sent_ns: float = Field(description="Unix time in ns when the server encoded it")
    newest_event_host_ms: float | None = Field(
        default=None, description="Unix time in ms when the newest event in it happened (estimate)"
    )


class Reading(Message):
    """How far a recording is read; stands among its batches. Until it is `whole` more comes."""

    type: Literal["reading"] = "reading"
    run_id: str
    read: int = Field(description="bytes of its transcripts that are decoded, at least")
    total: int = Field(description="all bytes of its transcripts; 0: not known yet")
    whole: bool = Field(description="nothing more comes")


class Waits(Message):
    """Quantiles of the waits of the lesson; null where nothing waited."""

    p50: float | None
    p95: float | None
    max: float | None
    n: int


class Metrics(Message):
    """Counts so far of one lane; latest wins."""

    type: Literal["metrics"] = "metrics"
    run_id: str
    arm: str
    watermark_ns: float
    ops: int
    spans: dict[str, int]
    events_read: int
    events_lost: int
    grace_periods: int
    wait_ns: Waits


class Gap(Message):
    """Batches that this browser was not sent, because it or the replay buffer was full."""

    type: Literal["gap"] = "gap"
    run_id: str
    arm: str
    table: str
    from_seq: int
    to_seq: int = Field(description="inclusive")
    rows: int


class Loss(Message):
    """Events lost before the stream."""

    type: Literal["loss"] = "loss"
    run_id: str
    arm: str
    t0_ns: float
    t1_ns: float
    events: int | None = Field(description="null: it is not known how many")
    where: Literal["ring buffer", "kprobe", "host"]


class Sample(Message):
    """One look of the x-ray at one structure. See the probe's file for columns, facts, texts.

    The newest sample at or before a moment is what is known of it.
    """

    type: Literal["sample"] = "sample"
    run_id: str
    arm: str
    probe: str
    seq: int = Field(description="running number of this probe on this lane, from 0")
    t_ns: float = Field(description="below 0: before the start")
    error_ns: float = Field(description="the guest's time lies within this of t_ns")
    clock: Literal["host", "guest"] = Field(
        description="how the time is known: calibrated host time, or the guest's clock in memory"
    )
    took_ns: float = Field(description="host time of the reads")
    torn: int = Field(description="reads that differed from one to the next, so far on this lane")
    failed: int = Field(description="reads that failed, so far on this lane")
    n: int = Field(description="rows")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    facts: dict[str, float]
    texts: list[str] = Field(description="a name per row, or none")


class Lens(Message):
    """How a lens of a lane is; latest wins."""

    type: Literal["lens"] = "lens"
    run_id: str
    arm: str
    lens: Literal["xray", "microscope"] = "xray"
    state: Literal["off", "attaching", "on", "failed"]
    route: Literal["memory", "qmp", "unknown"] = Field(
        description="by what it reads: the process's memory (fast), QMP text (slow)"
    )
    message: str = ""
    remedy: str = ""
    samples: int
    torn: int
    failed: int
    dropped: int = Field(description="samples that were due and did not come")


class Held(Message):
    """How a lane is held; latest wins. The machine stands some accesses after it was asked to."""

    type: Literal["held"] = "held"
    run_id: str
    arm: str
    phase: Literal["waiting", "held", "going"]
    after: int = Field(description="so many more accesses were to come first")
    asked: int | None = Field(description="accesses to the object when the hold was asked for")
    stood: int | None = Field(description="the same when the machine stood; exact")
    message: str = Field(default="", description="why it goes on, if nobody let it go")


class Line(Message):
    """One line of the workload, verbatim."""

    type: Literal["line"] = "line"
    run_id: str
    arm: str
    stream: Literal["out", "err"]
    text: str
    t_ns: float


class Build(Message):
    """Progress of the kernel builds; latest wins per arm."""

    type: Literal["build"] = "build"
    lesson: str
    arms: list[str] = Field(description="all arms that are being built or wait for it")
    arm: str
    phase: BuildPhase
    done: int
    total: int
    elapsed_s: float
    message: str = ""
    error: ErrorMessage | None = None


class MeasuredRow(Message):
    """One arm of a measured table."""

    arm: str
    n: int
    ops_per_s_median: float | None
    ops_per_s_mean: float | None = None
    ops_per_s_low: float | None = Field(default=None, description="lower end of the 95 % interval")
    ops_per_s_high: float | None = None
    ops_per_s: list[float]
    unit: str = "ops/s"
    to: str | None = Field(default=None, description="the arm that it is compared with")
    change_percent: float | None = None
    verdict: str = ""


class Measured(Message):
    """The measured table: lanes one after another, untraced. Also its progress while it runs."""

    type: Literal["measured"] = "measured"
    lesson: str
    run_id: str | None = None
    source: Source
    clock: ClockName
    params: dict[str, int]
    workload: str
    rows: list[MeasuredRow]
    at: str = Field(description="ISO 8601 UTC")
    verdict: str
    host: str = ""
    command: str = Field(default="", description="what reproduces it")
    done: int = Field(default=0, description="runs finished")
    total: int = Field(default=0, description="runs wanted; done < total: still measuring")


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
    purpose: Literal["explain", "measure"]
    arms: list[str]
    workload: str
    params: dict[str, int]
    clock: ClockName
    yours: bool


class WaitingRun(Message):
    """The run that this visitor waits for."""

    run_id: str
    lesson: str
    purpose: Literal["explain", "measure"]
    arms: list[str]
    place: int = Field(description="1: the next to start")
    waiting: int = Field(description="requests that wait, in all")
    estimate_s: float = Field(description="until it starts, when this was sent")


class Runs(Message):
    """What runs live on this server, and what this visitor waits for; latest wins."""

    type: Literal["runs"] = "runs"
    live: list[LiveRun]
    waiting: WaitingRun | None = None


class Begun(Message):
    """A run that this page asked for begins; the page shows it. Its messages follow."""

    type: Literal["begun"] = "begun"
    run_id: str


class ErrorMessage(Message):
    """One failure as a person should read it."""

    type: Literal["error"] = "error"
    code: str
    sentence: str
    remedy: str
    detail: str = ""
    run: str | None = Field(
        default=None, description="the run, as it was asked for, that will not come or is not whole"
    )


class Open(Message):
    """Show me a lesson: the run that is named, or the recording that fits the step.

    Args:
        run: an id (of a live run, too), the name of one of the lesson's recordings, `recorded` as
            if nothing was named, or `none` for the lesson alone.
        step: the recording that fits this step best; an unknown or absent one is the first.
    """

    type: Literal["open"]
    lesson: Annotated[str, Field(max_length=64)]
    run: Annotated[str, Field(max_length=128)] | None = None
    step: Annotated[str, Field(max_length=64)] | None = None


Params = Annotated[dict[Annotated[str, Field(max_length=64)], StrictInt], Field(max_length=32)]
Arms = Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=5)]


class Start(Message):
    """Run live, now or when it is this visitor's turn (`runs` tells his place).

    It replaces the request that he waits for. His own run that goes on is stopped for it, unless
    others wait or asked for that run. A request that equals another's shares its run.
    """

    type: Literal["start"]
    lesson: Annotated[str, Field(max_length=64)]
    arms: Arms
    workload: Annotated[str, Field(max_length=64)] | None = None
    params: Params = Field(default_factory=dict)
    clock: ClockName | None = None


class Stop(Message):
    """End a live run or a measurement, or withdraw a request that waits.

    Args:
        run: its id; without one, what this visitor waits for and the live run he watches or runs.
    """

    type: Literal["stop"]
    run: Annotated[str, Field(max_length=128)] | None = None


class Again(Message):
    """Start the live run that is watched once more, or this visitor's last one."""

    type: Literal["again"]


class Do(Message):
    """Do one of the lesson's acts on the live run that this page watches."""

    type: Literal["act"]
    name: Annotated[str, Field(max_length=64)]
    value: Annotated[StrictInt, Field(ge=0, le=1 << 31)] = 0


class Hold(Message):
    """Hold the guests of the live run that this page watches, or let them go."""

    type: Literal["hold"]
    on: StrictBool
    after: Annotated[StrictInt, Field(ge=0, le=1 << 30)] = 0


class Measure(Message):
    """Fill the measured table: one guest at a time, untraced, A B B A."""

    type: Literal["measure"]
    lesson: Annotated[str, Field(max_length=64)]
    arms: Arms
    workload: Annotated[str, Field(max_length=64)] | None = None
    params: Params = Field(default_factory=dict)
    clock: ClockName | None = None
    repeats: Annotated[StrictInt, Field(ge=1, le=20)] = 3


class TakeControl(Message):
    """Take or give back control of the live run that this page watches."""

    type: Literal["control"]
    take: StrictBool


class Ack(Message):
    """So many messages have been handled. A page that acks is never sent far ahead."""

    type: Literal["ack"]
    n: Annotated[StrictInt, Field(ge=0)]


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
    | ErrorMessage,
    Field(discriminator="type"),
]
ClientMessage = Annotated[
    Open | Start | Stop | Again | Do | Hold | Measure | TakeControl | Ack,
    Field(discriminator="type"),
]
Command = Open | Start | Stop | Again | Do | Hold | Measure | TakeControl
