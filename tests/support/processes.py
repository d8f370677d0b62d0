# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: guests that a process has started."""

from __future__ import annotations

import contextlib
import time

import psutil

START_LIMIT_S = 30.0


def guests_below(pid: int | None = None) -> list[psutil.Process]:
    """Return the QEMU processes among the descendants of a process; default: this one."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended between listing and asking
            if child.name().startswith("qemu"):
                found.append(child)
    return found


def wait_for_guests(pid: int, limit_s: float = START_LIMIT_S) -> list[psutil.Process]:
    """Wait until there is a guest, since a run is announced before its guest starts; return all.

    Raises:
        AssertionError: no guest started within the limit.
    """
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if found := guests_below(pid):
            return found
        time.sleep(0.02)
    raise AssertionError(f"process {pid} started no guest within {limit_s:.0f} s")
