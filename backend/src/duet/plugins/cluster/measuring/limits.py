# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and bounds of measurements on a pool. Seconds and bytes."""

from __future__ import annotations

from typing import Final

WAIT_S: Final = 3600.0
"""Default wait for a full pool."""
SAY_S: Final = 1.0
"""A longer wait for a full pool is reported."""
LOOK_S: Final = 5.0
"""Between two requests for a lease while others of ours are running."""
RUN_S: Final = 120.0
"""Planned time of one run, for the length of a lease. Usual: 5 to 60 s."""
SPARE_S: Final = 600.0
"""Time of a lease besides its runs: to read kernels, and maybe to make the guests' root."""
LEASE_MOST_S: Final = 24 * 3600.0
"""Longest lease of one comparison."""
PROGRAM_BYTES: Final = 1 << 30
"""Memory of a lease besides the guest's: the program and QEMU. Usual: 0.4 GiB."""
REQUEST_BYTES: Final = 256 << 10
"""Largest input of a program. Usual: 1 KB."""
RESULT_BYTES: Final = 1000 << 10
"""Longest result line of a program, packed: below the cluster's limits.OUTPUT_BYTES. Usual: 5
KB.
"""
UNPACKED_BYTES: Final = 32 << 20
"""Largest result, unpacked."""
PROGRESS_LETTERS: Final = 200
"""Longest line of progress."""
