# SPDX-License-Identifier: GPL-2.0-or-later
"""The extent status trees of an ext4 mount (fs/ext4/extents_status.c 6.1 and 7.3).

Rows are extents, by inode and block: ino f8, lblk u4, len u4, type u1 (0 written, 1 unwritten,
2 delayed, 3 hole, 4 other: the mail's letters W U D H), referenced u1. Texts: none.
Facts: inodes, extents (rows), all (what the inodes count), evictable (their i_es_shk_nr),
written, unwritten, delayed, hole, bytes (an entry), cut (extents beyond the bound, at least).
"""

from __future__ import annotations

import struct

import numpy as np

from duet.lenses.kernel import Kernel, Superblocks
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "extent status trees"
LETTERS = ("written", "unwritten", "delayed", "hole")
OTHER = len(LETTERS)
ES_SHIFT = 64 - 5
"""ES_FLAGS bits in the top of es_pblk: written, unwritten, delayed, hole, referenced."""
REFERENCED = 1 << 4
TRIES = 3
MAX_DEPTH = 64
MAX_EXTENTS = 16384
MAX_INODES = 4096
"""Bounds of walks: a list that changes under the read may become a ring."""
_NODE = struct.Struct("<QQQ")


class Probe:
    """Reads the newest ext4 mount; `of` is inode numbers with commas (default: all inodes)."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        inode, es = "struct ext4_inode_info", "struct extent_status"
        self._memory = memory
        self._only = {int(word) for word in of.split(",") if word.strip().isdecimal()}
        self._mounts = Superblocks(kernel, memory)
        self._es_list = kernel.offset("struct ext4_sb_info", "s_es_list")
        self._link = kernel.offset(inode, "i_es_list")
        self._root = kernel.offset(inode, "i_es_tree.root.rb_node")
        self._all = kernel.offset(inode, "i_es_all_nr")
        self._shk = kernel.offset(inode, "i_es_shk_nr")
        self._bytes = max(self._link + 16, self._root + 8, self._all + 4, self._shk + 4)
        self._ino = kernel.offset(inode, "vfs_inode") + kernel.offset("struct inode", "i_ino")
        self._rb = kernel.offset(es, "rb_node")
        self._lblk = kernel.offset(es, "es_lblk")
        self._len = kernel.offset(es, "es_len")
        self._pblk = kernel.offset(es, "es_pblk")
        self._es_bytes = kernel.size(es)

    def sample(self) -> Reading:
        """See Probe.sample()."""
        for last in range(TRIES):
            self._memory.begin()
            try:
                return self._sample()
            except Gone:
                if last == TRIES - 1:
                    raise
        raise AssertionError

    def _sample(self) -> Reading:
        mounts = self._mounts.of("ext4")
        rows: list[tuple[int, int, int, int]] = []
        inodes = everything = evictable = 0
        whole = True
        if mounts:
            head = mounts[-1][1] + self._es_list
            for address, raw in self._memory.list(head, self._link, self._bytes, MAX_INODES):
                ino = self._memory.u64(address + self._ino)
                if self._only and ino not in self._only:
                    continue
                inodes += 1
                everything += struct.unpack_from("<I", raw, self._all)[0]
                evictable += struct.unpack_from("<I", raw, self._shk)[0]
                (root,) = struct.unpack_from("<Q", raw, self._root)
                whole = self._tree(ino, root, rows) and whole
        # Counters are read before the walk: a tree that grew meanwhile may be cut all the same.
        cut = 0 if whole else max(1, everything - len(rows))
        return self._reading(rows, inodes, everything, evictable, cut)

    def _tree(self, ino: int, root: int, rows: list[tuple[int, int, int, int]]) -> bool:
        """Append the extents of a tree in order of blocks, within bounds.

        A tree that changes may be a ring.

        Returns:
            Whether the walk reached the end of the tree before the bound.

        Raises:
            Gone: Two extents overlap, or the tree is too deep: it changed during the walk.
        """
        stack: list[tuple[int, bytes]] = []
        node = root
        end = 0  # of the extent before, in blocks
        while (node or stack) and len(rows) < MAX_EXTENTS:
            while node:
                raw = self._memory.paged(node - self._rb, self._es_bytes)
                stack.append((node, raw))
                if len(stack) > MAX_DEPTH:
                    self._memory.torn += 1
                    raise Gone("a tree changed while it was walked")
                _, _, node = _NODE.unpack_from(raw, self._rb)  # parent and colour, right, left
            _, raw = stack.pop()
            (lblk,) = struct.unpack_from("<I", raw, self._lblk)
            (length,) = struct.unpack_from("<I", raw, self._len)
            if lblk < end:
                self._memory.torn += 1
                raise Gone("a tree changed while it was walked")
            end = lblk + length
            (pblk,) = struct.unpack_from("<Q", raw, self._pblk)
            rows.append((ino, lblk, length, pblk >> ES_SHIFT))
            _, node, _ = _NODE.unpack_from(raw, self._rb)
        return not (node or stack)

    def _reading(
        self,
        rows: list[tuple[int, int, int, int]],
        inodes: int,
        everything: int,
        evictable: int,
        cut: int,
    ) -> Reading:
        table = np.array(rows, "<i8").reshape(-1, 4)
        flags = table[:, 3]
        kind = kinds_of(flags)
        counts = np.bincount(kind, minlength=OTHER + 1)
        return Reading(
            n=len(rows),
            columns={
                "ino": table[:, 0].astype("<f8"),
                "lblk": table[:, 1].astype("<u4"),
                "len": table[:, 2].astype("<u4"),
                "type": kind,
                "referenced": ((flags & REFERENCED) > 0).astype("u1"),
            },
            facts={
                "inodes": float(inodes),
                "extents": float(len(rows)),
                "all": float(everything),
                "evictable": float(evictable),
                "bytes": float(self._es_bytes),
                "cut": float(cut),
                **{name: float(counts[index]) for index, name in enumerate(LETTERS)},
            },
        )


def kinds_of(
    flags: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Index into LETTERS. Delayed wins over what the extent also is: it may not be freed."""
    kind = np.full(len(flags), OTHER, "u1")
    for index in (3, 1, 0, 2):
        kind[(flags >> index & 1) == 1] = index
    return kind
