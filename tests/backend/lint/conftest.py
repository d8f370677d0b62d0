# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkout with one lesson, for faults to be planted in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.lint import probes
from tests.support.planted import SLUG, file_with, not_built, without_block


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
