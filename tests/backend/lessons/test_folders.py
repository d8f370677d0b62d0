# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons of further folders: found with the shipped ones, or refused with a reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels.recipe import read_patch
from duet.lessons import load
from duet.lessons import load as cache
from duet.lessons import load as folders

SLUG = "02-grace-periods"


@pytest.fixture
def mine(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one lesson, 06-mine, that DUET_LESSONS names."""
    without = shutil.ignore_patterns("recorded")
    shutil.copytree(root / "lessons" / SLUG, tmp_path / "lessons" / "06-mine", ignore=without)
    shutil.copytree(root / "kernel-patches" / SLUG, tmp_path / "kernel-patches" / "06-mine")
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path))
    return tmp_path


def test_a_lesson_of_another_folder_is_found_with_its_patches(mine: Path) -> None:
    assert {"06-mine", SLUG} <= set(load.slugs())
    folder = load.load("06-mine")
    assert folder.folder == mine / "lessons" / "06-mine"
    (patch,) = folder.patch_files("srcu")
    assert patch == mine / "kernel-patches" / "06-mine" / "srcu.patch" and patch.is_file()
    assert cache.find("06-mine").lesson == folder.lesson


def test_no_path_of_the_machine_stands_in_a_kernels_inputs(mine: Path, root: Path) -> None:
    (patch,) = load.load("06-mine").patch_files("srcu")
    assert read_patch(patch, root / "kernel-patches").path == "06-mine/srcu.patch"


def test_without_the_variable_only_the_checkout_counts(
    mine: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(folders.places(root)) == [slug for slug in load.slugs() if slug != "06-mine"]
    monkeypatch.setenv("DUET_LESSONS", "")
    assert "06-mine" not in load.slugs()
    with pytest.raises(InputError, match="no lesson '06-mine'"):
        cache.find("06-mine")


def test_a_slug_that_exists_twice_is_refused_with_both_places(mine: Path, root: Path) -> None:
    (mine / "lessons" / "06-mine").rename(mine / "lessons" / SLUG)
    with pytest.raises(InputError, match=f"two lessons are called {SLUG}") as caught:
        load.slugs()
    assert str(root / "lessons" / SLUG) in caught.value.sentence
    assert str(mine / "lessons" / SLUG) in caught.value.sentence


@pytest.mark.parametrize(
    ("name", "sentence"), [("gone", "which is not a folder"), ("bare", "has no folder lessons/")]
)
def test_a_folder_that_is_missing_or_bare_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.setenv("DUET_LESSONS", f"{tmp_path / name}:")
    with pytest.raises(InputError, match=sentence) as caught:
        load.load(SLUG)
    assert name in caught.value.sentence and "lessons/NN-slug" in caught.value.remedy


def test_files_are_looked_at_once_for_many_questions_and_again_soon(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = cache._look

    def counted(slug: str) -> load.LessonFolder:
        looks.append(slug)
        return look(slug)

    monkeypatch.setattr(cache, "_look", counted)
    monkeypatch.setattr(cache, "FRESH_S", 60.0)
    found = [cache.find("06-mine") for _ in range(100)]
    assert looks == ["06-mine"] and all(one is found[0] for one in found)
    story = mine / "lessons/06-mine/story.yaml"
    story.write_text(story.read_text().replace("title: One umount,", "title: Another,", 1))
    monkeypatch.setattr(cache, "FRESH_S", 0.0)
    assert cache.find("06-mine").lesson.scenes[0].title == "Another"
