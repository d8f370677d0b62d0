# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages about a lesson: its files, builds, measured tables, lenses, changes and challenges."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from duet.base.access import RoleName
from duet.base.clock import Clock
from duet.lessons import schema
from duet.messages.base import (
    PROTOCOL,
    SAMPLES,
    ActionName,
    BuildPhase,
    Dtype,
    ErrorMessage,
    Message,
    ServerMessage,
    SessionMessage,
    Source,
    Span,
)

# Result of `duet microscope --native`, which may come from any machine.


class NativePart(BaseModel):
    """Base of the native models. They are frozen and ignore keys that the page does not use."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, json_schema_serialization_defaults_required=True
    )


class NativePoint(NativePart):
    """Operations per second of all threads: median, lowest and highest value of several runs."""

    threads: int = Field(ge=1)
    median: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)


class NativeLayout(NativePart):
    """One arm's layout."""

    arm: str
    curve: tuple[NativePoint, ...] = Field(description="by number of threads, from 1 upwards")


class NativeRatio(NativePart):
    """Ratio of two arms' rates with all threads, and the ratio's 95 % confidence interval."""

    of: str
    to: str
    median: float = Field(gt=0)
    low: float
    high: float


class NativeMade(NativePart):
    """Machine, compiler and time of a native measurement."""

    cpu: str = Field(min_length=1, description="model name in /proc/cpuinfo")
    kernel: str = Field(description="the host's output of `uname -r`")
    machine: str = Field(description="the host's output of `uname -m`")
    compiler: str
    at: str = Field(description="ISO 8601 UTC")


class NativeHost(NativePart):
    """Rates of the host's kernel, which has one layout."""

    what: str
    curve: tuple[NativePoint, ...]


class NativeView(NativePart):
    format: int = Field(ge=1, le=1)
    lesson: str
    evidence: Literal["measured"]
    what: str
    threads: int
    cores: int = Field(ge=4)
    rounds: int
    run_ms: int
    made: NativeMade
    arms: tuple[NativeLayout, ...] = Field(min_length=1)
    ratio: NativeRatio
    host: NativeHost | None
    remarks: tuple[str, ...]


# Kernel builds and the measured table.


class Build(ServerMessage):
    """Progress of a kernel build. A newer message replaces the previous one for the arm."""

    latest_by = ("lesson", "arm")
    lasting = True
    type: Literal["build"] = "build"
    lesson: str
    arms: list[str] = Field(description="all arms that are being built or are queued")
    arm: str
    phase: BuildPhase
    done: int
    total: int
    elapsed_s: float
    message: str = ""
    error: ErrorMessage | None = None


class MadePatch(Message):
    """One patch of a kernel."""

    path: str = Field(description="relative to kernel-patches/")
    sha256: str = Field(description="hash of the diff")


class MadeArm(Message):
    """The kernel of one arm."""

    arm: str
    key: str = Field(description="key of the build in the kernel store")
    kernel: str = Field(description="output of `uname -r`")
    config_sha256: str = Field(description="hash of the requested configuration options")
    compiler: str
    patches: list[MadePatch] = Field(description="all patches, in order")
    writes: list[str] = Field(
        default_factory=list,
        description="'PATH VALUE': what the guest wrote before the workload, in order",
    )


class Made(Message):
    """Provenance of a recorded table."""

    arms: list[MadeArm]
    host: dict[str, str] = Field(description="machine, QEMU, and how the guests ran")
    shift: int | None = Field(description="2^shift ns per instruction; null on the wall clock")
    seeds: list[int] = Field(description="random seeds of the perturbed starts")


class MeasuredRow(Message):
    """An arm's row in a measured table."""

    arm: str
    n: int
    ops_per_s_median: float | None
    ops_per_s_mean: float | None = None
    ops_per_s_low: float | None = Field(default=None, description="lower end of the 95 % interval")
    ops_per_s_high: float | None = None
    ops_per_s: list[float]
    unit: str = "ops/s"
    to: str | None = Field(default=None, description="the arm that this row is compared with")
    change_percent: float | None = None
    verdict: str = ""
    perturbed: list[float] = Field(
        default_factory=list, description="count clock: one value for each perturbed start"
    )


class MeasuredTable(Message):
    """Results of untraced runs, one arm after another."""

    lesson: str
    run_id: str | None = None
    source: Source
    clock: Clock
    params: dict[str, int]
    workload: str
    metric: str = Field(description="name of the metric in the lesson")
    title: str = Field(description="title of the metric")
    better: Literal["higher", "lower", "neither"] = Field(
        description="which values of the metric are better"
    )
    rows: list[MeasuredRow] = Field(
        description="values are in the row's `unit`, even in keys named `ops_per_s`"
    )
    at: str = Field(description="ISO 8601 UTC")
    verdict: str
    host: str = ""
    on: str = Field(default="", description="name of another host that measured it, from a pack")
    curve: str = Field(
        default="",
        description="the curve that the table is a point of; empty if it has the headline metric",
    )
    command: str = Field(description="command that reproduces the table")
    done: int = Field(default=0, description="finished runs")
    total: int = Field(default=0, description="planned runs; done < total: still measuring")
    made: Made | None = Field(
        default=None, description="provenance of a recorded table; null: measured just now"
    )
    warnings: list[str] = Field(
        default_factory=list,
        description="sentences, such as that arms on different bases differ by more than one patch",
    )


