# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel builds and the measured table."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import BuildPhase, ClockName, Message, Source
from duet.stream.messages.failure import ErrorMessage


class Build(Message):
    """Progress of the kernel builds; latest wins per arm."""

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
    """Of what a recorded table was made."""

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
    clock: ClockName
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


class Measured(MeasuredTable):
    """A measured table; also its progress while it is measured."""

    type: Literal["measured"] = "measured"
