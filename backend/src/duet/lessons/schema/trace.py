# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.yaml: the traced events, and how they are drawn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from duet.lessons.schema.base import BaseName, Fault, Name, Strict, refuse

# Part of trace.yaml: the data that x-ray and microscope read.

ACCESS = ("at", "size", "class", "function", "operation")
"""Fields of an access: its byte offset in the object, its size in bytes, its class (0 read, 1
write, 2 read-modify-write), the function's number in `microscope.functions`, and the operation's
number on that vCPU (0 if it belongs to none).
"""


class XrayConfig(Strict):
    """A structure in the running kernel that the x-ray reads (docs/PROBES.md)."""

    probe: Name = Field(
        description="a file of the lesson's probes/ or a generic one, e.g. variable; "
        "with dashes, without .py"
    )
    hz: float = Field(default=10, gt=0, le=30, description="samples per second of host time")
    of: str = Field(default="", description="which object to read; the probe documents it")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")


class MicroscopeConfig(Strict):
    """The microscope, a QEMU plugin that observes each load and store of chosen functions.

    To watch an object, the workload creates the object, prints `ready` and waits for `go` on its
    standard input. Meanwhile the x-ray finds the object, and the microscope begins to watch it.
    Without an object the microscope counts from the workload's start, which is enough for metrics
    of variables.
    """

    functions: tuple[str, ...] = Field(
        min_length=1, max_length=256, description="kernel functions whose accesses are watched"
    )
    operation: str = Field(description="the function whose call is an operation")
    until: str = Field(
        default="",
        description="the function whose return ends the operation; default: the operation's own",
    )
    probe: Name | None = Field(
        default=None,
        description="x-ray probe whose facts `found`, `address48` and `size` are the object's and "
        "whose rows are its fields; none: no object is watched",
    )
    object: str = Field(default="", description="its type, e.g. 'struct dentry'")
    ready: str = Field(default="", description="regex on the workload's lines")
    go: str = Field(default="", description="line for the workload's standard input")
    bases: dict[BaseName, dict[str, str]] = Field(
        default_factory=dict,
        description="for each kernel base that lacks some of `functions`, for example because they "
        "are inlined there: function -> the function that is watched instead",
    )
    log: int = Field(
        default=20_000,
        ge=0,
        le=1_000_000,
        description="maximum number of accesses that are stored one by one",
    )
    workloads: tuple[Name, ...] = Field(min_length=1, description="workloads that use it")

    def functions_on(self, base: str | None) -> tuple[str, ...]:
        """Return the functions that are watched on a kernel base, in the order of `functions`."""
        instead = self.bases.get(base, {}) if base is not None else {}
        return tuple(instead.get(name, name) for name in self.functions)

    @model_validator(mode="after")
    def object_is_whole(self) -> MicroscopeConfig:
        """Check that all keys for an object are given, or none."""
        given = {"probe": self.probe, "object": self.object, "ready": self.ready, "go": self.go}
        missing = [name for name, value in given.items() if not value]
        if 0 < len(missing) < len(given):
            what = f"an object needs probe, object, ready and go, but this one lacks {missing[0]}"
            remedy = f"Add `{missing[0]}:`, or leave all four out to watch no object."
            refuse("MicroscopeConfig", [Fault((), what, remedy)])
        return self


Colour = Literal["work", "wait", "mechanism", "gain", "vain", "hazard", "idle", "other"]


