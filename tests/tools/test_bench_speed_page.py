# SPDX-License-Identifier: GPL-2.0-or-later
"""Stages of `bench speed` that need a browser: their parts here, whole stages each night."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

from duet.base.settings import repo_root
from duet.bundle import open_bundle
from duet.bundle.reader import read_lane
from duet.decode import Decoder
from tools.bench.speed import frames, idle, opening, speedscope
from tools.bench.speed.browser import opened
from tools.bench.speed.pairs import Bench, Figure, Result, Row
from tools.bench.speed.tiled import write_tiled

RECORDING = repo_root() / "lessons/02-grace-periods/recorded/1-hog.duet"
needs_page = pytest.mark.skipif(
    shutil.which("chromium") is None or not (repo_root() / "frontend/dist/index.html").is_file(),
    reason="needs Chromium and the built page",
)


def times(path: Path, arm: str) -> list[int]:
    """All times of a lane's events, sorted."""
    lane = read_lane(open_bundle(path), arm)
    decoder = Decoder(lane.files, lane.page_bytes)
    found = [decoder.decode(cpu, pages).tables for cpu, pages in lane.pages.items()]
    tables = [table.ts_ns for one in found for table in one.values()]
    return sorted(np.concatenate(tables).tolist())


def test_a_long_recording_repeats_a_shipped_one_with_other_times(tmp_path: Path) -> None:
    path = tmp_path / "long.duet"
    tiled = write_tiled(RECORDING, path, 90_000)
    assert tiled.events >= 90_000 and tiled.bytes == path.stat().st_size
    arm = tiled.lanes[0]
    once, many = times(RECORDING, arm), times(path, arm)
    rounds = len(many) // len(once)
    assert rounds > 1 and len(many) == rounds * len(once)
    assert many[: len(once)] == once and len(set(many)) > 0.9 * len(many)


def test_spans_become_a_profile_without_those_that_cannot_be_nested() -> None:
    lane = {"arm": "stock", "t0": [0, 2, 3, 20], "t1": [10, 5, 7, 30], "row": [4] * 4}
    tree, count = speedscope.profile([{**lane, "kind": [1, 2, 2, 1]}])
    (thread,) = tree["profiles"]
    assert (thread["name"], thread["startValue"], thread["endValue"]) == ("stock 4", 0, 30)
    assert [(one["type"], one["frame"], one["at"]) for one in thread["events"]] == [
        ("O", 0, 0), ("O", 1, 2), ("C", 1, 5), ("C", 0, 10), ("O", 0, 20), ("C", 0, 30),
    ]  # fmt: skip
    assert (count, tree["shared"]["frames"]) == (3, [{"name": "kind 1"}, {"name": "kind 2"}])


def test_the_profile_is_served_beside_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.mkdir()
    (program / "index.html").write_text("a viewer")
    with speedscope.served(program, {"profiles": []}, tmp_path) as url:
        page, _, rest = url.partition("#profileURL=")
        with urlopen(page, timeout=10) as answer:
            assert answer.read() == b"a viewer"
        with urlopen(page.removesuffix("/index.html") + rest, timeout=10) as answer:
            assert json.load(answer) == {"profiles": []}


@needs_page
def test_a_page_of_a_real_server_shows_a_recording_twice(tmp_path: Path) -> None:
    async def both() -> tuple[opening.Opening, opening.Opening]:
        async with opened(tmp_path, "--no-guests") as page:
            return await opening.opening(page), await opening.opening(page)

    first, second = asyncio.run(both())
    assert first.spans == second.spans > 10_000
    assert 0 < second.picture_s <= second.whole_s < 60
    assert 0 < first.picture_s <= first.whole_s < 60


@needs_page
def test_a_wall_is_played_while_its_frames_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "pairs", 1)
    monkeypatch.setattr(frames, "SECONDS", 1.0)
    row, slowest, draws, point = frames.run(Bench(True, tmp_path))
    assert isinstance(row, Row) and isinstance(slowest, Figure) and isinstance(draws, Figure)
    assert "24,480 cells" in row.case and row.peer_wall_s > 0
    assert slowest.value >= 10, "a screen has 60 frames a second"
    assert draws.value > 0, "canvases were drawn"
    del point


@needs_page
@pytest.mark.guest
@pytest.mark.nightly
@pytest.mark.parametrize("stage", [opening.STAGE, idle.STAGE])
def test_stages_of_the_page(stage: opening.Stage, tmp_path: Path) -> None:
    found: list[Result] = list(stage.run(Bench(True, tmp_path)))
    figures = [one for one in found if isinstance(one, Figure)]
    assert len(figures) >= 3 and any(one.target for one in figures)
    assert all(one.value > 0 for one in figures if "gained" not in one.case)
