# SPDX-License-Identifier: GPL-2.0-or-later
"""Up to which guest time a lane's pages are all here: the watermark. Pure.

A beat says of each CPU: at that guest time its buffer was empty, and so many bytes had been
sent. Ports are apart, so a beat may overtake the pages it speaks of; it holds once the bytes
are here.
"""

from __future__ import annotations

from collections import deque

from duet.wire import Beat

MAX_OPEN_BEATS = 4096
"""Beats that wait for bytes; beyond it the oldest are dropped, newer ones say more."""


class Completeness:
    """Bytes received against bytes sent, per CPU.

    Args:
        received: bytes that came of each CPU before this run (ports outlive runs).
    """

    def __init__(self, received: dict[int, int] | None = None) -> None:
        self._received = dict(received or {})
        self._open: dict[int, deque[tuple[int, int]]] = {}
        self._complete: dict[int, int] = {}

    def bytes_came(self, cpu: int, count: int) -> None:
        """More bytes of one CPU are here."""
        self._received[cpu] = self._received.get(cpu, 0) + count
        self._settle(cpu)

    def beat(self, beat: Beat) -> None:
        """The agent's word on every CPU."""
        for cpu, row in enumerate(beat.cpus):
            waiting = self._open.setdefault(cpu, deque(maxlen=MAX_OPEN_BEATS))
            waiting.append((row.bytes_sent, row.empty_at_ns))
            self._settle(cpu)

    def complete_ns(self, cpu: int) -> int:
        """This CPU is complete up to this guest time; 0 before its first beat."""
        return self._complete.get(cpu, 0)

    @property
    def watermark_ns(self) -> int:
        """Every CPU is complete up to this guest time; 0 before the first beat."""
        if not self._open:
            return 0
        return min(self._complete.get(cpu, 0) for cpu in self._open)

    @property
    def missing_bytes(self) -> int:
        """Bytes that were sent, by the newest beat, and are not here."""
        return sum(
            max(0, waiting[-1][0] - self._received.get(cpu, 0))
            for cpu, waiting in self._open.items()
            if waiting
        )

    def _settle(self, cpu: int) -> None:
        waiting, here = self._open.get(cpu), self._received.get(cpu, 0)
        while waiting and waiting[0][0] <= here:
            self._complete[cpu] = max(self._complete.get(cpu, 0), waiting.popleft()[1])
