# SPDX-License-Identifier: GPL-2.0-or-later
"""Describe in words what is at an address: a slab object's field, a variable, or a task's stack.

drgn identifies slab objects (SLUB: mm/slub.c), symbols and stacks. TYPES has the object types of
slab caches that are not named after the type.
"""

from __future__ import annotations

import re
from typing import Any

import drgn
from drgn.helpers.common.memory import identify_address
from drgn.helpers.common.type import member_at_offset

from duet.lenses.clock import cpu_offsets, wrapped
from duet.lenses.kernel import Kernel
from duet.lenses.memory import DIRECT_END, DIRECT_MAP, PAGE, Gone, Memory

TYPES = {
    "inode_cache": "struct inode",
    "shmem_inode_cache": "struct shmem_inode_info",
    "proc_inode_cache": "struct proc_inode",
    "ext4_inode_cache": "struct ext4_inode_info",
    "ext4_extent_status": "struct extent_status",
    "mnt_cache": "struct mount",
    "filp": "struct file",
    "files_cache": "struct files_struct",
    "fs_cache": "struct fs_struct",
    "cred_jar": "struct cred",
    "kernfs_node_cache": "struct kernfs_node",
}
"""Slab cache (kmem_cache_create() in 6.1) -> type of its objects, if their names differ."""
SLAB = re.compile(r"^(free )?slab object: (?P<cache>\S+?)\+0x(?P<at>[0-9a-f]+)$")
STACK = "task stack"
USER = "user memory"
SECTION_BITS = 27
"""SECTION_SIZE_BITS of x86-64 (arch/x86/include/asm/sparsemem.h)."""
USER_END = 1 << 47


class Identifier:
    """Identifies addresses with drgn, and adds the name of the field at the address."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self._program = kernel.program
        self._cache: dict[Any, Any] = {}
        self._memory = memory
        self._sections = kernel.find("mem_section")
        self._section_bytes = kernel.size("struct mem_section") if self._sections else 0
        self._pages: drgn.Object | None = None
        self._vmemmap = kernel.find("vmemmap_base") is not None
        if not self._vmemmap:
            self._program.register_object_finder("duet.vmemmap", self._find, enable_index=0)
        self._cpus = cpu_offsets(kernel, memory)
        begin, end = kernel.find("__per_cpu_start"), kernel.find("__per_cpu_end")
        self._percpu = (begin, end) if begin is not None and end is not None else None

    def begin(self) -> None:
        """Begin a new sample. Cached lookups are dropped."""
        self._cache.clear()

    def words(self, address: int) -> str:
        """Return words such as "dentry.d_lockref" or "per-CPU runqueues"; "" if unknown."""
        if address < USER_END:
            return USER
        percpu = self._of_cpu(address)
        if percpu:
            return percpu
        try:
            self._set_pages(address)
            text = identify_address(self._program, address, cache=self._cache) or ""
        except (drgn.FaultError, LookupError, ValueError, Gone):
            return ""
        if slab := SLAB.match(text):
            return self._field(slab["cache"], int(slab["at"], 16))
        if text.startswith(STACK):
            return STACK + text[len(STACK) :].split("+")[0].rstrip()
        return text.removeprefix("object symbol: ").removeprefix("symbol: ")

    def _set_pages(self, address: int) -> None:
        """Tell drgn's helpers where page structures are.

        Without VMEMMAP, there is one array of page structures per section. The helpers expect a
        single array and cache its start. So this method sets the start again for each address's
        section. `section_mem_map` of struct mem_section (include/linux/mmzone.h) contains the
        address at which page 0 would be, with flags in the low bits.
        """
        if self._vmemmap or self._sections is None or not DIRECT_MAP <= address < DIRECT_END:
            return
        root, place = divmod((address - DIRECT_MAP) >> SECTION_BITS, PAGE // self._section_bytes)
        roots = self._memory.u64(self._sections)
        section = self._memory.u64(roots + 8 * root) + place * self._section_bytes
        pages = self._memory.u64(section) & ~0x3F
        self._pages = drgn.Object(self._program, "struct page *", pages)
        self._program.cache["page0"] = self._pages

    def _find(
        self, program: drgn.Program, name: str, flags: drgn.FindObjectFlags, _: str | None
    ) -> drgn.Object | None:
        wanted = name == "vmemmap" and flags & drgn.FindObjectFlags.VARIABLE
        return self._pages if wanted else None

    def _field(self, cache: str, at: int) -> str:
        plain = f"{cache}+{at}"
        kind = TYPES.get(cache, f"struct {cache}")
        try:
            members = member_at_offset(self._program.type(kind), at)
        # there is no type of that name, or the cache's name is not an identifier
        except (LookupError, TypeError, SyntaxError):
            return plain
        # drgn may return several names for padding and for members that share an offset; use the
        # first.
        name = members.split(" or ")[0].strip()
        return plain if name.startswith("<") else f"{cache}.{name}"

    def _of_cpu(self, address: int) -> str:
        if self._percpu is None:
            return ""
        begin, end = self._percpu
        for cpu, offset in enumerate(self._cpus):
            at = wrapped(address - offset)
            if begin <= at < end:
                try:
                    symbol = self._program.symbol(at)
                except LookupError:
                    return f"per-CPU of CPU {cpu}"
                return f"per-CPU {symbol.name}+{at - symbol.address} of CPU {cpu}"
        return ""
