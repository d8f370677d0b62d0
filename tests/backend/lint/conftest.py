# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkout with one lesson, for faults to be planted in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from duet.bundle import ArmEntry, Manifest, open_bundle
from duet.kernels import KernelSettings, made_of
from duet.kernels.arms import arm_spec
from duet.lessons.load import load
from duet.lint import probes
from tests.backend.cli.bundles import rewritten
from tests.support.planted import SLUG, file_with, not_built, without_block

ARMS = ("rwsem", "srcu", "srcu-expedited")
RECORDED = f"lessons/{SLUG}/recorded"


@pytest.fixture
def copy(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one lesson, without its recordings, grids and translations, and no kernel."""
    ignored = shutil.ignore_patterns("recorded", "i18n")
    for folder in (f"lessons/{SLUG}", f"kernel-patches/{SLUG}"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    shutil.copytree(root / "kernel-patches/bases", tmp_path / "kernel-patches/bases")
    for shared in ("lessons/_template", "lessons/_common", "vm-images"):
        (tmp_path / shared).symlink_to(root / shared)
    evidence = file_with(tmp_path, "claims:")
    text = evidence.read_text()
    evidence.write_text(without_block(text, "claims"))
    lesson = file_with(tmp_path, "grids:")
    lesson.write_text(without_block(lesson.read_text(), "grids"))
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    monkeypatch.setattr(probes, "find_image", not_built)
    return tmp_path


@pytest.fixture
def recorded(copy: Path, root: Path) -> Path:
    """A lesson with a recording and a table of the tree's kernels."""
    folder, settings = load(SLUG), KernelSettings.default()
    (copy / RECORDED).mkdir()
    kernels = {arm: made_of(arm_spec(folder, arm), settings) for arm in ARMS}
    listed = {
        arm: [{"path": path, "sha256": sha} for path, sha in one.patches.items()]
        for arm, one in kernels.items()
    }

    def of_today(manifest: Manifest) -> Manifest:
        def entry(one: ArmEntry) -> ArmEntry:
            kernel = one.kernel | {"patches": listed[one.name]}
            config = kernels[one.name].config_sha256
            return one.model_copy(update={"kernel": kernel, "config_sha256": config})

        return manifest.model_copy(update={"arms": tuple(entry(one) for one in manifest.arms)})

    bundle = open_bundle(root / RECORDED / "1-hog.duet")
    rewritten(copy / RECORDED / "1-hog.duet", bundle, of_today)
    made = [
        {"arm": arm, "key": "k", "kernel": "6.1", "compiler": "gcc", "patches": listed[arm],
         "config_sha256": kernels[arm].config_sha256}
        for arm in ARMS
    ]  # fmt: skip
    table = {
        "lesson": SLUG, "source": "recorded", "clock": "count", "workload": "storm",
        "metric": "ops_per_s", "title": "umounts", "better": "higher", "command": "",
        "params": {"hogs": 9}, "at": "2026-01-01", "verdict": "",
        "rows": [{"arm": arm, "n": 2, "ops_per_s": [], "ops_per_s_median": 1.0} for arm in ARMS],
        "made": {"arms": made, "host": {}, "shift": 0, "seeds": [2, 3, 4]},
    }  # fmt: skip
    (copy / RECORDED / "measured.json").write_text(json.dumps({"tables": [table]}))
    return copy
