# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run in pods of a real Kubernetes cluster on this machine (tests/support/kubernetes)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.types import Want
from tests.plugins.cluster.kubernetes.binaries import folder, missing
from tests.plugins.cluster.kubernetes.cluster import cluster
from tests.plugins.cluster.kubernetes.tries import SETTINGS
from tests.plugins.cluster.pooled_app import PooledApp
from tests.support.toy_server import page, reported, serving

pytestmark = [pytest.mark.guest, pytest.mark.alone]


@pytest.mark.parametrize("spread", [False, True], ids=["together", "a pod for each lane"])
def test_a_live_run_in_pods(
    spread: bool,
    kernel_images: Any,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_async: Any,
) -> None:
    if why := missing():
        pytest.skip(why)
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")

    async def play(address: str) -> None:
        async with page(address) as one:
            await one.open()
            began_s = time.monotonic()
            await one.start("rwsem", "srcu", hogs=3, seconds=2)
            run_id = await one.begun()
            await one.until(lambda m: m["type"] in ("batch", "lane") and m.get("run_id") == run_id)
            print(f"guests boot {time.monotonic() - began_s:.1f} s after run live")
            await one.until(lambda m: m["type"] == "batch" and m.get("run_id") == run_id)
            print(f"first events {time.monotonic() - began_s:.1f} s after run live")
            over = await one.until_over()
            lanes = [m["detail"][-800:] for m in one.of_run(run_id, "lane")]
            assert over["phase"] == "done", (over["message"], lanes[-2:])
            found = reported(one.seen, run_id)
            assert {arm for arm, _ in found} == {"rwsem", "srcu"}
            for (arm, table), parts in found.items():
                assert [first for first, _, _ in parts] == list(range(len(parts))), (arm, table)

    with cluster() as kube:
        monkeypatch.setenv("KUBECONFIG", str(kube.login))
        monkeypatch.setenv("PATH", f"{folder()}:{os.environ['PATH']}")
        # A node has the CPUs of this machine, and both pods are on one: nodes differ in kind.
        cpus = 1 if spread else 2
        want = Want(vcpus=cpus, memory_bytes=1 << 30, within_s=30, ttl_s=600)
        made = PooledApp(root, open_pool(SETTINGS), want, spread, kube.address)
        with serving(made.app, at=kube.address) as address:
            run_async(play(made.at(address)))
