# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches and prose as the page gets them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duet import messages as m
from duet.base.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.view import lesson_tree, read_patch, sections
from duet.server import commands as checks

PATCH = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Person <a@example.org>
Date: Mon, 1 May 2023 00:00:00 +0000
Subject: [PATCH 1/2] mm: do a thing
 that needs two lines

The body.

Signed-off-by: A Person <a@example.org>
---
Lesson 02, teaching patch.

 mm/vmscan.c | 2 +-

diff --git a/mm/vmscan.c b/mm/vmscan.c
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1 +1 @@
-old
+new
"""


def test_a_patch_is_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "one.patch"
    path.write_text(PATCH)
    patch = read_patch(path)
    assert patch.subject == "mm: do a thing that needs two lines"
    assert patch.body == "The body.\n\nSigned-off-by: A Person <a@example.org>"
    assert patch.text.startswith("diff --git a/mm/vmscan.c b/mm/vmscan.c\n--- a")
    assert patch.text.endswith("+new\n")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (None, "does not exist"),
        ("diff --git a/x b/x\n", "format-patch"),
        (PATCH.replace("diff --git", "diff"), "format-patch"),
        (PATCH.replace("Subject: [PATCH 1/2] mm: do a thing\n that needs two lines\n", ""),
         "no subject"),
        (PATCH + "x" * (1 << 20), "larger"),
    ],
)  # fmt: skip
def test_what_is_no_patch_is_refused(tmp_path: Path, text: str | None, word: str) -> None:
    path = tmp_path / "one.patch"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=word):
        read_patch(path)


def test_prose_is_cut_at_the_scene_headings() -> None:
    text = "intro\n## one\nfirst *text*\n### deeper\nmore\n\n## two-b\n<!-- secret -->second\n"
    assert sections(text) == {"one": "first *text*\n### deeper\nmore", "two-b": "second"}
    assert sections("") == {}


@pytest.fixture
def numbers(lesson02: LessonFolder, tmp_path: Path) -> LessonFolder:
    """Lesson 02 without its view: numbers only."""
    bare = lesson02.lesson.model_copy(update={"view": None, "scenes": (), "operation": None})
    (tmp_path / "content.md").write_text("<!-- note -->\n## a-step\n\nText.\n")
    return replace(lesson02, folder=tmp_path, lesson=bare)


def test_a_lesson_without_a_view_comes_with_its_prose_as_it_stands(
    numbers: LessonFolder, lesson02: LessonFolder
) -> None:
    tree = lesson_tree(numbers, [], {})
    assert (tree["view"], tree["prose"]) == (None, "## a-step\n\nText.")
    assert "prose" not in lesson_tree(lesson02, [], {})


def test_what_has_no_picture_cannot_be_watched(
    numbers: LessonFolder,
) -> None:
    start = m.Start(type="start", lesson=numbers.slug, arms=["rwsem"])
    with pytest.raises(InputError, match="no picture yet") as caught:
        checks.check_start(start, numbers, {})
    assert "./duet measure 02-grace-periods" in caught.value.remedy
