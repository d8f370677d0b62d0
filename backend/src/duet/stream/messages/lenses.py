# SPDX-License-Identifier: GPL-2.0-or-later
"""The x-ray and the microscope."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import Dtype, Message


class Sample(Message):
    """One look of the x-ray at one structure. See the probe's file for columns, facts, texts.

    The newest sample at or before a moment is what is known of it.
    """

    type: Literal["sample"] = "sample"
    run_id: str
    arm: str
    probe: str
    seq: int = Field(description="running number of this probe on this lane, from 0")
    t_ns: float = Field(description="below 0: before the start")
    error_ns: float = Field(description="the guest's time lies within this of t_ns")
    clock: Literal["host", "guest"] = Field(
        description="how the time is known: calibrated host time, or the guest's clock in memory"
    )
    took_ns: float = Field(description="host time of the reads")
    torn: int = Field(description="reads that differed from one to the next, so far on this lane")
    failed: int = Field(description="reads that failed, so far on this lane")
    n: int = Field(ge=0, description="rows")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    facts: dict[str, float]
    texts: list[str] = Field(description="a name per row, or none")


class Lens(Message):
    """How a lens of a lane is; latest wins."""

    type: Literal["lens"] = "lens"
    run_id: str
    arm: str
    lens: Literal["xray", "microscope"] = "xray"
    state: Literal["off", "attaching", "on", "failed"]
    route: Literal["memory", "qmp", "unknown"] = Field(
        description="by what it reads: the process's memory (fast), QMP text (slow)"
    )
    message: str = ""
    remedy: str = ""
    samples: int
    torn: int
    failed: int
    dropped: int = Field(description="samples that were due and did not come")


class Held(Message):
    """How a lane is held; latest wins. The machine stands some accesses after it was asked to."""

    type: Literal["held"] = "held"
    run_id: str
    arm: str
    phase: Literal["waiting", "held", "going"]
    after: int = Field(description="so many more accesses were to come first")
    asked: int | None = Field(description="accesses to the object when the hold was asked for")
    stood: int | None = Field(description="the same when the machine stood; exact")
    message: str = Field(default="", description="why it goes on, if nobody let it go")
