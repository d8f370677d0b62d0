# SPDX-License-Identifier: GPL-2.0-or-later
"""A replay gives what the live run gave, exactly: figures, and every row of every table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet.bundle import open_bundle
from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder, load
from duet.runs.pack import RecordingFacts, figures, write_run
from duet.runs.replay import CollectingSink, play_bundle
from duet.runs.sources import kernel_sources
from duet.session import TABLES, Columns, LaneGuests, LaneResult, Limits, RunSession, RunSpec

pytestmark = pytest.mark.guest

SMALL: dict[str, tuple[str, dict[str, int]]] = {
    "01-shrinker-bitmaps": ("containers", {"n": 6}),
    "02-grace-periods": ("storm", {"hogs": 3, "seconds": 1}),
    "03-inode-recycling": ("recycle", {"batch": 32, "files": 256}),
    "04-extent-shrinker": ("one-file", {"delayed": 64, "written": 64, "scans": 8}),
    "05-cacheline-pingpong": ("listing", {}),
}
LIMITS = Limits()


def whole(sink: CollectingSink, arm: str, table: str) -> Columns:
    batches = sink.batches.get((arm, table), [])
    return {
        name: np.concatenate([b.columns[name] for b in batches]) if batches else np.empty(0, dtype)
        for name, dtype in TABLES[table].items()
    }


def sorted_rows(columns: Columns) -> list[tuple[Any, ...]]:
    """Rows without their running number, which is given in order of arrival."""
    return sorted(zip(*(columns[n].tolist() for n in columns if n != "id"), strict=True))


async def run_live(folder: LessonFolder, workload: str, given: dict[str, int]) -> Any:
    arms = tuple(arm.name for arm in folder.lesson.arms[:2])
    kernels = KernelSettings.default()
    clock = folder.lesson.clock
    spec = RunSpec(
        run_id="live",
        folder=folder,
        arms=arms,
        workload=workload,
        params=folder.check_params(given, clock),
        clock=clock,
    )
    sources = await kernel_sources(folder, arms, kernels)
    found: list[tuple[dict[str, LaneResult], CollectingSink]] = []
    async with LaneGuests(LIMITS) as lanes:
        # The second on kept guests, whose ports have sent before; none is kept on the count clock.
        for number in range(2 if spec.clock == "wall" else 1):
            sink = CollectingSink(with_batches=True)
            result = await RunSession(
                lanes, replace(spec, run_id=f"live-{number}"), sources, sink
            ).execute()
            found.append((result.lanes, sink))
    return spec, kernels, found


@pytest.mark.parametrize("slug", SMALL)
def test_a_replay_is_the_live_run(
    slug: str, images_of: Callable[[str], Any], tmp_path: Path
) -> None:
    images_of(slug)
    folder = load(slug)
    spec, kernels, found = asyncio.run(run_live(folder, *SMALL[slug]))
    request = RunSpec(folder, spec.arms, spec.workload, dict(spec.params), folder.lesson.clock)
    for number, (lanes, live) in enumerate(found):
        for lane in lanes.values():
            assert lane.error is None, lane.error
        path = tmp_path / f"{number}.duet"
        records = {arm: lane.transcript.records() for arm, lane in lanes.items()}
        write_run(path, request, lanes, records, kernels, RecordingFacts("at once"))
        bundle = open_bundle(path)
        played = asyncio.run(play_bundle(folder, bundle, with_batches=True))
        for arm, lane in lanes.items():
            kept = bundle.manifest.arm(arm).figures
            assert kept == figures(lane) and kept is not None
            now = played.figures(arm)
            assert now is not None
            assert now.model_copy(update={"tables": {}}) == kept
            assert now.tables == live.tables(arm)
            assert played.sink.rows[arm] == live.rows[arm]
            for table in TABLES:
                assert sorted_rows(whole(played.sink, arm, table)) == sorted_rows(
                    whole(live, arm, table)
                ), table
            assert played.lanes[arm].lines == lane.lines and lane.lines[-1].t_ns > 0
            samples = [s for s, _ in live.samples.get(arm, [])]
            assert [s for s, _ in played.sink.samples.get(arm, [])] == samples
            assert bundle.manifest.arm(arm).loss["events"] == 0
