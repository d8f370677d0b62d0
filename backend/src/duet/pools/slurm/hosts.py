# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a cluster by kind."""

from __future__ import annotations

from collections.abc import Sequence

from duet.pools.commands import command
from duet.pools.limits import COMMAND_S
from duet.pools.settings import PoolSettings
from duet.pools.types import Kind, Refusal

UP = ("idle", "mixed", "allocated", "completing", "reserved", "planned")


async def kinds_of(settings: PoolSettings) -> Sequence[Kind] | Refusal:
    """The kinds that have hosts; one of the name "" where no kinds are set."""
    words = ["sinfo", "--noheader", "--Node", "--format=%N|%f|%T"]
    words += [f"--partition={settings.partition}"] if settings.partition else []
    done = await command(words, COMMAND_S)
    if done.code != 0:
        return Refusal(f"sinfo gives no answer: {done.why}.")
    hosts = {}
    for line in done.out.splitlines():
        name, features, state = line.strip().split("|")
        # A node stands in a line for each of its partitions; '*' after its state: no answer.
        hosts[name] = (features.split(","), state in UP)
    found = []
    for kind in settings.kinds or ("",):
        mine = {name: up for name, (has, up) in hosts.items() if not kind or kind in has}
        up = [name for name, is_up in mine.items() if is_up]
        found.append(Kind(kind, up, [name for name in mine if name not in up]))
    return found
