# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of the coherence model: rates and transfers by number of CPUs, with sensitivity.

All of it is *modelled*: each CPU's accesses are counted, and their interleaving is computed from
stated numbers (coherence.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from duet.base.errors import InputError
from duet.lenses.scope.coherence import (
    HIT,
    NUMBERS,
    READ,
    READ_TRANSFER,
    SHARES,
    UPGRADE,
    WRITE_TRANSFER,
    Caches,
    Merged,
    Settings,
    Stream,
    interleave,
    stated,
    stated_settings,
)

# Makes streams for the model from recorded accesses, for any number of CPUs and operations.

LINE_BYTES: Final = 64
MOST_CPUS: Final = 64
RMW: Final = 2


def recorded_streams(
    cpu: Sequence[int],
    at: Sequence[int],
    size: Sequence[int],
    kind: Sequence[int],
    op: Sequence[int],
    functions: Sequence[str],
    counted: Mapping[str, Sequence[int]],
    instructions: int,
    parts: Mapping[str, int],
) -> list[Stream]:
    """Return one stream per CPU, in order of CPU number.

    A stream has its accesses in execution order.

    Args:
        at: offsets from the object's start in bytes. The object starts at the start of a line. An
            access that crosses the end of a line counts as two.
        functions: name of the function that makes each access.
        counted: see work_of().
        instructions: see work_of().
        parts: function -> number of its part of the profile, from 1.
    """
    rows: dict[int, list[tuple[int, int, int, str]]] = {c: [] for c in sorted(set(cpu))}
    for i, c in enumerate(cpu):
        last = (at[i] + max(1, size[i]) - 1) // LINE_BYTES
        for line in range(at[i] // LINE_BYTES, last + 1):
            rows[c].append((line, kind[i], op[i], functions[i]))
    streams = []
    for row in rows.values():
        work: list[float] = []
        for number, run in groupby(row, key=lambda access: access[2]):
            own = [access[3] for access in run]
            weights = work_of(own, counted, instructions) if number else [0] * len(own)
            total = sum(weights) or 1
            work += [weight / total for weight in weights]
        lines, kinds, ops, names = zip(*row, strict=True)
        streams.append(Stream(lines, kinds, ops, work, [parts.get(name, 0) for name in names]))
    return streams


def work_of(
    functions: Sequence[str], counted: Mapping[str, Sequence[int]], instructions: int
) -> list[int]:
    """Return the private work before each access of one operation, in instructions.

    Args:
        counted: function -> number of instructions from the operation's start to each of the
            function's accesses.
        instructions: number of instructions in a complete operation. The first access's work
            includes the end of the previous operation.
    """
    seen: dict[str, int] = {}
    places = []
    last = 0
    for name in functions:
        n = seen.get(name, 0)
        seen[name] = n + 1
        known = counted.get(name)
        if known:
            last = max(last, known[min(n, len(known) - 1)])
        places.append(last)
    before = [places[-1] - instructions, *places[:-1]]
    return [place - earlier for place, earlier in zip(places, before, strict=True)]


def select_accesses(stream: Stream, at: Sequence[int]) -> Stream:
    """Return the accesses at these indices, in that order."""
    return Stream(
        [stream.line[i] for i in at],
        [stream.kind[i] for i in at],
        [stream.op[i] for i in at],
        [stream.work[i] for i in at],
        [stream.part[i] for i in at],
    )


def whole_operations(stream: Stream) -> Stream:
    """Drop the first and the last operation, which may be incomplete in the recording."""
    inside = [i for i, op in enumerate(stream.op) if op]
    cut = {stream.op[inside[0]], stream.op[inside[-1]]} if inside else set()
    return select_accesses(stream, [i for i in inside if stream.op[i] not in cut])


def repeated(stream: Stream, ops: int) -> Stream:
    """Return a stream of `ops` operations, made by repeating or truncating the given stream.

    Raises:
        InputError: the stream has no operation.
    """
    begins = [i for i, op in enumerate(stream.op) if op and (i == 0 or stream.op[i - 1] != op)]
    if not begins:
        raise InputError(
            "a stream of accesses without a whole operation cannot be repeated.",
            remedy="Record more accesses.",
        )
    parts = list(zip(begins, [*begins[1:], len(stream.op)], strict=True))

    def places() -> Iterator[tuple[int, int]]:
        for n in range(ops):
            for i in range(*parts[n % len(parts)]):
                yield i, n + 1

    pairs = list(places())
    whole = select_accesses(stream, [i for i, _ in pairs])
    return replace(whole, op=[op for _, op in pairs])


def spread_over(streams: Sequence[Stream], cpus: int, ops: int) -> list[Stream]:
    """Return streams for `cpus` CPUs, from the given streams in turn. Each has `ops` operations.

    Raises:
        InputError: `cpus` is not from 1 to 64.
    """
    if not 1 <= cpus <= MOST_CPUS:
        raise InputError(
            f"the model takes 1 to {MOST_CPUS} CPUs, not {cpus}.",
            remedy="Choose a number in that range.",
        )
    long = [repeated(stream, ops) for stream in streams[:cpus]]
    return [long[c % len(long)] for c in range(cpus)]


def owning_loads(stream: Stream) -> Stream:
    """Turn each load into an ownership request if a read-modify-write of its line follows."""
    kind = list(stream.kind)
    for i in range(len(kind) - 1):
        same = stream.line[i] == stream.line[i + 1] and stream.op[i] == stream.op[i + 1]
        if same and kind[i] == READ and kind[i + 1] == RMW:
            kind[i] = RMW
    return replace(stream, kind=kind)


def as_owning(streams: Sequence[Stream], owning: bool) -> Sequence[Stream]:
    """Return the streams, changed by owning_loads() if `owning` is True, else unchanged."""
    return [owning_loads(stream) for stream in streams] if owning else streams


# Models how much of the time each part of an operation takes, as `perf top` would show it.


def profile_at(
    streams: Sequence[Stream], settings: Settings, parts: int, seeds: Sequence[int]
) -> list[float]:
    """Return each part's percentage of the time, over all CPUs and seeds, for parts 1 to `parts`.

    An access takes as long as the wait for its line plus the line's transfer to the CPU. This time
    counts for the access's function. Private work counts for no part.

    Args:
        streams: one stream per CPU.
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
    """Return the percentage of time by part for each arm, from the mail and from both models.

    Args:
        cpus: number of CPUs; 0 returns no profiles.
    """
    if not cpus:
        return {}
    found = {}
    for arm, streams in streams_by_arm.items():
        own, reading = (
            profile_at(spread_over(as_owning(streams, rule), cpus, max(10, math.ceil(ops / cpus))),
                       settings, len(stated()["profile"]["parts"]), seeds)
            for rule in (True, False)
        )  # fmt: skip
        found[arm] = [
            {"part": part["name"], "mail": part.get(arm), "owning": own[i], "reading": reading[i]}
            for i, part in enumerate(stated()["profile"]["parts"])
        ]
    return found


def mail_distance(shares: Mapping[str, Sequence[float]]) -> float | None:
    """Return the arms' mean distance from the mail's shares of time, in percentage points.

    The distance is None if the mail has no shares of these arms.
    """
    parts = stated()["profile"]["parts"]
    apart = [
        abs(own[i] - part[arm])
        for arm, own in shares.items()
        for i, part in enumerate(parts)
        if part.get(arm) is not None
    ]
    return sum(apart) / len(apart) if apart else None


CPUS: Final = (2, 4, 8, 16, 20, 32, 64)
SEEDS: Final = (1, 2, 3)
OPS: Final = 1000
"""Operations that all CPUs together do in each run."""


def predict(
    streams_by_arm: Mapping[str, Sequence[Stream]],
    *,
    cpus: Sequence[int] = CPUS,
    seeds: Sequence[int] = SEEDS,
    ops: int = OPS,
    compare_at: int = 20,
) -> dict[str, Any]:
    """Return all arms' curves, and the ratio of the last arm to the first at `compare_at` CPUs.

    Loads that lead to a read-modify-write own their line, as the mail's profile suggests
    (stated.json). The comparison and the profile are also computed under the rule that such loads
    only request a copy for reading.

    Args:
        streams_by_arm: complete operations (whole_operations), at least one stream per arm.
        compare_at: number of CPUs at which to compare; 0 compares nothing.

    Raises:
        InputError: an arm has no complete operation, or a number of CPUs is not from 1 to 64.
    """
    settings = stated_settings()
    curves = {
        arm: [point(as_owning(streams, True), settings, n, seeds, ops) for n in cpus]
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
    """Compute one point of a curve: the median, lowest and highest value over the seeds."""
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
    """Count transfers, upgrades, and all accesses that miss."""
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
    """Return the ratio of the rates, and how it changes if one number is halved or doubled.

    Both rules are computed for a load that leads to a read-modify-write: it requests ownership
    immediately (`owning`, the default), or it requests a copy for reading (`reading`). `off` is the
    distance between the modelled and the mail's percentages of time by function, in percentage
    points. `off` is None if the mail has neither arm.
    """
    timed = replace(settings, schedule="timed")

    def ratios(own: bool) -> dict[str, Any]:
        asked = [as_owning(one, own) for one in pair]

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
