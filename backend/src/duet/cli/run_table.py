# SPDX-License-Identifier: GPL-2.0-or-later
"""A row of `duet run`: the workload's own counts, and what the traced run explains. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from duet.cli.results.runs import RunArm
from duet.session import LaneResult


@dataclass(slots=True)
class RunRow:
    """One arm.

    Args:
        samples: the headline of each untraced run.
        unit: of the headline.
    """

    arm: str
    ops: list[int] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)
    unit: str = ""
    wait_ns: dict[str, float] | None = None
    cycles: int | None = None
    events_read: int | None = None
    events_lost: int | None = None
    kernel: str = ""
    accel: str = ""
    lines: list[str] = field(default_factory=list)
    refused: str | None = None

    def add_untraced(self, lane: LaneResult) -> None:
        """Take the workload's own count of a run without tracing."""
        self._learn(lane)
        if lane.error is None and not lane.status and lane.ops is not None:
            self.ops.append(lane.ops)

    def add_traced(self, lane: LaneResult) -> None:
        """Take waits and counts of a traced run; numbers that rest on lost events are refused."""
        self._learn(lane)
        if lane.error is not None:
            return
        metrics = lane.metrics
        self.events_read, self.events_lost = metrics.events_read, metrics.events_lost
        if metrics.events_lost:
            self.refused = (
                f"{metrics.events_lost} events were lost in the traced run, "
                "so its waits and cycles are not given"
            )
            return
        self.cycles = metrics.cycles
        self.wait_ns = metrics.wait_ns.as_dict() if metrics.wait_ns else None

    def _learn(self, lane: LaneResult) -> None:
        self.kernel = lane.kernel or self.kernel
        if lane.facts:
            self.accel = str(lane.facts.accel)
        self.lines += [line.text for line in lane.lines]
        if lane.error is not None:
            self.refused = lane.error.sentence

    def result(self) -> RunArm:
        """For JSON."""
        rates = self.samples if self.unit.endswith("/s") else []
        return RunArm(
            arm=self.arm,
            ops=middle(self.ops),
            median=median(self.samples) if self.samples else None,
            samples=list(self.samples),
            ops_per_s=median(rates) if rates else None,
            wait_ns=self.wait_ns,
            cycles=self.cycles,
            events_read=self.events_read,
            events_lost=self.events_lost,
            n=len(self.samples),
            ops_per_s_all=list(rates),
            kernel=self.kernel,
            accel=self.accel,
            refused=self.refused,
            lines=list(self.lines),
        )

    def cells(self) -> tuple[str, ...]:
        """For the table that people read."""
        waits = self.wait_ns or {}
        return (
            self.arm,
            str(len(self.samples)),
            f"{median(self.samples):,.1f}" if self.samples else "-",
            *(_ms(waits.get(key)) for key in ("p50", "p95", "max")),
            "-" if self.cycles is None else str(self.cycles),
            "-" if self.events_lost is None else str(self.events_lost),
        )


def middle(counts: list[int]) -> int | None:
    """The median of whole numbers, itself one of them."""
    return sorted(counts)[(len(counts) - 1) // 2] if counts else None


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.3f} ms"
