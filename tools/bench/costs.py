# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what a server costs: CPU time, memory, and the size of its page."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
import time
from typing import Final

import psutil

from tools.bench.results import PageBytes

# Read another process's CPU time with a resolution of 1 ns, because /proc counts ticks of 10 ms.

_OF_ALL_THREADS: Final = 2
"""CPUCLOCK_SCHED of include/linux/posix-timers.h (Linux 6.1)."""


def cpu_s(pid: int) -> float:
    """Return the CPU time of all threads of a process, including threads that have ended.

    This reads the clock that clock_getcpuclockid(3) would return. Python lacks that function.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        return time.clock_gettime(~pid << 3 | _OF_ALL_THREADS)
    except OSError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error


EVERY_S: Final = 0.5
"""Time between two samples. Each sample takes some 20 ms."""
GUEST: Final = "qemu-system"


class TreeUse:
    """CPU time and memory of a server and all its descendants, including guests.

    The CPU time is counted from the first sample on. If a process ends between two samples, its CPU
    time after the earlier of these samples is not counted.
    """

    def __init__(self, pid: int) -> None:
        self._server = psutil.Process(pid)
        self._cpu_s: dict[tuple[int, float], float] = {}
        self._next_s = 0.0
        self.guest_bytes = 0.0
        """Memory per guest: the peak PSS of the tree minus its PSS without guests, divided by the
        number of guests.
        """
        self._without = 0
        self._before_s = self._seen()[0]
        self._without = self.memory_bytes()

    def _tree(self) -> list[psutil.Process]:
        return [self._server, *self._server.children(recursive=True)]

    def _seen(self) -> tuple[float, int]:
        """Return (CPU time in s of all processes seen so far, current number of guests)."""
        guests = 0
        with contextlib.suppress(psutil.Error):
            for one in self._tree():
                with contextlib.suppress(psutil.Error):
                    times = one.cpu_times()
                    self._cpu_s[one.pid, one.create_time()] = times.user + times.system
                    guests += one.name().startswith(GUEST)
        return sum(self._cpu_s.values()), guests

    def memory_bytes(self) -> int:
        """Return the current PSS of all processes."""
        total = 0
        with contextlib.suppress(psutil.Error):
            for one in self._tree():
                with contextlib.suppress(psutil.Error):
                    total += one.memory_full_info().pss
        return total

    def look(self) -> None:
        """Take a sample if EVERY_S have passed."""
        if time.monotonic() < self._next_s:
            return
        _, guests = self._seen()
        if guests:
            each = max(0, self.memory_bytes() - self._without) / guests
            self.guest_bytes = max(self.guest_bytes, each)
        self._next_s = time.monotonic() + EVERY_S

    @property
    def cpu_s(self) -> float:
        """CPU time in s since the first sample."""
        return sum(self._cpu_s.values()) - self._before_s


# Count the bytes that a browser fetches for the page: the document, and the files that it names.

ANSWER_S: Final = 60.0
NAMED: Final = re.compile(r"""(?:src|href)="\./?(assets/[\w.-]+)\"""")
SCRIPT: Final = re.compile(r"[\w.-]+-[\w-]{8}\.(?:js|css)\b")
MOST_FILES: Final = 500


def page_bytes(address: str, place: str) -> PageBytes:
    """Return the size of the page for a browser that accepts gzip.

    `place` is the page's URL path, which ends with a slash.
    """
    size, document = fetched(address, place)
    first = dict.fromkeys(NAMED.findall(document))
    todo, sizes = list(first), dict[str, int]()
    while todo and len(sizes) < MOST_FILES:
        name = todo.pop()
        if name in sizes:
            continue
        sizes[name], text = fetched(address, place + name)
        if name.endswith(".js"):
            todo += [f"assets/{other}" for other in SCRIPT.findall(text)]
    return PageBytes(
        first_bytes=size + sum(sizes[name] for name in first if name in sizes),
        all_bytes=size + sum(sizes.values()),
    )


def fetched(address: str, path: str) -> tuple[int, str]:
    """Fetch a file. Return (number of bytes sent, decoded text), or (0, "") if it is missing."""
    connection = http.client.HTTPConnection(address, timeout=ANSWER_S)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        return 0, ""
    whole = gzip.decompress(body) if answer.headers["content-encoding"] == "gzip" else body
    return len(body), whole.decode("utf-8", "replace")
