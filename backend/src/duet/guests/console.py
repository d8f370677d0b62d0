# SPDX-License-Identifier: GPL-2.0-or-later
"""The last bytes of a serial console, and what they say about the kernel's end."""

from __future__ import annotations

import re

from duet.guests.limits import CONSOLE_TAIL_BYTES

_PANIC = re.compile(r"Kernel panic - not syncing: ?([^\n\r]*)")
_OUT_OF_MEMORY = re.compile(
    r"^(?:\[[^]\n]*\] )?Out of memory: Killed process \d+ \(([^)\n]*)\)", re.MULTILINE
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|\r")


class Console:
    """A ring of the newest bytes.

    Args:
        limit: bytes kept.
    """

    def __init__(self, limit: int = CONSOLE_TAIL_BYTES) -> None:
        self._limit = limit
        self._tail = bytearray()

    def feed(self, text: bytes) -> None:
        """Append; the oldest bytes above the limit go."""
        self._tail += text
        if len(self._tail) > self._limit:
            del self._tail[: len(self._tail) - self._limit]

    def tail(self) -> str:
        """The kept bytes as text, without terminal control sequences."""
        return _ESCAPES.sub("", self._tail.decode("utf-8", "replace")).lstrip("\x00")

    def panic(self) -> str | None:
        """The reason of a kernel panic, if the kept bytes hold one.

        Source: panic() in kernel/panic.c, 6.1.
        """
        found = _PANIC.search(self.tail())
        return found[1].strip() if found else None


def killed_for_memory(text: str) -> str | None:
    """The last process that a kernel has killed since the guest's memory was used up, by name.

    A kill within a cgroup's own limit is not meant: a workload may want it.

    Source: __oom_kill_process() in mm/oom_kill.c, 6.1.
    """
    found = _OUT_OF_MEMORY.findall(text)
    return str(found[-1]) if found else None
