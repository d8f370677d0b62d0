# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.yaml: what is traced, and what it becomes in the picture."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from duet.lessons.schema.base import Fault, Name, Strict, refuse

# Of trace.yaml: what x-ray and microscope look at.

ACCESS = ("at", "size", "class", "function", "operation")
"""Fields of an access: byte in the object, bytes, 0 read 1 write 2 read-modify-write, number of the
function in `microscope.functions`, number of the operation on that vCPU (0: in none)."""


class XrayConfig(Strict):
    """A structure of the running kernel that the x-ray reads (docs/PROBES.md)."""

    probe: Name = Field(
        description="a file of the lesson's probes/ or a generic one, e.g. variable; "
        "with dashes, without .py"
    )
    hz: float = Field(default=10, gt=0, le=30, description="samples a second of host time")
    of: str = Field(default="", description="which of several; the probe says what that is")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")


class MicroscopeConfig(Strict):
    """Every load and store that these functions make, seen from outside.

    With an object: the workload makes it, says `ready` and waits for `go` on its standard input;
    by then the x-ray has found the object, and the microscope watches it. Without one it counts
    from the workload's start, which is enough for metrics of variables.
    """

    functions: tuple[str, ...] = Field(
        min_length=1, max_length=256, description="kernel functions whose accesses are watched"
    )
    operation: str = Field(description="of the functions, the one whose call is an operation")
    until: str = Field(
        default="",
        description="of the functions, the one whose return ends the operation; default: the "
        "operation's own",
    )
    probe: Name | None = Field(
        default=None,
        description="x-ray probe whose facts `found`, `address48` and `size` are the object's and "
        "whose rows are its fields; none: no object is watched",
    )
    object: str = Field(default="", description="its type, e.g. 'struct dentry'")
    ready: str = Field(default="", description="regex on the workload's lines")
    go: str = Field(default="", description="line for the workload's standard input")
    log: int = Field(default=20_000, ge=0, le=1_000_000, description="accesses stored one by one")
    workloads: tuple[Name, ...] = Field(min_length=1, description="where it is used")

    @model_validator(mode="after")
    def object_is_whole(self) -> MicroscopeConfig:
        """An object is found by a probe and waited for, or there is none."""
        given = {"probe": self.probe, "object": self.object, "ready": self.ready, "go": self.go}
        missing = [name for name, value in given.items() if not value]
        if 0 < len(missing) < len(given):
            what = f"an object has probe, object, ready and go, and this one lacks {missing[0]}"
            remedy = f"Add `{missing[0]}:`, or leave all four out to watch no object."
            refuse("MicroscopeConfig", [Fault((), what, remedy)])
        return self


Colour = Literal["work", "wait", "mechanism", "gain", "vain", "hazard", "idle", "other"]


class Kind(Strict):
    """A kind of mark. Its index in the list is its number on the wire."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="the words in the legend")
    colour: Colour = Field(description="what it means to the lesson")
    layer: Literal["state", "function", "track", "mark"] = Field(
        description="state: of a thread; function: a span of one; track: a strip below; "
        "mark: the view makes it out of points"
    )
    evidence: Literal["measured", "counted", "modelled"] = Field(
        default="counted", description="the badge: where it comes from"
    )
    lesson: bool = Field(default=True, description="false: drawn, named and dismissed")
    always: bool = Field(default=False, description="in the legend of every step")


class Probe(Strict):
    """An event to switch on in the guest; {sym:NAME} is replaced from System.map."""

    name: Name = Field(description="the name in other keys")
    event: str = Field(description="group/name")
    define: str | None = Field(default=None, description="kprobe_events line for duet/ events")
    filter: str | None = Field(
        default=None, description="of the event, as tracefs takes it; {comm}: the workload's glob"
    )
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    explain: bool = Field(
        default=True, description="false: only for metrics, off in runs that are looked at"
    )
    explain_max: dict[Name, int] = Field(
        default_factory=dict,
        description="param -> largest value at which a run that is looked at switches it on",
    )


class Span(Strict):
    """Entry and return paired on one thread; `wait` names the state of a sleep inside it."""

    kind: Name | None = Field(
        default=None, description="function kind to draw; none: only the cause of a sleep"
    )
    open: str = Field(description="probe name")
    close: str = Field(description="probe name")
    arg: str | None = Field(default=None, description="field of the opening event stored as arg")
    when: dict[str, str] = Field(
        default_factory=dict, description="field of the opening event -> {sym:NAME} or number"
    )
    wait: Name | None = Field(default=None, description="state kind of an off-CPU time inside")


class Phase(Strict):
    """A step of a track: when `field` of `event` is `value`, `opens` begins (none: it ends)."""

    event: str = Field(description="probe name")
    value: int | str = Field(description="of the track's field, number or word")
    after: Name | None = Field(default=None, description="only while this phase is open")
    opens: Name | None = Field(default=None, description="track kind that begins; none: it ends")


class Track(Strict):
    """A strip under the threads, drawn from events of kernel threads."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="the words beside the strip")
    field: str = Field(description="field of the event that carries the stage")
    phases: tuple[Phase, ...] = Field(description="its steps; the first that fits is taken")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    lesson: bool = Field(default=True, description="false: drawn, named and dismissed")


