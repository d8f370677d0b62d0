# SPDX-License-Identifier: GPL-2.0-or-later
"""What the microscope costs the stat storm it looks at (at most 1.5 times).

Rows, each in a guest of its own, one at a time, by turns (A B C C B A ...):

- bare: no plugin.
- counted: the plugin counts what the lesson's functions do, in lines and operations.
- watched: as the page does it: the dentry watched and logged, and the x-ray at 20 Hz.
- whole kernel: all of the kernel's text as one function, counted; for comparison.

The storm is lesson 05's with a fixed number of calls. Two figures each: its own calls a second, and
the host's CPU time of the QEMU process for each call, which a busy host changes less. Ratios are of
medians, with bootstrap intervals; how busy the host was stands in the result.

Run: python -m tests.bench.microscope [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import replace

import numpy as np
import psutil

from duet import messages as m
from duet.base.errors import KernelError
from duet.cli.arguments import read_request
from duet.guests import Microscope
from duet.guests.qemu import qemu_version
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.arms import find_image
from duet.lenses.scope import plugin_library
from duet.lessons.load import load
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, LaneSource, MicroscopeRequest, RunSession, RunSpec
from tests.support.xray_driver import Look

SLUG, ARM = "05-cacheline-pingpong", "stock"
SLOWDOWN = 1.5
TASKS, STATS = 2, 20_000
KNOBS = [f"tasks={TASKS}", f"stats={STATS}", "vcpus=2"]
TURNS = ("bare", "counted", "watched", "watched", "counted", "bare")
STORMS = 4
"""In each guest, after one that warms it up."""
WHOLE = "whole kernel"
WHOLE_SHARE = 8
"""Of the calls; it is so slow, and its rate needs no better."""


class Meter(Look):
    """CPU time of the guest's process between the storm's start and its end."""

    def __init__(self) -> None:
        super().__init__()
        self.cpu_s: dict[str, float] = {}

    def on_lane(self, state: m.Lane) -> None:
        super().on_lane(state)
        if self.pid and state.phase in ("running", "draining"):
            used = psutil.Process(self.pid).cpu_times()
            self.cpu_s[state.phase] = used.user + used.system


async def whole_kernel(source: LaneSource, image: KernelImage) -> LaneSource:
    """A lane whose microscope looks at all of the kernel."""
    symbols = image.symbols()
    text = f"microscope 1\nfunction kernel {symbols['_stext']:x} {symbols['_etext']:x}\n"
    plugin = await asyncio.to_thread(plugin_library, await qemu_version())

    async def scope(_: MicroscopeRequest) -> Microscope:
        return Microscope(plugin, text)

    return replace(source, scope=scope)


async def storms(kind: str, turn: int) -> list[dict[str, float]]:
    """Some runs, one after another, in a new guest; a first one warms it up."""
    settings = KernelSettings.default()
    knobs = [*KNOBS]
    if kind == WHOLE:
        knobs[1] = f"stats={STATS // WHOLE_SHARE}"
    request = read_request(SLUG, ARM, "watched" if kind == "watched" else "exact", "wall", knobs)
    sources = await kernel_sources(request.folder, (ARM,), settings)
    config = request.folder.lesson.microscope
    assert config is not None
    spec = RunSpec(
        request.folder,
        (ARM,),
        request.workload,
        request.params,
        request.clock,
        probes=frozenset(),
        run_id=f"bench-{turn}",
    )
    if kind in ("counted", WHOLE):
        spec = replace(spec, microscope=MicroscopeRequest(config.functions, config.operation))
    if kind == WHOLE:
        sources[ARM] = await whole_kernel(sources[ARM], find_image(load(SLUG), ARM, settings))
    found = []
    async with LaneGuests() as lanes:
        for number in range(1 + STORMS):
            received = Meter()
            once = replace(spec, run_id=f"bench-{turn}-{number}")
            lane = (await RunSession(lanes, once, sources, received).execute()).lanes[ARM]
            if lane.error:
                raise lane.error
            assert lane.ops_per_s is not None and lane.ops is not None
            assert (lane.scope is not None) is (kind != "bare"), lane.scope_fault
            spent = received.cpu_s["draining"] - received.cpu_s["running"]
            seen = lane.scope.cells.accesses / lane.ops if lane.scope else 0
            found.append({"per_s": lane.ops_per_s, "cpu_us": spent / lane.ops * 1e6, "seen": seen})
    return found[1:]


def ratio(bare: list[float], seen: list[float]) -> dict[str, object]:
    """Median over median, with a bootstrap interval."""
    one, other = np.array(bare), np.array(seen)
    rng = np.random.default_rng(1)
    drawn = [
        np.median(rng.choice(other, len(other))) / np.median(rng.choice(one, len(one)))
        for _ in range(4000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    found = np.median(other) / np.median(one)
    return {"times": round(found, 3), "interval_95": [round(low, 3), round(high, 3)]}


def figures(rows: dict[str, list[dict[str, float]]]) -> dict[str, object]:
    """Slowdowns against the bare guest."""
    per_call = {kind: [1e6 / run["per_s"] for run in runs] for kind, runs in rows.items()}
    cpu = {kind: [run["cpu_us"] for run in runs] for kind, runs in rows.items()}
    return {
        kind: {
            "per_s": [round(run["per_s"]) for run in runs],
            "accesses_per_call": round(runs[0]["seen"]),
            "cpu_us": [round(run["cpu_us"], 1) for run in runs],
            "slowdown": ratio(per_call["bare"], per_call[kind]),
            "slowdown_cpu": ratio(cpu["bare"], cpu[kind]),
        }
        for kind, runs in rows.items()
    }


def main() -> None:
    """Measure and print JSON."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    before = os.getloadavg()[0]
    began = time.monotonic()
    rows: dict[str, list[dict[str, float]]] = {}
    for turn, kind in enumerate(TURNS * rounds):
        rows.setdefault(kind, []).extend(asyncio.run(storms(kind, turn)))
    try:
        rows[WHOLE] = asyncio.run(storms(WHOLE, -1))
    except KernelError as error:  # on a busy host it is too slow to boot in time
        print(f"{WHOLE}: {error.sentence}", file=sys.stderr)
    bare = [1e6 / run["per_s"] for run in rows["bare"]]
    times = {kind: np.median([1e6 / run["per_s"] for run in runs]) / np.median(bare)
             for kind, runs in rows.items()}  # fmt: skip
    result = {
        "rows": figures(rows),
        "limit": SLOWDOWN,
        "holds": {kind: bool(times[kind] <= SLOWDOWN) for kind in ("counted", "watched")},
        "load_before": round(before, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "cpus": os.cpu_count(),
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps({"microscope": result}, indent=1))


if __name__ == "__main__":
    main()
