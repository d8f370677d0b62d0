# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches that cannot be read, and instrumentation that no kernel carries."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.planted import SLUG, plant, problems


def test_a_spoilt_patch_is_named_for_each_arm_that_has_it(copy: Path) -> None:
    path = copy / "kernel-patches" / SLUG / "srcu.patch"
    path.write_text(path.read_text().replace("diff --git", "diff"))
    found = [one for one in problems() if one.where.startswith("arm ")]
    assert [one.where for one in found] == ["arm srcu", "arm srcu-delayed"]
    assert {(one.sentence, one.file) for one in found} == {
        (
            "the patch srcu.patch is not in the form of git format-patch",
            f"kernel-patches/{SLUG}/srcu.patch",
        )
    }


def test_instrumentation_that_no_kernel_carries(copy: Path) -> None:
    plant(copy, "\narms:", "\ninstrumentation: none\narms:")
    both = copy / "kernel-patches" / SLUG / "both"
    names = sorted(path.name for path in both.glob("*.patch"))
    assert names
    assert [one.sentence for one in problems() if one.where == "instrumentation"] == [
        f"no kernel carries both/{name}: the lesson has no instrumentation" for name in names
    ]
    shutil.rmtree(both)
    assert problems() == []
