# SPDX-License-Identifier: GPL-2.0-or-later
"""Torn and failed reads are counted, tried again a bounded number of times, never hidden."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from duet.lenses.limits import TORN_TRIES
from duet.lenses.memory import DIRECT_MAP, PAGE, Gone, Memory


class Ram:
    """Physical bytes that may change under the read."""

    def __init__(self, size: int = 4 * PAGE) -> None:
        self.bytes = bytearray(size)
        self.before_read: Callable[[int], None] = lambda number: None
        self.reads = 0

    def read(self, address: int, size: int, physical: bool = False) -> bytes:
        self.before_read(self.reads)
        self.reads += 1
        if not physical or address + size > len(self.bytes):
            raise LookupError(f"no memory at {address:#x}")
        return bytes(self.bytes[address : address + size])


def test_two_equal_reads_are_one() -> None:
    ram = Ram()
    memory = Memory(ram)
    assert memory.read(DIRECT_MAP + 8, 4) == bytes(4)
    assert (ram.reads, memory.torn, memory.unsettled, memory.failed) == (2, 0, 0, 0)


def test_a_torn_read_is_counted_and_tried_again() -> None:
    ram = Ram()
    memory = Memory(ram)

    def write_once(number: int) -> None:
        if number == 1:
            ram.bytes[8] = 7

    ram.before_read = write_once
    assert memory.read(DIRECT_MAP + 8, 1) == b"\7"
    assert (ram.reads, memory.torn, memory.unsettled) == (3, 1, 0)


def test_memory_that_never_rests_is_reported_and_ends() -> None:
    ram = Ram()
    memory = Memory(ram)

    def write_always(number: int) -> None:
        ram.bytes[8] = number

    ram.before_read = write_always
    assert memory.read(DIRECT_MAP + 8, 1) == bytes([TORN_TRIES])
    assert (memory.torn, memory.unsettled) == (TORN_TRIES, 1)


def test_a_failed_read_is_gone_and_counted() -> None:
    memory = Memory(Ram())
    for address in (DIRECT_MAP + 5 * PAGE, 0xFFFF_FFFF_8100_0000, 0):
        with pytest.raises(Gone):
            memory.u64(address)
    assert memory.failed == 3


def test_objects_of_one_page_cost_two_reads_and_are_compared_each_by_itself() -> None:
    ram = Ram()
    memory = Memory(ram)

    def write_between(number: int) -> None:
        if number == 1:
            ram.bytes[100] = 1

    ram.before_read = write_between
    for at in (0, 40, 80, 120):
        memory.paged(DIRECT_MAP + at, 40)
    assert memory.torn == 1  # the object at 80 alone
    assert ram.reads == 4  # the page twice, that object twice again
    memory.begin()
    memory.paged(DIRECT_MAP, 40)
    assert ram.reads == 6


def listed(ram: Ram, places: list[int]) -> None:
    """A list_head at 0 and nodes at these addresses."""
    ring = [0, *places]
    for index, place in enumerate(ring):
        following, back = ring[(index + 1) % len(ring)], ring[index - 1]
        struct.pack_into("<QQ", ram.bytes, place, DIRECT_MAP + following, DIRECT_MAP + back)


def test_a_list_is_walked_in_order() -> None:
    ram = Ram()
    listed(ram, [64, 256, 128])
    found = [address for address, _ in Memory(ram).list(DIRECT_MAP, 16, 40, 10)]
    assert found == [DIRECT_MAP + place - 16 for place in (64, 256, 128)]


def test_a_list_that_changes_under_the_walk_is_torn() -> None:
    ram = Ram()
    listed(ram, [64, 256, 128])
    memory = Memory(ram)
    walk = memory.list(DIRECT_MAP, 16, 40, 10)
    next(walk)
    listed(ram, [64, 512, 256, 128])
    with pytest.raises(Gone, match="changed"):
        list(walk)
    assert memory.torn == 1


def test_a_ring_without_its_head_ends() -> None:
    ram = Ram()
    listed(ram, [64, 256, 128])
    struct.pack_into("<Q", ram.bytes, 128, DIRECT_MAP + 64)
    struct.pack_into("<Q", ram.bytes, 64 + 8, DIRECT_MAP)
    with pytest.raises(Gone):
        list(Memory(ram).list(DIRECT_MAP, 16, 40, 10))
    listed(ram, [64, 256, 128])
    with pytest.raises(Gone, match="more than 1"):
        list(Memory(ram).list(DIRECT_MAP, 16, 40, 1))


def test_a_hash_list_is_walked_in_order_and_torn_when_it_changes() -> None:
    """hlist: the head has no way back, and a node points back at the pointer to it."""
    ram = Ram()
    places = [64, 256, 128]

    def write() -> None:
        for at, following in zip([0, *places], [*places, None], strict=True):
            there = 0 if following is None else DIRECT_MAP + following
            struct.pack_into("<Q", ram.bytes, at, there)
            if following is not None:
                struct.pack_into("<Q", ram.bytes, following + 8, DIRECT_MAP + at)

    write()
    memory = Memory(ram)
    found = [address for address, _ in memory.hlist(DIRECT_MAP, 16, 40, 10)]
    assert found == [DIRECT_MAP + place - 16 for place in places]
    with pytest.raises(Gone, match="more than 1"):
        list(memory.hlist(DIRECT_MAP, 16, 40, 1))
    walk = memory.hlist(DIRECT_MAP, 16, 40, 10)
    next(walk)
    places.insert(1, 512)
    write()
    with pytest.raises(Gone, match="changed"):
        list(walk)
    assert memory.torn == 1
    assert list(Memory(Ram()).hlist(DIRECT_MAP, 16, 40, 10)) == [], "no entry, no ring"
