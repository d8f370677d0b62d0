# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.guests.keeper PROGRAM ARGS...`: ends all descendants when it is told to end.

A launcher such as vng starts QEMU as its own child, which the death of our process would not
reach. The kernel sends this keeper SIGTERM when its owner dies (see process.py); it then kills
every descendant, also those that moved to a group of their own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from types import FrameType

import psutil

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def end_all(number: int, frame: FrameType | None) -> None:
    """Kill all descendants, then leave with the code a shell would give."""
    del frame
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    os._exit(128 + number)


def main() -> int:
    """Run the program given in argv; its exit code is ours."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, end_all)
    code = subprocess.Popen(sys.argv[1:]).wait()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
