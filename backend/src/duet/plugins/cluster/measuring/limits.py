# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and size limits for measurements on a pool, in seconds and bytes."""

from __future__ import annotations

from typing import Final

WAIT_S: Final = 3600.0
"""How long to wait by default if the pool is full."""
SAY_S: Final = 1.0
"""If a measurement waits longer than this because the pool is full, the wait is reported."""
LOOK_S: Final = 5.0
"""Time between two requests for a lease while we have other leases that are in use."""
RUN_S: Final = 120.0
"""Time that a lease allows for each run. Usual: 5 to 60 s."""
SPARE_S: Final = 600.0
"""Time that a lease allows besides its runs, to read kernels and perhaps to make the guests'
root.
"""
LEASE_MOST_S: Final = 24 * 3600.0
"""Maximum length of one comparison's lease."""
PROGRAM_BYTES: Final = 1 << 30
"""Memory that the program and QEMU need in a lease besides the guest's memory. Usual: 0.4 GiB."""
REQUEST_BYTES: Final = 256 << 10
"""Maximum size of a program's input. Usual: 1 KB."""
RESULT_BYTES: Final = 1000 << 10
"""Maximum length of a program's packed result line. It must be below the cluster's
limits.OUTPUT_BYTES. Usual: 5 KB.
"""
UNPACKED_BYTES: Final = 32 << 20
"""Maximum size of an unpacked result."""
PROGRESS_LETTERS: Final = 200
"""Maximum length of a progress line."""