class Link(Strict):
    """`event` emitted by the thread that is inside a `during` phase points at a row."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="what it says about the row, e.g. 'wakes a hog'")
    event: str = Field(description="probe name")
    during: Name = Field(description="track kind that must be open")
    target: str = Field(description="field with the tid of the thread that is freed")


class Point(Strict):
    """An event stored with its fields, for views that draw single events.

    Of the lens `microscope` it is one access to the watched object, with the fields ACCESS.
    """

    name: Name = Field(description="the name in other keys and in the view")
    probe: Name | None = Field(default=None, description="probe whose events these are")
    lens: Literal["microscope"] | None = Field(
        default=None, description="in place of `probe`: accesses that the microscope saw"
    )
    title: str = Field(description="what one is, in words")
    fields: tuple[str, ...] = Field(
        default=(), max_length=6, description="integer fields of the event; columns a to f"
    )

    @model_validator(mode="after")
    def one_source(self) -> Point:
        faults = []
        if (self.probe is None) == (self.lens is None):
            what = "a point has one of probe and lens"
            faults.append(Fault((), what, "Leave exactly one of them."))
        if self.lens is not None and self.fields != ACCESS:
            wanted = ", ".join(ACCESS)
            what = f"the fields of an access are {wanted}"
            faults.append(Fault(("fields",), what, f"Write fields: [{wanted}]."))
        refuse("Point", faults)
        return self


class Counter(Strict):
    """A number over time, drawn as an area by views that have counters.

    Of a `point`: how many there were since the window began, or with `field` the field's value,
    added up with `sum`. Of `xray`: the fact `field` of the probe's samples.
    """

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="what is counted, in words")
    point: Name | None = Field(default=None, description="point that is counted")
    xray: Name | None = Field(default=None, description="in place of `point`: probe of the x-ray")
    field: str | None = Field(
        default=None, description="field of the point, or fact of the probe; none: how many points"
    )
    sum: bool = Field(default=False, description="values of the field add up within the window")

    @model_validator(mode="after")
    def one_source(self) -> Counter:
        """It comes from a point or from the x-ray, and a sum is one of values."""
        faults = []
        if (self.point is None) == (self.xray is None):
            what = "a counter has one of point and xray"
            faults.append(Fault((), what, "Leave exactly one of them."))
        if self.xray is not None and self.field is None:
            what = "a counter of the x-ray has no field"
            faults.append(Fault((), what, "Name a fact of the probe under `field:`."))
        if self.sum and (self.point is None or self.field is None):
            what = "a sum needs a point and one of its fields"
            faults.append(Fault(("sum",), what, "Add `point:` and `field:`, or leave `sum` out."))
        refuse("Counter", faults)
        return self


class Axis(Strict):
    """What the picture's axis counts in place of guest time: one `point` is one step."""

    point: Name = Field(description="point that is counted")
    title: str = Field(description="the words at the axis")
    unit: str = Field(description="what one is called")
    plural: str = Field(description="what several are called")
    workloads: tuple[Name, ...] = Field(
        default=(), description="where it counts; in other runs it is time; default: every one"
    )


class Beat(Strict):
    """What one press of an arrow key moves by, where that is not the operation."""

    point: Name = Field(description="point that it moves to")
    name: str = Field(description="what one is called")
    plural: str = Field(description="what several are called")


class Lit(Strict):
    """Which line of a patch is lit while a span of `kind` is open on the arm that has the line."""

    match: str = Field(
        description="part of a line of the arm's patch; of an arm without one, of a line that the"
        " patch of another takes away"
    )
    kind: Name = Field(description="function kind")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    who: str = Field(default="", description="who stands on it; default: the lesson's `thread`")


class TraceFile(Strict):
    """trace.yaml: what is traced, and what it becomes in the picture."""

    beat: Beat | None = Field(
        default=None, description="what an arrow key moves by; none: the operation"
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="of marks, in the legend's order")
    probes: tuple[Probe, ...] = Field(default=(), description="events switched on in the guest")
    spans: tuple[Span, ...] = Field(default=(), description="entries and returns that pair up")
    tracks: tuple[Track, ...] = Field(default=(), description="strips below the threads")
    links: tuple[Link, ...] = Field(default=(), description="arrows from tracks to rows")
    xray: tuple[XrayConfig, ...] = Field(
        default=(), max_length=6, description="structures that the x-ray reads"
    )
    microscope: MicroscopeConfig | None = Field(
        default=None, description="the object whose loads and stores are watched"
    )
    points: tuple[Point, ...] = Field(
        default=(), max_length=32, description="events that views draw one by one"
    )
    counters: tuple[Counter, ...] = Field(
        default=(), max_length=8, description="numbers over time, beside operations"
    )
    axis: Axis | None = Field(default=None, description="none: guest time")
    lit: tuple[Lit, ...] = Field(default=(), description="lines of the patch, while they run")
