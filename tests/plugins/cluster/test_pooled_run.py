# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run and a measurement on four Slurm nodes of this machine.

A node's death, a full queue, and lanes on two nodes are in tests/e2e/pool.spec.ts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.cli.measure.run import write_report
from duet.lessons.load import load
from duet.measure import MeasurePlan
from duet.plugins.cluster import measure_verb as pooled
from duet.plugins.cluster.slurm.pool import SlurmPool
from duet.plugins.cluster.types import PoolSettings, Want
from tests.plugins.cluster.pooled_app import PooledApp
from tests.plugins.cluster.slurm_cluster import Cluster, cluster, missing
from tests.support.toy_server import SLUG, Page, page, reported, serving

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if why := missing():
        pytest.skip(why)
    with cluster(tmp_path_factory.mktemp("slurm")) as made:
        os.environ["SLURM_CONF"] = made.conf
        yield made
        del os.environ["SLURM_CONF"]


def lanes(one: Page, run_id: str) -> list[tuple[str, str, str]]:
    last = {m["arm"]: m for m in one.of_run(run_id, "lane")}
    said = [("run", m["message"], "") for m in one.of_run(run_id, "run")[-1:]]
    return said + [(arm, m["message"], m["detail"][-800:]) for arm, m in last.items()]


@pytest.mark.alone
def test_two_nodes_agree_to_the_instruction_and_a_sweep_runs_on_two_at_once(
    slurm: Cluster, kernel_images: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pooled, "note", said.append)
    folder = load(SLUG)
    params = folder.check_params({"hogs": 1, "seconds": 1}, "count")
    plan = MeasurePlan(
        folder, ("rwsem", "srcu"), "storm", "count", params, 1, shifts=(3,),
        metrics=frozenset({"ops_per_s"}),
    )  # fmt: skip
    pooling = pooled.Pooling("slurm", check_hosts=True)
    code = pooled.check_hosts(plan, pooling, "json", write_report, None)
    checked = json.loads(capsys.readouterr().out)
    assert code == 0 and checked["equal"], (checked, said)
    (compared,) = checked["comparisons"]
    assert len(set(compared["nodes"])) == 2 and set(compared["nodes"]) <= set(slurm.nodes)
    assert [len(set(one["values"])) for one in compared["figures"]] == [1, 1]
    print(checked["sentence"], compared["figures"])

    said.clear()
    swept = replace(plan, sweep=("hogs", (1, 3)))
    report, whole = pooled.measure_on_pool(swept, pooled.Pooling("slurm"))
    assert whole and report.partial is None, (report.partial, said)
    assert len({one.node for one in report.hosts}) == 2
    begun = [number for number, text in enumerate(said) if text.endswith(": begins")]
    done = [number for number, text in enumerate(said) if "done in" in text]
    assert len(begun) == len(done) == 2 and max(begun) < min(done), said
    assert any(": run 2 of 2: srcu, untraced" in text for text in said)
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None and one.samples == compared["figures"][1]["values"][:1]
    assert slurm.said("squeue", "-h", "-t", "R").strip() == ""


@pytest.mark.alone
def test_a_run_and_a_measurement_on_nodes(
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

    pool = SlurmPool(PoolSettings("slurm", kinds=("cpuA", "cpuB")), poll_s=0.5)
    made = PooledApp(root, pool, Want(vcpus=2, memory_bytes=1 << 30, within_s=20, ttl_s=600))
    with serving(made.app) as address:
        run_async(play(made.at(address)))
    assert slurm.said("squeue", "-h", "-t", "R").strip() == ""
