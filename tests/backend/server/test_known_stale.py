# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known to be stale is taken off once it was made anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder
from duet.server.recorded_items import known_stale, recordings_of, remove_stale


def test_the_file_goes_with_its_last_line(lesson02: LessonFolder, tmp_path: Path) -> None:
    first, second, *_ = (
        replace(one, path=tmp_path / one.path.name)
        for one in recordings_of(lesson02, KernelSettings.default())
    )
    remove_stale(first)
    assert known_stale(tmp_path) == ()
    path = tmp_path / "stale.txt"
    path.write_text(f"# with a reason\n{first.name}\n{second.name}\n")
    assert known_stale(tmp_path) == (first.name, second.name)
    remove_stale(first)
    assert known_stale(tmp_path) == (second.name,)
    remove_stale(second)
    assert not path.exists()
