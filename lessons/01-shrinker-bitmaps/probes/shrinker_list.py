# SPDX-License-Identifier: GPL-2.0-or-later
"""All registered shrinkers (shrinker_list), in the order in which walks call them.

Rows: id i4 (the bit in the maps; only of memcg-aware ones), aware u1, numa u1, debugfs i4 (the
number in /sys/kernel/debug/shrinker, -1: none). Texts: `name-number` as that folder has it, or
count_objects() where the kernel keeps no names.
"""

from __future__ import annotations

import numpy as np
from _shrinkers import Shrinker, ShrinkerList

from duet.lenses.kernel import Kernel
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "shrinkers with their names"
TRIES = 3


class Probe:
    """Reads the list; `of` is not used."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        self._kernel, self._memory = kernel, memory
        self._list = ShrinkerList(kernel, memory)
        self._names: dict[tuple[int, int], str] = {}

    def sample(self) -> Reading:
        """See Probe.sample()."""
        for last in range(TRIES):
            try:
                found = self._list.walk()
                break
            except Gone:
                if last == TRIES - 1:
                    raise
        aware = np.array([one.memcg_aware for one in found], "u1")
        return Reading(
            n=len(found),
            columns={
                "id": np.array([one.ident for one in found], "<i4"),
                "aware": aware,
                "numa": np.array([one.numa_aware for one in found], "u1"),
                "debugfs": np.array([one.debugfs for one in found], "<i4"),
            },
            facts={"shrinkers": float(len(found)), "memcg_aware": float(aware.sum())},
            texts=tuple(self._name(one) for one in found),
        )

    def _name(self, one: Shrinker) -> str:
        key = (one.address, one.debugfs)
        if key not in self._names:
            if len(self._names) > 65536:
                self._names.clear()
            self._names[key] = self._name_of(one)
        return self._names[key]

    def _name_of(self, one: Shrinker) -> str:
        if one.name:
            try:
                name = self._memory.text(one.name)
            except Gone:
                name = "?"
            return f"{name}-{one.debugfs}" if one.debugfs >= 0 else name
        return self._kernel.symbol_at(one.counts)
