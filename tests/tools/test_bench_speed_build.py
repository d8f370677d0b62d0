# SPDX-License-Identifier: GPL-2.0-or-later
"""The stage `build`: what it reads of a trial, what an overlay keeps, and when it is skipped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.kernels import KernelSettings
from duet.kernels.diffs import apply_diff, read_diff
from duet.measure.provenance import host_fingerprint
from tests.support import miniature
from tools.bench.speed import build
from tools.bench.speed.build import CHANGED, NOTHING, STAGE, Cold, Overlay, phases_of, store_cold
from tools.bench.speed.build_inside import FILE, PLACE, patch_of
from tools.bench.speed.pairs import Bench, Result, Row, Skipped, Turn

LINES = (
    (1.0, "kernel 1 of 2, 90-p stock: patch (0 s)\n"),
    (8.0, "kernel 1 of 2, 90-p stock: store 40/40 (7 s)\n"),
    (9.0, "kernel 2 of 2, 90-p p: patch (8 s)\n"),
    (16.0, "kernel 2 of 2, 90-p p: done (15 s)\n"),
    (17.5, "recording stock\n"),
    (19.0, "recording p\n"),
    (21.0, "run 1 of 12: stock, untraced\n"),
    (22.0, "run 11 of 12: p, counted (about 1 s left)\n"),
    (32.0, "p: stock, p\n"),
)
OURS = Cold(Turn(400.0, 700.0), Turn(8.0, 9.0), Turn(0.4, 0.4), 1362)
THEIRS = Cold(Turn(900.0, 1750.0), Turn(30.0, 40.0), Turn(8.0, 12.0), 2900)


def test_the_lines_of_a_trial_give_its_phases() -> None:
    assert phases_of(LINES, 33.0) == {
        "to read the patch": 1.0,
        "to build": 15.0,
        "to prepare guests": 1.5,
        "to record": 3.5,
        "to measure": 12.0,
    }
    known = [one for one in LINES if not one[1].startswith("kernel")]
    assert phases_of(known, 33.0)["to build"] == 0.0, "the kernels were built"


def test_each_change_is_another_kernel_of_one_file(tmp_path: Path) -> None:
    source = f"static int pipe_read(void)\n{{\n\tint total_len = 1;\n{PLACE}\treturn 0;\n}}\n"
    (tmp_path / "fs").mkdir()
    texts = set()
    for number in (1000, 1001):
        (tmp_path / FILE).write_text(source)
        apply_diff("change.patch", read_diff(patch_of(source, number)), tmp_path)
        texts.add((tmp_path / FILE).read_text())
    assert len(texts) == 2 and all(f"== {number}))" in "".join(texts) for number in (1000, 1001))
    with pytest.raises(InfraError, match="has no line"):
        patch_of("int pipe_read(void);\n", 1)


def test_what_is_written_over_an_overlay_is_not_in_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "kernel").write_text("mine\n")
    overlay = Overlay(cache, tmp_path / "layer")
    if why := overlay.why_not():
        pytest.skip(why)
    script = f"cat {cache}/kernel; echo other > {cache}/kernel; echo new > {cache}/new"
    assert overlay.run("sh", "-c", script) == "mine\n"
    assert (cache / "kernel").read_text() == "mine\n" and not (cache / "new").exists()
    assert overlay.run("cat", f"{cache}/kernel", f"{cache}/new") == "other\nnew\n", "it is kept"
    with pytest.raises(InfraError, match=r"failed over an overlay .* \(exit code 3\)"):
        overlay.run("sh", "-c", "exit 3")


def results(tmp_path: Path, smoke: bool = True) -> list[Result]:
    return list(STAGE.run(Bench(smoke, tmp_path)))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    settings = miniature.make_settings(tmp_path / "made")
    monkeypatch.setattr(KernelSettings, "default", lambda *_, **__: settings)
    monkeypatch.setattr(build, "STORED", tmp_path / "cold.json")
    return settings


def test_without_kernels_everything_is_skipped_with_a_sentence(
    empty: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "last_arm", lambda settings: None)
    found = results(tmp_path)
    assert [(one.case, type(one)) for one in found] == [(NOTHING, Skipped), (CHANGED, Skipped)]
    *_, cold = results(tmp_path, smoke=False)
    assert isinstance(cold, Skipped) and "DUET_BENCH_COLD=1" in cold.why


def test_cold_builds_are_shown_with_their_date(
    empty: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "last_arm", lambda settings: None)
    store_cold(OURS, THEIRS)
    rows = [one for one in results(tmp_path, smoke=False) if isinstance(one, Row)]
    day = json.loads((tmp_path / "cold.json").read_text())["day"]
    assert [row.case for row in rows] == [
        "cold build",
        f"one more kernel, {FILE} changed",
        "nothing to do",
    ]
    cold = rows[0]
    assert (cold.pairs, cold.ratio, cold.met) == (1, 2.5, True)
    assert f"of {day}" in cold.note and "1,362 objects beside 2,900" in cold.note
    assert not any(isinstance(one, Row) for one in results(tmp_path)), "the smoke form has none"


def test_cold_builds_of_another_machine_are_not_shown(
    empty: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "last_arm", lambda settings: None)
    store_cold(OURS, THEIRS)
    here = host_fingerprint()
    monkeypatch.setattr(build, "host_fingerprint", lambda: {**here, "cpus": "64"})
    *_, cold = results(tmp_path, smoke=False)
    assert isinstance(cold, Skipped) and "another machine" in cold.why


def test_cold_builds_are_measured_on_request(
    empty: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[object]] = []

    def cold_vng(folder: Path, vng: str) -> Cold:
        asked.append((folder.name, vng))
        return THEIRS

    monkeypatch.setenv("DUET_BENCH_COLD", "1")
    monkeypatch.setattr(build, "last_arm", lambda settings: None)
    monkeypatch.setattr(build, "find_vng", lambda: "/usr/bin/vng")
    monkeypatch.setattr(build, "cold_ours", lambda folder: OURS)
    monkeypatch.setattr(build, "cold_vng", cold_vng)
    rows = [one for one in results(tmp_path, smoke=False) if isinstance(one, Row)]
    assert asked == [("vng", "/usr/bin/vng")] and len(rows) == 3
    assert (tmp_path / "cold.json").is_file()


def test_our_cold_build_is_timed_from_the_unpacked_source(
    empty: KernelSettings, tmp_path: Path
) -> None:
    spec = build.ArmSpec("02-toy", "stock")
    turn, objects = build._built(spec, empty)
    assert objects == 2 and 0 < turn.wall_s < 60 and 0 < turn.cpu_s < 60
