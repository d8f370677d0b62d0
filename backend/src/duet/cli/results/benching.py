# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet bench` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of one way in which lanes come up."""

    n: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """Of `duet bench lanes`."""

    lesson: str
    arm: str
    boot: Quantiles = key()
    copy: Quantiles = key()
    vng: Quantiles | None = key("or null")
    refused_copies: int = key("these lanes booted")
    idle_lanes: int = key()
    idle_pss_mib: float = key("the largest")
    template_mib: float = key()


@dataclass(frozen=True, slots=True)
class Delays:
    """From the encoding of a batch to its arrival at a viewer that reads."""

    batches: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class ViewersResult:
    """Of `duet bench viewers`."""

    lesson: str
    viewers: int
    frames_per_s: float
    seconds: float
    server_cores: float = key("CPU time of the server alone")
    all_read: Delays = key()
    some_stalled: Delays = key()
    stalled: int = key("viewers that read nothing in the second half")
    closed: int = key("by the server")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Of `duet bench class`."""

    lesson: str
    students: int
    different: int = key("settings that they take in turn")
    runs: int = key("that served them")
    served: int = key("students whose run was done")
    not_served: Sequence[str] = key("why not")
    longest_wait_s: float = key("until a student's run began")
    longest_s: float = key("until it was over")
    health_n: int = key("answers of /api/health meanwhile")
    health_p99_ms: float = key()
    health_longest_ms: float = key()
    load: float = key("of the host")
