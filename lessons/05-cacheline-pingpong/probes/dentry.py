# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of struct dentry, as pahole prints them, and one live dentry (include/linux/dcache.h).

Rows are fields, sorted by offset: offset i4, size i4, line i2 (of 64 bytes), value f8, nested u1
(1: part of the field before). A value is that of the live dentry's field, or of the first 8 bytes
of a longer field; a pointer above 2^53 is rounded. Texts: field names. The column `bytes` u1 has
the raw dentry. Facts: size, found (1: a live dentry was found), count (its references),
name_length, inline_name (1: the name is inside the dentry), address48 (low 48 address bits).
"""

from __future__ import annotations

import struct
from fnmatch import fnmatch

import numpy as np

from duet.lenses.kernel import Kernel, Superblocks, fields_of, number
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "a dentry and its fields"
LINE = 64
INSIDE = ("d_name", "d_lockref")
TRIES = 3
MAX_DENTRIES = 4096
"""Limit of a walk. A list that changes during the walk can become a ring."""


class Probe:
    """Resolves the fields once, and searches for a dentry again when the current one is gone.

    `of` is a glob for the name (default: any name). If several dentries on tmpfs match, the probe
    selects the dentry with the most references.
    """

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        kind = "struct dentry"
        self._memory = memory
        self._glob = of or "*"
        self._mounts = Superblocks(kernel, memory)
        self._fields = list(fields_of(kernel.type(kind), INSIDE))
        self._size = kernel.size(kind)
        old = kernel.has(kind, "d_subdirs")  # before 6.8 changed the children to an hlist
        self._linked = memory.list if old else memory.hlist
        self._children = kernel.offset(kind, "d_subdirs" if old else "d_children")
        self._sibling = kernel.offset(kind, "d_child" if old else "d_sib")
        self._count = kernel.offset(kind, "d_lockref.count")
        self._hash_len = kernel.offset(kind, "d_name.hash_len")
        self._name = kernel.offset(kind, "d_name.name")
        self._inode = kernel.offset(kind, "d_inode")
        self._address = 0
        self._identity = b""

    def sample(self) -> Reading:
        """See Probe.sample()."""
        raw = self._again() if self._address else None
        if raw is None:
            for last in range(TRIES):
                try:
                    raw = self._look()
                    break
                except Gone:
                    if last == TRIES - 1:
                        raise
        return self._reading(raw)

    def _again(self) -> bytes | None:
        """Read the dentry of the last sample; None if its name or inode has changed."""
        try:
            raw = self._memory.read(self._address, self._size)
        except Gone:
            return None
        return raw if self._who(raw) == self._identity else None

    def _who(self, raw: bytes) -> bytes:
        inode = raw[self._inode : self._inode + 8]
        return raw[self._hash_len : self._hash_len + 8] + inode

    def _look(self) -> bytes | None:
        best: tuple[int, int, bytes] | None = None
        seen = 0
        for _, _, root in self._mounts.of("tmpfs"):
            stack = [root]
            while stack and seen < MAX_DENTRIES:
                head = stack.pop() + self._children
                for address, raw in self._linked(head, self._sibling, self._size, MAX_DENTRIES):
                    seen += 1
                    stack.append(address)
                    (count,) = struct.unpack_from("<i", raw, self._count)
                    if best is not None and count <= best[0]:
                        continue
                    if any(raw[self._inode : self._inode + 8]) and self._named(raw):
                        best = (count, address, raw)
        if best is None:
            self._address = 0
            return None
        self._address, self._identity = best[1], self._who(best[2])
        return best[2]

    def _named(self, raw: bytes) -> bool:
        (name,) = struct.unpack_from("<Q", raw, self._name)
        return fnmatch(self._memory.text(name, 256), self._glob)

    def _reading(self, raw: bytes | None) -> Reading:
        offsets = np.array([field.at for field in self._fields], "<i4")
        facts = {"size": float(self._size), "found": float(raw is not None)}
        values = np.zeros(len(self._fields), "<f8")
        if raw is not None:
            values[:] = [number(raw, field) for field in self._fields]
            (name,) = struct.unpack_from("<Q", raw, self._name)
            facts |= {
                "count": float(struct.unpack_from("<i", raw, self._count)[0]),
                "name_length": float(struct.unpack_from("<Q", raw, self._hash_len)[0] >> 32),
                "inline_name": float(self._address <= name < self._address + self._size),
                # A double has 53 bits, so only the low 48 address bits fit. Bit 47 is the sign bit.
                "address48": float(self._address & (1 << 48) - 1),
            }
        return Reading(
            n=len(self._fields),
            columns={
                "offset": offsets,
                "size": np.array([field.size for field in self._fields], "<i4"),
                "line": (offsets // LINE).astype("<i2"),
                "value": values,
                "nested": np.array([field.nested for field in self._fields], "u1"),
                "bytes": np.frombuffer(raw or b"", "u1"),
            },
            facts=facts,
            texts=tuple(field.name for field in self._fields),
        )
