# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet microscope --native` found on some machine, as the page gets it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class NativePart(BaseModel):
    """Frozen. The file has more than the page is sent."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, json_schema_serialization_defaults_required=True
    )


class NativePoint(NativePart):
    """Operations a second of all threads: the middle, lowest and highest of some runs."""

    threads: int = Field(ge=1)
    median: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)


class NativeLayout(NativePart):
    """One arm's layout."""

    arm: str
    curve: tuple[NativePoint, ...] = Field(description="by rising number of threads, from 1")


class NativeRatio(NativePart):
    """Rate over rate with all threads, with its 95 % interval."""

    of: str
    to: str
    median: float = Field(gt=0)
    low: float
    high: float


class NativeMade(NativePart):
    """Where and when."""

    cpu: str = Field(min_length=1, description="model name of /proc/cpuinfo")
    kernel: str = Field(description="of the host, as `uname -r` says")
    machine: str = Field(description="as `uname -m` says")
    compiler: str
    at: str = Field(description="ISO 8601 UTC")


class NativeHost(NativePart):
    """What the host's own kernel does; it has one layout."""

    what: str
    curve: tuple[NativePoint, ...]


class NativeView(NativePart):
    """Of a machine with cores enough. No guest ran."""

    format: int = Field(ge=1, le=1)
    lesson: str
    evidence: Literal["measured"]
    what: str
    threads: int
    cores: int = Field(ge=4)
    rounds: int
    run_ms: int
    made: NativeMade
    arms: tuple[NativeLayout, ...] = Field(min_length=1)
    ratio: NativeRatio
    host: NativeHost | None
    remarks: tuple[str, ...]
