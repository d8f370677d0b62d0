# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: the guests that a process has started."""

from __future__ import annotations

import contextlib

import psutil


def guests_below(pid: int | None = None) -> list[psutil.Process]:
    """QEMUs of this process or of another one, those of its children included."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended between listing and asking
            if child.name().startswith("qemu"):
                found.append(child)
    return found
