# SPDX-License-Identifier: GPL-2.0-or-later
"""What the coherence model predicts: rates and transfers by number of CPUs, and what they hang on.

All of it is *modelled*: streams of accesses are counted, their meeting is computed (coherence.py)
from stated numbers (stated.json, which the page reads too).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
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
from duet.lenses.scope.streams import owning_loads, spread_over
from duet.settings import repo_root

STATED: Final = "frontend/src/views/cache-lines/model/stated.json"
CPUS: Final = (2, 4, 8, 16, 20, 32, 64)
SEEDS: Final = (1, 2, 3)
OPS: Final = 1000
"""Operations of all CPUs together, of each run."""
SHARES: Final = ("handover", "jitter")
"""Numbers that are at most 1."""
NUMBERS: Final = ("hit_ns", "transfer_ns", "upgrade_ns", "own_ns", *SHARES)


@cache
def stated() -> dict[str, Any]:
    """The numbers with their sources, the rates of the mail, and what the model leaves out."""
    tree: dict[str, Any] = json.loads((repo_root() / STATED).read_text(encoding="utf-8"))
    return tree


def stated_settings() -> Settings:
    """Every number as its source has it."""
    return Settings(**{name: stated()["stated"][name]["value"] for name in NUMBERS})


def predict(
    streams_by_arm: Mapping[str, Sequence[Stream]],
    settings: Settings | None = None,
    *,
    cpus: Sequence[int] = CPUS,
    seeds: Sequence[int] = SEEDS,
    ops: int = OPS,
    compare_at: int = 20,
) -> dict[str, Any]:
    """Curves of all arms; the last one over the first at `compare_at` CPUs; its sensitivity.

    Args:
        streams_by_arm: whole operations (streams.whole_operations), at least one stream an arm.
        settings: default: the stated ones.
        compare_at: 0 compares nothing.

    Raises:
        InputError: an arm has no whole operation, or CPUs are not 1 to 64.
    """
    settings = settings or stated_settings()
    curves = {
        arm: [point(streams, settings, n, seeds, ops) for n in cpus]
        for arm, streams in streams_by_arm.items()
    }
    tree: dict[str, Any] = {"evidence": "modelled", "curves": curves, "comparison": None}
    if compare_at and len(streams_by_arm) > 1:
        arms = list(streams_by_arm)
        pair = (streams_by_arm[arms[0]], streams_by_arm[arms[-1]])
        tree["comparison"] = {
            "before": arms[0],
            "after": arms[-1],
            **sensitivity(pair, settings, compare_at, seeds, ops),
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
) -> dict[str, Any]:
    """The ratio of rates, and what becomes of it if one number is halved or doubled.

    `owning`: what if a load that leads to a read-modify-write asked for ownership at once.
    """
    timed = replace(settings, schedule="timed")

    def rates(now: Settings, own: bool = False) -> tuple[float, float]:
        before, after = (
            point([owning_loads(s) for s in one] if own else one, now, cpus, seeds, ops)
            for one in pair
        )
        return before["ops_per_s"]["median"], after["ops_per_s"]["median"]

    def ratio(now: Settings, own: bool = False) -> float:
        before, after = rates(now, own)
        return after / before

    def scaled(name: str, factor: float) -> Settings:
        value = getattr(timed, name) * factor
        changed: dict[str, Any] = {name: min(1.0, value) if name in SHARES else value}
        return replace(timed, **changed)

    before, after = rates(timed, own=True)
    return {
        "cpus": cpus,
        "ratio": ratio(timed),
        "sensitivity": [
            {"what": name, "halved": ratio(scaled(name, 0.5)), "doubled": ratio(scaled(name, 2))}
            for name in NUMBERS
        ],
        "owning": {"ratio": after / before, "before_per_s": before, "after_per_s": after},
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    ranked = sorted(values)
    return {"median": ranked[(len(ranked) + 1) // 2 - 1], "low": ranked[0], "high": ranked[-1]}
