# SPDX-License-Identifier: GPL-2.0-or-later
"""Per-CPU variables: where each CPU's copy lies."""

from __future__ import annotations

from duet.lenses.clock import MAX_CPUS
from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory


def cpu_offsets(kernel: Kernel, memory: Memory) -> list[int]:
    """What to add to a per-CPU address, for each CPU that is there.

    Raises:
        Gone: the guest cannot be read.
        LensError: this kernel has no such table.
    """
    (mask,) = (memory.u64(kernel.address("__cpu_possible_mask")),)
    table = kernel.address("__per_cpu_offset")
    cpus = [cpu for cpu in range(MAX_CPUS) if mask >> cpu & 1]
    return [memory.u64(table + 8 * cpu) for cpu in cpus]


def wrapped(address: int) -> int:
    """Per-CPU addresses are sums modulo 2^64."""
    return address & 0xFFFF_FFFF_FFFF_FFFF
