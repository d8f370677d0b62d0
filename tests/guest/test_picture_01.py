# SPDX-License-Identifier: GPL-2.0-or-later
"""The wall of lesson 01 on live guests: how many visits a pass makes, by the picture's own points.

Memcgs, shrinkers and bits are counted by the x-ray in the guest's memory, visits by the events
that the page draws. Nothing else is compared with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import pytest

from duet.lenses import Wanted
from duet.lessons.load import load
from tests.support.xray_driver import Look, look

pytestmark = [pytest.mark.guest, pytest.mark.alone]

SLUG = "01-shrinker-bitmaps"
CONTAINERS = 56
CALLS = 5
RUNS = 6
ROOT = 1
"""Inode of the root cgroup's directory; its walk calls every shrinker on each kernel."""
EMPTY = -2

Cell = tuple[int, int]


@dataclass
class Pass:
    """One walk over all memcgs: how often each cell was visited, and what was set when it began."""

    visits: Counter[Cell] = field(default_factory=Counter)
    again: Counter[Cell] = field(default_factory=Counter)
    vain: int = 0
    set_before: frozenset[Cell] = frozenset()


@cache
def run_of(arm: str) -> Look:
    """One traced run on the count clock with the x-ray, as the page has it.

    The x-ray is compared on the arm "before". On a fast host its five calls on so few containers
    may lie between two snapshots: it runs again, then.
    """
    for _ in range(RUNS if arm == "before" else 1):
        run = one_run_of(arm)
        if within_the_calls(run):
            break
    return run


def one_run_of(arm: str) -> Look:
    run = look(
        SLUG,
        arm,
        Wanted("shrinker-maps", 30),
        clock="count",
        knobs=[f"n={CONTAINERS}"],
        workload="containers",
        probes=None,
    )
    assert run.result.error is None
    assert sum(run.result.lost_by_place.values()) == 0
    return run


def calls_of(run: Look) -> list[list[Pass]]:
    """The passes of each call; bits are followed from the first event on."""
    names = [point.name for point in load(SLUG).lesson.points]
    columns = ("kind", "a", "b", "c", "d")
    bits: set[Cell] = set()
    memcgs: set[int] = set()
    calls: list[list[Pass]] = []
    in_root = False
    for batch in run.batches["points"]:
        for kind, *fields in zip(*(batch.columns[c].tolist() for c in columns), strict=True):
            a, b, c, d = (int(x) for x in fields)
            match names[kind]:
                case "call":
                    calls.append([])
                case "visit" if a == ROOT:
                    if not in_root:
                        calls[-1].append(Pass(set_before=frozenset(bits)))
                    in_root = True
                case "visit":
                    in_root = False
                    now = calls[-1][-1]
                    (now.again if d else now.visits)[a, b] += 1
                    now.vain += c == EMPTY
                case "set":
                    bits.add((a, b))
                case "cleared":
                    bits.discard((a, b))
                case "expanded":
                    bits |= {(memcg, i) for memcg in memcgs for i in range(d)}
                case "born":
                    memcgs.add(a)
    return calls


def within_the_calls(run: Look) -> list[Mapping[str, float]]:
    """Facts of the snapshots that were surely taken while the calls went on."""
    batches = run.batches["ops"]
    began = min(float(t) for batch in batches for t in batch.columns["t0_ns"])
    ended = max(float(t) for batch in batches for t in batch.columns["t1_ns"])
    return [
        sample.facts
        for sample, t in run.samples
        if began + sample.error_ns < t < ended - sample.error_ns
    ]


def xray_of(run: Look) -> tuple[int, int]:
    """Memcgs and shrinkers while the calls went on, from the guest's memory."""
    within = within_the_calls(run)
    assert within, "no snapshot fell into the calls"
    pairs = {(int(facts["memcgs"]), int(facts["shrinkers"])) for facts in within}
    (pair,) = pairs
    return pair


@pytest.mark.parametrize("arm", ["before", "after"])
def test_there_are_as_many_calls_as_operations(arm: str) -> None:
    run = run_of(arm)
    assert len(calls_of(run)) == CALLS
    assert sum(batch.n for batch in run.batches["ops"]) == CALLS


def test_the_list_walk_visits_each_cell_once_a_pass() -> None:
    run = run_of("before")
    memcgs, shrinkers = xray_of(run)
    assert memcgs == CONTAINERS + 1
    calls = calls_of(run)
    assert all(calls), "every call has a pass"
    for call in calls:
        for one in call:
            assert one.visits.total() == memcgs * shrinkers
            assert set(one.visits.values()) == {1}
            assert not one.again
            assert len({memcg for memcg, _ in one.visits}) == memcgs


def test_the_bitmap_visits_the_bits_that_are_set() -> None:
    calls = calls_of(run_of("after"))
    assert all(calls), "every call has a pass"
    for call in calls:
        for one in call:
            walked = {cell for cell in one.set_before if cell[0] != ROOT}
            assert set(one.visits) == walked
            assert set(one.visits.values()) <= {1}
            assert set(one.again) <= walked


def test_the_first_call_pays_twice_and_the_third_only_for_objects() -> None:
    first, _, third, *_ = calls_of(run_of("after"))
    assert first[0].again.total() == first[0].vain // 2 > CONTAINERS
    assert [one.visits.total() for one in third] == [CONTAINERS]
    assert third[0].vain == 0
