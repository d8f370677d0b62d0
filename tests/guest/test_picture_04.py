# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of lesson 04 on live guests: visits one by one, as the strip draws them.

What is looked at here are the points that the page gets, from traced runs of one small file.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder, load
from duet.runs.sources import kernel_sources
from duet.session import Batch, LaneGuests, RunSession, RunSpec

pytestmark = pytest.mark.guest

SLUG = "04-extent-shrinker"
ARMS = ("scan-2013", "stock", "evictable-list")
LIMIT_S = 280
DELAYED, WRITTEN, BUDGET = 256, 256, 32
BLOCK = 4096
KEPT, SPARED, FREED = 0, 1, 2
IS_DELAYED, IS_WRITTEN, IS_HOLE = 4, 1, 8
"""Bits of an entry's status."""

Columns = dict[str, NDArray[Any]]


@dataclass
class CollectingSink:
    """A sink that keeps the points and counts operations."""

    parts: dict[str, list[Batch]] = field(default_factory=dict)
    ops: dict[str, int] = field(default_factory=dict)
    losses: list[Any] = field(default_factory=list)

    def on_batch(self, arm: str, new: Batch) -> None:
        if new.table == "points":
            self.parts.setdefault(arm, []).append(new)
        elif new.table == "ops":
            self.ops[arm] = self.ops.get(arm, 0) + new.n

    def on_loss(self, arm: str, loss: Any) -> None:
        self.losses.append((arm, loss))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda *_: None


class Lane:
    """The points of a lane, by name."""

    def __init__(self, folder: LessonFolder, parts: list[Batch], ops: int) -> None:
        self._names = [point.name for point in folder.lesson.points]
        self._all: Columns = {
            name: np.concatenate([part.columns[name] for part in parts])
            for name in parts[0].columns
        }
        self.ops = ops

    def of(self, name: str) -> Columns:
        mine = self._all["kind"] == self._names.index(name)
        return {column: cells[mine] for column, cells in self._all.items()}

    def scans(self) -> list[Columns]:
        """The visits of each scan."""
        visits, ends = self.of("visit"), self.of("scanned")["t_ns"]
        at = np.searchsorted(ends, visits["t_ns"])
        return [{n: c[at == scan] for n, c in visits.items()} for scan in range(len(ends))]


async def record(arm: str, params: dict[str, int]) -> Lane:
    folder = load(SLUG)
    sources = await kernel_sources(folder, (arm,), KernelSettings.default())
    sink = CollectingSink()
    spec = RunSpec(
        run_id=f"picture-{arm}",
        folder=folder,
        arms=(arm,),
        workload="one-file",
        params=folder.check_params(params, "count"),
        clock="count",
    )
    async with asyncio.timeout(LIMIT_S), LaneGuests() as guests:
        lane = (await RunSession(guests, spec, sources, sink).execute()).lanes[arm]
    assert lane.error is None, lane.error
    assert lane.status == 0, lane
    assert not sink.losses
    return Lane(folder, sink.parts[arm], sink.ops[arm])


@cache
def lane_of(arm: str, **more: int) -> Lane:
    small = {"delayed": DELAYED, "written": WRITTEN, "nr": BUDGET, "scans": 18}
    return asyncio.run(record(arm, small | more))


def fates(scan: Columns) -> tuple[int, int, int]:
    kept, spared, freed = (int((scan["e"] == fate).sum()) for fate in (KEPT, SPARED, FREED))
    return kept, spared, freed


@pytest.mark.parametrize("arm", ARMS)
def test_every_entry_is_reported_before_the_first_visit(arm: str) -> None:
    lane = lane_of(arm)
    first = lane.of("visit")["t_ns"][0]
    found, made = lane.of("found"), lane.of("insert")
    early, before = found["t_ns"] < first, made["t_ns"] < first
    assert sorted(found["b"][early].tolist()) == list(range(DELAYED))
    assert np.all(found["d"][early].astype(int) & IS_DELAYED)
    assert len(set(made["b"][before].tolist())) == WRITTEN
    assert np.all(made["d"][before].astype(int) & IS_WRITTEN)


@pytest.mark.parametrize("arm", ARMS)
def test_visits_reported_one_by_one_are_those_that_scans_count(arm: str) -> None:
    lane = lane_of(arm)
    scanned = lane.of("scanned")
    assert lane.ops == len(scanned["t_ns"]) == 18
    for place, scan in enumerate(lane.scans()):
        kept, spared, freed = fates(scan)
        reported = (kept + spared + freed, kept, spared, freed)
        assert reported == tuple(int(scanned[column][place]) for column in "bcde")


@pytest.mark.parametrize("arm", ARMS)
def test_only_delayed_entries_are_kept_and_none_of_them_goes(arm: str) -> None:
    visits = lane_of(arm).of("visit")
    delayed = (visits["d"].astype(int) & IS_DELAYED) != 0
    assert np.array_equal(delayed, visits["e"] == KEPT)


def test_the_2013_scan_treads_over_all_delayed_entries_at_every_call() -> None:
    for scan in lane_of("scan-2013").scans():
        assert fates(scan) == (DELAYED, 0, BUDGET)
        assert scan["b"][:DELAYED].tolist() == list(range(DELAYED))


def test_stock_frees_only_from_the_ninth_call_on() -> None:
    scans = lane_of("stock").scans()
    assert [fates(scan) for scan in scans[:8]] == [(BUDGET, 0, 0)] * 8
    assert [fates(scan) for scan in scans[8:16]] == [(0, 0, BUDGET)] * 8
    assert fates(scans[16]) == (BUDGET, 0, 0), "and then it begins again at the left end"


@pytest.mark.parametrize("hot", [0, 50])
def test_on_the_list_what_is_visited_is_freed_or_spared(hot: int) -> None:
    lane = lane_of("evictable-list", **({"hot": hot} if hot else {}))
    for scan in lane.scans():
        kept, spared, freed = fates(scan)
        assert kept == 0
        assert len(scan["e"]) == freed + spared
        assert freed + spared <= BUDGET
    assert (lane.of("visit")["e"] == SPARED).any() == (hot > 0)


def test_the_list_begins_with_the_entry_made_last() -> None:
    lane = lane_of("evictable-list")
    made = lane.of("insert")["b"][:WRITTEN].tolist()
    assert lane.of("visit")["b"][:WRITTEN].tolist() == made[::-1]


@pytest.mark.parametrize("arm", ARMS)
def test_what_a_budget_is_charged_for(arm: str) -> None:
    walk = lane_of(arm).of("walk")
    spent = walk["e"] - walk["f"]
    assert np.array_equal(spent, walk["d"] if arm == "scan-2013" else walk["a"])


@pytest.mark.parametrize("arm", ARMS)
def test_delayed_entries_answer_a_reader_after_every_scan(arm: str) -> None:
    lane = lane_of(arm, seek=1, scans=12)
    whence, answers = lane.of("seek")["a"].tolist(), lane.of("answer")["a"].tolist()
    assert whence == [3, 4] * 12
    assert answers == [0, DELAYED * BLOCK] * 12
    asked = lane.of("found")["b"][DELAYED:].reshape(12, DELAYED + 1)
    assert np.all(asked[:, 1:] == np.arange(DELAYED))
    assert (lane.of("insert")["d"].astype(int) & IS_HOLE).any(), "the hole behind them is an H"