class Kind(Strict):
    """A kind of mark. The index in the list of kinds is the kind's number in messages."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="its text in the legend")
    colour: Colour = Field(description="its meaning for the lesson")
    layer: Literal["state", "function", "track", "mark"] = Field(
        description="state: a thread's state; function: a span on a thread; track: a strip below; "
        "mark: the view draws it from points"
    )
    evidence: Literal["measured", "counted", "modelled"] = Field(
        default="counted", description="the badge: how its figures are obtained"
    )
    lesson: bool = Field(
        default=True, description="false: drawn and named, but not the lesson's subject"
    )
    always: bool = Field(default=False, description="whether the legend of every step shows it")


class Event(Strict):
    """An event in the guest's tracefs.

    In `define` and `filter`, {sym:NAME} is replaced by the symbol's address, {offset:STRUCT.MEMBER}
    by the member's offset in bytes, and {sizeof:STRUCT} by the structure's size in bytes.
    """

    event: str = Field(description="group/name")
    define: str | None = Field(default=None, description="kprobe_events line for duet/ events")
    filter: str | None = Field(
        default=None, description="filter of the event, as in tracefs; {comm}: the workload's glob"
    )
    explain_max: dict[Name, int] = Field(
        default_factory=dict,
        description="for each knob, the largest value at which an explain run enables it",
    )


class Probe(Event):
    """An event to enable in the guest."""

    name: Name = Field(description="the name in other keys")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    bases: dict[BaseName, Event | Literal["absent"]] = Field(
        default_factory=dict,
        description="for each kernel base that lacks the event: the event that has the same "
        "fields there, or `absent`",
    )
    explain: bool = Field(
        default=True, description="false: it is only for metrics and is not enabled in explain runs"
    )

    def on(self, base: str | None) -> Event | None:
        """Return the event on a kernel base (None: the default base), or None if it is absent."""
        found = self.bases.get(base, self) if base is not None else self
        return None if found == "absent" else found


class Span(Strict):
    """A function's entry and return on one thread. `wait` is the state of sleeps in between."""

    kind: Name | None = Field(
        default=None,
        description="function kind to draw; none if it serves only as the cause of a sleep",
    )
    open: str = Field(description="probe name")
    close: str = Field(description="probe name")
    arg: str | None = Field(
        default=None, description="field of the opening event that is stored as arg"
    )
    when: dict[str, str] = Field(
        default_factory=dict,
        description="required values of the opening event's fields: {sym:NAME} or a number",
    )
    wait: Name | None = Field(
        default=None, description="state kind for off-CPU time inside the span"
    )


class Phase(Strict):
    """A phase change of a track.

    The phase `opens` begins at each `event` in which the track's `field` has the value `value`.
    """

    event: str = Field(description="probe name")
    value: int | str = Field(description="value of the track's field, number or word")
    after: Name | None = Field(default=None, description="only while this phase is open")
    opens: Name | None = Field(default=None, description="track kind that begins; none: it ends")


