# SPDX-License-Identifier: GPL-2.0-or-later
"""What a step's `must_show` names, found on a lane as intervals in order of their begin. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from duet.lessons.schema import Lesson, Sought
from duet.runs.sought.lane import LaneTables, Pairs

MS = 1e6
SHARE = 1 / 20
"""So much of the window must be filled by what is longer than that and not seen whole."""
FIELDS = "abcdef"


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a lesson, whose places are the numbers in the tables."""

    kinds: tuple[str, ...]
    points: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[str, ...]

    @staticmethod
    def of(lesson: Lesson) -> Names:
        """Those of a lesson."""
        return Names(
            tuple(kind.name for kind in lesson.kinds),
            tuple((point.name, point.fields) for point in lesson.points),
            tuple(link.name for link in lesson.links),
        )


def find_on(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    """Everything on this lane that `one` names, before a window asks for it."""
    pairs = _named(lane, one, names)
    if one.during is not None:
        pairs = _inside(pairs, _spans(lane, one.during, names))
    if one.at_once != 1:
        pairs = _together(pairs, lane.threads if one.at_once == "all" else one.at_once)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def amount_in(found: Pairs, one: Sought, a: float, b: float) -> float:
    """How much of it is in [a, b): ns, or the number of what has no length.

    Returns:
        -1 where it is too little or too much.
    """
    near = found[: np.searchsorted(found[:, 0], b)]
    t0, t1 = near[:, 0], near[:, 1]
    here = (t1 > a) | (t0 >= a)
    long = t1 - t0 >= one.longer_ms * MS
    part = np.minimum(t1, b) - np.maximum(t0, a)
    seen = here & (part >= one.longer_ms * MS) & (part >= np.minimum(t1 - t0, (b - a) * SHARE))
    if one.whole:
        seen &= (t0 >= a) & (t1 <= b)
    least = one.at_least if one.at_least is not None else int(one.at_most is None)
    if seen.sum() < least or (one.at_most is not None and (here & long).sum() > one.at_most):
        return -1
    time = float(part[seen].sum())
    return time if time > 0 else float(seen.sum())


def _named(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    if one.kind is not None:
        return _spans(lane, one.kind, names)
    if one.point is not None:
        return _points(lane, one, names)
    if one.looks is not None:
        return _looks(lane, one)
    if one.link is not None:
        return lane.times("links", lane.tables["links"]["kind"] == names.links.index(one.link))
    return lane.times("ops")


def _spans(lane: LaneTables, kind: str, names: Names) -> Pairs:
    """Spans that have ended."""
    return lane.times("spans", lane.tables["spans"]["kind"] == names.kinds.index(kind))


def _points(lane: LaneTables, one: Sought, names: Names) -> Pairs:
    points = lane.tables["points"]
    number, fields = next(
        (i, fields) for i, (name, fields) in enumerate(names.points) if name == one.point
    )
    fits = points["kind"] == number
    for field, (least, largest) in one.where.items():
        values = points[FIELDS[fields.index(field)]].astype(np.float64)
        fits = fits & (values >= least) & (values <= largest)
    return lane.times("points", fits)


def _looks(lane: LaneTables, one: Sought) -> Pairs:
    """Stretches between looks in which facts grew as asked for, or their share of others did."""
    looks = lane.looks.get(one.looks or "")
    if looks is None:
        return np.empty((0, 2))
    times = np.stack([looks.t_ns[:-1], looks.t_ns[1:]], axis=1)
    nothing = np.full(len(looks.t_ns), np.nan)
    grown = {name: np.diff(looks.facts.get(name, nothing)) for name in (*one.where, *one.among)}
    whole = sum((grown[name] for name in one.among), np.zeros(len(times)))
    # Two looks at one time tell nothing, and a share of nothing is none.
    fits = times[:, 1] > times[:, 0]
    for name, (least, largest) in one.where.items():
        share = np.divide(grown[name], whole, out=np.full(len(times), np.nan), where=whole > 0)
        values = share if one.among else grown[name]
        fits = fits & (values >= least) & (values <= largest)
    return np.array(_joined(times[fits]), np.float64).reshape(-1, 2)


def _joined(pairs: Pairs) -> list[list[float]]:
    """Those that touch as one."""
    walls: list[list[float]] = []
    for t0, t1 in sorted(pairs.tolist()):
        if walls and t0 <= walls[-1][1]:
            walls[-1][1] = max(walls[-1][1], t1)
        else:
            walls.append([t0, t1])
    return walls


def _inside(pairs: Pairs, others: Pairs) -> Pairs:
    """The parts of the first that lie in some of the second."""
    walls = _joined(others)
    parts = [
        (max(a, t0), min(b, t1))
        for t0, t1 in pairs.tolist()
        for a, b in walls
        if a <= t1 and b >= t0
    ]
    return np.array(parts, np.float64).reshape(-1, 2)


def _together(pairs: Pairs, n: int) -> Pairs:
    """The times during which at least `n` of them go on."""
    # An end comes before a begin at the same time: who takes turns is not together.
    turns = sorted([(t0, 1) for t0, _ in pairs.tolist()] + [(t1, -1) for _, t1 in pairs.tolist()])
    turns.sort(key=lambda turn: (turn[0], turn[1]))
    levels = np.cumsum([by for _, by in turns]).tolist()
    times = []
    since = 0.0
    for (before, now), (t, _) in zip(pairwise([0, *levels]), turns, strict=True):
        if before < n <= now:
            since = t
        elif now < n <= before:
            times.append((since, t))
    return np.array(times, np.float64).reshape(-1, 2)
