# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 03's picture on live guests: what it draws is reckoned once more, from the same points.

The picture knows a shadow by its grace periods: from the letting go of an inode to the end of the
first one that began after it. The kernel itself says at each reuse whether the grace period had
passed. Both must agree, inode by inode.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from duet.cli.sinks import ConsoleSink
from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.runs.sources import kernel_sources
from duet.session import Batch, LaneGuests, LaneResult, RunSession, RunSpec

pytestmark = pytest.mark.guest

SLUG = "03-inode-recycling"
ARMS = ("stock", "wait-in-worker", "wait-at-recycle", "call-rcu")
PATCHED = ARMS[1:]
LIMIT_S = 200
FILES = 512

Columns = dict[str, NDArray[np.generic]]


class CollectingSink(ConsoleSink):
    """Keeps the tables of a run."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Columns]] = {}

    def on_batch(self, arm: str, new: Batch) -> None:
        self.parts.setdefault(new.table, []).append(new.columns)

    def table(self, name: str) -> Columns:
        parts = self.parts[name]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


@cache
def run_of(arm: str, workload: str, *knobs: tuple[str, int]) -> tuple[CollectingSink, LaneResult]:
    """One explain run of an arm on the count clock."""
    folder = load(SLUG)
    given = {"files": FILES, "removed": FILES, **dict(knobs)}
    params = folder.check_params(given, "count")
    sink = CollectingSink()

    async def go() -> LaneResult:
        async with asyncio.timeout(LIMIT_S), LaneGuests() as guests:
            sources = await kernel_sources(folder, (arm,), KernelSettings.default())
            spec = RunSpec(
                run_id=f"picture-{arm}",
                folder=folder,
                arms=(arm,),
                workload=workload,
                params=params,
                clock="count",
            )
            session = RunSession(guests, spec, sources, sink)
            return (await session.execute()).lanes[arm]

    lane = asyncio.run(go())
    assert lane.error is None
    assert lane.metrics.events_lost == 0
    return sink, lane


def points(sink: CollectingSink) -> list[tuple[float, str, Columns, int]]:
    """Points in order: time, name, columns, place."""
    table = sink.table("points")
    names = [point.name for point in load(SLUG).lesson.points]
    times = table["t_ns"].tolist()
    assert times == sorted(times)
    kinds = table["kind"].tolist()
    return [(t, names[k], table, i) for i, (t, k) in enumerate(zip(times, kinds, strict=True))]


def grace_periods(sink: CollectingSink) -> tuple[list[float], list[float]]:
    spans = sink.table("spans")
    gp = [kind.name for kind in load(SLUG).lesson.kinds].index("gp")
    chosen = spans["kind"] == gp
    return sorted(spans["t0_ns"][chosen].tolist()), sorted(spans["t1_ns"][chosen].tolist())


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("workload", ["recycle", "removal"])
def test_what_is_queued_is_inactivated_or_waits_still(arm: str, workload: str) -> None:
    sink, _ = run_of(arm, workload)
    waiting: set[float] = set()
    counts = Counter[str]()
    for _, name, table, i in points(sink):
        ino = float(table["a"][i])
        if name == "queued":
            assert ino not in waiting, "an inode is queued once in a life"
            waiting.add(ino)
            counts[name] += 1
        elif name == "inactivated" and ino in waiting:
            waiting.remove(ino)
            counts[name] += 1
        elif name == "reuse":
            assert ino not in waiting, "only what is inactivated is used again"
    assert counts["queued"] >= FILES
    assert counts["queued"] == counts["inactivated"] + len(waiting)
    # What is left was unlinked last, and the run ended before its worker came.
    assert counts["inactivated"] > 0


@pytest.mark.parametrize("arm", ARMS)
def test_the_pictures_shadow_is_what_the_kernel_says(arm: str) -> None:
    sink, _ = run_of(arm, "recycle")
    begins, ends = grace_periods(sink)
    let_go: dict[float, float] = {}
    inside = 0
    for t, name, table, i in points(sink):
        ino = float(table["a"][i])
        if name == "queued":
            let_go[ino] = t
        elif name == "reuse":
            at = int(np.searchsorted(begins, let_go[ino], side="right"))
            end = ends[at] if at < len(ends) else np.inf
            early = t < end
            assert early == (float(table["b"][i]) == 0), (arm, ino, t)
            inside += early
    if arm == "stock":
        assert inside > FILES / 4
    else:
        assert inside == 0


@pytest.mark.parametrize("arm", PATCHED)
def test_the_waits_stand_where_the_arm_puts_them(arm: str) -> None:
    sink, _ = run_of(arm, "recycle")
    waits = [float(table["b"][i]) for _, name, table, i in points(sink) if name == "gp_wait_done"]
    where = {"wait-in-worker": {0.0}, "wait-at-recycle": {1.0}, "call-rcu": set()}
    assert set(waits) == where[arm]


def test_with_call_rcu_nothing_is_listed_before_its_grace_period() -> None:
    sink, _ = run_of("call-rcu", "recycle")
    begins, ends = grace_periods(sink)
    let_go: dict[float, float] = {}
    listed = 0
    for t, name, table, i in points(sink):
        ino = float(table["a"][i])
        if name == "queued":
            let_go[ino] = t
        elif name == "listed":
            at = int(np.searchsorted(begins, let_go[ino], side="right"))
            assert at < len(ends)
            assert t >= ends[at]
            listed += 1
    assert listed > FILES / 2
