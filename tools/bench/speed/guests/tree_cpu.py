# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time of this process and of all its descendants that still run."""

from __future__ import annotations

import psutil


def tree_cpu_s() -> float:
    """Return the CPU time in s of this process and its descendants, such as guests.

    Descendants that have ended are not counted. So the difference of two results is correct only if
    no descendant ended between the calls.
    """
    here = psutil.Process()
    return sum(map(_cpu_s, (here, *here.children(recursive=True))))


def _cpu_s(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.Error:  # it has ended
        return 0.0
    return float(used.user + used.system)
