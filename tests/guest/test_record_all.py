# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record-all` on live guests: the same run again, of today's kernels, whole and counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.base.settings import EXTRA_LESSONS
from duet.bundle import Manifest, read_manifest
from duet.cli import entry
from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.server.recorded_items import recordings_of
from tests.support.live_measure import TIMEOUT_S

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]
SLUG = "06-pipe-herd"
NAME = f"{SLUG}/eight-readers"


def run_of(manifest: Manifest) -> dict[str, object]:
    keys = ("lesson", "clock", "shift", "seed", "params", "workload", "window_ms")
    return {key: getattr(manifest, key) for key in keys} | {
        "arms": [entry.name for entry in manifest.arms]
    }


def test_a_recording_is_made_anew_by_its_own_parameters(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(root / "tests/sixth", tmp_path / "sixth")
    monkeypatch.setenv(EXTRA_LESSONS, str(tmp_path / "sixth"))
    folder = load(SLUG)
    (path,) = folder.recordings()
    before = read_manifest(path)
    assert entry.main(["record-all", NAME, "--all"]) == 0
    assert "Recorded 1 again" in capsys.readouterr().out
    after = read_manifest(path)
    assert run_of(after) == run_of(before) and after.created > before.created
    assert all(one.figures is not None and not one.loss["events"] for one in after.arms)
    (item,) = recordings_of(folder, KernelSettings.default())
    assert item.stale == {}
    assert entry.main(["record-all", NAME]) == 0
    assert "Recorded 0 again; left 1 unchanged." in capsys.readouterr().out
