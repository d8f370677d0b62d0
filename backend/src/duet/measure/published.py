# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' figures against ours: what has to be run for them, and one verdict each. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Seed
from duet.measure.compare import compare, format_value, why_refused
from duet.measure.model import Comparison, Table
from duet.measure.plan import PERTURBED, MeasurePlan, default_repeats

REPRODUCED, DIRECTION, NOT, NOTHING = "reproduced", "direction only", "not reproduced", "no verdict"
SMALL = math.log(1.05)
"""The mail says 'no change'."""
SMALL_HERE = math.log(1.10)
RULE = (
    "With m = ln(the mail's ratio) and o = ln(ours): reproduced when both have one sign and "
    "0.5 <= o/m <= 2; direction only when they have one sign; a mail's ratio within 5 % of 1 is "
    "reproduced when ours is within 10 %; everything else, and a difference that is not proven, "
    "is not reproduced."
)

Key = tuple[str, Clock, int, tuple[tuple[str, int], ...]]
"""Workload, clock, shift and knobs: runs under one key are shared by all rows that need them."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One figure of a mail beside ours.

    Args:
        interval: 95 % of the ratio (wall), or the range over perturbed starts (count).
        because: why it is not simply reproduced; "" where it is.
    """

    lesson: str
    seed: Seed
    ratio: float | None
    n: int
    interval: tuple[float, float] | None
    verdict: str
    because: str

    def as_dict(self) -> dict[str, object]:
        """The documented keys."""
        seed = self.seed
        return {
            "lesson": self.lesson,
            "claim": seed.claim,
            "mail": seed.mail,
            "mail_ratio": seed.mail_ratio,
            "ratio": self.ratio,
            "arm": seed.arm,
            "to": seed.to,
            "metric": seed.metric,
            "clock": seed.clock,
            "shift": seed.shift if seed.clock == "count" else None,
            "n": self.n,
            "interval": list(self.interval) if self.interval else None,
            "verdict": self.verdict,
            "because": self.because,
        }


def key_of(folder: LessonFolder, seed: Seed, of_reference: bool = False) -> Key:
    """The condition under which a side of a row is measured."""
    knobs = {**seed.params, **(seed.to_params if of_reference else {})}
    params = folder.check_params(knobs, seed.clock)
    shift = seed.shift if seed.clock == "count" else 0
    workload = seed.workload or next(iter(folder.lesson.workloads))
    return workload, Clock(seed.clock), shift, tuple(params.items())


def published_plans(folder: LessonFolder) -> dict[Key, MeasurePlan]:
    """The measurements that a lesson's rows need, each run once, with the arms needed alone."""
    arms: dict[Key, set[str]] = {}
    metrics: dict[Key, set[str]] = {}
    for seed in folder.lesson.seeds:
        for key, arm in ((key_of(folder, seed), seed.arm), (key_of(folder, seed, True), seed.to)):
            arms.setdefault(key, set()).add(arm)
            metrics.setdefault(key, set()).add(seed.metric)
    return {
        key: MeasurePlan(
            folder=folder,
            arms=tuple(arm.name for arm in folder.lesson.arms if arm.name in needed),
            workload=key[0],
            clock=key[1],
            params=dict(key[3]),
            repeats=default_repeats(key[1]),
            shifts=(key[2],),
            perturbed=PERTURBED if key[1] is Clock.COUNT else 0,
            metrics=frozenset(metrics[key]),
        )
        for key, needed in arms.items()
    }


def rows_of(
    folder: LessonFolder, tables: Mapping[Key, Table], troubles: Mapping[Key, str] | None = None
) -> list[SeedRow]:
    """A row for each figure of the lesson, measured or not.

    Args:
        troubles: why there is no table, or no whole one, for a key.
    """
    return [row_of(folder, seed, tables, troubles or {}) for seed in folder.lesson.seeds]


def row_of(
    folder: LessonFolder, seed: Seed, tables: Mapping[Key, Table], troubles: Mapping[Key, str]
) -> SeedRow:
    """One figure."""
    keys = (key_of(folder, seed), key_of(folder, seed, True))
    table, other = tables.get(keys[0]), tables.get(keys[1])
    trouble = next((troubles[key] for key in keys if key in troubles), None)
    ours = table.of(seed.metric, seed.arm) if table else None
    theirs = other.of(seed.metric, seed.to) if other else None
    if table is None or other is None or ours is None or theirs is None:
        because = trouble or "it was not measured"
        return SeedRow(folder.slug, seed, None, 0, None, NOTHING, because)
    busy = next(iter([*table.refusals, *other.refusals]), None)
    found = compare(ours, theirs, table.condition, busy)
    ratio = found.ratio
    why = why_refused(found)
    n = min(ours.n, theirs.n)
    counted_once = ours.evidence == "counted" and n > 0 and not (ours.refused or theirs.refused)
    if ratio is None and counted_once and table.condition.clock is Clock.WALL:
        # Events of one traced run: exact for that run; no time of it enters.
        base = statistics.median(theirs.samples)
        ratio, why = (statistics.median(ours.samples) / base, None) if base else (None, why)
    if ratio is None:
        because = trouble or (why or "").rstrip(".")
        return SeedRow(folder.slug, seed, None, n, None, NOTHING, because)
    verdict = judge(seed.mail_ratio, ratio, found)
    because = "" if verdict == REPRODUCED else _because(seed, found)
    return SeedRow(folder.slug, seed, ratio, n, found.ci or found.range, verdict, because)


def judge(mail: float, ours: float, found: Comparison | None = None) -> str:
    """The rule (see RULE)."""
    m = math.log(mail)
    o = math.log(ours) if ours > 0 else -math.inf
    if abs(m) < SMALL:
        return REPRODUCED if abs(o) < SMALL_HERE else NOT
    if found is not None and found.verdict == "no difference proven":
        return NOT
    if m * o <= 0:
        return NOT
    return REPRODUCED if 0.5 <= o / m <= 2 else DIRECTION


def _because(seed: Seed, found: Comparison) -> str:
    parts = ["no difference is proven here"] if found.verdict == "no difference proven" else []
    return "; ".join([*parts, *([seed.because.rstrip(".")] if seed.because else [])])


def interval_words(row: SeedRow) -> str:
    """'0.20..0.24'; '-' where there is none."""
    if row.interval is None:
        return "-"
    return "..".join(format_value(float(f"{end:.3g}")) for end in row.interval)


def counts(rows: Iterable[SeedRow]) -> dict[str, int]:
    """How many rows have which verdict."""
    found = dict.fromkeys((REPRODUCED, DIRECTION, NOT, NOTHING), 0)
    for row in rows:
        found[row.verdict] += 1
    return found
