# SPDX-License-Identifier: GPL-2.0-or-later
"""An arm with patches from elsewhere is built in a box over the warm tree, which stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.confine import NoBox
from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels import box_build as boxing
from duet.kernels.box_build import BoxedArm, build_in_box, in_box
from duet.kernels.compiler import CompileFails
from duet.kernels.diffs import PatchFails
from duet.kernels.links import Layouts
from duet.kernels.tree import WorkTree
from tests.support import miniature
from tests.support.small_tree import NEEDS_BOX, digest

STOCK = ArmSpec("02-toy", "stock")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("DUET_BUILD_SANDBOX", "on")
    return miniature.make_settings(tmp_path, miniature.REAL_FILES)


@pytest.fixture
def theirs(tmp_path: Path) -> ArmSpec:
    """An arm whose patch lies outside of kernel-patches/."""
    return arm(tmp_path, miniature.replace("mm/vmscan.c", miniature.VMSCAN, 10, "theirs"))


def arm(tmp_path: Path, diff: str) -> ArmSpec:
    folder = tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / "own.patch").write_text(miniature.patch("mm: theirs", diff))
    (folder / "both").mkdir(exist_ok=True)
    return ArmSpec("02-toy", "theirs", (folder / "own.patch",), folder)


def tree_of(settings: KernelSettings) -> WorkTree:
    return settings.tree(settings.base, None, settings.tarball(settings.base).sha256)


@NEEDS_BOX
def test_a_patch_from_elsewhere_is_built_over_the_tree(
    settings: KernelSettings, theirs: ArmSpec
) -> None:
    (stock,) = build([STOCK], settings)
    before = digest(tree_of(settings).src)
    (made,) = build([theirs], settings)
    assert digest(tree_of(settings).src) == before, "the warm tree stays to the byte"
    lines = made.bzimage.read_bytes()
    assert b"theirs\n" in lines and b"traced\n" in lines and b"line 10\n" not in lines
    assert b"theirs\n" not in stock.bzimage.read_bytes()
    assert (made.manifest.objects, made.manifest.cold) == (1, False)
    assert [patch.subject for patch in made.manifest.patches] == ["mm: trace", "mm: theirs"]
    assert build([theirs], settings)[0].key == made.key, "it is stored as any kernel"


@NEEDS_BOX
def test_the_tree_may_stand_at_another_arm(settings: KernelSettings, theirs: ArmSpec) -> None:
    build([ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))], settings)
    (made,) = build([theirs], settings)
    assert b"srcu\n" not in made.bzimage.read_bytes()
    assert b"theirs\n" in made.bzimage.read_bytes()
    assert "srcu" in (tree_of(settings).src / "mm/vmscan.c").read_text()


@NEEDS_BOX
def test_a_series_of_renames_is_applied_in_a_box(
    settings: KernelSettings, theirs: ArmSpec, tmp_path: Path
) -> None:
    """A file goes away, another comes in its place, and is changed."""
    build([STOCK], settings)
    move = "diff --git a/{0} b/{1}\nsimilarity index 100%\nrename from {0}\nrename to {1}\n"
    away, back = tmp_path / "away.patch", tmp_path / "back.patch"
    away.write_text(miniature.patch("mm: away", move.format("mm/vmscan.c", "mm/other.c")))
    back.write_text(miniature.patch("mm: back", move.format("mm/other.c", "mm/vmscan.c")))
    (made,) = build([replace(theirs, patches=(away, back, *theirs.patches))], settings)
    assert b"theirs\n" in made.bzimage.read_bytes()
    away.write_text(miniature.patch("mm: away", move.format("mm/none.c", "mm/other.c")))
    with pytest.raises(PatchFails, match=r"away\.patch, but this kernel lacks the file"):
        build([replace(theirs, patches=(away, back))], settings)


@NEEDS_BOX
def test_what_fails_in_a_box_fails_with_a_sentence(
    settings: KernelSettings, tmp_path: Path
) -> None:
    build([STOCK], settings)
    text = miniature.VMSCAN
    with pytest.raises(CompileFails, match="make failed") as caught:
        build([arm(tmp_path, miniature.replace("mm/vmscan.c", text, 10, "error: no"))], settings)
    assert "error: no" in caught.value.detail
    stale = text.replace("line 20", "line twenty")
    with pytest.raises(PatchFails, match=r"own\.patch, but hunk 1 \(line 18\) does not fit mm/"):
        build([arm(tmp_path, miniature.replace("mm/vmscan.c", stale, 21, "never"))], settings)


@NEEDS_BOX
def test_a_cold_tree_and_other_layouts_are_refused(
    settings: KernelSettings, theirs: ArmSpec, tmp_path: Path
) -> None:
    (tmp_path / "cold" / "src").mkdir(parents=True)
    cold = BoxedArm(WorkTree(tmp_path / "cold"), (), theirs.patches, 1, tmp_path / "ccache")
    with pytest.raises(InfraError, match="nothing is compiled here yet"):
        build_in_box(cold, tmp_path)
    build([STOCK], settings)
    with pytest.raises(InputError, match="layouts of a kernel, but it is built in a sandbox"):
        build([theirs], settings, product=Layouts(1))


def test_which_arms_are_built_in_a_box(
    settings: KernelSettings, theirs: ArmSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not in_box(STOCK, settings)
    ours = replace(theirs, patch_dir=settings.patches / "02-toy")
    assert not in_box(ours, settings), "patches of the repository are trusted"
    assert not in_box(replace(theirs, patches=()), settings)
    monkeypatch.setattr(boxing, "check_box", lambda: None)
    monkeypatch.setattr(boxing, "missing_box", lambda: "")
    assert in_box(theirs, settings)
    monkeypatch.setattr(boxing, "missing_box", lambda: "the package bubblewrap is not installed")
    monkeypatch.setenv("DUET_BUILD_SANDBOX", "auto")
    assert not in_box(theirs, settings)
    monkeypatch.setenv("DUET_BUILD_SANDBOX", "off")
    assert not in_box(theirs, settings)
    monkeypatch.setenv("DUET_BUILD_SANDBOX", "perhaps")
    with pytest.raises(InputError, match="must be on, off or auto"):
        in_box(theirs, settings)


def test_a_box_that_is_wanted_and_missing_is_an_error(
    settings: KernelSettings, theirs: ArmSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise NoBox("none can be made here.", remedy="Install it.")

    monkeypatch.setattr(boxing, "check_box", refuse)
    with pytest.raises(NoBox):
        in_box(theirs, settings)


@NEEDS_BOX
def test_a_change_is_built_over_its_arm_where_the_tree_then_stands(
    settings: KernelSettings, theirs: ArmSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator switched boxes off, and a visitor's change is built in one all the same."""
    monkeypatch.setenv("DUET_BUILD_SANDBOX", "off")
    build([STOCK], settings)
    change = miniature.replace("mm/vmscan.c", miniature.VMSCAN, 20, "changed")
    patch = theirs.patches[0].with_name("change.patch")
    patch.write_text(miniature.patch("a change", change))
    srcu = ArmSpec("02-toy", "own", (Path("srcu.patch"),), change=patch)
    (near,) = build([srcu], settings)
    assert "srcu" not in (tree_of(settings).src / "mm/vmscan.c").read_text(), "it was near enough"
    lines = near.bzimage.read_bytes()
    assert b"srcu\n" in lines and b"changed\n" in lines
    monkeypatch.setattr(boxing, "NEAR_OBJECTS", 0)
    patch.write_text(miniature.patch("a change", change.replace("changed", "changed again")))
    (far,) = build([srcu], settings)
    text = (tree_of(settings).src / "mm/vmscan.c").read_text()
    assert "srcu\n" in text and "changed" not in text, "the tree stands at the arm that is changed"
    assert b"srcu\n" in far.bzimage.read_bytes() and b"changed again\n" in far.bzimage.read_bytes()
