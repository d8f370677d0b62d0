# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of reduction: tables for the browser, counts and losses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[np.generic]]
Role = Literal["thread", "other", "track"]
"""A thread of the workload, another process of the workload, or a track."""

SPAN_COLUMNS = {
    "t0_ns": "<f8",
    "t1_ns": "<f8",
    "row": "<i4",
    "kind": "u1",
    "cpu": "<i2",
    "arg": "<f8",
    "id": "<u4",
}
TABLES: dict[str, dict[str, str]] = {
    "spans": SPAN_COLUMNS,
    "open": SPAN_COLUMNS,
    "ops": {"t0_ns": "<f8", "t1_ns": "<f8", "row": "<i4", "ok": "u1", "id": "<u4"},
    "links": {"t_ns": "<f8", "from_row": "<i4", "to_row": "<i4", "kind": "u1", "id": "<u4"},
    "points": {
        "t_ns": "<f8",
        "kind": "u1",
        "cpu": "<i2",
        "tid": "<i4",
        **dict.fromkeys("abcdef", "<f8"),
        "id": "<u4",
    },
}
"""Table -> its columns in order, with their numpy types."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the picture, whose number never changes. Its tid is 0 until the thread is known."""

    row: int
    tid: int
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Batch:
    """New rows of one table. A batch of `open` replaces the previous one.

    Args:
        watermark_ns: guest time since the start marker up to which this lane is complete.
        newest_host_ns: monotonic host time at which the newest decoded bytes arrived.
    """

    table: str
    columns: Columns
    n: int
    watermark_ns: float
    newest_host_ns: int = 0


@dataclass(frozen=True, slots=True)
class Loss:
    """Events missing in an interval since the start marker. `events` is None if unknown."""

    t0_ns: float
    t1_ns: float
    events: int | None
    where: Literal["ring buffer", "kprobe", "host"]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Nearest-rank percentiles of `n` times in ns."""

    p50: float
    p95: float
    max: float
    n: int

    @staticmethod
    def of(samples: NDArray[np.float64]) -> Quantiles | None:
        if not len(samples):
            return None
        low, high = np.percentile(samples, (50, 95), method="inverted_cdf").tolist()
        return Quantiles(low, high, float(samples.max()), len(samples))

    def as_dict(self) -> dict[str, float]:
        return {"p50": self.p50, "p95": self.p95, "max": self.max, "n": self.n}


NO_TIMES: dict[str, float | None] = {"p50": None, "p95": None, "max": None, "n": 0}


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counts of one lane so far. Times are guest nanoseconds.

    Args:
        start_ns: the guest's monotonic clock at the start marker; None if no marker was seen.
        ops: operations that began and ended after the start marker.
        wait_ns: per operation, the time its thread spent inside the lesson's waiting functions
            (spans whose `wait` is a kind of the lesson, from entry to return; 0 for an operation
            without a wait). None before the first operation.
        op_ns: per operation, the time from its begin to its end.
        spans: number of spans by kind.
        cycles: ended cycles of the lesson's first track.
        events_read: number of decoded records of all types.
        events_lost: events overwritten or dropped in the ring buffer, missed by kprobes, or lost
            on the host.
    """

    watermark_ns: float = 0.0
    start_ns: int | None = None
    ops: int = 0
    spans: dict[str, int] = field(default_factory=dict)
    cycles: int = 0
    wait_ns: Quantiles | None = None
    op_ns: Quantiles | None = None
    events_read: int = 0
    events_lost: int = 0

    def as_dict(self) -> dict[str, object]:
        return {
            "watermark_ns": self.watermark_ns,
            "start_ns": self.start_ns,
            "ops": self.ops,
            "spans": dict(self.spans),
            "cycles": self.cycles,
            "wait_ns": self.wait_ns.as_dict() if self.wait_ns else dict(NO_TIMES),
            "events_read": self.events_read,
            "events_lost": self.events_lost,
        }


# Accumulators for a lane's operations and losses. Pure.


class Samples:
    """A growing array of numbers."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.generic]] = []

    def add(self, part: NDArray[np.generic]) -> None:
        self._parts.append(part)

    def all(self) -> NDArray[np.float64]:
        """Return all numbers in the order of arrival."""
        if len(self._parts) > 1:
            self._parts[:] = [np.concatenate(self._parts)]
        return np.asarray(self._parts[0] if self._parts else [], np.float64)


class MissingEvents:
    """Events that trace pages report as missing."""

    def __init__(self) -> None:
        self.count = 0
        """Number of missing events that the kernel has counted."""
        self.uncounted = 0
        """Number of gaps without a count."""
        self._new: list[Loss] = []

    def add(self, t0_ns: float, t1_ns: float, count: int) -> None:
        """Add a gap, in nanoseconds since the start marker. A negative count means unknown."""
        if count < 0:
            self.uncounted += 1
        else:
            self.count += count
        self._new.append(Loss(t0_ns, t1_ns, count if count >= 0 else None, "ring buffer"))

    def take_losses(self) -> list[Loss]:
        """Return and remove the gaps since the last call."""
        new, self._new = self._new, []
        return new
