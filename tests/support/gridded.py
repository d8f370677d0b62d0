# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkout with one lesson that has a small grid: two of the lesson's real cells, recorded."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from duet.bundle import ArmEntry, Manifest, open_bundle
from duet.kernels import KernelSettings, MadeOf, made_of
from duet.kernels.arms import arm_spec
from duet.lessons import load as lessons
from tests.backend.cli.bundles import rewritten
from tests.support.planted import without_block

SLUG = "04-extent-shrinker"
RECORDING = "one-file"
CELLS = ("grid-delayed-0", "grid-delayed-32")
METRIC = "first_freed"
"""Metric of the grid's only curve."""
ENTRIES: dict[str, Any] = {
    "arms": ["scan-2013", "stock", "evictable-list"],
    "over": {"delayed": [0, 32]},
    "params": {"written": 256, "nr": 32, "scans": 112},
    "workload": "one-file",
    "curves": {"first": {"title": "first scan", "over": "delayed", "metric": METRIC}},
}
"""The grid `entries` of the lesson, with fewer values."""


def gridded(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the lesson, its patches, a recording and two cells; return the lesson's folder.

    The checkout is tmp_path, in $DUET_ROOT. All recordings are of the kernels that it builds now.
    Translations and claims are left out.
    """
    ignored = shutil.ignore_patterns("recorded", "i18n")
    for name in (f"lessons/{SLUG}", f"kernel-patches/{SLUG}"):
        shutil.copytree(root / name, tmp_path / name, ignore=ignored)
    shutil.copytree(root / "kernel-patches/bases", tmp_path / "kernel-patches/bases")
    for shared in ("lessons/_template", "lessons/_common", "vm-images"):
        (tmp_path / shared).symlink_to(root / shared)
    folder, real = tmp_path / "lessons" / SLUG, root / "lessons" / SLUG
    evidence = folder / "evidence.yaml"
    evidence.write_text(without_block(evidence.read_text(), "claims"))
    declare(folder, entries=ENTRIES)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    monkeypatch.setattr(lessons, "FRESH_S", 0.0)
    (folder / "recorded/grid").mkdir(parents=True)
    of_today(real / f"recorded/{RECORDING}.duet", folder / f"recorded/{RECORDING}.duet")
    listed = [one for one in read_list(real) if one["name"] in CELLS]
    for one in listed:
        place = f"recorded/grid/{one['name']}.duet"
        one |= facts_of(of_today(real / place, folder / place))
    write_list(folder, listed)
    return folder


def of_today(real: Path, path: Path) -> Path:
    """Copy a recording, and let it name the patches and configs of the lesson's kernels now."""
    folder, settings = lessons.load(SLUG), KernelSettings.default()

    def entry(one: ArmEntry) -> ArmEntry:
        kernel: MadeOf = made_of(arm_spec(folder, one.name), settings)
        patches = [{"path": name, "sha256": sha} for name, sha in kernel.patches.items()]
        change = {"kernel": one.kernel | {"patches": patches}}
        return one.model_copy(update={**change, "config_sha256": kernel.config_sha256})

    def manifest(old: Manifest) -> Manifest:
        return old.model_copy(update={"arms": tuple(entry(one) for one in old.arms)})

    return rewritten(path, open_bundle(real), manifest)


def facts_of(path: Path) -> dict[str, Any]:
    """Return what an entry of recorded/grid.json says about a file's bytes."""
    content = path.read_bytes()
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def cell_file(folder: Path, name: str) -> Path:
    return folder / f"recorded/grid/{name}.duet"


def declare(folder: Path, **grids: dict[str, Any]) -> None:
    """Let lesson.yaml have these grids and no others."""
    path = folder / "lesson.yaml"
    text = without_block(path.read_text(), "grids").rstrip("\n")
    more = yaml.safe_dump({"grids": grids}, sort_keys=False) if grids else ""
    path.write_text(f"{text}\n{more}")


def read_list(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of recorded/grid.json."""
    found: list[dict[str, Any]] = json.loads((folder / "recorded/grid.json").read_text())
    return found


def write_list(folder: Path, cells: object) -> None:
    (folder / "recorded/grid.json").write_text(json.dumps(cells))
