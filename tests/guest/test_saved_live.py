# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of real guests is saved when it is over, and gives on replay what it gave live."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from duet.bundle import open_bundle
from duet.cli.entry import main
from tests.support.toy_server import SLUG, page

pytestmark = pytest.mark.guest

SAVED_S = 90


def test_a_live_run_is_kept_and_replays_exactly(
    address: str,
    run_async: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def run() -> tuple[str, dict[str, int]]:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", hogs=3, seconds=1)
            over = await one.until(
                lambda m: m["type"] == "run" and m["source"] == "live" and m["phase"] == "done", 120
            )
            counts = {m["arm"]: m["ops"] for m in one.of_run(over["run_id"], "metrics")}
            for _ in range(SAVED_S):
                listed = await asyncio.to_thread(saved_runs, address)
                name = str(over["run_id"]).rpartition(":")[2]
                if name in [run["name"] for run in listed]:
                    return name, counts
                await asyncio.sleep(1)
        raise AssertionError(f"the run was not saved under its id within {SAVED_S} s")

    name, counts = run_async(run())
    path = Path(os.environ["DUET_RUNS"]) / f"{name}.duet"
    manifest = open_bundle(path).manifest
    assert (manifest.lesson, manifest.params["hogs"]) == (SLUG, 3)
    assert {arm.name: arm.figures.metrics["ops"] for arm in manifest.arms if arm.figures} == counts
    assert main(["replay", name, "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["same"] is True
    assert all(not lane["differences"] for lane in tree["lanes"])


def saved_runs(address: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"http://{address}/api/kept?lesson={SLUG}", timeout=10) as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return found
