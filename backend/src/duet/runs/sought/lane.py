# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a lane of a run, in guest time or on the axis of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from duet.session.tables import Columns

STEP_NS = 1000.0
"""Frame time of one step of an axis that counts (frontend/src/derive/retime.ts)."""
TIMES = ("t0_ns", "t1_ns", "t_ns")
Pairs = NDArray[np.float64]
"""Shape (n, 2): begin and end, ns of the axis. Points and links have no length."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks of an x-ray probe, in order.

    Args:
        t_ns: when each was.
        facts: what it reported each time, by name; NaN where a look has it not.
    """

    t_ns: NDArray[np.float64]
    facts: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class LaneTables:
    """One lane that has ended.

    Args:
        tables: spans, ops, links, points, with the columns of session.tables.TABLES.
        threads: threads of the workload.
        watermark_ns: the data are complete up to here.
        looks: those of each x-ray probe.
    """

    tables: Mapping[str, Columns]
    threads: int
    watermark_ns: float
    looks: Mapping[str, Looks] = field(default_factory=dict)

    def times(self, table: str, of: NDArray[np.bool_] | None = None) -> Pairs:
        """Begin and end of the rows of a table, or of some of them."""
        columns = self.tables[table]
        names = ("t_ns", "t_ns") if "t_ns" in columns else ("t0_ns", "t1_ns")
        both = np.stack([columns[name].astype(np.float64) for name in names], axis=1)
        return both if of is None else both[of]

    def on_axis(self, point: int) -> LaneTables:
        """The same lane where the points of this number are the steps of the axis."""
        points = self.tables["points"]
        steps = np.sort(points["t_ns"][points["kind"] == point])

        def over(times: NDArray[np.generic]) -> NDArray[np.float64]:
            return np.searchsorted(steps, times, "right").astype(np.float64) * np.float64(STEP_NS)

        tables = {
            table: {name: over(c) if name in TIMES else c for name, c in columns.items()}
            for table, columns in self.tables.items()
        }
        end = float(over(np.array([self.watermark_ns]))[0])
        looks = {probe: Looks(over(one.t_ns), one.facts) for probe, one in self.looks.items()}
        return LaneTables(tables, self.threads, end, looks)
