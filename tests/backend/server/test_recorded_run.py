# SPDX-License-Identifier: GPL-2.0-or-later
"""The real director without guests: the lessons' own recordings over a real socket."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

from duet.bundle.reader import open_bundle
from duet.lessons.load import load, slugs
from tests.support.real_server import look, real_app
from tests.support.toy_server import SLUG, Page, page, reported, serving

RECORDINGS = [path for slug in slugs() for path in load(slug).recordings()]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_plays_whole_and_says_that_it_is_one(
    path: Path, root: Path, tmp_path: Path, run_async: Any
) -> None:
    run_id = f"recorded:{path.parent.parent.name}:{path.stem}"
    with serving(real_app(tmp_path, root)) as address:
        seen = run_async(look(address, run_id)).seen
    runs = [m for m in seen if m["type"] == "run"]
    assert (runs[-1]["source"], runs[-1]["phase"]) == ("recorded", "done")
    assert runs[-1]["recorded_at"] and runs[-1]["apart"]
    rows = {m["arm"]: m["rows"] for m in seen if m["type"] == "rows"}
    metrics = {m["arm"]: m for m in seen if m["type"] == "metrics"}
    assert set(rows) == set(metrics) == set(runs[-1]["arms"])
    for (arm, table), parts in reported(seen, run_id).items():
        assert [first for first, _, _ in parts] == list(range(len(parts)))
        if table == "ops":
            assert sum(n for _, _, n in parts) == metrics[arm]["ops"] > 0
    for m in seen:
        if m["type"] == "batch":
            columns = {
                name: np.frombuffer(raw, f"<{m['dtypes'][name]}")
                for name, raw in m["columns"].items()
            }
            assert {len(column) for column in columns.values()} == {m["n"]}
            if m["table"] == "spans":
                assert (columns["t1_ns"] >= columns["t0_ns"]).all()
                assert columns["row"].max(initial=-1) < len(rows[m["arm"]])


def has_events(path: Path) -> bool:
    """Of a lesson whose operations events tell; others are seen by lenses alone."""
    operation = load(path.parent.parent.name).lesson.operation
    return operation is not None and operation.open is not None


@pytest.mark.parametrize("path", [*filter(has_events, RECORDINGS)], ids=lambda path: path.stem)
def test_raw_events_of_a_recording_are_the_kernels_own(
    path: Path, root: Path, tmp_path: Path, run_async: Any
) -> None:
    import urllib.request

    run_id = f"recorded:{path.parent.parent.name}:{path.stem}"
    arm = open_bundle(path).manifest.arms[0].name
    with serving(real_app(tmp_path, root)) as address:
        run_async(look(address, run_id))
        url = f"http://{address}/api/runs/{run_id}/lanes/{arm}/events?around_ns=5e6&n=20"
        rows = json.load(urllib.request.urlopen(url))
        file = urllib.request.urlopen(f"http://{address}/api/runs/{run_id}/bundle").read()
    assert 0 < len(rows) <= 20
    assert all(abs(row["t_ns"] - 5e6) < 50e6 for row in rows)
    probes = load(path.parent.parent.name).lesson.probes
    assert {row["event"] for row in rows} <= {probe.event for probe in probes} | {"ftrace/print"}
    assert file == path.read_bytes()


def test_without_kernels_a_start_says_what_to_do(
    root: Path, tmp_path: Path, run_async: Any
) -> None:
    async def start(address: str) -> dict[str, Any]:
        async with page(address) as one:
            hello = one.seen[0]
            assert [card["available"] for card in hello["lessons"]] == [False] * len(slugs())
            pictures = {card["slug"]: card["picture"] for card in hello["lessons"]}
            assert pictures == {s: load(s).lesson.view is not None for s in slugs()}
            await one.start("rwsem", "srcu")
            return await one.until_type("error")

    with serving(real_app(tmp_path, root)) as address:
        error = run_async(start(address))
    assert error["code"] == "not-built"
    assert "./duet build" in error["remedy"]


def test_a_spoilt_recording_is_one_sentence_and_the_lesson_still_opens(
    root: Path, tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "lessons" / SLUG, tmp_path / "lessons" / SLUG)
    shutil.copytree(root / "kernel-patches", tmp_path / "kernel-patches")
    recorded = tmp_path / "lessons" / SLUG / "recorded"
    shutil.rmtree(recorded, ignore_errors=True)
    recorded.mkdir()
    (recorded / "bad.duet").write_bytes(b"PK\x03\x04 not a zip")
    (recorded / "measured.json").write_text("{}")
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))

    async def open_it(address: str) -> list[dict[str, Any]]:
        async with page(address) as one:
            await one.open()
            first = await one.until_type("lesson")
            return [first, await one.until_type("error"), await one.until_type("error")]

    with serving(real_app(tmp_path / "cache", tmp_path)) as address:
        lesson, table, bundle = run_async(open_it(address))
    assert lesson["lesson"]["slug"] == SLUG
    assert "measured.json is not a measured table" in table["sentence"]
    assert "bad.duet cannot be used" in bundle["sentence"]
    assert table["remedy"] and bundle["remedy"]


def test_a_broken_lesson_does_not_take_the_others_down(
    root: Path, tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "lessons" / SLUG, tmp_path / "lessons" / SLUG)
    shutil.copytree(root / "kernel-patches", tmp_path / "kernel-patches")
    broken = tmp_path / "lessons" / "03-broken"
    broken.mkdir()
    (broken / "lesson.yaml").write_text("title: [")
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))

    async def open_it(address: str) -> tuple[list[str], dict[str, Any]]:
        async with page(address) as one:
            await one.say(type="open", lesson="03-broken")
            return [card["slug"] for card in one.seen[0]["lessons"]], await one.until_type("error")

    with serving(real_app(tmp_path / "cache", tmp_path)) as address:
        listed, error = run_async(open_it(address))
    assert listed == [SLUG]
    assert "lessons/03-broken/lesson.yaml:1: this is not YAML" in error["sentence"]


def test_many_pages_open_one_recording_at_once(root: Path, tmp_path: Path, run_async: Any) -> None:
    if not RECORDINGS:
        pytest.skip("no lesson has a recording")

    async def crowd(address: str) -> list[Page]:
        return await asyncio.gather(*(look(address, None) for _ in range(8)))

    with serving(real_app(tmp_path, root)) as address:
        pages = run_async(crowd(address))
    first = [m for m in pages[0].seen if m["type"] == "batch"]
    assert first
    for other in pages[1:]:
        assert [m for m in other.seen if m["type"] == "batch"] == first


def test_a_lesson_carries_its_recorded_tables_the_headline_first(
    root: Path, tmp_path: Path
) -> None:
    with (
        serving(real_app(tmp_path, root)) as address,
        urlopen(f"http://{address}/api/lessons/03-inode-recycling", timeout=120) as answer,
    ):
        tables = json.load(answer)["measured"]
    batches = [t["params"]["batch"] for t in tables if t["workload"] == "recycle"]
    assert batches[0] == 32
    assert len(set(batches)) == len(batches) >= 5
    runs = [row["n"] + len(row["perturbed"]) for table in tables for row in table["rows"]]
    assert min(runs) >= 5, "equal runs and perturbed starts"
