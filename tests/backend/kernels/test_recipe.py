# SPDX-License-Identifier: GPL-2.0-or-later
"""The key of a kernel changes with every input that reaches the compiler, and with no other."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels import ArmSpec, KernelSettings, inputs, plan
from duet.kernels.recipe import (
    arm_patches,
    is_shared,
    patch_diff,
    patch_subject,
    read_options,
    unmet_options,
)
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


def test_key_changes_with_each_input(settings: KernelSettings) -> None:
    need = inputs(SRCU, settings)
    others = [
        changed(need, tarball_sha256="other"),
        changed(need, config_sha256="other"),
        changed(need, compiler="gcc 99"),
        changed(need, linker="ld 99"),
        changed(need, patches=need.patches[::-1]),
        changed(need, patches=need.patches[:1]),
    ]
    keys = {need.key(), *(other.key() for other in others)}
    assert len(keys) == 1 + len(others)


def test_key_follows_the_files(settings: KernelSettings) -> None:
    before = plan(SRCU, settings)
    config = settings.patches / "bases/6.1/base.config"
    config.write_text(config.read_text() + "CONFIG_XFS_FS=y\n")
    after_config = plan(SRCU, settings)
    own = settings.patches / "02-toy" / "srcu.patch"
    own.write_text(own.read_text().replace("+srcu", "+srcu_expedited"))
    after_patch = plan(SRCU, settings)
    assert len({before, after_config, after_patch}) == 3


def test_reworded_message_and_comment_rebuild_nothing(settings: KernelSettings) -> None:
    before = plan(SRCU, settings)
    own = settings.patches / "02-toy" / "srcu.patch"
    own.write_text(own.read_text().replace("Why.", "Measured: 4x.").replace("index 111", "index a"))
    config = settings.patches / "bases/6.1/base.config"
    config.write_text("# reworded\n" + "\n".join(reversed(config.read_text().splitlines())))
    assert plan(SRCU, settings) == before


def add_own_instrumentation(settings: KernelSettings) -> None:
    """The lesson 02-toy has a patch in a both/ of its own."""
    folder = settings.patches / "02-toy" / "both"
    folder.mkdir()
    text = miniature.patch("fs: events", miniature.replace("fs/super.c", "super\n", 1, "traced"))
    (folder / "0001-events.patch").write_text(text)


def test_stock_is_one_image_for_all_lessons_with_the_same_instrumentation(
    settings: KernelSettings,
) -> None:
    other = ArmSpec("01-other", "after")
    assert plan(STOCK, settings) == plan(other, settings) != plan(SRCU, settings)
    add_own_instrumentation(settings)
    assert plan(STOCK, settings) != plan(other, settings)


def test_arm_carries_shared_patches_first(settings: KernelSettings) -> None:
    add_own_instrumentation(settings)
    names = [path.name for path in arm_patches(SRCU, settings.patches, settings.base)]
    assert names == ["0001-trace.patch", "0001-events.patch", "srcu.patch"]
    reported = inputs(SRCU, settings).patches
    assert [patch.subject for patch in reported] == ["mm: trace", "fs: events", "mm: srcu"]
    paths = ["both/0001-trace.patch", "02-toy/both/0001-events.patch", "02-toy/srcu.patch"]
    assert [patch.path for patch in reported] == paths
    assert [is_shared(path) for path in paths] == [True, True, False]
    assert [patch.files for patch in reported] == [
        ("mm/vmscan.c",),
        ("fs/super.c",),
        ("mm/vmscan.c",),
    ]


def test_arms_without_instrumentation_carry_their_own_patches_alone(
    settings: KernelSettings,
) -> None:
    add_own_instrumentation(settings)
    bare, srcu = (changed(arm, instrumented=False) for arm in (STOCK, SRCU))
    assert arm_patches(bare, settings.patches, settings.base) == ()
    assert [path.name for path in arm_patches(srcu, settings.patches, settings.base)] == [
        "srcu.patch"
    ]
    assert len({plan(arm, settings) for arm in (bare, srcu, STOCK, SRCU)}) == 4


def test_patches_of_a_lesson_that_lies_elsewhere(settings: KernelSettings, tmp_path: Path) -> None:
    add_own_instrumentation(settings)
    away = tmp_path / "away" / settings.patches.name / "02-toy"
    away.parent.mkdir(parents=True)
    (settings.patches / "02-toy").rename(away)
    arm = changed(SRCU, patch_dir=away)
    reported = [patch.path for patch in inputs(arm, settings).patches]
    assert reported == [
        "both/0001-trace.patch",
        "02-toy/both/0001-events.patch",
        "02-toy/srcu.patch",
    ]


def test_options_that_did_not_stick_are_named() -> None:
    asked = read_options("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=64\n# CONFIG_D is not set\n")
    got = read_options("CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=8\n")
    assert unmet_options(asked, got) == [("CONFIG_B", "n", "y"), ("CONFIG_C", "64", "8")]


def test_patch_diff_leaves_mail_head_and_signature_out() -> None:
    text = miniature.patch("x", miniature.replace("f.c", "a\nb\n", 1, "c")) + "-- \n2.39.2\n"
    kept = patch_diff(text)
    assert kept.startswith("diff --git a/f.c b/f.c\n--- a/f.c\n")
    assert "2.39.2" not in kept and "index" not in kept


def test_what_follows_a_removed_line_of_dashes_counts() -> None:
    """A removed line "-" is "--" in a diff, as a mail's signature is."""
    head = "diff --git a/f.c b/f.c\n--- a/f.c\n+++ b/f.c\n@@ -1,3 +1,2 @@\n a\n--\n-b\n+"
    one, two = (patch_diff(f"{head}{end}\n-- \n2.39.2\n") for end in ("c", "d"))
    assert one == f"{head}c\n" and two != one


def test_folded_subject_is_unfolded() -> None:
    assert patch_subject("Subject: [PATCH 1/3] mm: a\n long one\n\nbody") == "mm: a long one"


def test_missing_and_formless_patches_are_explained(settings: KernelSettings) -> None:
    with pytest.raises(InputError, match=r"wanted a patch at .*absent\.patch"):
        plan(ArmSpec("02-toy", "x", (Path("absent.patch"),)), settings)
    (settings.patches / "02-toy" / "prose.patch").write_text("not a diff\n")
    with pytest.raises(InputError, match=r"prose\.patch is not a patch"):
        plan(ArmSpec("02-toy", "x", (Path("prose.patch"),)), settings)
