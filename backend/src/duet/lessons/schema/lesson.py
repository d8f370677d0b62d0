# SPDX-License-Identifier: GPL-2.0-or-later
"""lesson.yaml: the question, what runs, and what is measured."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import BaseName, Fault, Name, Strict, refuse
from duet.lessons.schema.workload import Act, Metric, Operation, Workload

SETTING = re.compile(r"/(?:proc/sys|sys)(?:/[\w.+:@-]+)+")
"""A file that an arm may write."""
KnobRole = Literal["duration", "cpus", "threads"]
"""What a knob controls: how many seconds the workload runs, how many vCPUs a guest has, or how many
parallel threads the workload has (each gets its own row)."""


class ArmTree(Strict):
    """A kernel's source tree, as reports describe it. `duet try` writes this part."""

    version: str = Field(description="version in its Makefile")
    commit: str = Field(
        default="", description="full hash of HEAD; empty if the tree is not a repository"
    )
    describe: str = Field(default="", description="output of `git describe`")
    tree: str = Field(default="", description="git's tree hash of all files that were tried")
    dirty: bool = Field(default=False, description="whether the files differ from the commit")
    changes: str = Field(
        default="",
        description="SHA-256 of the diff from the commit to the files; empty if there is no diff",
    )
    patches: int = Field(
        default=0,
        ge=0,
        description="how many of the arm's patches, counted from the first, "
        "the tree already contains",
    )


class Arm(Strict):
    """One kernel: a base, patches, a role, and the name that people use for this kernel."""

    name: Name = Field(description="the name in commands, files and other keys")
    title: str = Field(description="the name that people use")
    role: Literal["before", "after", "alternative", "mainline"] = Field(
        description="its role in the comparison"
    )
    summary: str = Field(description="one line under the lane's name")
    patches: tuple[str, ...] = Field(
        default=(), description="files below kernel-patches/<lesson>/, in order; none: stock"
    )
    base: BaseName | None = Field(
        default=None,
        description='kernel base: a folder of kernel-patches/bases, in quotes ("6.12"); default: '
        "the default base",
    )
    config: Name | None = Field(
        default=None, description="a variant of the base's configuration, by its name in base.yaml"
    )
    writes: tuple[str, ...] = Field(
        default=(),
        description="'PATH VALUE' below /proc/sys or /sys: what the guest writes after it has "
        "booted, before a workload prepares its run; arms with one kernel differ by this alone",
    )
    source: ArmTree | None = Field(
        default=None, description="source tree from which it was made, if `base` belongs to a trial"
    )
    optional: bool = Field(
        default=False,
        description="whether it is built, run and measured only if it is named; it is not part "
        "of the comparison",
    )

    @model_validator(mode="after")
    def its_writes_are_settings(self) -> Self:
        """Check that each write names a file of /proc/sys or /sys once, and a fixed value."""
        faults = []
        named: list[str] = []
        for index, line in enumerate(self.writes):
            place = ("writes", index)
            path, _, value = line.partition(" ")
            if not SETTING.fullmatch(path) or ".." in path.split("/"):
                sentence = f"'{path:.60}' is no file below /proc/sys or /sys"
                remedy = "Write 'PATH VALUE', as in '/proc/sys/vm/swappiness 0'."
                faults.append(Fault(place, sentence, remedy))
            elif not value.strip() or not value.isprintable():
                sentence = f"no value follows {path}"
                remedy = "Write 'PATH VALUE', with one blank between them, on one line."
                faults.append(Fault(place, sentence, remedy))
            elif "{" in value or "}" in value:
                sentence = "an arm is one kernel with one setting, so its value names no knob"
                remedy = "Write the value, or write the file in `writes:` of a workload."
                faults.append(Fault(place, sentence, remedy))
            elif path in named:
                sentence = f"this arm writes {path} twice"
                faults.append(Fault(place, sentence, "Keep one of the two values."))
            named.append(path)
        refuse("Arm", faults)
        return self


class Param(Strict):
    """A knob. Changing it requires new guests (`boot`), a new run (`run`) or neither (`model`)."""

    title: str = Field(description="its name on the page")
    help: str = Field(description="one line: what it changes")
    type: Literal["int", "bool", "choice"] = Field(
        default="int", description="a number, a switch (0 or 1), or one of `choices`"
    )
    default: int = Field(description="its value if unset")
    min: int | None = Field(default=None, description="smallest value")
    max: int | None = Field(default=None, description="largest value")
    measured_max: int | None = Field(
        default=None,
        description="largest value in the measurement of a published figure, on a host that has "
        "enough CPUs",
    )
    choices: tuple[int, ...] = Field(default=(), description="the allowed values")
    labels: tuple[str, ...] = Field(default=(), description="text for each choice")
    unit: str = Field(default="", description="shown after the value, e.g. 'ms'")
    applies: Literal["boot", "run", "model"] = Field(
        default="run",
        description="boot: a new value needs new guests; run: a new run; model: it belongs to a "
        "model on the page, and no run uses it",
    )
    cmdline: str | None = Field(default=None, description="kernel parameter, with {value}")
    absent_on: tuple[BaseName, ...] = Field(
        default=(),
        description="kernel bases that lack the file to which workloads write the value; there "
        "such a write is left out, and the kernel does what it does with the default",
    )
    role: KnobRole | None = Field(
        default=None,
        description="duration: seconds that the workload runs; cpus: vCPUs of each guest; "
        "threads: parallel threads of the workload; at most one knob of each",
    )


