# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as the page gets it: what its files say, with patch texts, prose and recordings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from duet.base.access import Action, RoleName
from duet.base.clock import Clock
from duet.lessons import schema
from duet.messages.base import (
    PROTOCOL,
    SAMPLES,
    ActionName,
    BuildPhase,
    Command,
    Dtype,
    ErrorMessage,
    Message,
    ServerMessage,
    SessionMessage,
    Source,
    Span,
)

# What `duet microscope --native` found on some machine, as the page gets it.


class NativePart(BaseModel):
    """Frozen. The file has more than the page is sent."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, json_schema_serialization_defaults_required=True
    )


class NativePoint(NativePart):
    """Operations a second of all threads: the middle, lowest and highest of some runs."""

    threads: int = Field(ge=1)
    median: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)


class NativeLayout(NativePart):
    """One arm's layout."""

    arm: str
    curve: tuple[NativePoint, ...] = Field(description="by rising number of threads, from 1")


class NativeRatio(NativePart):
    """Rate over rate with all threads, with its 95 % interval."""

    of: str
    to: str
    median: float = Field(gt=0)
    low: float
    high: float


class NativeMade(NativePart):
    """Where and when."""

    cpu: str = Field(min_length=1, description="model name of /proc/cpuinfo")
    kernel: str = Field(description="of the host, as `uname -r` says")
    machine: str = Field(description="as `uname -m` says")
    compiler: str
    at: str = Field(description="ISO 8601 UTC")


class NativeHost(NativePart):
    """What the host's own kernel does; it has one layout."""

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
    """Progress of the kernel builds; latest wins per arm."""

    latest_by = ("lesson", "arm")
    lasting = True
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


class MadePatch(Message):
    """One patch of a kernel."""

    path: str = Field(description="below kernel-patches/")
    sha256: str = Field(description="of its diff")


class MadeArm(Message):
    """The kernel of one arm."""

    arm: str
    key: str = Field(description="of the build, in the store of kernels")
    kernel: str = Field(description="as `uname -r` says")
    config_sha256: str = Field(description="of the options that were asked for")
    compiler: str
    patches: list[MadePatch] = Field(description="all of them, in order")


class Made(Message):
    arms: list[MadeArm]
    host: dict[str, str] = Field(description="the machine, QEMU and how it ran")
    shift: int | None = Field(description="2^shift ns an instruction; null on the wall clock")
    seeds: list[int] = Field(description="of the perturbed starts")


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
    perturbed: list[float] = Field(
        default_factory=list, description="count clock: one value per perturbed start"
    )


class MeasuredTable(Message):
    """Lanes one after another, untraced."""

    lesson: str
    run_id: str | None = None
    source: Source
    clock: Clock
    params: dict[str, int]
    workload: str
    metric: str = Field(description="its name in the lesson")
    title: str = Field(description="of the metric, in words")
    better: Literal["higher", "lower", "neither"] = Field(
        description="which values of the metric are better"
    )
    rows: list[MeasuredRow] = Field(
        description="values are in the row's `unit`, also where a key says `ops_per_s`"
    )
    at: str = Field(description="ISO 8601 UTC")
    verdict: str
    host: str = ""
    command: str = Field(description="what reproduces it")
    done: int = Field(default=0, description="runs finished")
    total: int = Field(default=0, description="runs wanted; done < total: still measuring")
    made: Made | None = Field(
        default=None, description="of recorded tables; null: measured just now"
    )
    warnings: list[str] = Field(
        default_factory=list,
        description="sentences: arms on different bases are more than one patch apart",
    )


class Measured(MeasuredTable, ServerMessage):
    """A measured table; also its progress while it is measured."""

    latest_by = ("lesson",)
    lasting = True
    type: Literal["measured"] = "measured"


