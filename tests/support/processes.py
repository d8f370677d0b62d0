# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: the guests that a process has started."""

from __future__ import annotations

import contextlib
import time

import psutil

START_LIMIT_S = 30.0


def guests_below(pid: int | None = None) -> list[psutil.Process]:
    """QEMUs of this process or of another one, those of its children included."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended between listing and asking
            if child.name().startswith("qemu"):
                found.append(child)
    return found


def wait_for_guests(pid: int, limit_s: float = START_LIMIT_S) -> list[psutil.Process]:
    """The same, as soon as one is there: a run is announced before its guest starts.

    Raises:
        AssertionError: none came within the limit.
    """
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if found := guests_below(pid):
            return found
        time.sleep(0.02)
    raise AssertionError(f"process {pid} started no guest within {limit_s:.0f} s")
