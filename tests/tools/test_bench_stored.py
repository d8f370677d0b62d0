# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool's command line, and what a measurement stores for `duet plan`."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

from duet.cli.entry import main
from duet.lessons.load import slugs
from duet.plugins.cluster.capacity.constants import CONSTANTS, NAME, read
from tools.bench import results as b
from tools.bench.__main__ import bench
from tools.bench.stored import of_class, of_followers, of_lanes, of_pool, of_segments, of_viewers

SLUG = "02-grace-periods"
PROGRAM = get_group(bench)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    monkeypatch.delenv("DUET_POOL", raising=False)
    return tmp_path


def test_help_lists_every_measurement_with_its_whole_sentence(root: Path) -> None:
    words = [sys.executable, "-m", "tools.bench", "--help"]
    said = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    listed = said.partition("Commands:\n")[2].partition("\n\n")[0]
    assert "..." not in listed and all(len(line) <= 80 for line in listed.splitlines())
    verbs = re.findall(r"^  (\S+)  +(.*(?:\n   .*)*)", listed, re.MULTILINE)
    assert [name for name, _ in verbs] == list(PROGRAM.commands) and len(verbs) == 10
    assert all(" ".join(text.split()).endswith(".") for _, text in verbs)


def test_without_a_lesson_it_takes_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: list[str] = []
    monkeypatch.setattr("tools.bench.lanes.bench", lambda lesson, *_: taken.append(lesson) or 0)
    assert main(["lanes", "--json"], PROGRAM) == 0
    assert main(["lanes", SLUG], PROGRAM) == 0
    assert taken == [slugs()[0], SLUG] and taken[0].startswith("01-")


def test_a_mistake_is_two_lines_that_name_the_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lanes", "--repeats", "0"], PROGRAM, "python -m tools.bench") == 2
    assert "remedy: See python -m tools.bench lanes --help." in capsys.readouterr().err


def results() -> dict[str, Any]:
    """What each bench may find."""
    q, d, a = b.Quantiles(3, 120.0, 140.0), b.Delays(1, 1.0, 1.0), b.Answers(1, 1.0, 1.0)
    recorded = b.RecordedCost(
        4, 2.8, 0.4, 45_000, 0.5, 0.5, 10, 3, 297_000, 0.12, 0.0, 3, 9.0, 2, 0.7, 200_000_000
    )
    live = b.LiveCost(1000, 20.0, 1.15, 0.16, 0.11, 0.14, 968, d, d, 80, 0, 90_000)
    f = b.Following(1, 0, 1.0, 1.0, 1.0)
    return {
        "segments": b.SegmentsResult(SLUG, recorded, live, b.PageBytes(250_000, 700_000), [], 0.1),
        "class": b.ClassResult(SLUG, 40, 4, 4, 40, [], 1.0, 2.0, a, a, a, 9.5, 0.95, 400.0, 1.0),
        "lanes": b.LanesResult(
            SLUG, "a", 6, 6, 0, 0, 3, 3, 3, [], q, q, None, 8, 8, 32.0, [], 106.0, []
        ),
        "pool": b.PoolStartsResult(SLUG, "slurm", q, q, q, q, 900.0, -3.0, [], [], 0.1),
        "followers": b.FollowersResult(300, 10.0, 20.0, 1.0, 0.135, f, f, 250.0, 1, 0, 1.0),
        "viewers": b.ViewersResult(SLUG, 300, 10.0, 20.0, 0.15, d, d, 1, 0, 1.0),
    }


def test_what_a_bench_finds_becomes_constants_in_their_units() -> None:
    seen = results()
    found = of_segments(seen["segments"]) | of_class(seen["class"]) | of_lanes(seen["lanes"])
    found |= of_pool(seen["pool"]) | of_followers(seen["followers"]) | of_viewers(seen["viewers"])
    assert found.keys() == CONSTANTS.keys()
    assert found["segment_nginx"] == pytest.approx(0.04) and found["segment_server"] == 0.7
    assert found["live_segments_server"] == pytest.approx(0.11)
    assert found["live_messages_bytes"] == pytest.approx(1.15e6)
    assert found["place_server"] == pytest.approx(0.045)
    assert found["live_messages_server"] == pytest.approx(1.0), "at 20 frames a second"
    assert found["lane_memory"] == 400 * 2**20 and found["lease_first"] == 900.0
    assert of_class(replace(seen["class"], served=39)) == {}
    assert "copy_start" not in of_lanes(replace(seen["lanes"], copies=2)), "one of three booted"


@pytest.mark.parametrize(
    ("words", "module", "function"),
    [
        (["segments", SLUG], "segments", "measure"),
        (["class", SLUG], "classroom", "measure"),
        (["lanes", SLUG], "lanes", "measure_lanes"),
        (["pool", SLUG, "--pool", "slurm"], "pool", "measure"),
        (["followers"], "followers", "measure"),
        (["viewers", SLUG], "viewers", "measure"),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_each_bench_writes_its_constants_down(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], module: str, function: str
) -> None:
    found = results()[words[0]]

    async def later(*_: object) -> Any:
        return found

    measure = (lambda *_: found) if words[0] == "class" else later
    monkeypatch.setattr(import_module(f"tools.bench.{module}"), function, measure)
    assert main([*words, "--json"], PROGRAM) == 0
    there = {one.name for one in read(folder / NAME)}
    name = f"make bench ARGS={words[0]}"
    wanted = {one.name for one in CONSTANTS.values() if one.source == name}
    assert there == wanted - {"lease_stands"}, "a lease that helps is no measurement"
