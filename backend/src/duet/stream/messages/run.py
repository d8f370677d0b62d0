# SPDX-License-Identifier: GPL-2.0-or-later
"""State of a run and of its lanes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import ClockName, LanePhase, Message, RunPhase, Source


class Run(Message):
    """State of a run; latest wins."""

    type: Literal["run"] = "run"
    run_id: str
    lesson: str
    source: Source
    purpose: Literal["explain", "measure"] = "explain"
    clock: ClockName
    shift: int = Field(default=0, description="count clock: 2^shift ns an instruction")
    params: dict[str, int]
    workload: str
    arms: list[str]
    phase: RunPhase
    started_at: str | None = Field(default=None, description="ISO 8601 UTC; null before the start")
    recorded_at: str | None = Field(default=None, description="ISO 8601 UTC of a recording")
    apart: bool = Field(default=False, description="its lanes ran one after another")
    message: str = ""


class Contention(Message):
    """CPU time that a lane's vCPUs wanted of the host, since its workload's start.

    A run is distorted where the sum of its lanes waited for more than `bound` of what they wanted.
    """

    ran_s: float = Field(ge=0, description="seconds they had, all vCPUs together")
    waited_s: float = Field(
        ge=0, description="seconds another thread or another machine had the CPU"
    )
    bound: float = Field(description="share of waiting beyond which times are distorted, 0 to 1")


class Lane(Message):
    """State of one lane; latest wins."""

    type: Literal["lane"] = "lane"
    run_id: str
    arm: str
    phase: LanePhase
    message: str = ""
    remedy: str = ""
    detail: str = Field(default="", description="console tail or log tail; shown on demand")
    accel: str | None = None
    pid: int | None = Field(default=None, description="process of the guest, while it lives")
    kernel: str | None = Field(default=None, description="uname -r of the guest")
    boot_s: float | None = None
    cloned: bool = Field(
        default=False, description="a copy of a guest that was parked; boot_s is the time of that"
    )
    contention: Contention | None = Field(
        default=None, description="null: not measured, as on the count clock, which it cannot harm"
    )


class Row(Message):
    """A row of a lane: a thread of the workload, another process of it, or a track."""

    row: int = Field(ge=0)
    tid: int
    name: str
    role: Literal["thread", "other", "track"]


class Rows(Message):
    """All rows of a lane known so far; replaces the former list."""

    type: Literal["rows"] = "rows"
    run_id: str
    arm: str
    rows: list[Row]
