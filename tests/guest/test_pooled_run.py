# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs and a measurement on four Slurm nodes of this machine, and the death of a node."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from duet.api.app import create_app
from duet.kernels import KernelSettings
from duet.pools.settings import PoolSettings
from duet.pools.slurm.pool import SlurmPool
from duet.pools.types import Want
from duet.serve.hosted.door import PATH, HostDoor
from duet.serve.hosted.leases import Leases
from duet.serve.hosted.pooled import PooledHosts
from duet.serve.hosted.stage import HostStage, begin_of
from duet.serve.wiring import default_director
from tests.support.slurm import Cluster, cluster, missing
from tests.support.toy_server import SLUG, Page, page, reported, serving

pytestmark = pytest.mark.guest
DEATH_S = 30.0
"""From the death of a node's daemon until whoever watches the run knows it."""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if why := missing():
        pytest.skip(why)
    with cluster(tmp_path_factory.mktemp("slurm")) as made:
        os.environ["SLURM_CONF"] = made.conf
        yield made
        del os.environ["SLURM_CONF"]


class App:
    """A server whose guests are on the cluster."""

    def __init__(self, root: Path) -> None:
        settings, door = KernelSettings.default(), HostDoor()
        self.pool = SlurmPool(PoolSettings("slurm", kinds=("cpuA", "cpuB")), poll_s=0.5)
        self.leases = Leases(self.pool, door, "")
        want = Want(vcpus=2, memory_bytes=1 << 30, within_s=20, ttl_s=600)
        begin = begin_of(settings, 1)
        stage = HostStage(lambda calls: PooledHosts(self.leases, calls, begin, 1, want))
        self.app = create_app(
            lambda hub: default_director(hub, settings, False, stage=stage, hosts=door),
            page=root / "none",
        )

    def at(self, address: str) -> str:
        self.leases.url = f"ws://{address}{PATH}"
        return address


def lanes(one: Page, run_id: str) -> list[tuple[str, str, str]]:
    last = {m["arm"]: m for m in one.of_run(run_id, "lane")}
    said = [("run", m["message"], "") for m in one.of_run(run_id, "run")[-1:]]
    return said + [(arm, m["message"], m["detail"][-800:]) for arm, m in last.items()]


def guests() -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if one.name().startswith("qemu-system")]


@pytest.mark.alone
def test_a_run_and_a_measurement_on_nodes_and_the_death_of_one(
    slurm: Cluster, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")

    async def play(address: str) -> None:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", hogs=3, seconds=2)
            run_id = await one.begun()
            assert (await one.until_over())["phase"] == "done", lanes(one, run_id)
            for (arm, table), parts in reported(one.seen, run_id).items():
                assert [first for first, _, _ in parts] == list(range(len(parts))), (arm, table)
            used = slurm.said("squeue", "-h", "-o", "%N").split()
            assert len(used) == 1 and used[0] in slurm.nodes

            await one.say(
                type="measure", lesson=SLUG, arms=["rwsem", "srcu"],
                params={"hogs": 3, "seconds": 1}, repeats=1,
            )  # fmt: skip
            table = await one.until(lambda m: m["type"] == "measured" and m["done"] == m["total"])
            assert [row["n"] for row in table["rows"]] == [1, 1]

            await one.start("rwsem", "srcu", hogs=3, seconds=60)
            run_id = await one.begun()
            await one.until_type("batch", run_id=run_id)
            there = guests()
            assert len(there) == 2
            node = slurm.said("squeue", "-h", "-o", "%N").split()[0]
            slurm.kill(node)
            died_s = time.monotonic()
            failed = await one.until_type("run", run_id=run_id, phase="failed")
            assert time.monotonic() - died_s < DEATH_S
            assert node in failed["message"], failed
            gone = await asyncio.to_thread(psutil.wait_procs, there, 30)
            assert not gone[1]

            await one.start("srcu", hogs=3, seconds=1)
            await one.begun()
            assert (await one.until_over())["phase"] == "done"
            assert node not in slurm.said("squeue", "-h", "-o", "%N")

    made = App(root)
    with serving(made.app) as address:
        run_async(play(made.at(address)))
    assert slurm.said("squeue", "-h", "-t", "R").strip() == ""
