# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a partition lets jobs last; a job that asks for more waits for ever, with no error."""

from __future__ import annotations

import re
from dataclasses import replace

from duet.base.errors import InputError
from duet.pools.commands import command
from duet.pools.limits import COMMAND_S, LATER_S
from duet.pools.settings import PoolSettings
from duet.pools.types import Want

SHORTEST_S = 60.0
"""Of a lease that is worth having."""
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


def seconds_of(text: str) -> float | None:
    """Seconds of a limit as sinfo prints it, such as 1-02:30:00; None: there is none."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


async def within_limit(want: Want, settings: PoolSettings) -> Want:
    """The want with a lease no longer than the partition allows.

    Raises:
        InputError: the partition's jobs are too short for any lease.
    """
    words = ["sinfo", "--noheader", "--format=%P|%l"]
    words += [f"--partition={settings.partition}"] if settings.partition else []
    done = await command(words, COMMAND_S)
    # Of all partitions jobs get the one with '*', where none is named.
    lines = [line.strip().split("|") for line in done.out.splitlines() if "|" in line]
    limits = [limit for name, limit in lines if settings.partition or name.endswith("*")]
    limit_s = seconds_of(limits[0]) if done.code == 0 and limits else None
    if limit_s is None or limit_s >= want.ttl_s + LATER_S:
        return want
    if limit_s < SHORTEST_S + LATER_S:
        raise InputError(
            f"a lease needs {SHORTEST_S + LATER_S:g} s at least, and jobs of this partition may"
            f" last {limit_s:g} s.",
            remedy="Name another partition with DUET_POOL_PARTITION.",
        )
    return replace(want, ttl_s=limit_s - LATER_S)
