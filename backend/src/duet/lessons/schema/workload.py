# SPDX-License-Identifier: GPL-2.0-or-later
"""Part of lesson.yaml: the workloads, the operation that they repeat, and the metrics."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse

NO_ROWS = "^$"
"""The value of `rows` for a workload whose threads have no rows."""


class Operation(Strict):
    """An operation, which lasts from `open` to `close` on one thread.

    Without these probes no event marks an operation, but the microscope can still count operations.
    """

    name: str = Field(description="name of one operation, e.g. 'umount'")
    plural: str = Field(description="name of several operations, e.g. 'umounts'")
    open: Name | None = Field(default=None, description="probe at which it begins")
    close: Name | None = Field(
        default=None, description="probe at which it ends, on the same thread"
    )


class Workload(Strict):
    """A program that runs on every arm."""

    title: str = Field(description="its name on the page")
    summary: str = Field(description="one line: what it does, and who wrote it")
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
        default_factory=dict,
        description="for each knob, words that are appended if its value is not 0",
    )
    scratch_mb: int = Field(
        default=0, ge=0, le=8192, description="size of the scratch disk in MiB; 0 means no disk"
    )
    input: bool = Field(
        default=False, description="whether its standard input takes the lines of the lesson's acts"
    )
    comm: str = Field(description="glob for the names of its processes")
    rows: str = Field(
        default=NO_ROWS,
        description="regex for thread names with one group, by which rows are ordered; ^$ means "
        "no rows",
    )
    other: str | None = Field(
        default=None,
        description="name of another process that gets a row, below the threads",
    )
    start_marker: str = Field(
        default="duet: start", description="trace marker at which the lane's time starts"
    )
    ops_line: str | None = Field(
        default=None, description="regex with groups ops and per_s, on the workload's lines"
    )
    operation: Operation | None = Field(
        default=None, description="its operation; default: the lesson's"
    )


class Act(Strict):
    """An act of a viewer on a live run, which is sent to the workload's standard input."""

    title: str = Field(description="text of its button")
    help: str = Field(description="one sentence: what it does")
    say: str = Field(description="the line, with {value}")
    workload: Name = Field(description="workload that accepts the line")
    min: int = Field(default=0, description="smallest value")
    max: int | None = Field(default=None, description="largest value; default: no limit")
    max_param: Name | None = Field(
        default=None, description="knob whose value is the largest value"
    )


# Part of lesson.yaml: the metrics of a run.

SOURCES = ("line", "event", "span", "pending", "dwarf", "microscope")
TRACED = ("event", "span", "pending")
"""Sources whose metrics need a counted run."""


class AccessCount(Strict):
    """An exact count of accesses by the microscope's functions to one place in memory."""

    count: Literal["reads", "writes", "rmws", "accesses"] = Field(
        default="accesses",
        description="an atomic operation counts as one rmw (read-modify-write); `accesses` "
        "counts all kinds",
    )
    field: str | None = Field(default=None, description="field of the watched object")
    variable: str | None = Field(
        default=None, description="global or static variable of the kernel"
    )
    shared: bool = Field(
        default=False,
        description="every line of kernel memory, except stacks, that at least two "
        "CPUs access and one writes: lines that can move between caches",
    )
    line: bool = Field(
        default=True,
        description="everything on its cache lines; false: only its own bytes",
    )
    by: tuple[str, ...] = Field(default=(), description="functions; default: all watched ones")
    per: Literal["operation", "run"] = Field(
        default="operation",
        description="`operation`: average per operation; `run`: total of the run",
    )

    @model_validator(mode="after")
    def one_place(self) -> AccessCount:
        """Check that at most one place is counted: a field, a variable or shared lines."""
        given = {"field": self.field, "variable": self.variable, "shared": self.shared or None}
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            what = f"a count must name one place, but this count names {' and '.join(named)}"
            refuse("AccessCount", [Fault((named[-1],), what, "Keep one of them.")])
        return self


class Metric(Strict):
    """A number that describes a run, from exactly one of SOURCES.

    A `line` metric comes from untraced runs. On the wall clock, it is measured; on the count clock,
    its time is a number of counted instructions. `event`, `span` and `pending` metrics come from a
    counted run, in which only the metrics' probes are enabled. `dwarf` metrics are read from
    vmlinux. `microscope` metrics come from a run under the lesson's microscope, on the wall clock.
    """

    title: str = Field(description="its name in tables and charts")
    unit: str = Field(description="its unit, e.g. 'umounts/s'")
    better: Literal["higher", "lower", "neither"] = Field(description="which direction is better")
    line: str | None = Field(
        default=None, description="regex with one group `value`, on the workload's lines"
    )
    event: Name | None = Field(default=None, description="probe whose events are counted")
    field: str | None = Field(default=None, description="field of that event to sum up")
    where: dict[str, int] = Field(
        default_factory=dict, description="values that fields of the event must have"
    )
    span: tuple[Name, Name] | None = Field(
        default=None,
        description="probes at entry and return on one thread; the value is the time between in ns",
    )
    pending: tuple[Name, Name] | None = Field(
        default=None,
        description="probes of begin and end, on any threads; value is how many have begun and not "
        "ended, at each begin and end",
    )
    pick: Literal["last", "first", "sum", "mean", "max", "min", "p50"] | None = Field(
        default=None,
        description="how several values become one; default: last for `line`, sum for `event`, "
        "mean for `span`, max for `pending`",
    )
    phase: str | None = Field(
        default=None,
        description="count only between the trace markers '<phase>: start' and '<phase>: end'",
    )
    dwarf: str | None = Field(
        default=None, description="'sizeof struct dentry' or 'offsetof struct dentry.d_lockref'"
    )
    microscope: AccessCount | None = Field(
        default=None, description="loads and stores of watched functions to one place"
    )
    resolution: float = Field(
        default=0,
        ge=0,
        description="resolution of its clock, in `unit`; no ratio is given for values below ten "
        "times that",
    )
    sampled: bool = Field(
        default=False,
        description="whether the kernel updates it at its tick, so that it gets no verdict on "
        "the count clock",
    )
    scale: float = Field(default=1, gt=0, description="factor from the raw value to `unit`")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")
    clocks: tuple[Clock, ...] = Field(default=(), description="default: every clock")
    arms: tuple[Name, ...] = Field(default=(), description="default: every arm")
    extra: bool = Field(
        default=False, description="whether it is only reported and gets no verdict"
    )

    @property
    def probes(self) -> tuple[str, ...]:
        """The probes that the metric needs, in order."""
        return (self.event,) if self.event else self.span or self.pending or ()

    @model_validator(mode="after")
    def one_source(self) -> Metric:
        """Check that a metric has exactly one source."""
        given = [name for name in SOURCES if getattr(self, name) is not None]
        faults = []
        if len(given) != 1:
            said = " and ".join(given) or "none"
            what = f"a metric needs one of {', '.join(SOURCES)}, but this metric has {said}"
            faults.append(Fault(tuple(given[-1:]), what, "Keep exactly one of them."))
        if self.line is not None and "(?P<value>" not in self.line:
            what = "the regex needs a group (?P<value>...)"
            faults.append(Fault(("line",), what, "Put (?P<value>...) around the number."))
        refuse("Metric", faults)
        return self
