# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time and memory of a server with all that it has started, guests included."""

from __future__ import annotations

import contextlib
import time
from typing import Final

import psutil

EVERY_S: Final = 0.5
"""Between two looks; each takes some 20 ms."""
GUEST: Final = "qemu-system"


class TreeUse:
    """From the first look on.

    CPU time of a process that ends between two looks is counted up to the last one that saw it.
    """

    def __init__(self, pid: int) -> None:
        self._server = psutil.Process(pid)
        self._cpu_s: dict[tuple[int, float], float] = {}
        self._next_s = 0.0
        self.guest_bytes = 0.0
        """Most memory (PSS) of the whole tree for each guest, beyond what it had without guests."""
        self._without = 0
        self._before_s = self._seen()[0]
        self._without = self._memory()

    def _tree(self) -> list[psutil.Process]:
        return [self._server, *self._server.children(recursive=True)]

    def _seen(self) -> tuple[float, int]:
        """(CPU s of all processes that were ever seen, guests now)."""
        guests = 0
        with contextlib.suppress(psutil.Error):
            for one in self._tree():
                with contextlib.suppress(psutil.Error):
                    times = one.cpu_times()
                    self._cpu_s[one.pid, one.create_time()] = times.user + times.system
                    guests += one.name().startswith(GUEST)
        return sum(self._cpu_s.values()), guests

    def _memory(self) -> int:
        total = 0
        with contextlib.suppress(psutil.Error):
            for one in self._tree():
                with contextlib.suppress(psutil.Error):
                    total += one.memory_full_info().pss
        return total

    def look(self) -> None:
        """Look, if EVERY_S have passed."""
        if time.monotonic() < self._next_s:
            return
        _, guests = self._seen()
        if guests:
            each = max(0, self._memory() - self._without) / guests
            self.guest_bytes = max(self.guest_bytes, each)
        self._next_s = time.monotonic() + EVERY_S

    @property
    def cpu_s(self) -> float:
        """Since the beginning."""
        return sum(self._cpu_s.values()) - self._before_s
