# SPDX-License-Identifier: GPL-2.0-or-later
"""All C of the project is as clang-format writes it: the kernel's style, QEMU's for its plugin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLANG_FORMAT = str(Path(sys.executable).with_name("clang-format"))
"""Of requirements-dev.txt: each version writes a little differently."""
KERNEL, QEMU = "vm-images/agent", "vm-images/microscope"
"""Folders whose .clang-format is the style of the kernel, and of QEMU."""


def sources(root: Path, style: str) -> list[Path]:
    """Files of C that have this style."""
    done = subprocess.run(
        ["git", "ls-files", "*.c", "*.h"],
        cwd=root, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    names = [name for name in done.stdout.splitlines() if name.startswith(QEMU) == (style == QEMU)]
    return [root / name for name in names if (root / name).exists()]


def formatted(root: Path, style: str, files: list[Path]) -> subprocess.CompletedProcess[str]:
    """What clang-format says; its exit code is 0 if nothing would change."""
    command = [CLANG_FORMAT, f"--style=file:{root / style / '.clang-format'}", "--dry-run"]
    return subprocess.run(
        [*command, "--Werror", *files], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(("style", "least"), [(KERNEL, 40), (QEMU, 14)])
def test_c_is_formatted(root: Path, style: str, least: int) -> None:
    files = sources(root, style)
    assert len(files) >= least
    done = formatted(root, style, files)
    assert done.returncode == 0, f"run: make format\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("style", [KERNEL, QEMU])
def test_a_line_of_another_style_is_seen(root: Path, style: str, tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int other( void ) { return 1 ; }\n")
    assert formatted(root, style, [tmp_path / "other.c"]).returncode != 0
