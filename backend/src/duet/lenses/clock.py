# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's own clock, read from its memory.

Two times are read: CLOCK_MONOTONIC at the last tick (kernel/time/timekeeping.c), and the time of
the newest trace event (`write_stamp` in each CPU's ring buffer), which uses the same clock
(trace_clock=mono). The later of the two is a lower bound of the guest's time.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from duet.lenses.kernel import Kernel, LensError
from duet.lenses.memory import Gone, Memory

DEFAULT_TICK_NS = 10_000_000
MAX_CPUS = 64


@dataclass(frozen=True, slots=True)
class Reading:
    """Guest time at the last tick and at the newest event (0 if there is none), in nanoseconds."""

    tick_ns: int
    event_ns: int

    @property
    def at_least_ns(self) -> int:
        """Lower bound of the guest's time."""
        return max(self.tick_ns, self.event_ns)


class GuestClock:
    """Resolves addresses once. Each read then takes a few microseconds.

    Raises:
        LensError: this kernel has no known variable that contains the time.
        Gone: the guest cannot be read.
    """

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self._memory = memory
        read = "struct tk_read_base"
        # As in drgn.helpers.linux.timekeeping: the timekeeper is an array element since Linux 6.17.
        # Before 6.17 it was a variable.
        self._base = kernel.first(
            lambda of: of["timekeeper_data"][of["TIMEKEEPER_CORE"]].timekeeper.tkr_mono,
            lambda of: of["tk_core"].timekeeper.tkr_mono,
        )
        self._shift = kernel.offset(read, "shift")
        self._nsec = kernel.offset(read, "xtime_nsec")
        self._ktime = kernel.offset(read, "base")
        self._size = kernel.size(read)
        tick = kernel.find("tick_nsec")
        self.tick_ns = (memory.u64(tick) if tick else 0) or DEFAULT_TICK_NS
        self._stamps = self._find_stamps(kernel)

    def read(self) -> Reading:
        """Read the clock.

        Raises:
            Gone: the guest cannot be read.
        """
        raw = self._memory.read(self._base, self._size)
        (shift,) = struct.unpack_from("<I", raw, self._shift)
        (nsec,) = struct.unpack_from("<Q", raw, self._nsec)
        (ktime,) = struct.unpack_from("<q", raw, self._ktime)
        stamps = [self._memory.u64(address) for address in self._stamps]
        return Reading(ktime + (nsec >> shift), max(stamps, default=0))

    def _find_stamps(self, kernel: Kernel) -> list[int]:
        """Return each CPU's write_stamp address, or [] if the ring buffer has another structure."""
        try:
            where = (
                kernel.address("global_trace")
                + kernel.offset("struct trace_array", "array_buffer")
                + kernel.offset("struct array_buffer", "buffer")
            )
            buffer = self._memory.u64(where)
            array = self._memory.u64(buffer + kernel.offset("struct trace_buffer", "buffers"))
            stamp = kernel.offset("struct ring_buffer_per_cpu", "write_stamp")
            cpus = self._memory.once(buffer + kernel.offset("struct trace_buffer", "cpus"), 4)
            (count,) = struct.unpack("<i", cpus)
            per_cpu = [self._memory.u64(array + 8 * cpu) for cpu in range(min(count, MAX_CPUS))]
            return [address + stamp for address in per_cpu if address]
        except (LensError, Gone):
            return []


# Addresses of each CPU's copy of a per-CPU variable.


def cpu_offsets(kernel: Kernel, memory: Memory) -> list[int]:
    """Return the offset to add to a per-CPU address, for each possible CPU.

    Raises:
        Gone: the guest cannot be read.
        LensError: this kernel has no table of per-CPU offsets.
    """
    (mask,) = (memory.u64(kernel.address("__cpu_possible_mask")),)
    table = kernel.address("__per_cpu_offset")
    cpus = [cpu for cpu in range(MAX_CPUS) if mask >> cpu & 1]
    return [memory.u64(table + 8 * cpu) for cpu in cpus]


def wrapped(address: int) -> int:
    """Return the sum of a per-CPU address and an offset modulo 2^64."""
    return address & 0xFFFF_FFFF_FFFF_FFFF
