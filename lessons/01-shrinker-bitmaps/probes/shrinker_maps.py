# SPDX-License-Identifier: GPL-2.0-or-later
"""The shrinker bitmaps of all memory cgroups (mm/vmscan.c 6.1, mm/shrinker.c 7.3).

Rows are memcgs, the root first, parents before children:
  ino f8 (of the cgroup's directory, as events tell it), depth u1 (0 is the root), online u1,
  set i4 (bits set), map u4 (`words` values a row, 32 bits each: bit i is
  map[row * words + (i >> 5)] >> (i & 31) & 1).
Beside them `ids` i4: the ids of registered memcg-aware shrinkers, in the list's order.

Facts leave the root out, as walks do: memcgs, bits_set; and root_bits, shrinkers, nr_max,
words, dying (offline, not yet freed).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from _shrinkers import ShrinkerList
from numpy.typing import NDArray

from duet.base.budgets import LENS_SAMPLE_BYTES
from duet.lenses.kernel import Kernel
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "shrinker maps of memory cgroups"
CSS_ONLINE = 1 << 1
WALK_TRIES = 3
MAX_MEMCGS = 8192
"""Bound of a walk: a list that changes during the read can look like a ring."""
MAX_DEPTH = 64
UNIT_BITS = 64
"""SHRINKER_UNIT_BITS, include/linux/shrinker.h 7.3."""
_PAIR = struct.Struct("<QQ")


class Memcg(NamedTuple):
    """One memory cgroup: its directory's inode, its nodeinfo[0], and its depth in the tree."""

    ino: int
    node: int
    depth: int
    online: bool


