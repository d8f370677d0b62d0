# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet plan` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class Range:
    """A low and a high estimate."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class UseRow:
    """How much of one resource is in use, by the high estimate."""

    what: str
    share: float
    carries: int
    of: str


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """One constant of the model."""

    name: str
    low: float
    high: float
    unit: str
    what: str
    source: str
    samples: int
    at: str


@dataclass(frozen=True, slots=True)
class CrowdRow:
    """Of so many viewers of one recording, simulated; seconds since each came."""

    viewers: int
    first_p50_s: float
    first_p99_s: float
    next_p99_s: float
    whole_p50_s: float
    whole_p99_s: float
    over_s: float
    nginx_cpu_s: float


@dataclass(frozen=True, slots=True)
class PlanResult:
    """Of `duet plan`."""

    students: int
    live: int = key("runs at once")
    lanes: int = key("of a run")
    pool: str = key()
    cache: bool = key("nginx or a CDN answers for segments")
    hosts: Range = key("all; of the size that was given")
    servers: Range = key("of these, with a local pool; else beside those of guests")
    guest_hosts: Range = key()
    cpus: Range = key("busy, all hosts together")
    memory_bytes: Range = key("all hosts together")
    start_bits_per_s: Range = key("while all students come")
    steady_bits_per_s: Range = key("afterwards")
    start_server_cores: Range = key()
    steady_server_cores: Range = key()
    start_nginx_cores: Range = key()
    steady_nginx_cores: Range = key()
    connections: Range = key("while all come")
    opened_s: Range = key("until the last page is open")
    moves_ms: Range = key("from run live to events, where a slot is free")
    bottleneck: str = key("a sentence")
    notes: Sequence[str] = key()
    uses: Sequence[UseRow] = key("the shortest first")
    constants: Sequence[ConstantRow] = key("samples 0: shipped, not measured here")
    crowds: Sequence[CrowdRow] = key("with --viewers")
