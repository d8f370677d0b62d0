# SPDX-License-Identifier: GPL-2.0-or-later
"""A pack's native replica: ./measure runs it once, its result is read and stored for the page, and
planted figures are refused.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from duet.cli import main
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec, made_of
from duet.lenses.scope import native
from duet.lessons.load import load
from duet.measure.elsewhere import (
    BadHostResult,
    EndLine,
    HostLine,
    PackedArm,
    PackedReplica,
    PackRecord,
    ReplicaLine,
    hashed,
    read_result,
)
from duet.measure.model import ArmFacts
from duet.measure.replica import ReplicaRuns, replica_digest
from duet.plugins.pack import program
from duet.server.recorded_items import read_native

SLUG = "05-cacheline-pingpong"
OFFSETS = {
    "d_flags": 0, "d_seq": 4, "d_hash.pprev": 16, "d_parent": 24, "d_name.hash_len": 32,
    "d_name.name": 40, "d_inode": 48, "d_iname": 56,
}  # fmt: skip


def record(sha256: str = "") -> PackRecord:
    """The record of a pack that has the replica of lesson 05 and no guest."""
    folder = load(SLUG)
    layouts = tuple(
        native.Layout(arm, 192, {**OFFSETS, "d_lockref": lock})
        for arm, lock in (("stock", 88), ("moved", 136))
    )
    arms = {}
    for layout in layouts:
        made = made_of(arm_spec(folder, layout.arm), KernelSettings.default())
        patches = tuple(made.patches.items())
        facts = ArmFacts(
            layout.arm, "", "before", "6.1.192", "key", made.config_sha256, patches, ()
        )
        arms[layout.arm] = PackedArm(facts=facts, bzimage_sha256="b" * 64)
    replica = PackedReplica(
        layouts=layouts, sha256=sha256 or replica_digest(folder), compiler="cc 12"
    )
    return PackRecord(
        by="0.1.0", at="2026-11-29T08:00:00+00:00", jobs=(), arms={SLUG: arms}, statics={},
        replicas={SLUG: replica}, root_sha256="c" * 64, qemu="7.2",
    )  # fmt: skip


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack's folder on a host of four cores, on which a moved count gives twice the rate."""

    def run(
        _: object, layout: native.Layout, cpus: list[int], *more: object
    ) -> tuple[native.Run, str]:
        ops = (2000 if layout.arm == "moved" else 1000) * len(cpus)
        return native.Run(len(cpus), 1_000_000, ops, len(cpus), 0), ""

    monkeypatch.setattr(native, "run_once", run)
    monkeypatch.setattr(native, "count_events", lambda *_: ({}, "no perf"))
    monkeypatch.setattr(native, "one_cpu_a_core", lambda _: [0, 1, 2, 3])
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "pack.json").write_text(record().model_dump_json())
    return folder


def measured(folder: Path) -> Path:
    result = folder / "result.jsonl"
    assert program.main([str(folder), "--output", str(result), "--name", "four cores"]) == 0
    return result


def test_the_replica_is_measured_once_and_read(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = measured(packed)
    assert "1 of 1 measurements" in capsys.readouterr().err
    measured(packed)
    assert "round 1" not in capsys.readouterr().err
    runs = read_result(result).replicas[SLUG]
    assert (runs.threads, runs.cores, runs.made["compiler"]) == (4, 4, "cc 12")
    assert [point.threads for point in runs.arms[0].curve] == [1, 2, 4]
    assert main(["measure", SLUG, "--from", str(result)]) == 0
    assert "moved over stock: 2.000 (95 % 2.000 to 2.000)" in capsys.readouterr().out


def test_the_result_is_stored_for_the_page(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    result = measured(packed)
    without = shutil.ignore_patterns("recorded")
    for top in ("lessons", "kernel-patches"):
        shutil.copytree(root / top, tmp_path / "copy" / top, ignore=without)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path / "copy"))
    assert main(["measure", SLUG, "--from", str(result), "--record"]) == 0
    found = read_native(tmp_path / "copy/lessons" / SLUG)
    assert found is not None
    assert (found.ratio.of, found.ratio.median) == ("moved", pytest.approx(2))


def test_two_cores_are_too_few_and_the_result_says_so(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "one_cpu_a_core", lambda _: [0, 1])
    result = read_result(measured(packed))
    assert result.replicas == {}
    assert "needs 4 cores on one socket, but this host has 2." in result.no_replica[SLUG]


def written(path: Path, runs: ReplicaRuns, of: PackRecord) -> Path:
    first = HostLine(pack=of.digest(), record=of, name="planted", host={}, at=of.at)
    before, whole = "", b""
    line = ReplicaLine(lesson=SLUG, runs=runs)
    for one in (first, line, EndLine(at=of.at, seconds=1.0)):
        text, before = hashed(one, before)
        whole += text
    path.write_bytes(whole)
    return path


def test_planted_figures_are_refused_even_with_hashes_that_fit(
    packed: Path, tmp_path: Path
) -> None:
    runs = read_result(measured(packed)).replicas[SLUG]
    path = tmp_path / "planted.jsonl"
    assert read_result(written(path, runs, record())).replicas
    with pytest.raises(BadHostResult, match="another replica of 05-cacheline-pingpong than this"):
        read_result(written(path, runs, record("d" * 64)))
    first, other = runs.arms
    moved = native.Layout("stock", 192, {**OFFSETS, "d_lockref": 0})
    planted = runs.model_copy(update={"arms": (first.model_copy(update={"layout": moved}), other)})
    with pytest.raises(BadHostResult, match="has another layout than its pack"):
        read_result(written(path, planted, record()))
    with pytest.raises(BadHostResult, match="has no native replica of 02-grace-periods"):
        read_result(written(path, runs.model_copy(update={"lesson": "02-grace-periods"}), record()))
    tree = json.loads(runs.model_dump_json())
    tree["arms"][0]["per_s"] = tree["arms"][0]["per_s"][:3]
    with pytest.raises(ValueError, match="at least 7 items"):
        ReplicaRuns.model_validate(tree)
