# SPDX-License-Identifier: GPL-2.0-or-later
"""lesson.yaml: the question, what runs, and what is measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.base.clock import Clock
from duet.lessons.schema.base import BaseName, Name, Strict
from duet.lessons.schema.workload import Act, Metric, Operation, Workload

KnobRole = Literal["duration", "cpus", "threads"]
"""What a knob controls: seconds of the workload, vCPUs of a guest, or parallel threads of the
workload, each with its own row."""


class ArmTree(Strict):
    """The source tree of a kernel, for reports; `duet try` writes it."""

    version: str = Field(description="version in its Makefile")
    commit: str = Field(default="", description="full hash of HEAD; empty: not a repository")
    describe: str = Field(default="", description="output of `git describe`")
    tree: str = Field(default="", description="git's tree hash of all files that were tried")
    dirty: bool = Field(default=False, description="the files differ from the commit")
    changes: str = Field(
        default="", description="SHA-256 of the diff from the commit to the files; empty: no diff"
    )
    patches: int = Field(
        default=0, ge=0, description="how many of the arm's first patches are part of it"
    )


class Arm(Strict):
    """One kernel: a base, its patches, a role, and the name people use for it."""

    name: Name = Field(description="the name in commands, files and other keys")
    title: str = Field(description="the name that people use")
    role: Literal["before", "after", "alternative", "mainline"] = Field(
        description="what it is in the comparison"
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
    source: ArmTree | None = Field(
        default=None, description="source tree it was made of, if `base` belongs to a trial"
    )
    optional: bool = Field(
        default=False,
        description="built, run and measured only if named: not part of the comparison",
    )


class Param(Strict):
    """A knob. `boot` knobs need new guests, `run` knobs only a new run, `model` knobs neither."""

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
        description="largest value of a published figure's measurement, on a host with CPUs for it",
    )
    choices: tuple[int, ...] = Field(default=(), description="the allowed values")
    labels: tuple[str, ...] = Field(default=(), description="one per choice")
    unit: str = Field(default="", description="shown after the value, e.g. 'ms'")
    applies: Literal["boot", "run", "model"] = Field(
        default="run",
        description="boot: a new value needs new guests; run: a new run; model: it belongs to a "
        "model on the page, and no run uses it",
    )
    cmdline: str | None = Field(default=None, description="kernel parameter, with {value}")
    role: KnobRole | None = Field(
        default=None,
        description="duration: seconds that the workload runs; cpus: vCPUs of each guest; "
        "threads: parallel threads of the workload; at most one knob of each",
    )


class LessonFile(Strict):
    """lesson.yaml: the question, what runs, and what is measured."""

    title: str = Field(description="its name in lists")
    question: str = Field(description="the question it answers, one sentence")
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
        description="the call of `duet try` that wrote the lesson; empty: written by hand",
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
        description="its cost is waiting: on the count clock it is reported at shift 0 and shift 3",
    )
    memory_mb: int = Field(default=512, ge=128, le=8192, description="MiB of each guest")
    acts: dict[Name, Act] = Field(
        default_factory=dict, description="what a viewer may do to a live run, by name"
    )
    metrics: dict[Name, Metric] = Field(min_length=1, description="the first is the headline")
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
