# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of what `bench speed` prints with `--json`, and what docs/SPEED.json stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from duet.cli.keys import key
from tools.bench.speed.pairs import Figure, Point, Result, Row, Skipped


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about the machine.

    Args:
        host: cpu, cpus, memory_mib, os, kernel.
        versions: versions of the programs and libraries that the stages use; "" if one is missing.
    """

    host: Mapping[str, str] = key(shape="{fact: text}")
    versions: Mapping[str, str] = key("empty text: not installed", shape="{program: version}")
    duet: str = key("our version and commit")


@dataclass(slots=True)
class StageResult:
    """Results of one stage."""

    name: str
    summary: str
    day: str = key("2026-11-30")
    load: float = key("of the host, when the stage began")
    seconds: float = 0.0
    rows: Sequence[Row] = field(default_factory=list)
    figures: Sequence[Figure] = field(default_factory=list)
    points: Sequence[Point] = field(default_factory=list)
    skipped: Sequence[Skipped] = field(default_factory=list)
    failed: str = ""

    def add(self, result: Result) -> None:
        """Add one result to the list of its kind."""
        match result:
            case Row():
                self.rows = [*self.rows, result]
            case Figure():
                self.figures = [*self.figures, result]
            case Point():
                self.points = [*self.points, result]
            case Skipped():
                self.skipped = [*self.skipped, result]

    @property
    def targets(self) -> list[Row | Figure]:
        """Rows and figures with a target."""
        return [one for one in self.measured if one.target is not None]

    @property
    def measured(self) -> list[Row | Figure]:
        """All rows and figures."""
        return [*self.rows, *self.figures]


@dataclass(frozen=True, slots=True)
class SpeedResult:
    smoke: bool
    seconds: float
    machine: Machine
    stages: Sequence[StageResult] = key()
    fallen: Sequence[str] = key("ratios that fell by a quarter, with --check; a sentence a stage")
