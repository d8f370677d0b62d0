# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet bench lanes` found: counts of starts, quantiles, memory, and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from duet.cli.bench.results import LanesResult, Quantiles, Target
from duet.cli.bench.targets import at_least, at_most, target_lines
from duet.guests.clones import TemplateCounts

IDLE_LANES = 8
WAYS = ("boot", "copy", "vng")
COPY_MS = 400.0
BOOT_RATIO, VNG_RATIO = 10.0, 20.0
IDLE_MIB = 100.0
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Start:
    """One lane that was started.

    Args:
        way: how it was to come up: boot, copy, vng.
        ms: from the request to its first decoded event; None: it did not reach one.
        cloned: it is a copy of a parked guest.
        attempts: tries to bring its guest up.
        why: it did not reach one.
        ready: it is a copy whose QEMU was up before it was asked for.
    """

    way: str
    ms: float | None
    cloned: bool
    attempts: int
    why: str = ""
    ready: bool = False


class IdleLanes(Protocol):
    """See lanes.Idle."""

    pss: list[int]
    copies: int
    why: list[str]


def result_of(
    slug: str, arm: str, starts: Sequence[Start], idle: IdleLanes, parked: TemplateCounts
) -> LanesResult:
    """The document of all starts.

    Args:
        parked: how templates stand at the end.
    """
    by_way = {way: _quantiles([one for one in starts if one.way == way]) for way in WAYS}
    reached = sum(one.ms is not None for one in starts)
    pss_mib = round(max(idle.pss) / _MIB, 1) if idle.pss else None
    asked = [one for one in starts if one.way == "copy"]
    return LanesResult(
        lesson=slug,
        arm=arm,
        starts=len(starts),
        reached=reached,
        retries=sum(max(0, one.attempts - 1) for one in starts),
        refused_copies=parked.refused,
        copies_asked=len(asked),
        copies=sum(one.cloned for one in asked),
        ready_copies=sum(one.ready for one in asked),
        not_reached=sorted({f"{one.way}: {one.why}" for one in starts if one.ms is None}),
        boot=by_way["boot"],
        copy=by_way["copy"],
        vng=by_way["vng"],
        idle_lanes=len(idle.pss),
        idle_copies=idle.copies,
        idle_pss_mib=pss_mib,
        idle_failed=sorted(set(idle.why)),
        template_mib=round(parked.held_bytes / _MIB, 1),
        targets=_targets(by_way, (reached, len(starts)), idle, pss_mib),
    )


def _quantiles(starts: Sequence[Start]) -> Quantiles | None:
    ms = [one.ms for one in starts if one.ms is not None]
    if not ms:
        return None
    p50, p95 = np.percentile(ms, [50, 95])
    return Quantiles(n=len(ms), p50_ms=round(float(p50), 1), p95_ms=round(float(p95), 1))


def _targets(
    ways: dict[str, Quantiles | None],
    reached: tuple[int, int],
    idle: IdleLanes,
    pss_mib: float | None,
) -> list[Target]:
    copy = ways["copy"]

    def ratio(way: str) -> float | None:
        other = ways[way]
        return None if copy is None or other is None else other.p50_ms / copy.p50_ms

    whole = len(idle.pss) == idle.copies == IDLE_LANES
    return [
        at_most("copy to first decoded event, p95", COPY_MS, "ms", copy.p95_ms if copy else None),
        at_least("times as fast as a boot", BOOT_RATIO, "", ratio("boot")),
        at_least("times as fast as virtme-ng", VNG_RATIO, "", ratio("vng")),
        at_least(f"of {reached[1]} starts reach their first event", reached[1], "", reached[0]),
        at_most(
            f"memory of each of {IDLE_LANES} idle copies (PSS)",
            IDLE_MIB,
            "MiB",
            pss_mib if whole else None,
        ),
    ]


def text_of(result: LanesResult) -> str:
    """The result as a table, with ratios of medians."""
    lines = [f"{'lane':6} {'n':>3} {'median':>10} {'p95':>10} {'x copy':>7}"]
    for name, one in (("boot", result.boot), ("copy", result.copy), ("vng", result.vng)):
        if one is not None:
            ratio = f"{one.p50_ms / result.copy.p50_ms:7.1f}" if result.copy else ""
            lines.append(f"{name:6} {one.n:3} {one.p50_ms:7.0f} ms {one.p95_ms:7.0f} ms {ratio}")
    lines += [
        f"{result.starts} starts: {result.reached} reached their first event, with "
        f"{result.retries} further tries to boot",
        *(f"did not: {why}" for why in result.not_reached),
        f"copies: {result.copies} of {result.copies_asked} that were asked for, "
        f"{result.ready_copies} of them stood ready; {result.refused_copies} failed, "
        "and their lanes booted",
        _memory(result),
        *(f"idle guest: {why}" for why in result.idle_failed),
        "from the request to the first decoded event; taken in turns",
        "",
        *target_lines(result.targets),
    ]
    return "\n".join(lines)


def _memory(result: LanesResult) -> str:
    if result.idle_pss_mib is None:
        return f"memory: no idle guest came up; parked guests take {result.template_mib:.0f} MiB"
    whose = "copies" if result.idle_copies == result.idle_lanes else "guests"
    others = "" if whose == "copies" else f", of which {result.idle_copies} are copies,"
    return (
        f"memory: {result.idle_lanes} idle {whose}{others} take at most "
        f"{result.idle_pss_mib:.0f} MiB each (PSS); "
        f"parked guests take {result.template_mib:.0f} MiB"
    )
