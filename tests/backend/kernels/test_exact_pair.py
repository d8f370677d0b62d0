# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 05's two arms on 6.12: the layout before the mail's change, and with it as it was merged.

Both are optional, so their kernels are read only where they are built.
"""

from __future__ import annotations

import pytest

from duet.base.errors import DuetError
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.recipe import patched_files
from duet.kernels.vmlinux import ask as dwarf
from duet.lessons.load import load

LESSON = "05-cacheline-pingpong"
BEFORE, AFTER = "before-6-12", "stock-6-12"
LINE = 64


def test_the_pair_is_one_patch_of_one_header_on_one_base() -> None:
    folder = load(LESSON)
    before, after = (arm_spec(folder, name) for name in (BEFORE, AFTER))
    assert before.base == after.base == "6.12" and before.config is after.config is None
    assert after.patches == () and len(before.patches) == 1
    assert list(patched_files(before.patches[0].read_text())) == ["include/linux/dcache.h"]
    assert not {BEFORE, AFTER} & set(folder.usual_arms), "nobody builds them unasked"


@pytest.mark.parametrize(("arm", "at", "shared"), [(BEFORE, 96, True), (AFTER, 128, False)])
def test_the_count_lies_where_the_mail_has_it(arm: str, at: int, shared: bool) -> None:
    """The mail: d_iname of 40 bytes from 56 on; the lockref behind it, then behind d_fsdata."""
    try:
        vmlinux = find_image(load(LESSON), arm, KernelSettings.default()).vmlinux
    except DuetError as error:
        pytest.skip(error.sentence)
    asked = ("offsetof struct dentry.d_iname", "sizeof struct dentry.d_iname")
    name, room = (dwarf.read(vmlinux, what) for what in asked)
    count = dwarf.read(vmlinux, "offsetof struct dentry.d_lockref")
    assert (name, room, count) == (56, 40, at)
    assert (count // LINE == (name + room - 1) // LINE) == shared
    assert dwarf.read(vmlinux, "sizeof struct dentry") == 192