class Measured(MeasuredTable, ServerMessage):
    """A measured table, complete or in progress."""

    latest_by = ("lesson",)
    lasting = True
    type: Literal["measured"] = "measured"


class Part(BaseModel):
    """Base of a lesson's parts. They are frozen, reject unknown keys, and always send all keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class PatchText(Part):
    """One patch in `git format-patch` form. `text` is empty if the file is unreadable."""

    file: str
    subject: str
    body: str
    text: str


class ArmView(schema.Arm, Part):
    """An arm with its patches."""

    patch_texts: tuple[PatchText, ...] = ()


class RecordingLine(Part):
    """One recording of a lesson, from its bundle's manifest."""

    name: str
    lesson: str
    params: dict[str, int]
    arms: tuple[str, ...]
    clock: Clock
    workload: str | None
    seconds: int | None = Field(description="the parameter `seconds`; null if there is none")
    bytes: int
    recorded_at: str | None = Field(description="ISO 8601 UTC")


class GridCell(RecordingLine):
    """The recording of one cell of a grid, with the numbers of the grid's curves.

    recorded/grid.json is a list of these objects.
    """

    grid: str
    sha256: str = Field(description="of the bundle")
    host: str = Field(description="the machine that recorded it, in words")
    window_ms: int | None = Field(description="how much of each lane is kept; null: all")
    values: dict[str, dict[str, float]] = Field(
        description="metric of a curve -> arm -> its value in the whole run"
    )


class LessonView(schema.Lesson, Part):
    """Fields that every lesson has, with or without a view."""

    slug: str
    arms: tuple[ArmView, ...] = Field(min_length=1)
    content: dict[str, str] = Field(default={}, description="prose by scene id, markdown")
    recordings: tuple[RecordingLine, ...] = ()
    cells: tuple[GridCell, ...] = Field(default=(), description="recordings of the grids")
    ready: dict[str, bool] = Field(default={}, description="arm -> whether its kernel is built")
    measured: tuple[MeasuredTable, ...] = Field(
        default=(), description="all recorded tables of untraced runs, the headline first"
    )
    drawings: dict[str, str] = Field(
        default={}, description="term -> drawing, an SVG of shapes and text (lessons/drawings.py)"
    )
    native: NativeView | None = Field(
        default=None, description="the arms' layouts on a machine's real CPUs; null: never measured"
    )


class PictureLesson(LessonView):
    """A lesson with a view, steps and an operation."""

    view: schema.Name
    operation: schema.Operation
    kinds: tuple[schema.Kind, ...]
    scenes: tuple[schema.Scene, ...]
    hz: float = Field(default=250, gt=0, description="timer ticks per second of its kernels")
    base: str = Field(default="", description="version of the base kernel; '': not known")


class NumbersLesson(LessonView):
    """A lesson without a view, whose numbers come from the command line."""

    view: None = None
    prose: str = Field(default="", description="content.md, unchanged markdown")


def lesson_of(tree: dict[str, JsonValue]) -> PictureLesson | NumbersLesson:
    """Build a lesson from the result of `lesson_tree`."""
    model = NumbersLesson if tree["view"] is None else PictureLesson
    return model.model_validate(tree)


# The x-ray and the microscope.


class Sample(SessionMessage):
    """One x-ray reading of a structure. The probe defines columns, facts and texts.

    At any moment, the newest sample up to that moment is valid.
    """

    type: Literal["sample"] = "sample"
    run_id: str
    arm: str
    probe: str
    seq: int = Field(description="sequence number of this probe's samples on this lane, from 0")
    t_ns: float = Field(description="guest time; negative before the start")
    error_ns: float = Field(description="largest error of t_ns, in either direction")
    clock: Literal["host", "guest"] = Field(
        description="source of t_ns: calibrated host time, or the guest's clock in its memory"
    )
    took_ns: float = Field(description="host time that the reads took")
    torn: int = Field(description="repeated reads with different results, so far on this lane")
    failed: int = Field(description="failed reads, so far on this lane")
    n: int = Field(ge=0, description="number of rows")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    facts: dict[str, float]
    texts: list[str] = Field(description="a name for each row, or an empty list")

    def span(self) -> Span | None:
        """Return a span of one row in the probe's table."""
        return Span(self.run_id, self.arm, f"{SAMPLES}{self.probe}", self.seq, 1)


