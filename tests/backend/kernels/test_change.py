# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes: what is read, how it is named and stored, and what can be changed of an arm."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.kernels import Change, Changes, KernelSettings, arm_source, read_change
from duet.kernels import changes as storing
from duet.kernels.arms import arm_spec
from duet.kernels.changes import Region, regions
from duet.kernels.diffs import PatchRefused
from duet.kernels.recipe import arm_patches
from duet.lessons.load import LessonFolder, load
from duet.lessons.view import read_patch
from tests.support import miniature

SLUG = "02-grace-periods"
C_FILE = """#include <linux/mm.h>

static int limit;
struct walk {
\tint nr;
};

static unsigned long shrink(struct walk *walk,
\t\t\t    int nr)
{
\treturn walk->nr + nr;
}
"""


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


@pytest.fixture
def folder(settings: KernelSettings) -> LessonFolder:
    """The lesson, on the miniature's kernels: arms rwsem (stock) and srcu."""
    found = load(SLUG)
    arms = tuple(arm for arm in found.lesson.arms if arm.name in ("rwsem", "srcu"))
    lesson = found.lesson.model_copy(update={"arms": arms})
    return replace(found, lesson=lesson, patch_dir=settings.patches / "02-toy")


@pytest.fixture
def changes(settings: KernelSettings) -> Changes:
    return Changes(settings.cache / "changes", settings.store)


def diff(line: int = 20, text: str = "mine") -> str:
    return miniature.replace("mm/vmscan.c", miniature.VMSCAN, line, text)


def test_equal_changes_have_equal_names(folder: LessonFolder) -> None:
    one = read_change(folder, "srcu", diff())
    assert one.name == read_change(folder, "srcu", "Hello,\n\n" + diff()).name
    assert one.name != read_change(folder, "rwsem", diff()).name
    assert one.name != read_change(folder, "srcu", diff(text="other")).name
    assert one.name.startswith("own-srcu-") and one.files == ("mm/vmscan.c",)
    assert one.summary == "mm/vmscan.c: +1 -1 lines"


def test_the_summary_names_functions(folder: LessonFolder) -> None:
    text = miniature.diff("mm/shrink.c", C_FILE, C_FILE.replace("+ nr", "- nr"))
    assert read_change(folder, "srcu", text).summary == "shrink(): +1 -1 lines"


@pytest.mark.parametrize(
    ("arm", "text", "words"),
    [
        ("srcu", "no patch", "changes no file"),
        ("srcu", miniature.diff("Makefile", "a\n", "b\n"), "may change sources and headers only"),
        ("none", diff(), "has no arm 'none'"),
        ("own-srcu-0123456789", diff(), "is already a changed arm"),
    ],
)
def test_what_is_no_change_is_refused(
    folder: LessonFolder, arm: str, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_change(folder, arm, text)


def test_the_operator_may_allow_more(folder: LessonFolder) -> None:
    text = miniature.diff("mm/Makefile", "a\n", "b\n")
    with pytest.raises(PatchRefused):
        read_change(folder, "srcu", text)
    assert read_change(folder, "srcu", text, ("*/Makefile",)).files == ("mm/Makefile",)


def test_a_stored_change_is_an_arm(folder: LessonFolder, changes: Changes) -> None:
    change = read_change(folder, "srcu", diff())
    own = changes.put(folder, change)
    spec = arm_spec(own, change.name)
    assert (spec.patches, spec.change) == (folder.patch_files("srcu"), own.changes[change.name])
    read = read_patch(own.changes[change.name])
    assert read.subject == "a change of SRCU" and read.text == change.diff
    again = changes.lesson(folder, ["rwsem", change.name])
    assert again.arm(change.name).summary == change.summary
    with pytest.raises(InputError, match="is not stored here"):
        changes.lesson(folder, ["own-srcu-0123456789"])
    with pytest.raises(InputError, match="of lesson 01-shrinker-bitmaps is not stored here"):
        changes.lesson(load("01-shrinker-bitmaps"), [change.name])


def test_the_kernel_of_a_change_has_a_key_of_its_own(
    folder: LessonFolder,
    changes: Changes,
    settings: KernelSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from duet.kernels import box_build as boxed
    from duet.kernels import plan

    monkeypatch.setattr(boxed, "check_box", lambda: None)
    change = read_change(folder, "srcu", diff())
    own = changes.put(folder, change)
    spec = arm_spec(own, change.name)
    trusted = replace(spec, patches=(*spec.patches, own.changes[change.name]), change=None)
    names = [path.name for path in arm_patches(spec, settings.patches, settings.base)]
    assert names == ["0001-trace.patch", "srcu.patch", f"{change.name}.patch"]
    assert names == [p.name for p in arm_patches(trusted, settings.patches, settings.base)]
    assert plan(spec, settings) != plan(trusted, settings), "what came out of a box is apart"


def test_old_changes_go_with_their_kernels(
    folder: LessonFolder,
    changes: Changes,
    settings: KernelSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storing, "MOST", 2)
    made: list[Change] = []
    long_ago = time.time() - 7200
    for number in range(4):
        made.append(read_change(folder, "srcu", diff(text=f"try {number}")))
        changes.put(folder, made[-1])
        kernel = settings.store.folder / f"key{number}"
        kernel.mkdir(parents=True)
        changes.built(made[-1].name, kernel.name)
        if number < 3:
            os.utime(changes.folder / made[-1].name, (long_ago + number, long_ago + number))
    assert {path.name for path in changes.folder.iterdir()} == {one.name for one in made[2:]}
    assert {path.name for path in settings.store.folder.iterdir()} == {"key2", "key3"}


def test_the_source_of_an_arm_is_what_its_kernel_was_made_of(
    folder: LessonFolder, settings: KernelSettings
) -> None:
    with pytest.raises(InfraError, match="not unpacked here yet"):
        arm_source(folder, "srcu", settings)
    tree = settings.tree(settings.base, None, settings.tarball(settings.base).sha256)
    (tree.src / "mm").mkdir(parents=True)
    (tree.src / "mm/vmscan.c").write_text(miniature.VMSCAN)
    (stock,) = arm_source(folder, "rwsem", settings)
    (srcu,) = arm_source(folder, "srcu", settings)
    assert "line 10\n" in stock.text and "traced\n" in stock.text
    assert "srcu\n" in srcu.text and "line 10\n" not in srcu.text
    assert stock.regions == srcu.regions == (Region("", 10, 10),)
    assert (tree.src / "mm/vmscan.c").read_text() == miniature.VMSCAN, "the tree stays"


def test_regions_are_functions_structures_and_loose_lines() -> None:
    assert list(regions(C_FILE, frozenset({3, 5, 11}))) == [
        Region("", 3, 3),
        Region("struct walk", 4, 6),
        Region("shrink()", 8, 12),
    ]
    assert list(regions(C_FILE, frozenset({1, 2, 3}))) == [Region("", 1, 3)]
    assert list(regions(C_FILE, frozenset())) == []
