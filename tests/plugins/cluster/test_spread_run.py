# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes of one run on host processes of their own, on a lease of this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from duet.bundle import open_bundle
from duet.plugins.cluster.lease import Size
from duet.plugins.cluster.local import LocalPool
from duet.plugins.cluster.types import Want
from tests.plugins.cluster.pooled_app import PooledApp
from tests.support.toy_server import page, reported, serving

pytestmark = pytest.mark.guest
ARMS = ("rwsem", "srcu")
SAVED_S = 90
LANE_BYTES = 1 << 30


def hosts() -> dict[int, list[int]]:
    """Host processes of this test, each with its guests."""
    found: dict[int, list[int]] = {}
    for one in psutil.Process().children(recursive=True):
        if one.status() != psutil.STATUS_ZOMBIE and "--join" in one.cmdline()[-4:]:
            below = one.children(recursive=True)
            guests = [child.pid for child in below if child.name().startswith("qemu-system")]
            if guests:
                found[one.pid] = guests
    return found


def test_two_lanes_on_two_host_processes_are_one_run_and_one_file(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")
    want = Want(vcpus=1, memory_bytes=LANE_BYTES, within_s=20, ttl_s=600)
    pool = LocalPool(Size(cpus=2, memory_bytes=2 * LANE_BYTES))
    made = PooledApp(root, pool, want, spread=True)

    async def play(address: str) -> tuple[str, dict[str, int]]:
        async with page(address) as one:
            await one.open()
            await one.start(*ARMS, hogs=3, seconds=2)
            run_id = await one.begun()
            for arm in ARMS:
                await one.until_type("lane", run_id=run_id, arm=arm, phase="running")
            apart = list(hosts().values())
            assert [len(guests) for guests in apart] == [1, 1]
            over = await one.until_over()
            assert over["phase"] == "done", one.of_run(run_id, "lane")
            for (arm, table), parts in reported(one.seen, run_id).items():
                assert [first for first, _, _ in parts] == list(range(len(parts))), (arm, table)
            phases = [(m["arm"], m["phase"]) for m in one.of_run(run_id, "lane")]
            running = min(phases.index((arm, "running")) for arm in ARMS)
            assert all(phases.index((arm, "ready")) < running for arm in ARMS), phases
            counts = {m["arm"]: m["ops"] for m in one.of_run(run_id, "metrics")}
            return str(run_id).rpartition(":")[2], counts

    with serving(made.app) as address:
        name, counts = run_async(play(made.at(address)))
        path = Path(os.environ["DUET_RUNS"]) / f"{name}.duet"
        wait_for(path)
    manifest = open_bundle(path).manifest
    assert [arm.name for arm in manifest.arms] == list(ARMS)
    assert manifest.host["hosts"] == "2"
    assert {arm.name: arm.figures.metrics["ops"] for arm in manifest.arms if arm.figures} == counts
    assert not hosts()


def wait_for(path: Path) -> None:
    until = time.monotonic() + SAVED_S
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.2)
    assert path.exists(), f"the run was not saved within {SAVED_S} s"
