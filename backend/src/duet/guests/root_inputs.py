# SPDX-License-Identifier: GPL-2.0-or-later
"""What the recipe of the guests' root reads, as stamps: while they are the same, so is the root."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from duet.settings import extra_lessons

TOOLS = ("busybox", "stress-ng", "fio", "mkfs.xfs", "mkfs.ext4")
"""As in vm-images/root/build; their libraries change with their packages."""
WHERE = "/usr/sbin:/sbin"
"""Where mkfs lies, which is not in an ordinary user's PATH."""
Stamp = tuple[str, int, int, int]


def stamps(repo: Path) -> tuple[Stamp | str, ...]:
    """Name, inode, size and time of change of each file, and the environment. Takes 2 ms.

    Args:
        repo: the checkout.
    """
    tops = [repo / "vm-images" / "root", repo / "vm-images" / "agent"]
    for folder in (repo, *extra_lessons()):
        tops += sorted(folder.glob("lessons/[0-9]*/workload"))
    path = f"{os.environ.get('PATH', '')}:{WHERE}"
    compiler = os.environ.get("CC", "gcc")
    tools = [shutil.which(name, path=path) for name in (*TOOLS, compiler)]
    found: list[Stamp | str] = [compiler, *(tool or "" for tool in tools)]
    for name in (*(tool for tool in tools if tool), *map(str, tops)):
        found += _of(name)
    return tuple(found)


def _of(name: str) -> list[Stamp]:
    """Of a file, or of a folder and all in it."""
    try:
        status = os.stat(name)  # noqa: PTH116
        inside = sorted(entry.path for entry in os.scandir(name)) if os.path.isdir(name) else []  # noqa: PTH112
    except OSError:
        return [(name, 0, 0, 0)]
    found = [(name, status.st_ino, status.st_size, status.st_mtime_ns)]
    for path in inside:
        found += _of(path)
    return found
