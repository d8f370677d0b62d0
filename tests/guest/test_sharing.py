# SPDX-License-Identifier: GPL-2.0-or-later
"""Several vCPUs in the one thread of the count clock: they meet, and a run repeats nearly."""

from __future__ import annotations

import asyncio
import re

import pytest

from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.measure.run import MEASURE_LIMITS
from duet.runs.replay import CollectingSink
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, RunSession, RunSpec

pytestmark = [pytest.mark.guest, pytest.mark.timeout(300)]
RUNS = 2


async def _lines() -> list[str]:
    """What the storm says of each run, with every count and its time."""
    folder = load("05-cacheline-pingpong")
    params = {**folder.check_params({"tasks": 4, "stats": 5000}), "vcpus": 2}
    sources = await kernel_sources(folder, ("stock",), KernelSettings.default())
    found = []
    for number in range(RUNS):
        spec = RunSpec(
            run_id=f"sharing-{number}",
            folder=folder,
            arms=("stock",),
            workload="exact",
            params=params,
            clock="count",
            purpose="measure",
            traced=False,
        )
        async with asyncio.timeout(140), LaneGuests(MEASURE_LIMITS) as lanes:
            result = await RunSession(lanes, spec, sources, CollectingSink()).execute()
        lane = result.lanes["stock"]
        assert lane.error is None, lane.error
        found += [line.text for line in lane.lines if line.text.startswith("statstorm: run")]
    return found


@pytest.mark.nightly  # 40 s; a measurement of the host
def test_two_vcpus_meet_in_one_word_and_the_rate_repeats() -> None:
    lines = asyncio.run(_lines())
    assert len(lines) == RUNS
    retries = [int(found[1]) for line in lines if (found := re.search(r"\bretry=(\d+)", line))]
    assert min(retries) > 10, "one vCPU alone hardly ever loses a compare-and-swap"
    rates = [float(found[1]) for line in lines if (found := re.search(r"per_s=([\d.]+)", line))]
    assert len(retries) == len(rates) == RUNS
    assert max(rates) <= 1.01 * min(rates)
