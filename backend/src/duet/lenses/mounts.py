# SPDX-License-Identifier: GPL-2.0-or-later
"""Superblocks by the name of their filesystem (super_blocks, fs/super.c)."""

from __future__ import annotations

import struct

from duet.lenses.kernel import Kernel
from duet.lenses.memory import Gone, Memory

MAX_SUPERBLOCKS = 16384
TRIES = 3


class Superblocks:
    """Resolves once; finding walks the list."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        kind = "struct super_block"
        self._memory = memory
        self._head = kernel.address("super_blocks")
        self._list = kernel.offset(kind, "s_list")
        self._type = kernel.offset(kind, "s_type")
        self._info = kernel.offset(kind, "s_fs_info")
        self._root = kernel.offset(kind, "s_root")
        self._id = kernel.offset(kind, "s_id")
        self._bytes = max(self._list, self._type, self._info, self._root, self._id) + 32
        self._name = kernel.offset("struct file_system_type", "name")

    def of(self, filesystem: str) -> list[tuple[int, int, int]]:
        """(super_block, s_fs_info, s_root) of each mounted one, in order of mounting.

        Raises:
            Gone: the list changes too fast, or cannot be read.
        """
        for last in range(TRIES):
            try:
                return self._find(filesystem)
            except Gone:
                if last == TRIES - 1:
                    raise
        raise AssertionError

    def _find(self, filesystem: str) -> list[tuple[int, int, int]]:
        memory, found, names = self._memory, [], dict[int, str]()
        for address, raw in memory.list(self._head, self._list, self._bytes, MAX_SUPERBLOCKS):
            kind, info, root = (
                struct.unpack_from("<Q", raw, at)[0] for at in (self._type, self._info, self._root)
            )
            if kind not in names:
                names[kind] = memory.text(memory.u64(kind + self._name)) if kind else ""
            if names[kind] == filesystem and root:
                found.append((address, info, root))
        return found
