# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time of this process and of all processes below it that run now."""

from __future__ import annotations

import psutil


def tree_cpu_s() -> float:
    """Return the CPU time in s of this process and its descendants, such as guests.

    A descendant that has ended counts no more, so take the difference of two calls between which
    none ends.
    """
    here = psutil.Process()
    return sum(map(_cpu_s, (here, *here.children(recursive=True))))


def _cpu_s(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.Error:  # it has ended
        return 0.0
    return float(used.user + used.system)
