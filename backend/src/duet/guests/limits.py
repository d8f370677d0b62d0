# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and bounds of the guest layer, in seconds and bytes."""

from __future__ import annotations

from typing import Final

BOOT_DEADLINE_S: Final = 30.0
"""From the spawn of a sealed guest to its agent's first byte. Usual: 1.5-3 s, alone on 2 cores."""

BOOT_CPUS: Final = 8
"""Most vCPUs for which BOOT_DEADLINE_S holds. With more, the deadline grows in proportion."""

COUNT_BOOT_DEADLINE_S: Final = 120.0
"""From the spawn of a guest on the count clock to its agent's first byte. The guest runs in one
host thread while others are measured. Usual: 6-8 s, alone on two cores."""

VNG_BOOT_DEADLINE_S: Final = 120.0
"""From the spawn of a virtme-ng guest to its agent's first byte. Its root is the host's, over 9p.
Usual under TCG: 15-25 s."""

BOOT_ATTEMPTS: Final = 2
"""A boot that hangs or panics is retried once."""

KVM_PROBE_S: Final = 5.0
"""From the spawn of a probe guest under KVM to its agent's first byte. Usual: well under 1 s."""

SEND_S: Final = 5.0
"""Writing a frame to the agent. The port buffers 200 KB, so only a dead guest needs longer."""

HANG_UP_S: Final = 1.0
"""From the end of QEMU to the end of its sockets."""

QMP_S: Final = 5.0
"""Greeting or command of QEMU's monitor. Usual: 1 ms."""

RESUME_S: Final = 5.0
"""From the spawn of a copy to its agent's answer. Usual: 60-150 ms on two quiet cores."""

REHEARSAL_S: Final = 60.0
"""A ready copy runs its check, then sets up its plan again, commands included. Usual: 0.8-1.5 s
on two quiet cores."""

CLOCK_STEP_S: Final = 5.0
"""Most that a resumed copy's time of day may differ from the host's. RESUME_S bounds the delay."""

READY_S: Final = 180.0
"""Setup of a template's plan, commands included. Usual: 0.1-0.7 s."""

SETTLE_S: Final = 0.25
"""Pause between READY and parking, in which the kernel finishes deferred work."""

SAVE_S: Final = 10.0
"""QEMU writes the state of a parked guest. Usual: 10 ms."""

CHECK_S: Final = 30.0
"""Check of a new template's first copy. Usual: 0.5 s."""

STATE_BYTES: Final = 64 << 20
"""Most bytes of a migration stream without the guest's memory. Usual: 0.4 MB."""

VERSION_S: Final = 10.0
"""`qemu-system-x86_64 --version`."""

RECIPE_S: Final = 180.0
"""Compiling the agent and the workloads, and packing the root."""

CONSOLE_TAIL_BYTES: Final = 8192
QUEUE_BYTES: Final = 64 << 20
"""Trace bytes queued for a slow consumer. When they are full, the host stops reading, and the
guest's ring buffers overrun, which the kernel counts. So loss happens in one place only."""

CTL_QUEUE_BYTES: Final = 16 << 20
"""Bytes queued from the control port, counted apart so that trace bytes never delay them."""

MAX_CPUS: Final = 64
"""NR_CPUS of the bases' kernels, and trace ports of a guest. Keep vm-images/agent/frame.h and
lenses/clock.py equal."""

MICROSCOPE_CPUS: Final = 16
"""CORE_MAX_VCPUS in vm-images/microscope/core.h."""

SOCKET_PATH_BYTES: Final = 107
"""sun_path of unix(7), without its NUL."""
