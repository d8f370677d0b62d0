# SPDX-License-Identifier: GPL-2.0-or-later
"""What the x-ray takes and what it costs the guest.

1. Time of a sample of all shrinker maps at 300 memcgs (at most 20 ms).
2. Slowdown of a wall-clock workload by 10 samples a second, on one vCPU beside an otherwise idle
   core, runs with and without by turns, A B B A (at most 3 %). The workload is the second loop
   of lesson 02: operations per second, untraced but for the markers.

Both need a host with nothing else to do; how busy it was stands in the result.

Run: python -m tests.bench.xray [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import numpy as np

from duet.cli.arguments import read_request
from duet.kernels import KernelSettings
from duet.lenses import Wanted
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, RunSession, RunSpec
from tests.support.xray_driver import Look, look

MEMCGS = 300
SAMPLE_MS = 20.0
SLOWDOWN_PERCENT = 3.0
HZ = 10
SECONDS = 5
ARM = "rwsem"


def sample_times() -> dict[str, object]:
    """Reads of 300 maps while drop_caches goes over them."""
    knobs = [f"n={MEMCGS}", "vcpus=1"]
    took: list[float] = []
    worked: list[float] = []
    while len(took) < 50:
        run = look(
            "01-shrinker-bitmaps", "after", Wanted("shrinker-maps", 30), clock="wall", knobs=knobs
        )
        took += [s.took_ns / 1e6 for s, _ in run.samples if s.facts["memcgs"] == MEMCGS + 1]
        worked += [
            s.facts["cpu_us"] / 1e3 for s, _ in run.samples if s.facts["memcgs"] == MEMCGS + 1
        ]
    p50, p95, worst = np.percentile(took, [50, 95, 100])
    cpu50, cpu95 = np.percentile(worked, [50, 95])
    return {
        "memcgs": MEMCGS,
        "n": len(took),
        "p50_ms": round(p50, 2),
        "p95_ms": round(p95, 2),
        "max_ms": round(worst, 2),
        "cpu_p50_ms": round(cpu50, 2),
        "cpu_p95_ms": round(cpu95, 2),
        "limit_ms": SAMPLE_MS,
        "holds": bool(p95 <= SAMPLE_MS),
        "torn": run.lens.torn,
        "route": run.lens.route,
    }


async def rates(rounds: int) -> dict[bool, list[float]]:
    """Operations a second without (False) and with the x-ray, on one guest kept up."""
    knobs = ["hogs=1", "vcpus=1", f"seconds={SECONDS}"]
    request = read_request("02-grace-periods", ARM, "", "wall", knobs)
    sources = await kernel_sources(request.folder, (ARM,), KernelSettings.default())
    found: dict[bool, list[float]] = {False: [], True: []}
    async with LaneGuests() as lanes:
        for number in range(-1, 4 * rounds):
            with_xray = number % 4 in (1, 2)
            spec = RunSpec(
                request.folder,
                (ARM,),
                request.workload,
                request.params,
                request.clock,
                probes=frozenset(),
                xray=(Wanted("shrinker-maps", HZ), Wanted("srcu-gp", HZ)) if with_xray else (),
                run_id=f"bench-{number}",
            )
            received = Look()
            lane = (await RunSession(lanes, spec, sources, received).execute()).lanes[ARM]
            if lane.error:
                raise lane.error
            assert lane.ops_per_s is not None
            if with_xray:
                assert len(received.samples) > HZ * SECONDS
            if number >= 0:  # the first warms the guest up
                found[with_xray].append(lane.ops_per_s)
    return found


def slowdown(rounds: int) -> dict[str, object]:
    """In per cent of the rate without, with a bootstrap interval of the median's change."""
    found = asyncio.run(rates(rounds))
    bare, seen = np.array(found[False]), np.array(found[True])
    rng = np.random.default_rng(1)
    drawn = [
        1 - np.median(rng.choice(seen, len(seen))) / np.median(rng.choice(bare, len(bare)))
        for _ in range(4000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5]) * 100
    percent = (1 - np.median(seen) / np.median(bare)) * 100
    return {
        "hz": HZ,
        "probes": 2,
        "without": [round(rate) for rate in bare],
        "with": [round(rate) for rate in seen],
        "percent": round(percent, 2),
        "interval_95": [round(low, 2), round(high, 2)],
        "limit_percent": SLOWDOWN_PERCENT,
        "holds": bool(percent <= SLOWDOWN_PERCENT),
    }


def main() -> None:
    """Measure and print JSON."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    load = os.getloadavg()[0]
    began = time.monotonic()
    result = {
        "samples": sample_times(),
        "slowdown": slowdown(rounds),
        "load_before": round(load, 2),
        "cpus": os.cpu_count(),
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps({"xray": result}, indent=1))


if __name__ == "__main__":
    main()
