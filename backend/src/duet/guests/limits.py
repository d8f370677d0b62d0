# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and bounds of the guest layer, in seconds and bytes."""

from __future__ import annotations

from typing import Final

BOOT_DEADLINE_S: Final = 30.0
"""Timeout from the spawn of a sealed guest to its agent's first byte. Usual: 1.5-3 s if the guest
runs alone on two cores."""

BOOT_CPUS: Final = 8
"""Largest number of vCPUs for which BOOT_DEADLINE_S applies. With more vCPUs the deadline grows in
proportion."""

COUNT_BOOT_DEADLINE_S: Final = 120.0
"""Timeout from the spawn of a guest on the count clock to its agent's first byte. The guest runs in
one host thread while other guests are measured. Usual: 6-8 s if it runs alone on two cores."""

VNG_BOOT_DEADLINE_S: Final = 120.0
"""Timeout from the spawn of a virtme-ng guest to its agent's first byte. The guest uses the host's
root over 9p. Usual under TCG: 15-25 s."""

BOOT_ATTEMPTS: Final = 2
"""Number of boot attempts. A boot that hangs or panics is retried once."""

KVM_PROBE_S: Final = 5.0
"""Timeout from the spawn of a probe guest under KVM to its agent's first byte. Usual: well under 1
s."""

SEND_S: Final = 5.0
"""Timeout for writing a frame to the agent. The port buffers 200 KB, so only a dead guest takes
longer."""

HANG_UP_S: Final = 1.0
"""Timeout from the end of QEMU until its sockets are closed."""

QMP_S: Final = 5.0
"""Timeout for the greeting of QEMU's monitor, and for each command to it. Usual: 1 ms."""

RESUME_S: Final = 5.0
"""Timeout from the spawn of a copy to its agent's answer. Usual: 60-150 ms on two idle cores."""

REHEARSAL_S: Final = 60.0
"""Timeout for a ready copy to run its check and to set up its plan again, including the plan's
commands. Usual: 0.8-1.5 s on two idle cores."""

CLOCK_STEP_S: Final = 5.0
"""Largest difference between a resumed copy's time of day and the host's. The delay between the two
clock readings is at most RESUME_S."""

READY_S: Final = 180.0
"""Timeout for setting up a template's plan, including its commands. Usual: 0.1-0.7 s."""

SETTLE_S: Final = 0.25
"""Pause between READY and parking. It lets the kernel finish deferred work."""

SAVE_S: Final = 10.0
"""Timeout for QEMU to write the state of a parked guest. Usual: 10 ms."""

CHECK_S: Final = 30.0
"""Timeout for the check of a new template's first copy. Usual: 0.5 s."""

STATE_BYTES: Final = 64 << 20
"""Largest size of a migration stream without the guest's memory. Usual: 0.4 MB."""

VERSION_S: Final = 10.0
"""Timeout for `qemu-system-x86_64 --version`."""

RECIPE_S: Final = 180.0
"""Timeout for compiling the agent and the workloads and packing the root."""

CONSOLE_TAIL_BYTES: Final = 8192
QUEUE_BYTES: Final = 64 << 20
"""Trace bytes queued for a slow consumer. When the queue is full, the host stops reading. The
guest's ring buffers then overrun, and the kernel counts the lost events. Loss therefore happens in
one place only."""

CTL_QUEUE_BYTES: Final = 16 << 20
"""Bytes queued from the control port. They are counted separately, so that trace bytes never delay
them."""

MAX_CPUS: Final = 64
"""NR_CPUS of the kernel bases, and number of a guest's trace ports. vm-images/agent/frame.h and
lenses/clock.py must define the same value."""

MICROSCOPE_CPUS: Final = 16
"""Largest number of vCPUs of a guest with a microscope. Must equal CORE_MAX_VCPUS in
vm-images/microscope/core.h.
"""

SOCKET_PATH_BYTES: Final = 107
"""Size of sun_path in unix(7), without the final NUL."""
