# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured table: per arm all samples, their median, and what a traced run explains. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from duet.errors import DuetError
from duet.session import LaneResult

MIN_RUNS = 5
"""Fewer runs per arm give no verdict."""
SAME = 0.01
"""Runs on the count clock that differ by no more than this are called equal."""
NO_VERDICT = f"No verdict: it takes at least {MIN_RUNS} runs per arm (--repeats {MIN_RUNS})."


@dataclass(slots=True)
class MeasuredRow:
    """One arm.

    Keys of as_dict(): arm, n (untraced runs that count), ops and ops_per_s (one per run, from the
    workload's own line), ops_per_s_median, wait_ns {p50, p95, max, n}, grace_periods, events_read,
    events_lost (the traced run; null where there was none or its events are incomplete), kernel,
    accel, lines (the workload's own, verbatim), refused (why a number is missing), error.
    """

    arm: str
    ops: list[int] = field(default_factory=list)
    ops_per_s: list[float] = field(default_factory=list)
    wait_ns: dict[str, float] | None = None
    grace_periods: int | None = None
    events_read: int | None = None
    events_lost: int | None = None
    kernel: str = ""
    accel: str = ""
    lines: list[str] = field(default_factory=list)
    refused: str | None = None
    error: DuetError | None = None

    @property
    def n(self) -> int:
        """Untraced runs that gave a number."""
        return len(self.ops_per_s)

    @property
    def ops_per_s_median(self) -> float | None:
        """The median rate; None without a run."""
        return median(self.ops_per_s) if self.ops_per_s else None

    def add_untraced(self, lane: LaneResult) -> None:
        """Take the workload's own count of a run without tracing."""
        self._learn(lane)
        if lane.error is not None:
            return
        if lane.ops is None or lane.ops_per_s is None:
            self.refused = "the workload wrote no line with its count"
            return
        if lane.status:
            self.refused = f"the workload ended with status {lane.status}"
            return
        self.ops.append(lane.ops)
        self.ops_per_s.append(lane.ops_per_s)

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
                "so its waits and grace periods are not given"
            )
            return
        self.grace_periods = metrics.grace_periods
        self.wait_ns = metrics.wait_ns.as_dict() if metrics.wait_ns else None

    def _learn(self, lane: LaneResult) -> None:
        self.kernel = lane.kernel or self.kernel
        if lane.facts:
            self.accel = str(lane.facts.accel)
        self.lines += [line.text for line in lane.lines]
        if lane.error is not None:
            self.error = lane.error
            self.refused = lane.error.sentence

    def as_dict(self) -> dict[str, object]:
        """The documented keys."""
        return {
            "arm": self.arm,
            "n": self.n,
            "ops": list(self.ops),
            "ops_per_s": list(self.ops_per_s),
            "ops_per_s_median": self.ops_per_s_median,
            "wait_ns": self.wait_ns,
            "grace_periods": self.grace_periods,
            "events_read": self.events_read,
            "events_lost": self.events_lost,
            "kernel": self.kernel,
            "accel": self.accel,
            "lines": list(self.lines),
            "refused": self.refused,
            "error": None
            if self.error is None
            else {
                "code": self.error.code,
                "sentence": self.error.sentence,
                "remedy": self.error.remedy,
                "detail": self.error.detail,
            },
        }


@dataclass(frozen=True, slots=True)
class Measurement:
    """The whole table, with what it was measured on."""

    lesson: str
    clock: str
    workload: str
    params: dict[str, int]
    rows: tuple[MeasuredRow, ...]
    at: str
    unit: str

    @property
    def verdict(self) -> str:
        """One sentence: each arm's median against the first arm's, or why there is none."""
        if any(row.n < MIN_RUNS for row in self.rows):
            return NO_VERDICT
        first = self.rows[0]
        base = first.ops_per_s_median
        if not base:
            return f"No verdict: {first.arm} finished no {self.unit}."
        parts = []
        for row in self.rows[1:]:
            change = 100 * ((row.ops_per_s_median or 0.0) / base - 1)
            apart = max(row.ops_per_s) < min(first.ops_per_s)
            apart = apart or min(row.ops_per_s) > max(first.ops_per_s)
            parts.append(
                f"{row.arm} {change:+.1f} % against {first.arm}"
                if apart
                else f"{row.arm}: no difference to {first.arm} proven"
            )
        if self.clock == "count" and all(_equal(row.ops_per_s) for row in self.rows):
            return f"Deterministic: {'; '.join(parts)} (medians, n = {first.n})."
        return f"{'; '.join(parts)} (medians, n = {min(row.n for row in self.rows)})."

    def as_dict(self) -> dict[str, object]:
        """The documented keys: lesson, clock, workload, params, unit, at, verdict, rows."""
        return {
            "lesson": self.lesson,
            "clock": self.clock,
            "workload": self.workload,
            "params": dict(self.params),
            "unit": self.unit,
            "at": self.at,
            "verdict": self.verdict,
            "rows": [row.as_dict() for row in self.rows],
        }


def _equal(samples: list[float]) -> bool:
    return max(samples) <= min(samples) * (1 + SAME)
