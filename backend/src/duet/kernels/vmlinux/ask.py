# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's side: one child per vmlinux, which ends when nobody has asked for a while.

A child indexes the DWARF once (0.1-0.5 s), so that further questions take a millisecond.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from duet import budgets
from duet.confined import Child, Reply, Terms
from duet.confined.replies import Odd
from duet.errors import DuetError, InfraError
from duet.kernels.vmlinux import REMEDY

SERVICE: Final = "vmlinux"

Taken = TypeVar("Taken")
_Key = tuple[str, int, int]
"""Path, time of the last change, size: another build under the same path is another file."""


def ask(vmlinux: Path, request: dict[str, object], take: Callable[[Reply], Taken]) -> Taken:
    """One question about a kernel. Blocking, for as long as budgets.REQUEST_WAIT_S.

    Args:
        request: see service.VmlinuxService.
        take: gets the answer out of the reply, and checks its shape.

    Raises:
        InputError: the kernel has no such thing, or the question is wrong.
        InfraError: the file cannot be read, or the child did not survive it.
    """
    child = READERS.child_of(vmlinux)
    reply = child.call({**request, "file": str(vmlinux)})
    try:
        return take(reply)
    except Odd as error:
        raise child.odd(error) from error


class Readers:
    """Children by the file that they read; safe between threads.

    One that is dropped from here ends with its last user.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[_Key, tuple[Child, float]] = OrderedDict()
        """The second is when it was last asked for."""
        self._timer: threading.Timer | None = None

    def child_of(self, vmlinux: Path) -> Child:
        """The child that has opened this file.

        Raises:
            InfraError: the file cannot be opened, or no child can be started.
        """
        fd, key = _opened(vmlinux)
        try:
            with self._lock:
                found = self._open.pop(key, None)
                if found is not None and found[0].usable:
                    child = found[0]
                else:
                    child = Child(SERVICE, _terms(vmlinux, key[2]), (fd,))
                self._open[key] = child, time.monotonic()
                while len(self._open) > budgets.VMLINUX_READERS:
                    self._open.popitem(last=False)
                self._look_later()
                return child
        finally:
            os.close(fd)

    def end(self) -> None:
        """Drop all of them now."""
        with self._lock:
            self._open.clear()

    def _look_later(self) -> None:
        if self._timer is None and self._open:
            self._timer = threading.Timer(budgets.VMLINUX_IDLE_S, self._expire)
            self._timer.daemon = True
            self._timer.start()

    def _expire(self) -> None:
        with self._lock:
            self._timer = None
            last = time.monotonic() - budgets.VMLINUX_IDLE_S
            for key in [key for key, (_, asked) in self._open.items() if asked <= last]:
                del self._open[key]
            self._look_later()


READERS: Final = Readers()


def _terms(vmlinux: Path, size: int) -> Terms:
    return Terms(
        f"the vmlinux of the kernel {vmlinux.absolute().parent.name}",
        blame=InfraError,
        remedy=REMEDY,
        memory_bytes=budgets.CHILD_MEMORY_BYTES + size,
        reply_bytes=0,
    )


def _opened(vmlinux: Path) -> tuple[int, _Key]:
    """A descriptor of a plain file of an allowed size; the caller closes it."""
    try:
        # A pipe without a writer would wait for ever.
        fd = os.open(vmlinux, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(vmlinux, error.strerror or str(error)) from error
    status = os.fstat(fd)
    why = ""
    if not stat.S_ISREG(status.st_mode):
        why = "it is no plain file"
    elif status.st_size > budgets.VMLINUX_BYTES:
        why = f"it has {status.st_size:,} bytes, and {budgets.VMLINUX_BYTES:,} are allowed"
    if why:
        os.close(fd)
        raise _unreadable(vmlinux, why)
    return fd, (str(vmlinux.absolute()), status.st_mtime_ns, status.st_size)


def _unreadable(vmlinux: Path, why: str) -> DuetError:
    return InfraError(
        f"wanted the kernel's vmlinux at {vmlinux}, but it cannot be read: {why}.", remedy=REMEDY
    )
