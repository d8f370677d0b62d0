# SPDX-License-Identifier: GPL-2.0-or-later
"""The sixth lesson, of the tests alone: its two folders make it a lesson, and nothing else does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from duet.kernels import KernelSettings, inputs
from duet.kernels.arms import arm_specs
from duet.kernels.recipe import patched_files
from duet.kernels.source import own_source
from duet.lessons import load
from duet.lint.lessons import lint
from tests.backend.test_fair_arms import unfair

SLUG = "06-pipe-herd"


@pytest.fixture
def sixth(root: Path, monkeypatch: pytest.MonkeyPatch) -> load.LessonFolder:
    """The lesson, in the folder that DUET_LESSONS names."""
    monkeypatch.setenv("DUET_LESSONS", str(root / "tests" / "sixth"))
    return load.load(SLUG)


def test_it_is_not_shipped() -> None:
    assert SLUG not in load.slugs()


def test_its_two_folders_make_it_a_lesson(sixth: load.LessonFolder, root: Path) -> None:
    assert sixth.folder == root / "tests/sixth/lessons" / SLUG
    assert sixth.patch_dir == root / "tests/sixth/kernel-patches" / SLUG
    assert sixth.lesson.view == "timeline"
    assert sixth.lesson.predictions and sixth.lesson.claims and sixth.recordings()


def test_the_lint_finds_nothing(sixth: load.LessonFolder) -> None:
    found = lint([sixth.slug])
    assert found.problems == ()


def test_nothing_else_knows_it(root: Path) -> None:
    """Only tests and the guide for authors name it: no generic code, no lesson, no view."""
    words = ["git", "-C", root, "grep", "-lE", "pipe-herd|wake-all|handing_out", "--", "."]
    done = subprocess.run(words, capture_output=True, text=True)
    known = {name for name in done.stdout.split() if not name.startswith(("tests/", "docs/"))}
    assert known <= {"CHANGELOG.md", "CONTRIBUTING.md"}


def test_its_arms_differ_by_one_patch_of_one_c_file(sixth: load.LessonFolder) -> None:
    settings = KernelSettings.default()
    if not own_source(settings.base, settings.cache).is_file():
        pytest.skip(
            f"the source of Linux {settings.base.series} is not here: ./duet build fetches it"
        )
    needs = {name: inputs(spec, settings) for name, spec in arm_specs(sixth).items()}
    assert unfair(needs, 0, SLUG) == []
    assert needs["exclusive"].patches == ()
    (patch,) = sixth.patch_files("wake-all")
    assert patched_files(patch.read_text()) == ["fs/pipe.c"]
