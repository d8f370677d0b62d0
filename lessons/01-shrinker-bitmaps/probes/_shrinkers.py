# SPDX-License-Identifier: GPL-2.0-or-later
"""A walk over shrinker_list (mm/vmscan.c 6.1, mm/shrinker.c 7.3), shared by two probes."""

from __future__ import annotations

import struct
from typing import NamedTuple

from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory

MAX_SHRINKERS = 16384
"""Bound of a walk: a list that changes during the read can look like a ring."""


class Shrinker(NamedTuple):
    """One registered shrinker."""

    address: int
    ident: int
    memcg_aware: bool
    """Whether walks for memcgs call this shrinker."""
    numa_aware: bool
    counts: int
    """Address of its count_objects()."""
    debugfs: int
    name: int
    """Address of its name, or 0 without CONFIG_SHRINKER_DEBUG."""


class ShrinkerList:
    """Resolves all offsets once. A walk takes 10 us for each shrinker."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        kind = "struct shrinker"
        self._memory = memory
        self._head = kernel.address("shrinker_list")
        self._list = kernel.offset(kind, "list")
        self._id = kernel.offset(kind, "id")
        self._flags = kernel.offset(kind, "flags")
        # SHRINKER_NUMA_AWARE and SHRINKER_MEMCG_AWARE, include/linux/shrinker.h. In a kernel that
        # counts references to shrinkers, the flag SHRINKER_ALLOCATED comes before them.
        first = 1 << (2 if kernel.has(kind, "refcount") else 1)
        self._numa_aware, self._memcg_aware = first, first << 1
        self._count = kernel.offset(kind, "count_objects")
        self._bytes = kernel.size(kind)
        named = kernel.has(kind, "debugfs_id") and kernel.has(kind, "name")
        self._debugfs = kernel.offset(kind, "debugfs_id") if named else -1
        self._name = kernel.offset(kind, "name") if named else -1

    def walk(self) -> list[Shrinker]:
        """Return all registered shrinkers, in the list's order.

        Raises:
            Gone: the list changed during the walk.
        """
        nodes = self._memory.list(self._head, self._list, self._bytes, MAX_SHRINKERS)
        return [self._shrinker(address, raw) for address, raw in nodes]

    def _shrinker(self, address: int, raw: bytes) -> Shrinker:
        (ident,) = struct.unpack_from("<i", raw, self._id)
        (flags,) = struct.unpack_from("<I", raw, self._flags)
        (count,) = struct.unpack_from("<Q", raw, self._count)
        debugfs, name = -1, 0
        if self._debugfs >= 0:
            (debugfs,) = struct.unpack_from("<i", raw, self._debugfs)
            (name,) = struct.unpack_from("<Q", raw, self._name)
        memcg, numa = bool(flags & self._memcg_aware), bool(flags & self._numa_aware)
        return Shrinker(address, ident, memcg, numa, count, debugfs, name)
