# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads memory that may change meanwhile. Each read is repeated, compared and counted.

A read is torn if two successive reads differ, because the guest was writing. It is retried a
limited number of times. If the reads still differ, the last one is used, and the read is counted as
unsettled. A read that fails (the address is unmapped) raises Gone inside the probe and is counted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Protocol

from duet.lenses.limits import TORN_TRIES

DIRECT_MAP = 0xFFFF_8880_0000_0000
"""Address at which x86-64 maps all memory if there is no KASLR. None of our configs enables
KASLR.
"""
DIRECT_END = DIRECT_MAP + (1 << 40)
PAGE = 4096
_U64 = struct.Struct("<Q")
_LIST = struct.Struct("<QQ")


class Gone(Exception):
    """The memory cannot be read, or its content is invalid."""


class Target(Protocol):
    """Memory to read: a drgn.Program, or bytes in a test."""

    def read(self, address: int, size: int, physical: bool = False) -> bytes: ...


class Memory:
    """The guest's memory, with counts of failures.

    Args:
        target: raises any Exception when an address cannot be read.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.torn = 0
        self.failed = 0
        self.unsettled = 0
        """Number of reads that were still torn at the last try."""
        self.reads = 0
        self._pages: dict[int, tuple[bytes, bytes]] = {}

    def begin(self) -> None:
        """Begin a new sample. Cached pages are dropped."""
        self._pages.clear()

    def once(self, address: int, size: int) -> bytes:
        """Read memory that does not change, once.

        Raises:
            Gone: the memory cannot be read.
        """
        self.reads += 1
        try:
            if DIRECT_MAP <= address < DIRECT_END:
                return self._target.read(address - DIRECT_MAP, size, True)
            return self._target.read(address, size)
        except Exception as error:
            self.failed += 1
            raise Gone(str(error)) from error

    def read(self, address: int, size: int) -> bytes:
        """Read until two successive reads are equal or the tries are used up.

        Raises:
            Gone: the memory cannot be read.
        """
        former = self.once(address, size)
        for _ in range(TORN_TRIES):
            now = self.once(address, size)
            if now == former:
                return now
            self.torn += 1
            former = now
        self.unsettled += 1
        return former

    def paged(self, address: int, size: int) -> bytes:
        """Read as read() does, but cache complete pages.

        This is faster for many small objects next to each other.

        Raises:
            Gone: the memory cannot be read.
        """
        start = address % PAGE
        if start + size > PAGE:
            return self.read(address, size)
        page = address - start
        pair = self._pages.get(page)
        if pair is None:
            pair = self._pages[page] = (self.once(page, PAGE), self.once(page, PAGE))
        first, second = (copy[start : start + size] for copy in pair)
        if first == second:
            return second
        self.torn += 1
        return self.read(address, size)

    def u64(self, address: int) -> int:
        """Read an aligned word, which cannot be torn.

        Raises:
            Gone: the memory cannot be read.
        """
        return int(_U64.unpack(self.once(address, 8))[0])

    def list(self, head: int, link: int, size: int, most: int) -> Iterator[tuple[int, bytes]]:
        """Yield (address, bytes) of each object on a list_head, and check each back link.

        Args:
            link: offset of the list_head inside an object.
            size: number of bytes to read from each object.

        Raises:
            Gone: a node does not point back (the list changed during the walk), or there are more
                than `most` objects.
        """
        (node, _) = _LIST.unpack(self.once(head, 16))
        yield from self._linked(node, head, head, link, size, most)

    def hlist(self, head: int, link: int, size: int, most: int) -> Iterator[tuple[int, bytes]]:
        """Yield the objects on an hlist_head, as list() does for a list_head.

        An hlist node points back at a pointer, not at a node.

        Raises:
            Gone: see list().
        """
        yield from self._linked(self.u64(head), head, 0, link, size, most)

    def _linked(
        self, node: int, head: int, end: int, link: int, size: int, most: int
    ) -> Iterator[tuple[int, bytes]]:
        """Walk from `node`, the first node after `head`, to `end`.

        Check that each node points back.
        """
        former = head
        for _ in range(most + 1):
            if node == end:
                return
            raw = self.once(node - link, max(size, link + 16))
            following, back = _LIST.unpack_from(raw, link)
            if back != former:
                self.torn += 1
                raise Gone("a list changed while it was walked")
            yield node - link, raw
            former, node = node, following
        raise Gone(f"a list has more than {most} entries")

    def text(self, address: int, most: int = 64) -> str:
        """Read a C string, up to `most` bytes and not past the end of its page.

        Raises:
            Gone: the memory cannot be read.
        """
        room = min(most, PAGE - address % PAGE)
        return self.once(address, room).split(b"\0")[0].decode(errors="replace")
