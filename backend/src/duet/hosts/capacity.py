# SPDX-License-Identifier: GPL-2.0-or-later
"""How many live runs the host carries at once, and how much memory parked guests may take."""

from __future__ import annotations

import os

import psutil

from duet.budgets import (
    LIVE_RUNS_MOST,
    POOLED_RUNS,
    RUN_BYTES,
    RUN_CPUS,
    TEMPLATE_BYTES_MOST,
    TEMPLATE_SHARE,
)
from duet.errors import InputError

MIB_DIGITS = 7


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
    return _given_runs(given)


def pooled_runs() -> int:
    """Live runs at once on a pool: $DUET_LIVE_RUNS, else budgets.POOLED_RUNS.

    Raises:
        InputError: see live_runs().
    """
    given = os.environ.get("DUET_LIVE_RUNS", "")
    return _given_runs(given) if given else POOLED_RUNS


def _given_runs(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= LIVE_RUNS_MOST:
        raise InputError(
            f"DUET_LIVE_RUNS must be a whole number from 1 to {LIVE_RUNS_MOST}, "
            f"but {given!r:.40} came.",
            remedy="Unset it for what this host carries.",
        )
    return int(given)


def template_bytes() -> int:
    """Memory for parked guests: $DUET_TEMPLATES_MIB, else a share of the host's; 0 is none.

    Raises:
        InputError: not a whole number of MiB.
    """
    given = os.environ.get("DUET_TEMPLATES_MIB", "")
    if given == "":
        total = psutil.virtual_memory().total
        return min(TEMPLATE_BYTES_MOST, int(total * TEMPLATE_SHARE))
    if not given.isdecimal() or len(given) > MIB_DIGITS:
        raise InputError(
            f"DUET_TEMPLATES_MIB must be a whole number of MiB, but {given!r:.40} came.",
            remedy="Unset it for an eighth of the host's memory, or set 0 to boot every guest.",
        )
    return int(given) << 20
