# SPDX-License-Identifier: GPL-2.0-or-later
"""Which option a file, or a part of it, waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.kernels.kbuild import hiding_option, known_options, missing_option, new_options

FILES = {
    "mm/Makefile": "mmu-$(CONFIG_MMU) := memory.o \\\n\tmremap.o\nobj-y := slab.o $(mmu-y)\n"
    "obj-$(CONFIG_TRANSPARENT_HUGEPAGE) += huge_memory.o khugepaged.o\n",
    "fs/Makefile": "obj-y := open.o\nobj-$(CONFIG_XFS_FS) += xfs/\n",
    "fs/xfs/Makefile": "obj-$(CONFIG_XFS_FS) += xfs.o\nxfs-y += xfs_aops.o\n"
    "xfs-$(CONFIG_XFS_RT) += xfs_rtalloc.o\nxfs-$(CONFIG_XFS_ONLINE_SCRUB) += scrub/a.o\n",
    "mm/Kconfig": "menuconfig TRANSPARENT_HUGEPAGE\n\tbool\nconfig OLD\n\tbool\n",
    "Kbuild": "obj-y += mm/\nobj-$(CONFIG_NET) += net/\n",
    "net/core/Makefile": "obj-y := sock.o\n",
    "net/Makefile": "obj-y += core/\n",
}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("mm/huge_memory.c", "CONFIG_TRANSPARENT_HUGEPAGE"),
        ("mm/mremap.c", "CONFIG_MMU"),
        ("mm/slab.c", ""),
        ("fs/xfs/xfs_aops.c", "CONFIG_XFS_FS"),
        ("fs/xfs/xfs_rtalloc.c", "CONFIG_XFS_RT"),
        ("net/core/sock.c", "CONFIG_NET"),
        ("mm/nowhere.c", ""),
    ],
)
def test_a_file_that_is_not_compiled_names_its_option(src: Path, name: str, option: str) -> None:
    assert missing_option(src, name, {}) == option
    assert missing_option(src, name, {option: "y", "CONFIG_XFS_FS": "y"}) == ""


def test_options_of_kconfig(src: Path) -> None:
    asked = ["CONFIG_TRANSPARENT_HUGEPAGE", "CONFIG_OLD", "CONFIG_NO"]
    assert known_options(src, asked) == set(asked[:2])
    assert new_options("config A\n", "config A\n\tbool\nconfig B\n") == ["CONFIG_B"]


TEXT = """\
#ifndef _MM_H
int always;
#ifdef CONFIG_X
int x;
#if IS_ENABLED(CONFIG_Y) && 1
int nobody_knows;
#endif
#else
int no_x;
#endif
#if !defined(CONFIG_X)
int no_x_too;
#endif
#endif
"""


@pytest.mark.parametrize(
    ("word", "off", "on"),
    [
        ("int always", ("", True), ("", True)),
        ("int x", ("CONFIG_X", True), ("", True)),
        ("int nobody_knows", ("CONFIG_X", True), ("", True)),
        ("int no_x;", ("", True), ("CONFIG_X", False)),
        ("int no_x_too", ("", True), ("CONFIG_X", False)),
    ],
)
def test_what_keeps_a_line_from_the_compiler(
    word: str, off: tuple[str, bool], on: tuple[str, bool]
) -> None:
    line = next(n for n, text in enumerate(TEXT.splitlines()) if text.startswith(word))
    assert hiding_option(TEXT, [line], {}) == off
    assert hiding_option(TEXT, [line], {"CONFIG_X": "y"}) == on
    assert hiding_option(TEXT, [line, 1], {}) == ("", True), "a line is compiled"
