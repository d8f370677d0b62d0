# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lesson.yaml may say: the schema, in one place.

A lesson is data. Arms, probes, spans, knobs, scenes and claims are declared here and checked
strictly: an unknown key is an error that says what was meant (see load.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
ClockName = Literal["wall", "count"]
NO_ROWS = "^$"
"""The pattern of a workload whose threads have no rows."""
ACCESS = ("at", "size", "class", "function", "operation")
"""Fields of an access: byte in the object, bytes, 0 read 1 write 2 read-modify-write, number of the
function in `microscope.functions`, number of the operation on that vCPU (0: in none)."""
KnobRole = Literal["duration", "cpus", "threads"]
"""What a knob is for the program that runs a lesson: seconds of the workload, vCPUs of a guest,
threads of the workload that work side by side (each has a row of its own)."""
Colour = Literal["work", "wait", "mechanism", "gain", "vain", "hazard", "idle", "other"]


class Strict(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Arm(Strict):
    """One kernel: a base, its patches, a role, and the name people use for it."""

    name: Name
    title: str
    role: Literal["before", "after", "alternative", "mainline"]
    summary: str = Field(description="one line under the lane's name")
    patches: tuple[str, ...] = Field(
        default=(), description="files below kernel-patches/<lesson>/, in order; none is stock"
    )


class Param(Strict):
    """A knob. `boot` knobs need new guests, `run` knobs only a new run, `model` knobs neither."""

    title: str
    help: str
    type: Literal["int", "bool", "choice"] = "int"
    default: int
    min: int | None = None
    max: int | None = None
    choices: tuple[int, ...] = ()
    labels: tuple[str, ...] = Field(default=(), description="one per choice")
    unit: str = ""
    applies: Literal["boot", "run", "model"] = Field(
        default="run", description="model: of a model on the page; no run knows it"
    )
    cmdline: str | None = Field(default=None, description="kernel parameter, with {value}")
    role: KnobRole | None = Field(
        default=None,
        description="duration: seconds that the workload runs; cpus: vCPUs of each guest; "
        "threads: threads that work side by side; at most one knob of each",
    )


class Workload(Strict):
    """A program run alike on every arm."""

    title: str
    summary: str
    run: str = Field(description="argv split at blanks, with {param} names")
    setup: tuple[str, ...] = Field(
        default=(),
        description="commands before the run, untraced, argv split at blanks, with {param} names; "
        "`duet-scratch xfs 512` makes and mounts a fresh disk at /scratch",
    )
    writes: tuple[str, ...] = Field(
        default=(), description="'PATH VALUE' below /proc/sys or /sys, with {param} names"
    )
    optional: dict[str, str] = Field(
        default_factory=dict, description="param -> words appended when its value is not 0"
    )
    scratch_mb: int = Field(
        default=0, ge=0, le=8192, description="size of the scratch disk; 0: it has none"
    )
    input: bool = Field(
        default=False, description="its standard input takes what the lesson's acts say"
    )
    comm: str = Field(description="glob of the process names that belong to it")
    rows: str = Field(
        default=NO_ROWS,
        description="regex with one group: name of a thread -> its order; ^$ is none",
    )
    other: str | None = Field(
        default=None,
        validation_alias=AliasChoices("other", "reader"),
        description="name of one more process that gets a row, below the threads",
    )
    start_marker: str = Field(
        default="duet: start", description="trace marker at which the lane's time starts"
    )
    ops_line: str | None = Field(
        default=None, description="regex with groups ops and per_s, on the workload's lines"
    )


class Act(Strict):
    """Something a viewer does to a live run: a line for the workload's standard input."""

    title: str
    help: str
    say: str = Field(description="the line, with {value}")
    workload: Name
    min: int = 0
    max: int | None = None
    max_param: Name | None = Field(default=None, description="the knob that is its largest value")


class Metric(Strict):
    """One number of a run, read from exactly one place: `line`, `event`, `span` or `dwarf`.

    A `line` metric comes from untraced runs: on the wall clock it is measured, on the count clock
    a time is counted instructions. `event` and `span` metrics come from a counted run, in which
    only the probes that metrics name are on. `dwarf` metrics are read from vmlinux.
    """

    title: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    line: str | None = Field(default=None, description="regex with one group `value`")
    event: Name | None = Field(default=None, description="probe whose events are counted")
    field: str | None = Field(default=None, description="field of that event to sum up")
    where: dict[str, int] = Field(
        default_factory=dict, description="field of the event -> value it must have"
    )
    span: tuple[Name, Name] | None = Field(
        default=None, description="probes of entry and return on one thread; value is in ns"
    )
    pick: Literal["last", "first", "sum", "mean", "max", "min", "p50"] | None = Field(
        default=None,
        description="of many values; default: last for `line`, sum for `event`, mean for `span`",
    )
    phase: str | None = Field(
        default=None,
        description="only between the trace markers '<phase>: start' and '<phase>: end'",
    )
    dwarf: str | None = Field(
        default=None, description="'sizeof struct dentry' or 'offsetof struct dentry.d_lockref'"
    )
    resolution: float = Field(
        default=0, ge=0, description="step of the clock behind it; no ratio below ten steps"
    )
    scale: float = Field(default=1, gt=0, description="raw value times this is in `unit`")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")
    clocks: tuple[ClockName, ...] = Field(default=(), description="default: every clock")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    extra: bool = Field(default=False, description="told in reports, but no verdict is drawn")

    @model_validator(mode="after")
    def one_source(self) -> Metric:
        """A number has one source."""
        given = [n for n in ("line", "event", "span", "dwarf") if getattr(self, n) is not None]
        if len(given) != 1:
            said = " and ".join(given) or "none"
            raise ValueError(f"a metric has one of line, event, span, dwarf, but has {said}")
        if self.line is not None and "(?P<value>" not in self.line:
            raise ValueError("the regex of `line` needs a group (?P<value>...)")
        return self


class Kind(Strict):
    """A kind of mark. Its index in the list is its number on the wire."""

    name: Name
    title: str
    colour: Colour
    layer: Literal["state", "function", "track", "mark"] = Field(
        description="mark: the view makes it out of points"
    )
    evidence: Literal["measured", "counted", "modelled"] = "counted"
    lesson: bool = Field(default=True, description="false: drawn, named and dismissed")
    always: bool = Field(default=False, description="in the legend of every step")


class Probe(Strict):
    """An event to switch on in the guest; {sym:NAME} is replaced from System.map."""

    name: Name
    event: str = Field(description="group/name")
    define: str | None = Field(default=None, description="kprobe_events line for duet/ events")
    filter: str | None = None
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

    kind: Name | None = Field(default=None, description="function kind to draw; none: only cause")
    open: str = Field(description="probe name")
    close: str = Field(description="probe name")
    arg: str | None = Field(default=None, description="field of the opening event kept as arg")
    when: dict[str, str] = Field(
        default_factory=dict, description="field of the opening event -> {sym:NAME} or number"
    )
    wait: Name | None = Field(default=None, description="state kind of an off-CPU time inside")


class Phase(Strict):
    """A step of a track: when `field` of `event` is `value`, `opens` begins (none: it ends)."""

    event: str
    value: int | str
    after: Name | None = Field(default=None, description="only while this phase is open")
    opens: Name | None = None


class Track(Strict):
    """A strip under the threads, drawn from events of kernel threads."""

    name: Name
    title: str
    field: str = Field(description="field of the event that carries the stage")
    phases: tuple[Phase, ...]
    arms: tuple[Name, ...] = ()
    lesson: bool = True


class Link(Strict):
    """`event` emitted by the thread that is inside a `during` phase points at a row."""

    name: Name
    title: str
    event: str
    during: Name
    target: str = Field(description="field with the tid that is freed")


class Point(Strict):
    """An event kept with its fields, for views that draw single events.

    Of the lens `microscope` it is one access to the watched object, with the fields ACCESS.
    """

    name: Name
    probe: Name | None = None
    lens: Literal["microscope"] | None = None
    title: str
    fields: tuple[str, ...] = Field(
        default=(), max_length=6, description="integer fields of the event; columns a to f"
    )

    @model_validator(mode="after")
    def one_source(self) -> Point:
        """It comes from a probe, or from a lens."""
        if (self.probe is None) == (self.lens is None):
            raise ValueError("a point has one of probe and lens")
        if self.lens is not None and self.fields != ACCESS:
            raise ValueError(f"the fields of an access are {', '.join(ACCESS)}")
        return self


class Axis(Strict):
    """What the picture's axis counts in place of guest time: one `point` is one step."""

    point: Name
    title: str
    unit: str
    plural: str
    workloads: tuple[Name, ...] = Field(
        default=(), description="where it counts; in other runs it is time; default: every one"
    )


class XrayWish(Strict):
    """A structure of the running kernel that the x-ray reads (a file in duet/lenses/probes)."""

    probe: Name
    hz: float = Field(default=10, gt=0, le=30, description="samples a second of host time")
    of: str = Field(default="", description="which of several; the probe says what that is")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")


class MicroscopeWish(Strict):
    """Every load and store that these functions make to one object, seen from outside.

    The workload makes the object, says `ready` and waits for `go` on its standard input; by then
    the x-ray has found the object, and the microscope watches it.
    """

    functions: tuple[str, ...] = Field(min_length=1, max_length=256)
    operation: str = Field(description="of the functions, the one whose call is an operation")
    probe: Name = Field(description="x-ray probe whose facts `address` and `size` are the object's")
    object: str = Field(description="its type, e.g. 'struct dentry'")
    ready: str = Field(description="regex on the workload's lines")
    go: str = Field(description="line for the workload's standard input")
    log: int = Field(default=20_000, ge=0, le=1_000_000, description="accesses kept one by one")
    workloads: tuple[Name, ...] = Field(min_length=1, description="where it is used")


class Beat(Strict):
    """What one press of an arrow key moves by, where that is not the operation."""

    point: Name
    name: str
    plural: str


class Operation(Strict):
    """What one operation is: from `open` to `close` on one thread.

    Without these probes no event tells of one, but the microscope may.
    """

    name: str
    plural: str
    open: Name | None = None
    close: Name | None = None


class Lit(Strict):
    """Which line of an arm's patch is lit while a span of `kind` is open."""

    match: str
    kind: Name
    arms: tuple[Name, ...] = ()
    who: str = Field(default="", description="who stands on it; default: the lesson's `thread`")


class OnCount(Strict):
    """What a step says and does otherwise on the count clock, whose guest has one vCPU."""

    params: dict[str, int] = Field(default_factory=dict, description="these replace the step's")
    note: str = Field(default="", description="one or two sentences, shown with the prose")


class Scene(Strict):
    """A step of the story: a saved scene. The text stands in content.md under the same id."""

    id: Name
    title: str
    arms: tuple[Name, ...]
    params: dict[str, int] = Field(default_factory=dict)
    window_ms: float = Field(default=0, ge=0, description="0: as long as what is looked at")
    window_steps: int = Field(
        default=0, ge=0, description="the same where the axis counts; one of the two at most"
    )
    seconds: float = Field(default=5, gt=0, description="wall seconds the window lasts at 1x")
    moment: Name = Field(default="newest", description="where to look; the view knows the names")
    align: Literal["time", "operation", "marker", "begin"] = "time"
    operation: int = Field(default=1, ge=1, description="the one that lanes are aligned at")
    focus: tuple[Name, ...] = Field(default=(), description="kinds in focus; others are muted")
    show: tuple[Name, ...] = Field(
        default=(),
        description="knobs, patch, latency, measured, hold (each lane stands still after one "
        "operation), and parts of the view",
    )
    sentence: Name = Field(default="none", description="the view knows the names")
    workload: Name | None = Field(default=None, description="default: the first")
    predict: Name | None = None
    on_count: OnCount | None = None


class Prediction(Strict):
    """A question asked before a run; the answer is computed from the events."""

    question: str
    choices: tuple[str, ...]
    metric: Name = Field(description="ops_ratio, or one of the view's answers")
    unit: str = Field(default="", description="of the answer, in words; none for ops_ratio")
    arms: tuple[Name, Name]
    bounds: tuple[float, ...] = Field(description="rising limits between the choices")
    params: dict[str, int] = Field(default_factory=dict)


class Question(Strict):
    """Answered by pointing at a mark of `kind` on `arm`."""

    ask: str
    kind: Name
    arm: Name
    why: str


class Claim(Strict):
    """Tested data: `metric` of `arm` against `to` (or alone), within these limits."""

    metric: Name
    arm: Name
    to: Name | None = Field(default=None, description="none: the limits are for the value itself")
    ratio_max: float | None = None
    ratio_min: float | None = None
    value_max: float | None = None
    value_min: float | None = None
    equals: Name | None = Field(default=None, description="metric of the same arm, to the digit")
    params: dict[str, int]
    clock: ClockName
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns an instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")
    source: str = Field(description="where the expectation comes from")


class Seed(Strict):
    """A figure of the mail, and how it is looked for here."""

    claim: str = Field(description="what the mail says, in a few words")
    mail: str = Field(description="its figures, e.g. '12916 to 2811 ops/s'")
    mail_ratio: float = Field(gt=0, description="arm over `to`, as the mail has it")
    metric: Name
    arm: Name
    to: Name
    params: dict[str, int] = Field(default_factory=dict)
    to_params: dict[str, int] = Field(
        default_factory=dict, description="where `to` ran under other knobs than `arm`"
    )
    clock: ClockName
    shift: int = Field(default=0, ge=0, le=10)
    workload: Name | None = None
    because: str = Field(
        default="", description="why ours differs, told when it is not simply reproduced"
    )


class Reference(Strict):
    """A published value that a chart of the view shows beside ours."""

    quantity: Name = Field(description="what it is of; the view knows the names")
    arm: Name
    params: dict[str, int] = Field(description="the knobs it is for; values may lie beyond ours")
    value: float = Field(gt=0, description="in the unit of the quantity's axis")
    title: str = Field(default="", description="in words, for who points at it")


class Lesson(Strict):
    """One lesson, as its lesson.yaml says it."""

    title: str
    question: str
    summary: str
    clock: ClockName
    clocks: tuple[ClockName, ...]
    shift: int = Field(
        default=0,
        ge=0,
        le=10,
        description="2^shift ns an instruction where its steps run on the count clock",
    )
    arms: tuple[Arm, ...] = Field(min_length=2, max_length=5)
    params: dict[Name, Param]
    workloads: dict[Name, Workload]
    waiting: bool = Field(
        default=False,
        description="its cost is waiting: on the count clock it is told at shift 0 and at shift 3",
    )
    memory_mb: int = Field(default=512, ge=128, le=8192, description="of each guest")
    acts: dict[Name, Act] = Field(default_factory=dict)
    metrics: dict[Name, Metric] = Field(min_length=1, description="the first is the headline")
    operation: Operation | None = None
    beat: Beat | None = Field(default=None, description="none: the operation")
    thread: str = Field(default="thread", description="what a row's thread is called")
    kinds: tuple[Kind, ...] = ()
    probes: tuple[Probe, ...] = ()
    spans: tuple[Span, ...] = ()
    tracks: tuple[Track, ...] = ()
    links: tuple[Link, ...] = ()
    xray: tuple[XrayWish, ...] = Field(default=(), max_length=6)
    microscope: MicroscopeWish | None = None
    points: tuple[Point, ...] = Field(default=(), max_length=32)
    axis: Axis | None = Field(default=None, description="none: guest time")
    lit: tuple[Lit, ...] = ()
    view: Name | None = Field(
        default=None,
        description="kind of view, a folder below frontend/src/views; none: numbers only so far",
    )
    scenes: tuple[Scene, ...] = Field(default=(), max_length=9)
    hero: Name | None = Field(default=None, description="scene that the front page shows")
    predictions: dict[Name, Prediction] = Field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    claims: tuple[Claim, ...] = ()
    seeds: tuple[Seed, ...] = ()
    references: tuple[Reference, ...] = ()
    caveats: tuple[str, ...] = ()

    @model_validator(mode="after")
    def names_refer(self) -> Lesson:
        """Every name used must be declared."""
        arms = {a.name for a in self.arms}
        kinds = {k.name for k in self.kinds}
        probes = {p.name for p in self.probes}
        used: list[tuple[str, str, set[str]]] = []
        used += [("arm", a, arms) for p in self.probes for a in p.arms]
        used += [("probe", n, probes) for s in self.spans for n in (s.open, s.close)]
        used += [("kind", n, kinds) for s in self.spans for n in (s.kind, s.wait) if n]
        used += [("probe", p.event, probes) for t in self.tracks for p in t.phases]
        used += [("kind", p.opens, kinds) for t in self.tracks for p in t.phases if p.opens]
        used += [("probe", x.event, probes) for x in self.links]
        used += [("kind", x.during, kinds) for x in self.links]
        used += [("kind", x.kind, kinds) for x in self.lit]
        used += [("arm", a, arms) for s in self.scenes for a in s.arms]
        used += [("param", n, set(self.params)) for s in self.scenes for n in s.params]
        count = [s.on_count for s in self.scenes if s.on_count]
        used += [("param", n, set(self.params)) for c in count for n in c.params]
        used += [("kind", n, kinds) for s in self.scenes for n in s.focus]
        used += [("prediction", s.predict, set(self.predictions)) for s in self.scenes if s.predict]
        used += [("arm", a, arms) for p in self.predictions.values() for a in p.arms]
        used += [("arm", q.arm, arms) for q in self.questions]
        used += [("probe", p.probe, probes) for p in self.points if p.probe]
        used += [("param", n, set(self.params)) for p in self.probes for n in p.explain_max]
        counted = [one.point for one in (self.axis, self.beat) if one]
        used += [("point", name, {p.name for p in self.points}) for name in counted]
        workloads = set(self.workloads)
        used += [("workload", s.workload, workloads) for s in self.scenes if s.workload]
        used += [("workload", w, workloads) for x in self.xray for w in x.workloads]
        used += [("workload", w, workloads) for w in self.axis.workloads] if self.axis else []
        if scope := self.microscope:
            used += [("workload", w, workloads) for w in scope.workloads]
            used += [("x-ray probe", scope.probe, {x.probe for x in self.xray})]
            used += [("function", scope.operation, set(scope.functions))]
        scenes = {s.id for s in self.scenes}
        used += [("scene", self.hero, scenes)] if self.hero else []
        used += [("workload", act.workload, workloads) for act in self.acts.values()]
        used += [
            ("param", a.max_param, set(self.params)) for a in self.acts.values() if a.max_param
        ]
        used += [("kind", q.kind, kinds) for q in self.questions]
        used += _used_by_numbers(self)
        if self.operation:
            ends = self.operation.open, self.operation.close
            used += [("probe", n, probes) for n in ends if n]
        for what, name, known in used:
            if name not in known:
                raise ValueError(f"{what} '{name}' is used but not declared")
        return self

    @model_validator(mode="after")
    def one_knob_a_role(self) -> Lesson:
        """A role is one knob's."""
        roles = [param.role for param in self.params.values() if param.role]
        for role in roles:
            if roles.count(role) > 1:
                raise ValueError(f"more than one param has the role '{role}'")
        return self

    @model_validator(mode="after")
    def view_has_scenes(self) -> Lesson:
        """A lesson that is seen has a story; one that is only measured has none yet."""
        if self.view is None and self.scenes:
            raise ValueError("scenes are given, but no view to show them in")
        if self.view is not None and (len(self.scenes) < 5 or self.operation is None):
            raise ValueError("a lesson with a view needs an operation and five to nine scenes")
        return self


def _used_by_numbers(lesson: Lesson) -> list[tuple[str, str, set[str]]]:
    """Names that metrics, claims and seeds refer to: what, name, those declared."""
    arms = {a.name for a in lesson.arms}
    probes = {p.name for p in lesson.probes}
    metrics, params, workloads = set(lesson.metrics), set(lesson.params), set(lesson.workloads)
    used = [("arm", a, arms) for m in lesson.metrics.values() for a in m.arms]
    used += [("workload", w, workloads) for m in lesson.metrics.values() for w in m.workloads]
    used += [("probe", n, probes) for m in lesson.metrics.values() for n in m.span or ()]
    used += [("probe", m.event, probes) for m in lesson.metrics.values() if m.event]
    used += [("metric", c.equals, metrics) for c in lesson.claims if c.equals]
    figures: tuple[Claim | Seed, ...] = (*lesson.claims, *lesson.seeds)
    for one in figures:
        used += [("arm", a, arms) for a in (one.arm, one.to) if a]
        used += [("metric", one.metric, metrics)]
        used += [("param", n, params) for n in one.params]
        used += [("workload", one.workload, workloads)] if one.workload else []
    used += [("param", n, params) for s in lesson.seeds for n in s.to_params]
    used += [("arm", r.arm, arms) for r in lesson.references]
    used += [("param", n, params) for r in lesson.references for n in r.params]
    return used
