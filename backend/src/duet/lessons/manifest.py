# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lesson.yaml may say: the schema, in one place.

A lesson is data. Arms, probes, spans, knobs, scenes and claims are declared here and checked
strictly: an unknown key is an error that says what was meant (see load.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
ClockName = Literal["wall", "count"]
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
    """A knob. `boot` knobs need new guests, `run` knobs only a new run."""

    title: str
    help: str
    type: Literal["int", "bool", "choice"] = "int"
    default: int
    min: int | None = None
    max: int | None = None
    choices: tuple[int, ...] = ()
    labels: tuple[str, ...] = Field(default=(), description="one per choice")
    unit: str = ""
    applies: Literal["boot", "run"] = "run"
    cmdline: str | None = Field(default=None, description="kernel parameter, with {value}")


class Workload(Strict):
    """A program run alike on every arm."""

    title: str
    summary: str
    run: str = Field(description="argv split at blanks, with {param} names")
    optional: dict[str, str] = Field(
        default_factory=dict, description="param -> words appended when its value is not 0"
    )
    comm: str = Field(description="glob of the process names that belong to it")
    rows: str = Field(description="regex with one group: name of a hog -> its order")
    reader: str | None = Field(default=None, description="name of the reader process")
    start_marker: str = Field(description="trace marker at which the lane's time starts")
    ops_line: str = Field(description="regex with groups ops and per_s, on the workload's lines")


class Kind(Strict):
    """A kind of mark. Its index in the list is its number on the wire."""

    name: Name
    title: str
    colour: Colour
    layer: Literal["state", "function", "track"]
    evidence: Literal["measured", "counted", "modelled"] = "counted"
    lesson: bool = Field(default=True, description="false: drawn, named and dismissed")


class Probe(Strict):
    """An event to switch on in the guest; {sym:NAME} is replaced from System.map."""

    name: Name
    event: str = Field(description="group/name")
    define: str | None = Field(default=None, description="kprobe_events line for duet/ events")
    filter: str | None = None
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")


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
    """A strip under the hogs, drawn from events of kernel threads."""

    name: Name
    title: str
    field: str = Field(description="field of the event that carries the stage")
    phases: tuple[Phase, ...]
    arms: tuple[Name, ...] = ()
    lesson: bool = True


class Link(Strict):
    """`event` emitted by the thread that is inside a `during` phase points at a hog."""

    name: Name
    title: str
    event: str
    during: Name
    target: str = Field(description="field with the tid that is freed")


class Operation(Strict):
    """What one operation is: from `open` to `close` on one thread."""

    name: str
    plural: str
    open: str
    close: str


class Lit(Strict):
    """Which line of an arm's patch is lit while a span of `kind` is open."""

    match: str
    kind: Name
    arms: tuple[Name, ...] = ()


class Scene(Strict):
    """A step of the story: a saved scene. The text stands in content.md under the same id."""

    id: Name
    title: str
    arms: tuple[Name, ...]
    params: dict[str, int] = Field(default_factory=dict)
    window_ms: float = Field(gt=0)
    seconds: float = Field(default=5, gt=0, description="wall seconds the window lasts at 1x")
    moment: Literal["first_op", "start", "longest_wait", "reader", "newest"] = "newest"
    focus: tuple[Name, ...] = Field(default=(), description="kinds in focus; others are muted")
    show: tuple[Literal["knobs", "patch", "latency", "measured", "tracks", "links"], ...] = ()
    sentence: Literal["one_op", "waits", "wakes", "rates", "expedited", "reader", "none"] = "none"
    predict: Name | None = None


class Prediction(Strict):
    """A question asked before a run; the answer is computed from the events."""

    question: str
    choices: tuple[str, ...]
    metric: Literal["ops_ratio"]
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
    """Tested data: `metric` of `arm` against `to`, in the direction and at least this much."""

    metric: Literal["ops_per_s", "wait_p50_ns", "ops"]
    arm: Name
    to: Name
    ratio_max: float | None = None
    ratio_min: float | None = None
    params: dict[str, int]
    clock: ClockName
    source: str = Field(description="where the expectation comes from")


class Lesson(Strict):
    """One lesson, as its lesson.yaml says it."""

    title: str
    question: str
    summary: str
    clock: ClockName
    clocks: tuple[ClockName, ...]
    arms: tuple[Arm, ...] = Field(min_length=2, max_length=5)
    params: dict[Name, Param]
    workloads: dict[Name, Workload]
    operation: Operation
    kinds: tuple[Kind, ...]
    probes: tuple[Probe, ...]
    spans: tuple[Span, ...]
    tracks: tuple[Track, ...]
    links: tuple[Link, ...]
    lit: tuple[Lit, ...] = ()
    view: Name = Field(description="kind of view, a folder below frontend/src/views")
    scenes: tuple[Scene, ...] = Field(min_length=5, max_length=9)
    predictions: dict[Name, Prediction] = Field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    claims: tuple[Claim, ...] = ()
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
        used += [("kind", n, kinds) for s in self.scenes for n in s.focus]
        used += [("prediction", s.predict, set(self.predictions)) for s in self.scenes if s.predict]
        used += [("arm", a, arms) for p in self.predictions.values() for a in p.arms]
        used += [("arm", q.arm, arms) for q in self.questions]
        used += [("kind", q.kind, kinds) for q in self.questions]
        used += [("arm", a, arms) for c in self.claims for a in (c.arm, c.to)]
        used += [("probe", n, probes) for n in (self.operation.open, self.operation.close)]
        for what, name, known in used:
            if name not in known:
                raise ValueError(f"{what} '{name}' is used but not declared")
        return self
