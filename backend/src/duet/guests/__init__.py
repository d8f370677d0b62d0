# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 3: guests. A guest is a machine that boots one arm and streams the bytes of an agent.

`open_guest(kind, spec)` returns a sealed QEMU guest or a virtme-ng guest. Both classes, and
ReplayGuest for recordings, implement the interface in types.py.
"""

from duet.guests.registry import REGISTRY, GuestOptions, default_kind, open_guest
from duet.guests.root import GuestRoot, ensure_root
from duet.guests.types import (
    CTL_STREAM,
    Accel,
    Chunk,
    Guest,
    GuestFacts,
    GuestSpec,
    Microscope,
)
from duet.processes.cpus import CpuTime, HostTicks, cpu_time, host_ran_ns, host_ticks, vcpu_time

__all__ = [
    "CTL_STREAM",
    "REGISTRY",
    "Accel",
    "Chunk",
    "CpuTime",
    "Guest",
    "GuestFacts",
    "GuestOptions",
    "GuestRoot",
    "GuestSpec",
    "HostTicks",
    "Microscope",
    "cpu_time",
    "default_kind",
    "ensure_root",
    "host_ran_ns",
    "host_ticks",
    "open_guest",
    "vcpu_time",
]
