# SPDX-License-Identifier: GPL-2.0-or-later
"""One build at a time per cache, across processes.

flock(2) by hand rather than the filelock package: make inherits the descriptor, so after a
kill -9 of the builder the lock stays taken until its last compiler has gone, and nobody
starts writing the same objects meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from duet.errors import InfraError

POLL_S = 0.2


def wanted_at(path: Path) -> int:
    """When somebody last waited for a lock, ns; 0: nobody ever did."""
    try:
        return _wanted(path).stat().st_mtime_ns
    except OSError:
        return 0


def _wanted(path: Path) -> Path:
    return path.with_name(f"{path.name}.wanted")


class BuildBusy(InfraError):
    """Another process has been building for longer than we may wait."""

    code = "build-busy"


@contextmanager
def build_lock(path: Path, *, wait_s: float, on_wait: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock; yields its descriptor, to be passed on to make.

    Args:
        path: lock file; created when absent, never removed.
        wait_s: how long to wait for another builder before giving up.
        on_wait: called with one sentence about who holds it, once a second; may raise to give up.

    Raises:
        BuildBusy: still taken after `wait_s`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(fd, path, wait_s, on_wait)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield fd
    finally:
        os.close(fd)  # not LOCK_UN: a compiler that outlives us keeps the lock


def _acquire(fd: int, path: Path, wait_s: float, on_wait: Callable[[str], None]) -> None:
    deadline = time.monotonic() + wait_s
    reported = float("-inf")
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            now = time.monotonic()
            holder = os.pread(fd, 32, 0).decode(errors="replace").strip() or "unknown"
            if now >= deadline:
                raise BuildBusy(
                    f"waited {wait_s:.0f} s to build, but process {holder} is still building"
                    f" (lock {path}).",
                    remedy="Let it finish and call again; what it builds will not be rebuilt.",
                ) from None
            if now - reported >= 1:
                reported = now
                _wanted(path).touch()  # who builds ahead of need gives way
                on_wait(f"Process {holder} is building kernels; waiting for it to finish.")
            time.sleep(POLL_S)
