# SPDX-License-Identifier: GPL-2.0-or-later
"""How lockref operations ended, over all lockrefs, per CPU: counters that a patch adds to lockref.

Rows are CPUs: get_fast, get_slow, put_fast, put_slow, put_last, retry f8, since the boot. Each is
a word that only its CPU writes, so none is torn; CPUs are read one after another.
Facts: fast and slow, of all CPUs.
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
"""In the order of enum lockref_event."""


class Probe:
    """Addresses are resolved once."""

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
