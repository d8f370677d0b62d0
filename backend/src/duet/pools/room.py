# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of this machine leases have, and who waits for more, in the order of arrival."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from duet.pools.limits import RETRY_S
from duet.pools.types import Refusal, Want


@dataclass(frozen=True, slots=True)
class Size:
    """Of a machine or of a lease.

    Args:
        cpus: that this process may use.
        memory_bytes: of the machine, whatever uses it at the moment.
    """

    cpus: int
    memory_bytes: int

    @classmethod
    def of_machine(cls) -> Size:
        """What leases may have together."""
        return cls(len(os.sched_getaffinity(0)), psutil.virtual_memory().total)

    @classmethod
    def of(cls, want: Want) -> Size:
        """What a lease needs at one time."""
        at_once = want.lanes_at_once
        return cls(at_once * want.vcpus, at_once * want.memory_bytes)


@dataclass(slots=True)
class Room:
    """Counts what is taken.

    Args:
        whole: of the machine.
    """

    whole: Size
    _taken: dict[object, tuple[Size, float]] = field(default_factory=dict)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def never(self, size: Size) -> Refusal | None:
        """Why the machine cannot have it at all."""
        if size.cpus > self.whole.cpus:
            return Refusal(f"{size.cpus} CPUs are wanted, and this machine has {self.whole.cpus}.")
        if size.memory_bytes > self.whole.memory_bytes:
            wanted, has = size.memory_bytes >> 20, self.whole.memory_bytes >> 20
            return Refusal(f"{wanted:,} MiB of memory are wanted, and this machine has {has:,}.")
        return None

    async def take(
        self, owner: object, want: Want, also: Callable[[], str] = lambda: ""
    ) -> Refusal | None:
        """Take what a lease needs, in the order of arrival; waits `want.within_s` at most.

        Args:
            also: takes what else is needed, or says why it cannot.
        """
        size = Size.of(want)
        why = "others have their turn before"
        try:
            async with asyncio.timeout(max(want.within_s, 0.001)), self._turn:
                while why := self._short_of(size) or also():
                    self._freed.clear()
                    with contextlib.suppress(TimeoutError):  # also() may wait for what others have
                        await asyncio.wait_for(self._freed.wait(), RETRY_S)
                self._taken[owner] = (size, time.monotonic() + want.ttl_s)
                return None
        except TimeoutError:
            sentence = f"nothing became free within {want.within_s:g} s: {why}."
            return Refusal(sentence, self._estimate_s())

    def give(self, owner: object) -> None:
        """Return it."""
        self._taken.pop(owner, None)
        self._freed.set()

    def _short_of(self, size: Size) -> str:
        cpus = self.whole.cpus - sum(taken.cpus for taken, _ in self._taken.values())
        memory = self.whole.memory_bytes - sum(t.memory_bytes for t, _ in self._taken.values())
        if size.cpus > cpus:
            return f"{size.cpus} CPUs are wanted, and {cpus} of {self.whole.cpus} are free"
        if size.memory_bytes > memory:
            return f"{size.memory_bytes >> 20:,} MiB are wanted, and {memory >> 20:,} are free"
        return ""

    def _estimate_s(self) -> float | None:
        """Until the next lease ends at the latest."""
        ends = [until for _, until in self._taken.values()]
        return max(0.0, min(ends) - time.monotonic()) if ends else None
