# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run on a host process that dials in, whose connection breaks again and again.

The host has no kernels: it fetches them from the server.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.lessons.load import load
from tests.support.joined import Joining
from tests.support.toy_server import SLUG, page, reported, serving

pytestmark = pytest.mark.guest
CUT_EVERY_S = 0.4


@pytest.mark.alone
def test_a_run_loses_nothing_while_its_connection_breaks(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")
    settings, cache = KernelSettings.default(), tmp_path / "cache"
    cache.mkdir()
    for part in settings.cache.iterdir():
        if part.name != "kernels":
            (cache / part.name).symlink_to(part)
    made = Joining(settings, cache)

    async def watch(address: str) -> str:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", hogs=3, seconds=3)
            run_id = await one.begun()
            await one.until_type("batch", run_id=run_id)
            over = asyncio.create_task(one.until_over())
            while not over.done():
                made.relay.cut()
                await asyncio.wait([over], timeout=CUT_EVERY_S)
            assert (await over)["phase"] == "done"
            for (arm, table), parts in reported(one.seen, run_id).items():
                assert [first for first, _, _ in parts] == list(range(len(parts))), (arm, table)
            metrics = {m["arm"]: m for m in one.of_run(run_id, "metrics")}
            assert [metrics[arm]["events_lost"] for arm in ("rwsem", "srcu")] == [0, 0]
            assert metrics["srcu"]["ops"] < metrics["rwsem"]["ops"]
            assert made.relay.cuts > 2
            return run_id

    try:
        with serving(made.app(root)) as address:
            made.relay.to_port = int(address.rpartition(":")[2])
            run_id = run_async(watch(address))
            at = f"http://{address}/api/runs/{run_id}"
            raw = urllib.request.urlopen(f"{at}/lanes/srcu/events?around_ns=5e8&n=20")
            assert len(json.load(raw)) == 20
            assert urllib.request.urlopen(f"{at}/bundle").read()[:2] == b"PK"
    finally:
        made.relay.close()
    assert len(made.programs) == 1
    here = KernelSettings(cache, settings.patches)
    for arm in ("rwsem", "srcu"):
        ours, theirs = (find_image(load(SLUG), arm, one) for one in (here, settings))
        assert ours.folder.parent == cache / "kernels" and not ours.folder.is_symlink()
        assert ours.bzimage.read_bytes() == theirs.bzimage.read_bytes()