class Lens(SessionMessage):
    """State of a lane's lens. A newer message replaces the previous one."""

    latest_by = ("run_id", "arm", "lens")
    type: Literal["lens"] = "lens"
    run_id: str
    arm: str
    lens: Literal["xray", "microscope"] = "xray"
    state: Literal["off", "attaching", "on", "failed"]
    route: Literal["memory", "qmp", "unknown"] = Field(
        description="how it reads: from the memory of QEMU's process (fast), or over QMP (slow)"
    )
    message: str = ""
    remedy: str = ""
    samples: int
    torn: int
    failed: int
    dropped: int = Field(description="samples that were due but not taken")


class Held(SessionMessage):
    """Hold state of a lane. A newer message replaces the previous one.

    A guest stops a few accesses after the request.
    """

    latest_by = ("run_id", "arm")
    type: Literal["held"] = "held"
    run_id: str
    arm: str
    phase: Literal["waiting", "held", "going"]
    after: int = Field(description="requested number of further accesses before the guest stops")
    asked: int | None = Field(description="accesses to the object when the hold was requested")
    stood: int | None = Field(description="exact number of accesses to the object when it stopped")
    message: str = Field(default="", description="why the guest resumed, if no viewer resumed it")


# A visitor's change to an arm, and the progress of its build.

ChangePhase = Literal[
    "refused", "wait", "extract", "patch", "config", "compile", "link", "store", "built", "failed"
]


class Problem(Message):
    """A message from the compiler or patch(1) about a line."""

    file: str = Field(description="path relative to the kernel's source")
    line: int = Field(ge=1, description="line number in the changed file")
    column: int = Field(ge=0, description="column from 1; 0 means the whole line")
    severity: Literal["error", "warning"]
    text: str


class Changed(ServerMessage):
    """Progress of a visitor's change, sent only to that visitor's pages.

    A newer message replaces the previous one for the arm.

    Before the phase `wait`, the lesson is sent again, with the new arm. `start` and `measure`
    accept the arm once it is `built`.
    """

    latest_by = ("lesson", "base", "arm")
    lasting = True
    type: Literal["changed"] = "changed"
    lesson: str
    base: str = Field(description="the arm that was changed")
    arm: str = Field(description="name of the visitor's own arm; '': the change was refused")
    phase: ChangePhase
    ahead: int = Field(default=0, ge=0, description="builds ahead of it in the queue")
    done: int = Field(default=0, ge=0, description="compiled objects")
    total: int = Field(default=0, ge=0, description="expected objects")
    elapsed_s: float = Field(default=0.0, ge=0, description="time since the change was requested")
    message: str = ""
    error: ErrorMessage | None = None
    problems: list[Problem] = Field(default=[])


# Judging an arm against a lesson's challenge.

JudgePhase = Literal["waiting", "measuring", "building", "stress", "done", "failed"]


class JudgedLine(Message):
    """One criterion of a judgement."""

    kind: Literal["goal", "rule", "without", "order", "stress"]
    says: str = Field(description="the criterion in words")
    wanted: str = Field(description="limits of a goal or rule, or ''")
    found: str
    holds: bool | None = Field(description="null: it cannot be judged on this server")


class Judged(ServerMessage):
    """Progress and result of a judgement, sent to its requester.

    A newer message replaces the previous one for the challenge.
    """

    latest_by = ("lesson", "challenge")
    lasting = True
    type: Literal["judged"] = "judged"
    lesson: str
    challenge: str
    arm: str
    phase: JudgePhase
    done: int = Field(default=0, ge=0, description="finished guests")
    total: int = Field(default=0, ge=0)
    met: bool | None = Field(default=None, description="null until the phase is done")
    because: str = Field(default="", description="the reason, in one sentence")
    lines: list[JudgedLine] = Field(default=[])
    error: ErrorMessage | None = None


# Messages at the start of a connection, and the message that contains a lesson.


class Heartbeat(ServerMessage):
    """Message on an idle connection. It shows that the connection and the server still work."""

    type: Literal["heartbeat"] = "heartbeat"


class LessonCard(Message):
    """A lesson in the list that Hello contains."""

    slug: str
    title: str
    question: str
    available: bool = Field(description="true: all kernels of the lesson are built")
    picture: bool = Field(description="true: the lesson has a view; false: it has only numbers")


class Hello(ServerMessage):
    """The first message to every viewer."""

    lasting = True
    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    version: str
    viewer: str = Field(description="name of this page in the server's log")
    live: bool = Field(default=True, description="false: this server shows recordings only")
    role: RoleName = "operator"
    denied: dict[ActionName, str] = Field(
        default={},
        description="action that this visitor may not perform -> the reason, as a sentence",
    )
    lessons: list[LessonCard]


class LessonMessage(ServerMessage):
    """Answer to `open`: the lesson's files with patch texts and prose."""

    latest_by = ()
    lasting = True
    type: Literal["lesson"] = "lesson"
    lesson: PictureLesson | NumbersLesson = Field(
        json_schema_extra={"opaque": True},
        description="checked by the page and not by the contract, because the page names what "
        "it cannot show",
    )
