# SPDX-License-Identifier: GPL-2.0-or-later
"""Of lesson.yaml: what the guests run, and what one operation of it is."""

from __future__ import annotations

from pydantic import Field

from duet.lessons.schema.base import Name, Strict

NO_ROWS = "^$"
"""The pattern of a workload whose threads have no rows."""


class Operation(Strict):
    """What one operation is: from `open` to `close` on one thread.

    Without these probes no event marks an operation, but the microscope may count them.
    """

    name: str = Field(description="what one is called, e.g. 'umount'")
    plural: str = Field(description="what several are called, e.g. 'umounts'")
    open: Name | None = Field(default=None, description="probe at which one begins")
    close: Name | None = Field(default=None, description="probe at which it ends, same thread")


class Workload(Strict):
    """A program run alike on every arm."""

    title: str = Field(description="its name on the page")
    summary: str = Field(description="one line: what it does, and whose it is")
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
        default=0, ge=0, le=8192, description="size of the scratch disk in MiB; 0: it has none"
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
        description="name of one more process that gets a row, below the threads",
    )
    start_marker: str = Field(
        default="duet: start", description="trace marker at which the lane's time starts"
    )
    ops_line: str | None = Field(
        default=None, description="regex with groups ops and per_s, on the workload's lines"
    )
    operation: Operation | None = Field(
        default=None, description="what one operation of it is; default: the lesson's"
    )


class Act(Strict):
    """Something a viewer does to a live run: a line for the workload's standard input."""

    title: str = Field(description="the words on its button")
    help: str = Field(description="one sentence: what it does")
    say: str = Field(description="the line, with {value}")
    workload: Name = Field(description="workload that understands the line")
    min: int = Field(default=0, description="smallest value")
    max: int | None = Field(default=None, description="largest value; default: no limit")
    max_param: Name | None = Field(default=None, description="the knob that is its largest value")
