# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and bounds of measurements on a pool, by name. Seconds and bytes."""

from __future__ import annotations

from typing import Final

WAIT_S: Final = 3600.0
"""So long a pool that is full is waited for, where nothing else is asked for."""
SAY_S: Final = 1.0
"""A wait for a full pool that is longer than this is reported."""
LOOK_S: Final = 5.0
"""Between two tries for a lease while others of ours are running."""
RUN_S: Final = 120.0
"""Of one run, in the time that a lease is made for. Usual: 5 to 60 s."""
SPARE_S: Final = 600.0
"""Of a lease, beside its runs: kernels are read, the guests' root may have to be made."""
LEASE_MOST_S: Final = 24 * 3600.0
"""Of one comparison."""
PROGRAM_BYTES: Final = 1 << 30
"""Of a lease, beside the guest's memory: the program and QEMU. Usual: 0.4 GiB."""
REQUEST_BYTES: Final = 256 << 10
"""Of what a program reads. Usual: 1 KB."""
RESULT_BYTES: Final = 1000 << 10
"""Of the line that a program gives, packed: below pools.limits.OUTPUT_BYTES. Usual: 5 KB."""
UNPACKED_BYTES: Final = 32 << 20
"""Of the same, unpacked."""
PROGRESS_LETTERS: Final = 200
"""Of a line of progress."""
