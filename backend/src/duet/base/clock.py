# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of clocks that a guest can run on.

`wall` is the host's clock. `count` is QEMU's -icount: guest time is the number of instructions that
the guest has executed, times 2^shift ns. So a run on the count clock does not depend on the host's
load.
"""

from __future__ import annotations

from typing import Literal

Clock = Literal["wall", "count"]


def format_duration(seconds: float) -> str:
    """Format a duration, for example as '40 s', '3 min' or '2 h 5 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
