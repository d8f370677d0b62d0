# SPDX-License-Identifier: GPL-2.0-or-later
"""What an `open` is answered with is made once, and again when a file of it changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings
from duet.kernels.arms import arm_specs
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder
from duet.server import builds as readiness
from duet.server.builds import Readiness
from duet.server.lessons import LessonCache
from duet.server.own_arms import OwnLessons
from duet.server.recorded_items import NATIVE
from tests.support.toy_stage import ToyKernels, ToyRecordings

SLUG = "02-grace-periods"
FURTHER = "linux-7.3.tar.xz"
"""The source of an optional base, which is there only where somebody asked for it."""


@pytest.fixture
def settings(tmp_path: Path, root: Path) -> KernelSettings:
    patches = tmp_path / "kernel-patches"
    shutil.copytree(root / "kernel-patches", patches)
    tarball = tmp_path / "linux.tar.xz"
    tarball.write_bytes(b"source")
    further = patches / "bases" / "7.3" / "base.yaml"
    text = further.read_text().replace("/usr/src/linux-source-7.3.tar.xz", str(tmp_path / FURTHER))
    further.write_text(text)
    return KernelSettings(tmp_path / "cache", patches, tarball)


@pytest.mark.parametrize("further", [True, False], ids=["with-7.3", "without-7.3"])
def test_patches_are_hashed_again_only_after_a_change(
    settings: KernelSettings,
    lesson02: LessonFolder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    further: bool,
) -> None:
    if further:
        (tmp_path / FURTHER).write_bytes(b"further source")
    planned: list[str] = []
    plan = readiness.plan

    def counted(spec: ArmSpec, given: KernelSettings) -> object:
        planned.append(spec.name)
        return plan(spec, given)

    monkeypatch.setattr(readiness, "plan", counted)
    specs = arm_specs(lesson02)
    known = Readiness(settings)
    first = known.of(SLUG, specs)
    assert first == known.of(SLUG, specs) == dict.fromkeys(specs, False)
    assert planned == list(specs)
    patch = next((settings.base.folder / "both").glob("*.patch"))
    patch.write_text(patch.read_text() + "\n")
    known.of(SLUG, specs)
    assert len(planned) == 2 * len(specs)
    (settings.store.folder / plan(specs["srcu"], settings)).mkdir(parents=True)
    known.of(SLUG, specs)  # something was put where the kernel would lie
    assert len(planned) == 3 * len(specs)
    if not further:
        (tmp_path / FURTHER).write_bytes(b"further source")
        known.of(SLUG, specs)  # the source of an optional base was installed
        assert len(planned) == 4 * len(specs)


def test_a_lesson_is_encoded_once_until_a_kernel_is_built() -> None:
    kernels = ToyKernels(missing=("srcu",))
    cache = LessonCache(ToyRecordings(), kernels, OwnLessons(None))
    first = cache.view(SLUG)
    assert cache.view(SLUG).packet is first.packet
    kernels.missing.clear()
    then = cache.view(SLUG)
    assert then.packet is not first.packet
    assert then.tree["ready"] != first.tree["ready"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("content.md", "## ", "## \n## "),
        ("lesson.yaml", "title: ", "title: Once more, "),
        ("recorded/measured.json", "{", "{ "),
        ("../../kernel-patches/02-grace-periods/srcu.patch", "Subject: ", "Subject: Again "),
    ],
)
def test_an_edited_lesson_is_sent_anew_when_a_page_opens_it(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str
) -> None:
    for folder in ("lessons", "kernel-patches"):
        shutil.copytree(root / folder / SLUG, tmp_path / folder / SLUG)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    monkeypatch.setattr(lesson_cache, "FRESH_S", 0.0)
    cache = LessonCache(ToyRecordings(), ToyKernels(), OwnLessons(None))
    first = cache.view(SLUG)
    assert cache.view(SLUG) is first
    path = tmp_path / "lessons" / SLUG / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert cache.view(SLUG) is not first


def test_a_result_of_real_hardware_is_sent_once_it_lies_there(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted one; a file that is none is not sent, and lint reports it."""
    for folder in ("lessons", "kernel-patches"):
        shutil.copytree(root / folder / SLUG, tmp_path / folder / SLUG)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    cache = LessonCache(ToyRecordings(), ToyKernels(), OwnLessons(None))
    path = tmp_path / "lessons" / SLUG / NATIVE
    path.unlink(missing_ok=True)
    assert cache.view(SLUG).tree["native"] is None
    points = [{"threads": n, "median": 2.0, "low": 1.0, "high": 3.0} for n in (1, 4)]
    planted = {
        "format": 1, "lesson": SLUG, "evidence": "measured", "what": "", "threads": 4, "cores": 4,
        "rounds": 7, "run_ms": 1, "arms": [{"arm": "stock", "curve": points, "bytes": 192}],
        "made": {"cpu": "planted", "kernel": "", "machine": "", "compiler": "", "at": ""},
        "ratio": {"of": "a", "to": "b", "median": 1.5, "low": 1.0, "high": 2.0},
        "host": None, "remarks": [],
    }  # fmt: skip
    path.write_text(json.dumps(planted))
    sent = cache.view(SLUG).tree["native"]
    assert isinstance(sent, dict) and sent["made"]["cpu"] == "planted"
    path.write_text("{}")
    assert cache.view(SLUG).tree["native"] is None