class Part(BaseModel):
    """Frozen, no unknown keys; all keys are always sent."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class PatchText(Part):
    """One patch in the form of git format-patch; `text` is empty if it cannot be read."""

    file: str
    subject: str
    body: str
    text: str


class ArmView(schema.Arm, Part):
    """An arm with its patches."""

    patch_texts: tuple[PatchText, ...] = ()


class RecordingLine(Part):
    """One recording of a lesson, as its bundle's manifest describes it."""

    name: str
    lesson: str
    params: dict[str, int]
    arms: tuple[str, ...]
    clock: Clock
    workload: str | None
    seconds: int | None = Field(description="its parameter of that name; null: it has none")
    bytes: int
    recorded_at: str | None = Field(description="ISO 8601 UTC")


class LessonView(schema.Lesson, Part):
    """What a lesson has with and without a picture."""

    slug: str
    arms: tuple[ArmView, ...] = Field(min_length=1)
    content: dict[str, str] = Field(default={}, description="prose by scene id, markdown")
    recordings: tuple[RecordingLine, ...] = ()
    ready: dict[str, bool] = Field(default={}, description="arms whose kernel is built")
    measured: tuple[MeasuredTable, ...] = Field(
        default=(), description="every recorded table of untraced runs, the headline first"
    )
    drawings: dict[str, str] = Field(
        default={}, description="SVG of a term, by its name: shapes and text (lessons/drawings.py)"
    )
    native: NativeView | None = Field(
        default=None, description="the arms' layouts on a machine's own CPUs; null: never measured"
    )


class PictureLesson(LessonView):
    """A lesson with a view, steps and an operation."""

    view: schema.Name
    operation: schema.Operation
    kinds: tuple[schema.Kind, ...]
    scenes: tuple[schema.Scene, ...]
    hz: float = Field(default=250, gt=0, description="timer ticks a second of its kernels")
    base: str = Field(default="", description="version of the base kernel; empty: not known")


class NumbersLesson(LessonView):
    """A lesson without a view: its numbers come from a terminal."""

    view: None = None
    prose: str = Field(default="", description="content.md as it stands, markdown")


def lesson_of(tree: dict[str, JsonValue]) -> PictureLesson | NumbersLesson:
    """A lesson from what lesson_tree makes of its folder."""
    model = NumbersLesson if tree["view"] is None else PictureLesson
    return model.model_validate(tree)


# The x-ray and the microscope.


class Sample(SessionMessage):
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
    n: int = Field(ge=0, description="rows")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    facts: dict[str, float]
    texts: list[str] = Field(description="a name per row, or none")

    def span(self) -> Span | None:
        """One row of the probe's table."""
        return Span(self.run_id, self.arm, f"{SAMPLES}{self.probe}", self.seq, 1)


class Lens(SessionMessage):
    """How a lens of a lane is; latest wins."""

    latest_by = ("run_id", "arm", "lens")
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


class Held(SessionMessage):
    """How a lane is held; latest wins. The machine stands some accesses after it was asked to."""

    latest_by = ("run_id", "arm")
    type: Literal["held"] = "held"
    run_id: str
    arm: str
    phase: Literal["waiting", "held", "going"]
    after: int = Field(description="so many more accesses were to come first")
    asked: int | None = Field(description="accesses to the object when the hold was asked for")
    stood: int | None = Field(description="the same when the machine stood; exact")
    message: str = Field(default="", description="why it goes on, if nobody let it go")


# A change that a visitor makes to an arm: what the page sends, and how far its kernel is.

CHANGE_CHARS = 48_000
"""Of a diff, so that its message stays below the bound of one. Usual: 500."""
ChangePhase = Literal[
    "refused", "wait", "extract", "patch", "config", "compile", "link", "store", "built", "failed"
]


class Change(Command):
    """Build an arm with a change on top, for this visitor.

    The same change of the same arm is the same arm of the visitor's own, so that sending it again
    starts nothing anew. A new one replaces the one that this visitor waits for.

    Args:
        arm: of the lesson, which the change is made to.
        diff: as `git diff` writes it, between the arm's sources and the changed ones.
    """

    needs = Action.CHANGE
    type: Literal["change"]
    lesson: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]
    diff: Annotated[str, Field(max_length=CHANGE_CHARS)]


class DropChange(Command):
    """Give up the change that is waited for or built; its kernel is not made."""

    needs = Action.CHANGE
    type: Literal["drop_change"]
    arm: Annotated[str, Field(max_length=64)]


