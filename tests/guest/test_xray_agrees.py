# SPDX-License-Identifier: GPL-2.0-or-later
"""X-ray and events agree: what events say happened to the maps is what is in memory then.

Events between two snapshots are replayed on the first; the result must be the second, bit for
bit. Set comes although a bit was set; an expansion fills all old words of every memcg there is.
"""

from __future__ import annotations

import numpy as np
import pytest

from duet.lenses import Sample, Wanted
from duet.lessons.load import load
from tests.support.xray_driver import Look, columns, look

pytestmark = [pytest.mark.guest, pytest.mark.alone]

SLUG = "01-shrinker-bitmaps"
CONTAINERS = 56
CALLS = 5
HOLD_S = 8
MARGIN_NS = 20e6
"""Around a snapshot nothing happens for so long, beyond the error of its time."""

Maps = dict[int, set[int]]
Event = tuple[float, str, int, int, int, int]


def maps_of(sample: Sample) -> Maps:
    """Inode of a memcg's directory -> ids of its set bits."""
    found = columns(sample)
    words = found["map"].reshape(sample.n, int(sample.facts["words"]))
    bits = np.unpackbits(words.view("u1"), axis=1, bitorder="little")
    inos = found["ino"].astype(int).tolist()
    return {ino: set(np.flatnonzero(row).tolist()) for ino, row in zip(inos, bits, strict=True)}


def events_of(run: Look) -> list[Event]:
    """(t, what, and its first four fields), in order: the lesson's points."""
    names = [point.name for point in load(SLUG).lesson.points]
    found: list[Event] = []
    for batch in run.batches["points"]:
        table = [batch.columns[name].tolist() for name in ("t_ns", "kind", "a", "b", "c", "d")]
        for t, kind, a, b, c, d in zip(*table, strict=True):
            if names[kind] in ("set", "cleared", "expanded", "born", "call_end"):
                found.append((t, names[kind], int(a), int(b), int(c), int(d)))
    return found


def replayed(before: Maps, events: list[Event], root: int) -> tuple[Maps, dict[str, int]]:
    """The maps after the events, and how many bits each kind of event changed."""
    maps = {ino: set(bits) for ino, bits in before.items()}
    changed = dict.fromkeys(("set", "cleared", "expanded"), 0)
    for _, what, a, b, c, d in events:
        if what == "call_end":
            continue
        if what == "born":
            maps.setdefault(a, set())
        elif what == "set":
            changed["set"] += b not in maps.setdefault(a, set())
            maps[a].add(b)
        elif what == "cleared":
            changed["cleared"] += b in maps[a]
            maps[a].discard(b)
        else:
            assert c == len(maps), "an expansion tells how many memcgs there are"
            for bits in maps.values():
                changed["expanded"] += len(set(range(d)) - bits)
                bits |= set(range(d))
    assert root in maps
    return maps, changed


def quiet_at(run: Look, events: list[Event], low: float, high: float) -> tuple[Sample, float]:
    """A snapshot between two times with no event near it."""
    times = np.array([event[0] for event in events])
    for sample, t in run.samples:
        reach = sample.error_ns + MARGIN_NS
        if low < t - reach and t + reach < high and not ((times - t) ** 2 < reach**2).any():
            return sample, t
    raise AssertionError(f"no quiet snapshot between {low / 1e6:.0f} and {high / 1e6:.0f} ms")


@pytest.mark.parametrize("arm", ["before", "after"])
def test_events_lead_from_one_snapshot_to_the_next(arm: str) -> None:
    run = look(
        SLUG,
        arm,
        Wanted("shrinker-maps", 30),
        clock="wall",
        knobs=[f"n={CONTAINERS}", f"seconds={HOLD_S}"],
        workload="containers-live",
        probes=None,
        say=[(3.0, "touch 3"), (0.2, "touch 7"), (0.2, "drop")],
    )
    assert run.result.error is None
    assert sum(run.result.lost_by_place.values()) == 0
    assert run.lens.failed == 0
    said = [line.t_ns for line in run.result.lines if "said=" in line.text]
    assert len(said) == 3, [line.text for line in run.result.lines]
    events = events_of(run)

    first = [pair for pair in run.samples if pair[0].n == 1 and pair[1] + pair[0].error_ns < 0]
    assert first, "a snapshot before the workload"
    start, _ = first[-1]
    (root,) = maps_of(start)
    called = [event[0] for event in events if event[1] == "call_end"]
    assert len(called) == CALLS + 1
    held, t_held = quiet_at(run, events, called[CALLS - 1], said[0])
    last, t_last = quiet_at(run, events, said[2], said[2] + (HOLD_S - 4.5) * 1e9)
    assert held.n == CONTAINERS + 2 == last.n

    between = [event for event in events if event[0] < t_held]
    maps, changed = replayed(maps_of(start), between, root)
    assert maps == maps_of(held)
    assert changed["expanded"] > CONTAINERS and changed["set"] > CONTAINERS // 2
    assert (changed["cleared"] > 0) == (arm == "after")

    after = [event for event in events if t_held < event[0] < t_last]
    maps, changed = replayed(maps_of(held), after, root)
    assert maps == maps_of(last)
    if arm == "after":
        assert changed["set"] >= 2, "two containers touched ext4"
    total = sum(map(len, maps.values()))
    print(f"{arm}: {len(between)} and {len(after)} events, {changed}, {total} bits")
