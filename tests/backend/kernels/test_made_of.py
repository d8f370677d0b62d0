# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tree asks of a kernel, without source or compiler, and what has changed in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels import KernelSettings, MadeOf, changes_since, made_of
from duet.kernels.arms import arm_spec
from duet.lessons.load import LessonFolder

CONFIG = "c" * 64
BEFORE = MadeOf(CONFIG, {"both/0001-a.patch": "a" * 64, "one.patch": "b" * 64})


def test_an_arm_is_asked_for_by_its_files_alone(
    lesson02: LessonFolder, tmp_path: Path, root: Path
) -> None:
    settings = KernelSettings(tmp_path, root / "kernel-patches", Path("/nowhere/linux.tar.xz"))
    stock, srcu = (made_of(arm_spec(lesson02, arm), settings) for arm in ("rwsem", "srcu"))
    assert stock.config_sha256 == srcu.config_sha256 != ""
    assert set(srcu.patches) - set(stock.patches) == {"02-grace-periods/srcu.patch"}
    assert changes_since(stock, stock) == ()
    assert changes_since(stock, srcu) == ("02-grace-periods/srcu.patch is new",)


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (MadeOf(CONFIG, {"both/0001-a.patch": "a" * 64, "one.patch": "d" * 64}),
         ("one.patch has changed",)),
        (MadeOf(CONFIG, {"one.patch": "b" * 64}), ("both/0001-a.patch is gone",)),
        (MadeOf("e" * 64, BEFORE.patches), ("the config has changed",)),
        (replace(BEFORE, writes=("/sys/a 1",)), ("its settings were none, now '/sys/a 1'",)),
        (MadeOf(CONFIG, {"x/0007-a.patch": "a" * 64, "two.patch": "b" * 64}), ()),
    ],
    ids=["changed", "gone", "config", "setting", "renamed"],
)  # fmt: skip
def test_what_has_changed_is_named(now: MadeOf, found: tuple[str, ...]) -> None:
    assert changes_since(BEFORE, now) == found


def test_what_nobody_wrote_down_is_not_taken_for_the_same() -> None:
    said = ("the recording does not name its patches and config",)
    assert changes_since(MadeOf("", {}), BEFORE) == said


def test_a_patch_that_is_missing_is_reported(lesson02: LessonFolder, tmp_path: Path) -> None:
    arm = replace(arm_spec(lesson02, "srcu"), patches=(tmp_path / "gone.patch",))
    with pytest.raises(InputError, match="no such file"):
        made_of(arm, KernelSettings.default())
