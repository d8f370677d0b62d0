# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the modelled time goes, by part of an operation: what `perf top` would show of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from duet.lenses.scope.coherence import Settings, Stream, interleave
from duet.lenses.scope.stated import stated
from duet.lenses.scope.streams import asked_for, spread_over


def profile_at(
    streams: Sequence[Stream], settings: Settings, parts: int, seeds: Sequence[int]
) -> list[float]:
    """Percent of the time of all CPUs and seeds, per part from 1 to `parts`.

    The time of an access is its wait for the line and the way of the line to the CPU, and belongs
    to the function that asks. Private work belongs to no part.

    Args:
        streams: one of each CPU.
    """
    sums = [0.0] * (parts + 1)
    whole = 0.0
    for seed in seeds:
        merged = interleave(streams, replace(settings, schedule="timed"), seed, "first")
        at = [0] * len(streams)
        for cpu, took in zip(merged.cpu, merged.access_ns, strict=True):
            sums[streams[cpu].part[at[cpu]]] += took
            at[cpu] += 1
            whole += took
        whole += merged.own_ns
    return [100 * part / whole if whole else 0.0 for part in sums[1:]]


def profiles(
    streams_by_arm: Mapping[str, Sequence[Stream]],
    settings: Settings,
    cpus: int,
    seeds: Sequence[int],
    ops: int,
) -> dict[str, list[dict[str, Any]]]:
    """Percent of time by part, for each arm: the mail's and both models'; cpus=0: none."""
    if not cpus:
        return {}
    found = {}
    for arm, streams in streams_by_arm.items():
        own, reading = (
            profile_at(spread_over(asked_for(streams, rule), cpus, max(10, math.ceil(ops / cpus))),
                       settings, len(stated()["profile"]["parts"]), seeds)
            for rule in (True, False)
        )  # fmt: skip
        found[arm] = [
            {"part": part["name"], "mail": part.get(arm), "owning": own[i], "reading": reading[i]}
            for i, part in enumerate(stated()["profile"]["parts"])
        ]
    return found


def mail_distance(shares: Mapping[str, Sequence[float]]) -> float | None:
    """How far arms' shares of time are from the mail's on average, points; None: it has none."""
    parts = stated()["profile"]["parts"]
    apart = [
        abs(own[i] - part[arm])
        for arm, own in shares.items()
        for i, part in enumerate(parts)
        if part.get(arm) is not None
    ]
    return sum(apart) / len(apart) if apart else None