class Track(Strict):
    """A strip below the thread rows, drawn from events of kernel threads."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="the text next to the strip")
    field: str = Field(description="field of the events that tells the phase")
    phases: tuple[Phase, ...] = Field(description="its phases; the first that matches is taken")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    lesson: bool = Field(
        default=True, description="false: drawn and named, but not the lesson's subject"
    )


class Link(Strict):
    """An arrow from a track to a row, drawn for an `event` while the phase `during` is open."""

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="what it does to the row, e.g. 'wakes a hog'")
    event: str = Field(description="probe name")
    during: Name = Field(description="track kind that must be open")
    target: str = Field(description="field with the tid of the released thread")


class Point(Strict):
    """An event stored with its fields, for views that draw single events.

    With `lens: microscope` a point is one access to the watched object, and its fields are those in
    ACCESS.
    """

    name: Name = Field(description="the name in other keys and in the view")
    probe: Name | None = Field(default=None, description="probe whose events these are")
    lens: Literal["microscope"] | None = Field(
        default=None, description="instead of `probe`: accesses that the microscope saw"
    )
    title: str = Field(description="what a point is, in words")
    fields: tuple[str, ...] = Field(
        default=(), max_length=6, description="integer fields of the event; columns a to f"
    )

    @model_validator(mode="after")
    def one_source(self) -> Point:
        faults = []
        if (self.probe is None) == (self.lens is None):
            what = "a point needs either `probe:` or `lens:`"
            faults.append(Fault((), what, "Keep exactly one of them."))
        if self.lens is not None and self.fields != ACCESS:
            wanted = ", ".join(ACCESS)
            what = f"the fields of an access must be {wanted}"
            faults.append(Fault(("fields",), what, f"Write fields: [{wanted}]."))
        refuse("Point", faults)
        return self


class Counter(Strict):
    """A number over time, drawn as an area by views that have counters.

    For a `point`, the number counts events since the start of the window. With `field`, the
    number is the field's value. With `sum`, the number is the sum of these values. For `xray`, the
    number is the fact `field` in the probe's samples.
    """

    name: Name = Field(description="the name in other keys")
    title: str = Field(description="what is counted, in words")
    point: Name | None = Field(default=None, description="point to count")
    xray: Name | None = Field(default=None, description="instead of `point`: probe of the x-ray")
    field: str | None = Field(
        default=None, description="field of the point, or fact of the probe; none: number of points"
    )
    sum: bool = Field(
        default=False, description="whether to sum the field's values within the window"
    )

    @model_validator(mode="after")
    def one_source(self) -> Counter:
        """Check that exactly one source is given, and that a sum has a field."""
        faults = []
        if (self.point is None) == (self.xray is None):
            what = "a counter needs either `point:` or `xray:`"
            faults.append(Fault((), what, "Keep exactly one of them."))
        if self.xray is not None and self.field is None:
            what = "a counter of the x-ray has no field"
            faults.append(Fault((), what, "Name a fact of the probe under `field:`."))
        if self.sum and (self.point is None or self.field is None):
            what = "a sum needs a point and one of its fields"
            faults.append(Fault(("sum",), what, "Add `point:` and `field:`, or leave `sum` out."))
        refuse("Counter", faults)
        return self


class Axis(Strict):
    """The points that the picture's axis counts instead of guest time. Each point is one step."""

    point: Name = Field(description="point to count")
    title: str = Field(description="text at the axis")
    unit: str = Field(description="name of one step")
    plural: str = Field(description="name of several steps")
    workloads: tuple[Name, ...] = Field(
        default=(),
        description="workloads whose axis counts; the axis of others shows time; default: every "
        "workload",
    )


class Beat(Strict):
    """The points to which an arrow key moves, instead of moving to the next operation."""

    point: Name = Field(description="point to move to")
    name: str = Field(description="name of one beat")
    plural: str = Field(description="name of several beats")


class Lit(Strict):
    """A patch line to highlight while a span of `kind` is open on the arm with this line."""

    match: str = Field(
        description="part of a line of the arm's patch; for an arm without patch, of a line that"
        " another arm's patch removes"
    )
    kind: Name = Field(description="function kind")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    who: str = Field(
        default="",
        description="name for the thread that is on the line; default: the lesson's `thread`",
    )


class TraceFile(Strict):
    """trace.yaml: the traced events, and how they are drawn."""

    beat: Beat | None = Field(
        default=None, description="what an arrow key moves by; none: the operation"
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="kinds of marks, in the legend's order")
    probes: tuple[Probe, ...] = Field(default=(), description="events to enable in the guest")
    spans: tuple[Span, ...] = Field(default=(), description="paired entries and returns")
    tracks: tuple[Track, ...] = Field(default=(), description="strips below the thread rows")
    links: tuple[Link, ...] = Field(default=(), description="arrows from tracks to rows")
    xray: tuple[XrayConfig, ...] = Field(
        default=(), max_length=6, description="structures that the x-ray reads"
    )
    microscope: MicroscopeConfig | None = Field(
        default=None, description="functions and object whose loads and stores are watched"
    )
    points: tuple[Point, ...] = Field(
        default=(), max_length=32, description="events that views draw one by one"
    )
    counters: tuple[Counter, ...] = Field(
        default=(), max_length=8, description="numbers over time, besides operations"
    )
    axis: Axis | None = Field(default=None, description="what the axis counts; none: guest time")
    lit: tuple[Lit, ...] = Field(
        default=(), description="lines of the patch to highlight while they run"
    )
