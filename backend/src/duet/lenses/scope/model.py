# SPDX-License-Identifier: GPL-2.0-or-later
"""What the coherence model predicts: rates and transfers by number of CPUs, and what they hang on.

All of it is *modelled*: streams of accesses are counted, their meeting is computed (coherence.py)
from stated numbers (stated.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from duet.lenses.scope.coherence import (
    HIT,
    READ_TRANSFER,
    UPGRADE,
    WRITE_TRANSFER,
    Caches,
    Merged,
    Settings,
    Stream,
    interleave,
)
from duet.lenses.scope.profile import mail_distance, profile_at, profiles
from duet.lenses.scope.stated import NUMBERS, SHARES, stated, stated_settings
from duet.lenses.scope.streams import asked_for, spread_over

CPUS: Final = (2, 4, 8, 16, 20, 32, 64)
SEEDS: Final = (1, 2, 3)
OPS: Final = 1000
"""Operations of all CPUs together, of each run."""


def predict(
    streams_by_arm: Mapping[str, Sequence[Stream]],
    *,
    cpus: Sequence[int] = CPUS,
    seeds: Sequence[int] = SEEDS,
    ops: int = OPS,
    compare_at: int = 20,
) -> dict[str, Any]:
    """Curves of all arms; the last one over the first at `compare_at` CPUs; its sensitivity.

    Loads that lead to a read-modify-write own their line, as the profile of the mail has it
    (stated.json); comparison and profile have the other rule, too.

    Args:
        streams_by_arm: whole operations (streams.whole_operations), at least one stream an arm.
        compare_at: 0 compares nothing.

    Raises:
        InputError: an arm has no whole operation, or CPUs are not 1 to 64.
    """
    settings = stated_settings()
    curves = {
        arm: [point(asked_for(streams, True), settings, n, seeds, ops) for n in cpus]
        for arm, streams in streams_by_arm.items()
    }
    tree: dict[str, Any] = {"evidence": "modelled", "curves": curves, "comparison": None}
    tree["profile"] = profiles(streams_by_arm, settings, compare_at, seeds, ops)
    if compare_at and len(streams_by_arm) > 1:
        arms = list(streams_by_arm)
        pair = (streams_by_arm[arms[0]], streams_by_arm[arms[-1]])
        tree["comparison"] = {
            "before": arms[0],
            "after": arms[-1],
            **sensitivity(pair, settings, compare_at, seeds, ops, (arms[0], arms[-1])),
        }
    tree["mail"] = stated()["mail"]
    tree["left_out"] = stated()["left_out"]
    return tree


def point(
    streams: Sequence[Stream],
    settings: Settings,
    cpus: int,
    seeds: Sequence[int] = SEEDS,
    ops: int = OPS,
) -> dict[str, Any]:
    """One point of a curve: median, lowest and highest over the seeds."""
    spread = spread_over(streams, cpus, max(10, math.ceil(ops / cpus)))
    runs = [(m := interleave(spread, settings, seed, "first"), totals(spread, m, settings))
            for seed in seeds]  # fmt: skip
    rates = [m.ops * 1e9 / m.end_ns if m.end_ns else math.nan for m, _ in runs]
    return {
        "cpus": cpus,
        "ops_per_s": _spread(rates),
        **{
            f"{name}_per_op": _spread([sums[name] / m.ops for m, sums in runs])
            for name in ("transfers", "upgrades", "bus_events")
        },
    }


def totals(streams: Sequence[Stream], merged: Merged, settings: Settings) -> dict[str, int]:
    """Transfers, upgrades, and all that is not a hit."""
    caches = Caches(1 + max(max(s.line) for s in streams), settings.protocol)
    at = [0] * len(streams)
    counts = [0] * 6
    for cpu in merged.cpu:
        stream, i = streams[cpu], at[cpu]
        at[cpu] += 1
        counts[caches.access(cpu, stream.line[i], stream.kind[i])[0]] += 1
    return {
        "transfers": counts[READ_TRANSFER] + counts[WRITE_TRANSFER],
        "upgrades": counts[UPGRADE],
        "bus_events": sum(counts) - counts[HIT],
    }


def sensitivity(
    pair: tuple[Sequence[Stream], Sequence[Stream]],
    settings: Settings,
    cpus: int,
    seeds: Sequence[int] = SEEDS,
    ops: int = OPS,
    arms: tuple[str, str] = ("stock", "moved"),
) -> dict[str, Any]:
    """The ratio of rates, and what becomes of it if one number is halved or doubled.

    Under both rules for a load that leads to a read-modify-write: it asks to own the line at once
    (`owning`, the default), or to read it (`reading`). `off`: how far the time by function is from
    the mail's, in points of percent; None where the mail has none of these arms.
    """
    timed = replace(settings, schedule="timed")

    def ratios(own: bool) -> dict[str, Any]:
        asked = [asked_for(one, own) for one in pair]

        def case(now: Settings) -> dict[str, Any]:
            before, after = (
                point(one, now, cpus, seeds, ops)["ops_per_s"]["median"] for one in asked
            )
            spread = [spread_over(one, cpus, max(10, math.ceil(ops / cpus))) for one in asked]
            off = mail_distance(
                {arm: profile_at(one, now, len(stated()["profile"]["parts"]), seeds)
                 for arm, one in zip(arms, spread, strict=True)}
            )  # fmt: skip
            rates = {"before_per_s": before, "after_per_s": after}
            return {"ratio": after / before, "off": off, **rates}

        def scaled(name: str, factor: float) -> dict[str, Any]:
            value = getattr(timed, name) * factor
            changed: dict[str, Any] = {name: min(1.0, value) if name in SHARES else value}
            return case(replace(timed, **changed))

        rows = [(name, scaled(name, 0.5), scaled(name, 2)) for name in NUMBERS]
        return {
            **case(timed),
            "sensitivity": [
                {
                    "what": name,
                    "halved": half["ratio"],
                    "doubled": double["ratio"],
                    "halved_off": half["off"],
                    "doubled_off": double["off"],
                }
                for name, half, double in rows
            ],
        }

    return {"cpus": cpus, "owning": ratios(True), "reading": ratios(False)}


def _spread(values: Sequence[float]) -> dict[str, float]:
    ranked = sorted(values)
    return {"median": ranked[(len(ranked) + 1) // 2 - 1], "low": ranked[0], "high": ranked[-1]}
