# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 04 entry by entry: what a scan of ext4's extent shrinker looks at, and what it frees.

What holds at the lesson's own settings is a claim of evidence.yaml (test_claims_live.py). Here are
referenced entries, data that must not be lost, fio, and what takes more than one number to say.
"""

from __future__ import annotations

import pytest

from duet.lessons.load import load
from duet.measure import MeasurePlan, Table
from tests.support.live_measure import TIMEOUT_S, counted, measured, value

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]

SLUG = "04-extent-shrinker"
ARMS = ("scan-2013", "stock", "evictable-list")
FILES = 4
SMALL = {"delayed": 1000, "written": 250, "hot": 25, "scans": 70, "verify": 1}
BUDGET = 128
SCANS_ASKED = 500
TURNS = 1000
TIMES = frozenset({"scan_mean_us"})


def small() -> Table:
    """Known extents, half of the written ones in use; all is read back in the end."""
    table = counted(SLUG, ARMS, "extents", SMALL)
    assert not table.errors, table.errors
    return table


def beside_fio() -> Table:
    table = counted(SLUG, ARMS, "fio", {})
    assert not table.errors, table.errors
    return table


def said(table: Table, arm: str) -> dict[str, float]:
    """Everything that the workload says of its untraced run."""
    lines = [text for text in table.lines[arm] if text.startswith("extents: ")]
    return {
        name: float(number)
        for line in lines
        for name, _, number in (word.partition("=") for word in line.split()[1:])
    }


@pytest.mark.parametrize("arm", ARMS)
def test_nothing_that_is_delayed_is_lost(arm: str) -> None:
    """After the scans all is written out, forgotten, read from the disk and compared."""
    blocks = FILES * (SMALL["delayed"] + SMALL["written"])
    assert said(small(), arm)["read_back"] == blocks


@pytest.mark.parametrize("arm", ARMS)
def test_what_is_looked_at_is_kept_spared_or_freed(arm: str) -> None:
    table = small()
    visited, freed, kept, spared = (
        value(table, f"{name}_per_scan", arm) for name in ("visited", "freed", "kept", "referenced")
    )
    assert visited == pytest.approx(freed + kept + spared)
    assert value(table, "scans", arm) == SMALL["scans"]
    assert value(table, "freed_by_events", arm) == value(table, "freed", arm)


def test_each_arm_charges_its_budget_for_something_else() -> None:
    """2013: what it frees. Stock: what it looks at. List: what it looks at, delayed ones never."""
    table = small()
    for arm in ("stock", "evictable-list"):
        assert 0 < value(table, "visited_max", arm) <= BUDGET
        assert value(table, "referenced_per_scan", arm) > 0
    assert value(table, "kept_per_scan", "stock") > 0
    assert value(table, "kept_per_scan", "evictable-list") == 0
    # A kernel of 2013 knew no second chance, and its last scan of a round finds less than it wants.
    assert value(table, "referenced_per_scan", "scan-2013") == 0
    assert value(table, "visited_max", "scan-2013") > SMALL["delayed"]
    assert 0.9 * BUDGET < value(table, "freed_per_scan", "scan-2013") <= BUDGET


def test_stock_frees_only_when_it_is_past_the_delayed_entries() -> None:
    """Scans go round the files, and each has its budget's worth of one file."""
    table = small()
    in_vain = FILES * (SMALL["delayed"] // BUDGET)
    assert value(table, "first_freed", "stock") > in_vain
    assert value(table, "first_freed", "scan-2013") == 1
    assert value(table, "freed", "stock") > 0


def test_an_entry_grows_by_the_two_pointers_of_a_list() -> None:
    table = small()
    sizes = {arm: value(table, "struct_bytes", arm) for arm in ARMS}
    assert sizes == {"scan-2013": 40, "stock": 40, "evictable-list": 56}
    assert {arm: said(table, arm)["entry_bytes"] for arm in ARMS} == sizes


@pytest.mark.nightly  # 80 s; the same three ways on known extents are checked in each run
def test_the_same_three_ways_beside_fio() -> None:
    """The mail's mixture: delayed entries and holes in fifty files, scans while it is written."""
    table = beside_fio()
    for arm in ARMS:
        assert said(table, arm)["scans"] >= SCANS_ASKED
        assert said(table, arm)["delayed_entries"] > 10 * said(table, arm)["reclaimable_entries"]
        assert value(table, "freed", arm) > 0
    assert value(table, "visited_max", "stock") <= BUDGET
    assert value(table, "freed_per_scan", "stock") < 0.05 * BUDGET
    assert value(table, "visited_max", "scan-2013") > 10 * BUDGET
    assert value(table, "kept_per_scan", "evictable-list") == 0
    means = {arm: value(table, "scan_mean_us", arm) for arm in ARMS}
    assert means["evictable-list"] < means["scan-2013"]


def test_merged_neighbours_leave_nothing_to_see() -> None:
    """Without the mail's hack a file has one delayed entry, however many blocks that is."""
    seen = frozenset({"kept_per_scan", "visited_max"})
    table = counted(SLUG, ("stock",), "extents", SMALL | {"never_merge": 0, "hot": 0}, seen)
    assert not table.errors, table.errors
    assert value(table, "kept_per_scan", "stock") <= FILES
    assert value(table, "visited_max", "stock") < BUDGET


def test_a_neighbour_has_its_turns_beside_the_scans() -> None:
    """Another file joins the list of inodes and leaves it, while four others are scanned."""
    table = counted(SLUG, ("stock",), "neighbour", {"delayed": 1000, "written": 250}, TIMES)
    assert not table.errors, table.errors
    assert said(table, "stock")["turns"] == TURNS
    assert said(table, "stock")["scans"] > 0


def test_a_disk_without_room_is_a_sentence() -> None:
    """Knobs stop short of that; who sets others gets an error before anything is written."""
    folder = load(SLUG)
    params = {**folder.check_params({}, "count"), "written": 60_000}
    plan = MeasurePlan(folder, ("stock",), "extents", "count", params, 1, metrics=TIMES)

    table = measured(plan)[0]
    assert "Use fewer entries, or a larger scratch disk" in str(table.errors["stock"].detail)