class Problem(Message):
    """What the compiler or patch(1) says of a line."""

    file: str = Field(description="relative to the kernel's source")
    line: int = Field(ge=1, description="of the changed file")
    column: int = Field(ge=0, description="from 1; 0: the whole line")
    severity: Literal["error", "warning"]
    text: str


class Changed(ServerMessage):
    """How far a visitor's change is; latest wins per arm. It goes to the visitor's pages only.

    From `wait` on the lesson has come once more, with the arm in it: `start` and `measure` take
    it as any other once it is `built`.
    """

    latest_by = ("lesson", "base", "arm")
    lasting = True
    type: Literal["changed"] = "changed"
    lesson: str
    base: str = Field(description="the arm that was changed")
    arm: str = Field(description="name of the visitor's own arm; empty: the change was refused")
    phase: ChangePhase
    ahead: int = Field(default=0, ge=0, description="builds that come before it")
    done: int = Field(default=0, ge=0, description="objects made so far")
    total: int = Field(default=0, ge=0, description="objects expected")
    elapsed_s: float = Field(default=0.0, ge=0, description="since the change was asked for")
    message: str = ""
    error: ErrorMessage | None = None
    problems: list[Problem] = Field(default=[])


# A lesson's challenge: what the page asks to be judged, and what came of it.

JudgePhase = Literal["waiting", "measuring", "building", "stress", "done", "failed"]


class Judge(Command):
    """Judge an arm by a challenge of its lesson, when it is this visitor's turn.

    Args:
        arm: the arm that the challenge starts from, with a change that is built.
    """

    boots = True
    needs = Action.MEASURE
    type: Literal["judge"]
    lesson: Annotated[str, Field(max_length=64)]
    challenge: Annotated[str, Field(max_length=64)]
    arm: Annotated[str, Field(max_length=64)]


class JudgedLine(Message):
    """One thing that was judged."""

    kind: Literal["goal", "rule", "without", "order", "stress"]
    says: str = Field(description="what was to hold")
    wanted: str = Field(description="limits of a goal or rule; else empty")
    found: str
    holds: bool | None = Field(description="null: it could not be judged here")


class Judged(ServerMessage):
    """How far a judgement is; latest wins per challenge. It goes to who asked for it."""

    latest_by = ("lesson", "challenge")
    lasting = True
    type: Literal["judged"] = "judged"
    lesson: str
    challenge: str
    arm: str
    phase: JudgePhase
    done: int = Field(default=0, ge=0, description="guests that have run")
    total: int = Field(default=0, ge=0)
    met: bool | None = Field(default=None, description="null before it is done")
    because: str = Field(default="", description="one sentence")
    lines: list[JudgedLine] = Field(default=[])
    error: ErrorMessage | None = None


# The greeting, and a lesson.


class Heartbeat(ServerMessage):
    """Nothing else was sent for a while: the connection and the server are there."""

    type: Literal["heartbeat"] = "heartbeat"


class LessonCard(Message):
    """A lesson in the list of a greeting."""

    slug: str
    title: str
    question: str
    available: bool = Field(description="every kernel of the lesson is built")
    picture: bool = Field(description="it has a view; without one it is numbers only so far")


class Hello(ServerMessage):
    """First message to every viewer."""

    lasting = True
    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    version: str
    viewer: str = Field(description="this page's name in the server's log")
    live: bool = Field(default=True, description="false: this server shows recordings only")
    role: RoleName = "operator"
    denied: dict[ActionName, str] = Field(
        default={}, description="what this visitor may not do, and why in a sentence"
    )
    lessons: list[LessonCard]


class LessonMessage(ServerMessage):
    """Answer to `open`: a lesson's files with patch texts and prose (see lesson_view)."""

    latest_by = ()
    lasting = True
    type: Literal["lesson"] = "lesson"
    lesson: PictureLesson | NumbersLesson = Field(
        json_schema_extra={"opaque": True},
        description="the page checks it by itself, since it says by name what it cannot show",
    )