class Probe:
    """Reads all maps; `of` is not used."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        self._memory = memory
        css = "struct cgroup_subsys_state"
        self._root = kernel.address("root_mem_cgroup")
        self._css = kernel.offset("struct mem_cgroup", "css")
        self._sibling = kernel.offset(css, "sibling")
        self._children = kernel.offset(css, "children")
        self._flags = kernel.offset(css, "flags")
        self._serial = kernel.offset(css, "serial_nr")
        self._cgroup = kernel.offset(css, "cgroup")
        self._css_bytes = self._serial + 8
        self._kn = kernel.offset("struct cgroup", "kn")
        self._kn_id = kernel.offset("struct kernfs_node", "id")
        self._node = kernel.offset("struct mem_cgroup", "nodeinfo")
        self._info = kernel.offset("struct mem_cgroup_per_node", "shrinker_info")
        info, unit = "struct shrinker_info", "struct shrinker_info_unit"
        # 6.1: `map` points to all bits. 7.3: `unit` is an array of pointers to units of UNIT_BITS.
        self._units = kernel.offset(info, "unit") if kernel.has(info, "unit") else None
        self._nr_bits = 0 if self._units is None else kernel.offset(info, "map_nr_max")
        self._map = kernel.offset(info if self._units is None else unit, "map")
        self._nr_max = kernel.address("shrinker_nr_max")
        self._list = ShrinkerList(kernel, memory)
        self._known: dict[tuple[int, int], tuple[int, int]] = {}

    def sample(self) -> Reading:
        """See Probe.sample()."""
        for last in range(WALK_TRIES):
            try:
                return self._sample()
            except Gone:
                if last == WALK_TRIES - 1:
                    raise
        raise AssertionError

    def _sample(self) -> Reading:
        memory = self._memory
        (nr_max,) = struct.unpack("<i", memory.once(self._nr_max, 4))
        if not 0 < nr_max < 1 << 20:
            raise Gone(f"shrinker_nr_max is {nr_max}")
        ids = [s.ident for s in self._list.walk() if s.memcg_aware]
        found = self._walk()
        words = (nr_max + 31) // 32
        if len(found) * words * 4 > LENS_SAMPLE_BYTES:
            raise Gone(
                f"{len(found)} maps of {nr_max} bits are more than {LENS_SAMPLE_BYTES >> 20} MiB"
            )
        maps = np.zeros((len(found), words), "<u4")
        for row, memcg in zip(maps, found, strict=True):
            self._read_map(memcg.node, row)
        ino = np.array([memcg.ino for memcg in found], "<f8")
        depth = np.array([memcg.depth for memcg in found], "u1")
        online = np.array([memcg.online for memcg in found], "u1")
        bits = popcount(maps)
        return Reading(
            n=len(found),
            columns={
                "ino": ino,
                "depth": depth,
                "online": online,
                "set": bits,
                "map": maps.ravel(),
                "ids": np.array(ids, "<i4"),
            },
            facts={
                "memcgs": float(((depth > 0) & (online > 0)).sum()),
                "dying": float((online == 0).sum()),
                "shrinkers": float(len(ids)),
                "bits_set": float(bits[depth > 0].sum()),
                "root_bits": float(bits[depth == 0].sum()),
                "nr_max": float(nr_max),
                "words": float(words),
            },
        )

    def _walk(self) -> list[Memcg]:
        """Return the root and all memory cgroups below the root."""
        root = self._memory.u64(self._root)
        raw = self._memory.once(root + self._css, self._css_bytes)
        found = [self._memcg(root, raw, 0)]
        self._below(root, raw, 1, found)
        return found

    def _below(self, parent: int, raw: bytes, depth: int, found: list[Memcg]) -> None:
        """Add all cgroups below `parent`. Check that each child links back to the previous one."""
        if depth > MAX_DEPTH:
            raise Gone(f"cgroups are nested more than {MAX_DEPTH} deep")
        former = head = parent + self._css + self._children
        node, _ = _PAIR.unpack_from(raw, self._children)
        while node != head:
            memcg = node - self._sibling - self._css
            raw = self._memory.once(memcg + self._css, self._css_bytes)
            following, back = _PAIR.unpack_from(raw, self._sibling)
            if back != former or len(found) >= MAX_MEMCGS:
                self._memory.torn += 1
                raise Gone("the tree of cgroups changed while it was walked")
            found.append(self._memcg(memcg, raw, depth))
            self._below(memcg, raw, depth + 1, found)
            former, node = node, following

    def _memcg(self, memcg: int, raw: bytes, depth: int) -> Memcg:
        """Return a memory cgroup. A css keeps its inode and node; serial numbers are unique."""
        (flags,) = struct.unpack_from("<I", raw, self._flags)
        (serial,) = struct.unpack_from("<Q", raw, self._serial)
        fixed = self._known.get((memcg, serial))
        if fixed is None:
            if len(self._known) > 2 * MAX_MEMCGS:
                self._known.clear()
            (cgroup,) = struct.unpack_from("<Q", raw, self._cgroup)
            kn = self._memory.u64(cgroup + self._kn)
            ino = self._memory.u64(kn + self._kn_id)
            node = self._memory.u64(memcg + self._node)
            fixed = self._known[memcg, serial] = (ino, node)
        return Memcg(fixed[0], fixed[1], depth, bool(flags & CSS_ONLINE))

    def _read_map(self, node: int, row: NDArray[np.uint32]) -> None:
        """Read a map into `row`. The kernel can replace a map by a longer map during the read."""
        memory = self._memory
        info = memory.u64(node + self._info)
        for _ in range(WALK_TRIES):
            if not info:
                return  # not online yet
            raw = self._bits(info, row.nbytes)
            now = memory.u64(node + self._info)
            if now == info:
                row[:] = np.frombuffer(raw, "<u4")
                return
            memory.torn += 1
            info = now
        raise Gone("a map is replaced again and again")

    def _bits(self, info: int, nbytes: int) -> bytes:
        """Return the bits of a map. While maps grow, some still have fewer units than others."""
        memory = self._memory
        if self._units is None:
            return memory.read(memory.u64(info + self._map), nbytes)
        (bits,) = struct.unpack("<i", memory.once(info + self._nr_bits, 4))
        count = min(max(bits, 0), nbytes * 8) // UNIT_BITS
        units = struct.unpack(f"<{count}Q", memory.once(info + self._units, 8 * count))
        maps = [memory.read(unit + self._map, UNIT_BITS // 8) for unit in units]
        return b"".join(maps).ljust(nbytes, b"\0")


def popcount(maps: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the number of set bits in each row."""
    if not maps.size:
        return np.zeros(len(maps), "<i4")
    bits: NDArray[np.int32] = np.unpackbits(maps.view("u1"), axis=1).sum(axis=1).astype("<i4")
    return bits
