# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes are found by looking: a lesson's own before the generic ones, then those of others."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from duet.lenses.registry import GENERIC, probe_files, probe_names
from duet.lessons.load import places


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two lessons, each with a probe `list`."""
    for slug in ("01-one", "02-two"):
        folder = tmp_path / "lessons" / slug / "probes"
        folder.mkdir(parents=True)
        (folder.parent / "lesson.yaml").write_text("title: x\n")
        (folder / "my_list.py").write_text("")
        (folder / "_help.py").write_text("")
    (tmp_path / "lessons" / "02-two" / "probes" / "identify.py").write_text("")
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    return tmp_path / "lessons"


def test_own_probes_come_first_and_helpers_are_none(lessons: Path) -> None:
    for slug in ("01-one", "02-two"):
        assert probe_files(slug)["my-list"] == lessons / slug / "probes" / "my_list.py"
    assert not [name for name in probe_names("01-one") if "help" in name]
    assert probe_files("02-two")["identify"].parent.parent.name == "02-two"
    assert probe_files("01-one")["identify"].parent == GENERIC


def test_probes_of_other_lessons_can_be_named_by_hand_and_not_by_a_lesson(lessons: Path) -> None:
    (lessons / "02-two" / "probes" / "other.py").write_text("")
    assert "other" in probe_names("01-one") and "other" in probe_names()
    assert "other" not in probe_names("01-one", others=False)
    shutil.rmtree(lessons / "02-two")
    assert "other" not in probe_names("01-one")


def test_a_lesson_may_lie_elsewhere(lessons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = lessons.parent / "away" / "lessons"
    away.mkdir(parents=True)
    (lessons / "02-two").rename(away / "02-two")
    monkeypatch.setenv("DUET_LESSONS", str(away.parent))
    assert probe_files("02-two")["my-list"] == away / "02-two" / "probes" / "my_list.py"


def test_no_two_lessons_have_a_probe_of_one_name() -> None:
    """By hand a probe is named without its lesson, and mypy wants names of its own for files."""
    files = [path for place in places().values() for path in place.folder.glob("probes/*.py")]
    assert len(files) >= 8
    assert max(Counter(path.name for path in files).values()) == 1
