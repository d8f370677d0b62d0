# SPDX-License-Identifier: GPL-2.0-or-later
"""Inodes that wait to be inactivated, per CPU (m_inodegc, fs/xfs/xfs_icache.c 6.1 and 7.3).

Rows are CPUs: cpu i2, items i4 (the kernel's count), listed i4 (inodes found on the list),
hits i4 (shrinker_hits). Beside them, one value per listed inode, newest first: ino f8, on i2.
Facts: items, listed, inodegc (mounts of XFS seen: 0 or 1), xfs_inode_bytes.

The list is taken away as a whole by the worker, and the count is set to 0 with it, so a list
read just then may be longer or shorter than the count.
"""

from __future__ import annotations

import struct

import numpy as np

from duet.lenses.clock import cpu_offsets, wrapped
from duet.lenses.kernel import Kernel, Superblocks
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "per-CPU queues of inodes to inactivate"
MAX_INODES = 4096
"""Bound of a walk: a list that changes under the read may become a ring."""


class Probe:
    """Reads the queues of the newest XFS mount; `of` is not used."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        kind = "struct xfs_inodegc"
        self._memory = memory
        self._mounts = Superblocks(kernel, memory)
        self._queues = kernel.offset("struct xfs_mount", "m_inodegc")
        self._list = kernel.offset(kind, "list")
        self._items = kernel.offset(kind, "items")
        self._hits = kernel.offset(kind, "shrinker_hits")
        self._bytes = kernel.size(kind)
        inode = "struct xfs_inode"
        self._link = kernel.offset(inode, "i_gclist")
        # On 7.3, XFS keeps the number only in the VFS's part of the inode.
        self._ino = kernel.offset(inode, "i_ino" if kernel.has(inode, "i_ino") else "i_vnode.i_ino")
        self._inode_bytes = kernel.size(inode)
        self._cpus = cpu_offsets(kernel, memory)

    def sample(self) -> Reading:
        """See Probe.sample()."""
        mounts = self._mounts.of("xfs")
        if not mounts:
            return self._reading([], [], 0)
        queues = self._memory.u64(mounts[-1][1] + self._queues)
        rows: list[tuple[int, int, int]] = []
        inodes: list[tuple[int, int]] = []
        for cpu, base in enumerate(self._cpus):
            raw = self._memory.read(wrapped(queues + base), self._bytes)
            (items,) = struct.unpack_from("<I", raw, self._items)
            (hits,) = struct.unpack_from("<I", raw, self._hits)
            (first,) = struct.unpack_from("<Q", raw, self._list)
            found = self._walk(first)
            inodes += [(ino, cpu) for ino in found]
            rows.append((items, len(found), hits))
        return self._reading(rows, inodes, 1)

    def _walk(self, node: int) -> list[int]:
        """Inode numbers of a list without back links; one that runs away is cut and counted."""
        found: list[int] = []
        try:
            while node and len(found) < MAX_INODES:
                inode = node - self._link
                found.append(self._memory.u64(inode + self._ino))
                node = self._memory.u64(node)
        except Gone:
            self._memory.torn += 1
        return found

    def _reading(
        self, rows: list[tuple[int, int, int]], inodes: list[tuple[int, int]], mounts: int
    ) -> Reading:
        items, listed, hits = np.array(rows, "<i4").reshape(-1, 3).T
        return Reading(
            n=len(rows),
            columns={
                "cpu": np.arange(len(rows)).astype("<i2"),
                "items": items,
                "listed": listed,
                "hits": hits,
                "ino": np.array([ino for ino, _ in inodes], "<f8"),
                "on": np.array([cpu for _, cpu in inodes], "<i2"),
            },
            facts={
                "items": float(items.sum()),
                "listed": float(listed.sum()),
                "inodegc": float(mounts),
                "xfs_inode_bytes": float(self._inode_bytes),
            },
        )
