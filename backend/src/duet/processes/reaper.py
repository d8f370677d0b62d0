# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.processes.reaper PROGRAM ARGS...`: ends all descendants on SIGTERM.

A launcher such as vng starts QEMU as its own child, which the death of our process would not
reach. The kernel sends this process SIGTERM when its owner dies (see owned.py); it then kills
every descendant, also those that moved to a group of their own.
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
"""From SIGKILL to the end of all descendants. Usual: 20 ms."""


def end_all(number: int, frame: FrameType | None) -> None:
    """Kill all descendants, then leave with the code a shell would give."""
    del frame
    kill_all()
    os._exit(128 + number)


def kill_all() -> None:
    """Kill every descendant and take its exit status, so that none is left as a zombie."""
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
    """Run the program given in argv; its exit code is ours."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, end_all)
    code = subprocess.Popen(sys.argv[1:]).wait()
    kill_all()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
