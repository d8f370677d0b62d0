# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 01 to the digit: how often a shrinker is called, on the count clock.

Ratios of times are claims of evidence.yaml (test_claims_live.py). Here stands what takes more than
one condition, or more than one number of a run, to say.
"""

from __future__ import annotations

import math

import pytest

from duet.lessons.load import load
from duet.measure import MeasurePlan, Table
from duet.measure.claims import LIVE_SECONDS
from tests.support.live_measure import TIMEOUT_S, counted, measured, value

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]

SLUG = "01-shrinker-bitmaps"
MAP_WORD = 64
TIMES = frozenset({"drop_last_us"})
FACT_NAMES = ("memcgs", "mounts", "shrinkers", "dying")


def table_of(arms: tuple[str, ...], n: int, metrics: frozenset[str] | None) -> Table:
    """One run an arm for times, one for counts."""
    table = counted(SLUG, arms, "containers", {"n": n, "seconds": LIVE_SECONDS}, metrics)
    assert not table.errors, table.errors
    return table


def count(table: Table, metric: str, arm: str) -> int:
    """A counted number; it is whole."""
    found = value(table, metric, arm)
    assert found == int(found)
    return int(found)


def facts(table: Table, arm: str) -> dict[str, int]:
    """What the workload itself says of its run."""
    line = next(text for text in table.lines[arm] if text.startswith("containers: containers="))
    words = dict(word.split("=") for word in line.split()[1:])
    return {name: int(words[name]) for name in FACT_NAMES}


@pytest.mark.parametrize("n", [56, 200])
def test_the_list_walk_visits_every_shrinker_for_every_memcg(n: int) -> None:
    """Memcgs and shrinkers are counted by the kernel's own files, not by the events."""
    table = table_of(("before",), n, None)
    there = facts(table, "before")
    assert there["mounts"] == n and there["memcgs"] >= n + 1 and there["dying"] == 0
    for call in ("first", "last"):
        passes = count(table, f"passes_{call}", "before")
        assert passes >= 1
        wall = there["memcgs"] * there["shrinkers"]
        assert count(table, f"visits_{call}", "before") == passes * wall
    passes = count(table, "passes_last", "before")
    assert count(table, "walks_last", "before") == passes * there["memcgs"]
    assert count(table, "again_first", "before") == 0
    assert count(table, "cleared_first", "before") == 0
    # The root's walk also calls those shrinkers that know no memcg.
    assert count(table, "visits_root_last", "before") >= passes * there["shrinkers"]


def test_the_maps_are_kept_although_the_list_walk_does_not_read_them() -> None:
    table = table_of(("before", "after"), 200, None)
    assert count(table, "set_last", "before") > 100 * count(table, "set_last", "after") > 0


def test_the_bitmap_visits_a_set_bit_once_and_an_empty_one_twice() -> None:
    table = table_of(("before", "after"), 200, None)
    again, cleared = (count(table, f"{name}_first", "after") for name in ("again", "cleared"))
    assert again == cleared
    assert count(table, "visits_first", "after") == count(table, "set_first", "after") + again
    assert count(table, "visits_last", "after") == count(table, "set_last", "after")


def test_the_first_call_pays_for_bits_that_expansions_set() -> None:
    """To the digit: where each bit that the first call finds has come from."""
    n = 200
    table = table_of(("before", "after"), n, None)
    there = facts(table, "after")
    bits = count(table, "expanded_bits", "after")
    assert bits == (there["shrinkers"] - 1) // MAP_WORD * MAP_WORD
    # The root cgroup's map is filled as well, but no walk reads it.
    filled = count(table, "expanded_memcgs", "after") - 1
    # A memcg made later has one bit: a name in the cgroup filesystem, which stays in use.
    late = there["memcgs"] - filled
    found = filled * bits + late
    passes = count(table, "passes_last", "before")
    assert count(table, "set_last", "before") == passes * found
    assert count(table, "cleared_first", "after") == found - n
    passes = count(table, "passes_first", "after")
    assert count(table, "visits_first", "after") == 2 * (found - n) + passes * n


def test_the_time_of_the_list_walk_grows_with_the_square() -> None:
    small, large = (
        table_of(("before",), n, TIMES).of("drop_last_us", "before") for n in (400, 800)
    )
    assert small is not None and large is not None
    slope = math.log2(large.samples[0] / small.samples[0])
    assert 1.9 <= slope <= 2.1, slope


def test_a_container_that_cannot_be_made_is_a_sentence() -> None:
    folder = load(SLUG)
    params = {**folder.check_params({"n": 4}, "count"), "touched": 9}
    plan = MeasurePlan(folder, ("after",), "containers-ext4", "count", params, 1, metrics=TIMES)

    table = measured(plan)[0]
    assert "--touched M is at most N" in str(table.errors["after"].detail)
