# SPDX-License-Identifier: GPL-2.0-or-later
"""How many live runs the host carries at once."""

from __future__ import annotations

import os

import psutil

from duet.budgets import LIVE_RUNS_MOST, RUN_BYTES, RUN_CPUS
from duet.errors import InputError


def live_runs() -> int:
    """Live runs at once: $DUET_LIVE_RUNS, else as many as the CPUs and the memory carry.

    Raises:
        InputError: not a whole number from 1 to budgets.LIVE_RUNS_MOST.
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    if given == "":
        by_cpus = len(os.sched_getaffinity(0)) // RUN_CPUS
        by_memory = psutil.virtual_memory().available // RUN_BYTES
        return max(1, min(by_cpus, by_memory, LIVE_RUNS_MOST))
    if not given.isdecimal() or not 1 <= int(given) <= LIVE_RUNS_MOST:
        raise InputError(
            f"DUET_LIVE_RUNS must be a whole number from 1 to {LIVE_RUNS_MOST}, "
            f"but {given!r:.40} came.",
            remedy="Unset it for what this host carries.",
        )
    return int(given)
