# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet bench` prints with `--json`."""

from __future__ import annotations

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