class GridCurve(Strict):
    """One number of a grid's recordings as a function of one knob, for the panel `grid`."""

    title: str = Field(description="what the number is, with its unit if the metric has none")
    over: Name = Field(description="the knob on the axis; one of the grid's `over`")
    metric: Name = Field(description="the metric: a line of the workload, events or accesses")
    per: bool = Field(
        default=True, description="whether the panel also shows each arm's ratio to the first arm"
    )


class Grid(Strict):
    """Recordings for all combinations of some knobs' values. Turning these knobs needs no guest.

    `./duet record LESSON --grid all` records them on the lesson's clock.
    """

    arms: tuple[Name, ...] = Field(min_length=1, description="the lanes of each recording")
    over: dict[Name, tuple[int, ...]] = Field(
        min_length=1, max_length=3, description="the recorded values of each knob, ascending"
    )
    params: dict[Name, int] = Field(
        default={}, description="other knobs of all recordings; the rest have their defaults"
    )
    workload: Name | None = Field(default=None, description="default: the first")
    window_ms: int | None = Field(
        default=None, ge=1, description="how much of each lane to keep; default: all"
    )
    curves: dict[Name, GridCurve] = Field(
        default={}, description="numbers that the page draws over a knob"
    )

    @model_validator(mode="after")
    def its_values_ascend(self) -> Self:
        """Check that each knob has several values in order, and that curves use these knobs."""
        faults = []
        for knob, values in self.over.items():
            if len(values) < 2 or list(values) != sorted(set(values)):
                sentence = f"a grid needs at least two ascending values of {knob}"
                faults.append(Fault(("over", knob), sentence, "List each value once, in order."))
            if knob in self.params:
                sentence = f"{knob} is also in `over`, so `params` cannot set it"
                faults.append(Fault(("params", knob), sentence, "Leave it out."))
        if len(set(self.arms)) < len(self.arms):
            sentence = "a grid names each arm once"
            faults.append(Fault(("arms",), sentence, "Leave out the repeated arm."))
        for name, curve in self.curves.items():
            if curve.over not in self.over:
                sentence = f"this grid has no recordings over '{curve.over}'"
                remedy = f"Choose from: {', '.join(self.over)}."
                faults.append(Fault(("curves", name, "over"), sentence, remedy))
        refuse("Grid", faults)
        return self


class LessonFile(Strict):
    """lesson.yaml: the question, what runs, and what is measured."""

    title: str = Field(description="its name in lists")
    question: str = Field(description="the question that it answers, in one sentence")
    summary: str = Field(description="two sentences for the front page")
    clock: Clock = Field(description="its default clock")
    clocks: tuple[Clock, ...] = Field(
        description="wall: guest time follows the host's; count: one instruction is a fixed time"
    )
    shift: int = Field(
        default=0,
        ge=0,
        le=10,
        description="2^shift ns per instruction when its steps run on the count clock",
    )
    arms: tuple[Arm, ...] = Field(min_length=2, max_length=16, description="the kernels")
    made_by: str = Field(
        default="",
        description="the `duet try` command that wrote the lesson; empty if an author wrote it",
    )
    instrumentation: Literal["patches", "none"] = Field(
        default="patches",
        description="patches of all arms: those in both/ of its base and in the lesson's"
        " own both/; none: the unpatched source, if tracepoints and kprobes suffice",
    )
    params: dict[Name, Param] = Field(description="the knobs, by name")
    workloads: dict[Name, Workload] = Field(description="by name; the first is the default")
    waiting: bool = Field(
        default=False,
        description="whether its cost is waiting time; results on the count clock are then "
        "reported at shift 0 and shift 3",
    )
    memory_mb: int = Field(default=512, ge=128, le=8192, description="MiB of each guest")
    acts: dict[Name, Act] = Field(
        default_factory=dict, description="by name, what a viewer may do to a live run"
    )
    metrics: dict[Name, Metric] = Field(min_length=1, description="the first is the headline")
    grids: dict[Name, Grid] = Field(
        default={}, description="recordings for each value of some knobs, by name"
    )
    operation: Operation | None = Field(
        default=None,
        description="the operation, unless the workload has one; required for a lesson with a view",
    )
    thread: str = Field(default="thread", description="name of a row's thread")
    view: Name | None = Field(
        default=None,
        description="kind of view, see ./duet views; default: timeline, or without scenes none: "
        "numbers only so far",
    )
