# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.processes.reaper PROGRAM ARGS...`: run a program, then kill its descendants.

A launcher such as vng starts QEMU as its child, which would survive the launcher. The kernel sends
SIGTERM to the reaper when its owner dies (owned.py). The reaper then kills all descendants, even
those in other process groups.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from types import FrameType

import psutil

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
REAP_S = 2.0
"""Timeout from SIGKILL to the end of all descendants. Usual: 20 ms."""


def end_all(number: int, frame: FrameType | None) -> None:
    """Kill all descendants, then exit with the code that a shell would return."""
    del frame
    kill_all()
    os._exit(128 + number)


def kill_all() -> None:
    """Kill and reap all descendants, so that no zombies remain."""
    until = time.monotonic() + REAP_S
    while time.monotonic() < until:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        except ChildProcessError:
            return


def main() -> int:
    """Run the program in argv and return its exit code."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, end_all)
    code = subprocess.Popen(sys.argv[1:]).wait()
    kill_all()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
