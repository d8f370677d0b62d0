# SPDX-License-Identifier: GPL-2.0-or-later
"""Every wait and every bound of the guest layer, by name. Seconds and bytes."""

from __future__ import annotations

from typing import Final

BOOT_DEADLINE_S: Final = 30.0
"""Spawn to the agent's first byte of a sealed guest. Usual: 1.5-3 s, alone on two cores."""

BOOT_CPUS: Final = 8
"""vCPUs up to which that holds; a guest with more has more time, in proportion."""

COUNT_BOOT_DEADLINE_S: Final = 120.0
"""The same on the count clock: one thread of the host, and several guests measured at once.
Usual: 6-8 s, alone on two cores."""

VNG_BOOT_DEADLINE_S: Final = 120.0
"""The same for virtme-ng, whose root is the host's, over 9p. Usual under TCG: 15-25 s."""

BOOT_ATTEMPTS: Final = 2
"""A boot that hangs or panics is tried again once."""

KVM_PROBE_S: Final = 5.0
"""A guest that really runs under KVM answers in well under a second."""

SEND_S: Final = 5.0
"""A frame to the agent; the port takes 200 KB at once, so only a dead guest needs longer."""

HANG_UP_S: Final = 1.0
"""End of QEMU to the end of its sockets."""

QMP_S: Final = 5.0
"""QEMU's monitor greets, or carries out a command. Usual: 1 ms."""

RESUME_S: Final = 5.0
"""Spawn of a copy of a parked guest to its agent's answer. Usual: 60-150 ms on two quiet cores."""

REHEARSAL_S: Final = 60.0
"""A copy that is to stand ready runs its check, and its plan is set up again, with its commands.
Usual: 0.8-1.5 s on two quiet cores."""

CLOCK_STEP_S: Final = 5.0
"""A copy's time of day may differ from the host's by this much, after RESUME_S at most."""

READY_S: Final = 180.0
"""A plan is set up, with its commands, while a template is made. Usual: 0.1-0.7 s."""

SETTLE_S: Final = 0.25
"""A guest is left alone between READY and parking, so that what the kernel has put off is done."""

SAVE_S: Final = 10.0
"""QEMU writes the state of a parked guest. Usual: 10 ms."""

CHECK_S: Final = 30.0
"""The check of a new template's first copy. Usual: 0.5 s."""

STATE_BYTES: Final = 64 << 20
"""The longest migration stream without the guest's memory. Usual: 0.4 MB."""

VERSION_S: Final = 10.0
"""`qemu-system-x86_64 --version`."""

RECIPE_S: Final = 180.0
"""Compiling agent and workloads, and packing the root."""

CONSOLE_TAIL_BYTES: Final = 8192
QUEUE_BYTES: Final = 64 << 20
"""Trace bytes held for a slow consumer; then the host stops reading, and the guest's ring
buffers overrun, which the kernel counts. So loss happens at one place only."""

CTL_QUEUE_BYTES: Final = 16 << 20
"""The same for the control port, so that trace bytes never delay it."""

MAX_CPUS: Final = 64
"""NR_CPUS of the bases' kernels, and ports of a guest; also in vm-images/agent/frame.h and in
lenses/clock.py."""

MICROSCOPE_CPUS: Final = 16
"""CORE_MAX_VCPUS in vm-images/microscope/core.h."""

SOCKET_PATH_BYTES: Final = 107
"""sun_path of unix(7), without its NUL."""
