# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record-all`: stale recordings and tables are made anew, by the parameters they have."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import KernelError
from duet.cli import building, entry, recorded_table, recording
from duet.cli.record_all import find_items
from duet.cli.recording import GUEST_S, Pace, guest_runs
from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder
from duet.server import recorded_items
from duet.server.recorded_items import Item
from duet.session import RunSpec

SLUG = "04-extent-shrinker"
Answer = Callable[..., object]


@pytest.fixture
def without_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lessons have no recorded cells of grids; test_record_grid.py records these."""
    monkeypatch.setattr(LessonFolder, "cells", lambda folder: ())


@pytest.fixture
def made(without_cells: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[RunSpec]:
    """What would be recorded: from then on it is fresh. All is stale at first."""
    asked_for: list[RunSpec] = []
    done: set[Path] = set()

    def stale(folder: object, recorded: dict[str, object], *_: object) -> dict[str, object]:
        return {arm: ("x.patch has changed",) for arm in recorded}

    async def record_run(spec: RunSpec, path: Path, *rest: object, **how: int) -> None:
        if spec.params.get("seek"):
            raise KernelError("the lane died.", remedy="Look.")
        asked_for.append(spec)
        done.add(path)

    async def record_table(spec: RunSpec, *_: object) -> None:
        asked_for.append(spec)
        done.add(spec.folder.folder / "recorded/measured.json")

    def fresh(read: Callable[..., object]) -> Callable[..., list[Item]]:
        def some(*given: object) -> list[Item]:
            found: list[Item] = list(read(*given))  # type: ignore[call-overload]
            return [replace(one, stale={}) if one.path in done else one for one in found]

        return some

    monkeypatch.setattr(recorded_items, "remove_stale", lambda item: None)
    monkeypatch.setattr(recorded_items, "_stale", stale)
    for name in ("recordings_of", "tables_of"):
        monkeypatch.setattr(recorded_items, name, fresh(getattr(recorded_items, name)))
    monkeypatch.setattr(recording, "record_run", record_run)
    monkeypatch.setattr(recorded_table, "record_table", record_table)
    monkeypatch.setattr(building, "build_missing", lambda *_: None)
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    return asked_for


def states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    tree = json.loads(capsys.readouterr().out)
    return {item["name"].split(" ")[0]: item["state"] for item in tree["items"]}


def test_each_is_made_by_its_own_parameters_and_a_second_call_makes_the_rest(
    made: list[RunSpec], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(["record-all", SLUG, "--most", "1", "--json"]) == 0
    assert list(states(capsys).values()).count("made") == len(made) == 1
    (first,) = made
    assert first.params["scans"] == 18 and first.workload == "one-file"
    assert first.arms == ("scan-2013", "stock", "evictable-list")
    # One lane dies: its file stays as it was, and the others are made.
    assert entry.main(["record-all", SLUG, "--json"]) == KernelError.exit_code
    assert states(capsys) == {
        "one-file": "current", "reader": "failed", "thousands": "made", "today": "made",
        "measured": "made",
    }  # fmt: skip
    assert sorted(len(one.arms) for one in made) == [2, 2, 3, 3]
    assert entry.main(["record-all", f"{SLUG}/thousands"]) == 0
    assert "Recorded 0 again; left 1 unchanged." in capsys.readouterr().out
    assert entry.main(["record-all", f"{SLUG}/thousands", "--all"]) == 0
    assert len(made) == 5


def test_the_list_says_why_and_makes_nothing(
    made: list[RunSpec], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(["record-all", SLUG, "--list"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == (f"{SLUG}/one-file: scan-2013, stock, evictable-list: x.patch has changed")
    assert out[-1].startswith("5 of 5 are stale, about ") and made == []


def test_a_recording_that_is_not_there(
    without_cells: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(["record-all", f"{SLUG}/nope"]) == 2
    assert "Choose from: one-file, reader, thousands, today, measured." in capsys.readouterr().err


def test_the_estimate_learns_from_what_was_made(tmp_path: Path) -> None:
    one, two, *_ = find_items([SLUG], KernelSettings.default())
    path = tmp_path / "pace.json"
    path.write_text("no json")
    pace = Pace(path)
    assert pace.left_s([one]) == GUEST_S * guest_runs(one)
    pace.took(one, 60)
    assert pace.left_s([two]) == 60 / guest_runs(one) * guest_runs(two)
    assert Pace(path).left_s([one]) == 60
