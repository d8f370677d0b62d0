# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcomes of lockref operations per CPU, for all lockrefs, from counters that a patch adds.

Rows are CPUs: get_fast, get_slow, put_fast, put_slow, put_last, retry f8, counted since boot. Only
its own CPU writes a counter, so no counter is torn. The CPUs are read one after another.
Facts: fast and slow, summed over all CPUs.
"""

from __future__ import annotations

import struct

import numpy as np

from duet.lenses.clock import cpu_offsets, wrapped
from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory
from duet.lenses.records import Reading

TITLE = "how lockref operations ended"
EVENTS = ("get_fast", "get_slow", "put_fast", "put_slow", "put_last", "retry")
"""Names of the counters, in the order of enum lockref_event."""


class Probe:
    """Resolves the addresses of the counters once."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        self._memory = memory
        base = kernel.address("lockref_events")
        self._counts = [wrapped(base + offset) for offset in cpu_offsets(kernel, memory)]

    def sample(self) -> Reading:
        """See Probe.sample()."""
        form = f"<{len(EVENTS)}Q"
        rows = [
            struct.unpack(form, self._memory.once(address, struct.calcsize(form)))
            for address in self._counts
        ]
        counts = np.array(rows, "<f8").T
        columns = {name: np.ascontiguousarray(counts[i]) for i, name in enumerate(EVENTS)}
        sums = {name: float(column.sum()) for name, column in columns.items()}
        return Reading(
            n=len(rows),
            columns=dict(columns),
            facts={
                "fast": sums["get_fast"] + sums["put_fast"],
                "slow": sums["get_slow"] + sums["put_slow"],
            },
        )
