# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of files of the newest memcg, by list and by generation (mm/vmscan.c 7.3).

Facts: found (0: there is no memcg but the root), enabled (1: generations), youngest and oldest
(numbers of generations), gen0 to gen3 (pages of the generations whose number leaves this rest when
it is divided by 4), active and inactive (pages on the two lists; 0 with generations).

The memcg has one node, because the guest has no NUMA. Zones are added up.
"""

from __future__ import annotations

import struct

from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory
from duet.lenses.records import Reading

TITLE = "pages of a memcg by list and by generation"
MAX_CHILDREN = 4096
"""Bound of a walk: a list that changes during the read can look like a ring."""
GENERATIONS, FILE = 4, 1
INACTIVE_FILE, ACTIVE_FILE, LISTS = 2, 3, 5
"""enum lru_list, include/linux/mmzone.h."""


class Probe:
    """Reads the lruvec of the newest child of the root memcg; `of` is not used."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        self._memory = memory
        self._root = kernel.address("root_mem_cgroup")
        css = kernel.offset("struct mem_cgroup", "css")
        state = "struct cgroup_subsys_state"
        self._children = css + kernel.offset(state, "children")
        self._sibling = css + kernel.offset(state, "sibling")
        self._node = kernel.offset("struct mem_cgroup", "nodeinfo")
        node = "struct mem_cgroup_per_node"
        self._lrugen = kernel.offset(node, "lruvec.lrugen")
        self._sizes = kernel.offset(node, "lru_zone_size")
        lrugen = "struct lru_gen_folio"
        self._bytes = kernel.size(lrugen)
        self._youngest = kernel.offset(lrugen, "max_seq")
        self._oldest = kernel.offset(lrugen, "min_seq") + 8 * FILE
        self._pages = kernel.offset(lrugen, "nr_pages")
        self._enabled = kernel.offset(lrugen, "enabled")
        pages = kernel.offset(lrugen, "avg_refaulted") - self._pages
        self._zones = pages // (8 * 2 * GENERATIONS)

    def sample(self) -> Reading:
        """See Probe.sample()."""
        root = self._memory.u64(self._root)
        size = self._sibling + 16
        children = [
            address
            for address, _ in self._memory.list(
                root + self._children, self._sibling, size, MAX_CHILDREN
            )
        ]
        if not children:
            return Reading(n=0, columns={}, facts={"found": 0.0})
        node = self._memory.u64(children[-1] + self._node)
        raw = self._memory.read(node + self._lrugen, self._bytes)
        sizes = self._memory.read(node + self._sizes, 8 * LISTS * self._zones)
        facts = {
            "found": 1.0,
            "enabled": float(raw[self._enabled]),
            "youngest": self._word(raw, self._youngest),
            "oldest": self._word(raw, self._oldest),
            "active": self._sum(sizes, ACTIVE_FILE, LISTS),
            "inactive": self._sum(sizes, INACTIVE_FILE, LISTS),
        }
        for gen in range(GENERATIONS):
            at = self._pages + 8 * self._zones * (2 * gen + FILE)
            facts[f"gen{gen}"] = self._sum(raw[at : at + 8 * self._zones], 0, 1)
        return Reading(n=0, columns={}, facts=facts)

    def _word(self, raw: bytes, at: int) -> float:
        (word,) = struct.unpack_from("<q", raw, at)
        return float(word)

    def _sum(self, raw: bytes, first: int, step: int) -> float:
        """Add up one word of each zone."""
        return sum(self._word(raw, 8 * (first + step * zone)) for zone in range(self._zones))
