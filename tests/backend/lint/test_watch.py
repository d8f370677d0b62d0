# SPDX-License-Identifier: GPL-2.0-or-later
"""What changes in a lesson and its patches is noticed, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from duet.lint.watch import changes, stamps
from tests.support.planted import SLUG, plant


def test_each_change_gives_the_files_that_changed(copy: Path) -> None:
    coming = changes([SLUG], stamps([SLUG]), look_s=0.01)
    folder, patches = copy / "lessons" / SLUG, copy / "kernel-patches" / SLUG
    plant(copy, "moment: longest_wait", "moment: first_op")
    assert next(coming) == [folder / "story.yaml"]
    (patches / "more.patch").write_text("From 0\n")
    (folder / "workload" / "loop.sh").write_text("true\n")
    assert next(coming) == [patches / "more.patch", folder / "workload" / "loop.sh"]
    (patches / "more.patch").unlink()
    assert next(coming) == [patches / "more.patch"]


def test_other_files_are_no_change(copy: Path) -> None:
    before = stamps([SLUG])
    (copy / "lessons" / "notes.md").write_text("not of this lesson\n")
    assert stamps([SLUG]) == before
    assert {path.name for path in before} >= {"lesson.yaml", "trace.yaml", "storm.c", "srcu.patch"}
