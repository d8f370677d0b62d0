# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference model of CPUs' accesses to shared cache lines: a coherence protocol and two schedules.

This model is slow and simple. The page computes the same model with typed arrays (the lesson's
`view/model`). This implementation is independent: it stores a state per CPU and line, and events in
a heap. Random numbers and arithmetic are the same, so complete results can be compared.
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from duet.base.errors import InputError
from duet.base.settings import repo_root

READ: Final = 0
NOBODY: Final = 255

TAKE, COME, RUN = range(3)
"""Kinds of a CPU's events: its request reaches the line's holders, the line arrives, its next
access is due.
"""

HIT, READ_FETCH, READ_TRANSFER, UPGRADE, WRITE_FETCH, WRITE_TRANSFER = range(6)

Protocol = Literal["MESI", "MSI"]
Schedule = Literal["random", "timed"]
Until = Literal["first", "last"]


@dataclass(frozen=True)
class Stream:
    """One CPU's accesses in program order.

    Args:
        line: index of the line, from 0.
        kind: 0 read, 1 write, 2 read-modify-write.
        op: number of the operation; 0 outside of operations.
        work: share of the operation's private work before the access.
        part: the access's part of the profile, from 1; 0 if it has none.
    """

    line: Sequence[int]
    kind: Sequence[int]
    op: Sequence[int]
    work: Sequence[float]
    part: Sequence[int]


@dataclass(frozen=True)
class Settings:
    """The model's numbers, each of which stated.json explains."""

    hit_ns: float
    transfer_ns: float
    upgrade_ns: float
    own_ns: float
    jitter: float
    handover: float
    protocol: Protocol = "MESI"
    schedule: Schedule = "timed"


@dataclass(frozen=True)
class Merged:
    """One order of all accesses, as the sequence of their CPUs.

    Args:
        ops: number of operations whose last access is in the order.
        end_ns: time at which the last access was done; None if times are not modelled.
        access_ns: for each access, the time from when it is due until it is done; empty if times
            are not modelled.
        own_ns: time of the private work before the finished accesses, of all CPUs together.
    """

    cpu: list[int]
    ops: int
    end_ns: float | None
    access_ns: list[float] = field(default_factory=list)
    own_ns: float = 0.0


class Random:
    """The mulberry32 generator: the model's only source of randomness."""

    def __init__(self, seed: int) -> None:
        self._state = seed & 0xFFFFFFFF

    def next(self) -> int:
        """Return the next integer in [0, 2^32)."""
        self._state = a = (self._state + 0x6D2B79F5) & 0xFFFFFFFF
        t = (a ^ (a >> 15)) * (a | 1) & 0xFFFFFFFF
        t = ((t + ((t ^ (t >> 7)) * (t | 61))) & 0xFFFFFFFF) ^ t
        return t ^ (t >> 14)

    def unit(self) -> float:
        """Return the next number in [0, 1)."""
        return self.next() / 4294967296

    def below(self, n: int) -> int:
        """Return the next integer in [0, n)."""
        return self.next() * n >> 32


class Caches:
    """State of each CPU's copy of each line: M, E, S, or no copy."""

    def __init__(self, lines: int, protocol: Protocol) -> None:
        self.copies: list[dict[int, str]] = [{} for _ in range(lines)]
        self._latest = [NOBODY] * lines
        self._alone = "E" if protocol == "MESI" else "S"

    def hits(self, cpu: int, line: int, kind: int) -> bool:
        """Return whether the access needs no other cache and no memory."""
        mine = self.copies[line].get(cpu)
        return mine is not None and (kind == READ or mine in "ME")

    def access(self, cpu: int, line: int, kind: int) -> tuple[int, int, int]:
        """Perform one access.

        Return its kind, the CPU that gave the data, and the number of copies lost.
        """
        copies = self.copies[line]
        mine = copies.get(cpu)
        if self.hits(cpu, line, kind):
            if kind != READ:
                copies[cpu] = "M"
            return HIT, NOBODY, 0
        giver = self._latest[line] if copies else NOBODY
        self._latest[line] = cpu
        if kind == READ:
            if not copies:
                copies[cpu] = self._alone
                return READ_FETCH, NOBODY, 0
            for other in copies:
                copies[other] = "S"
            copies[cpu] = "S"
            return READ_TRANSFER, giver, 0
        lost = len(copies) - (mine is not None)
        copies.clear()
        copies[cpu] = "M"
        if mine is not None:
            return UPGRADE, NOBODY, lost
        return (WRITE_TRANSFER, giver, lost) if lost else (WRITE_FETCH, NOBODY, 0)


def interleave(streams: Sequence[Stream], settings: Settings, seed: int, until: Until) -> Merged:
    """Return one order of the accesses, up to the end of the first stream or of all streams.

    The schedule `random` picks each next CPU at random among the CPUs with accesses left. All these
    CPUs are equally likely. The schedule `timed` uses Timed.
    """
    if until == "first" and not all(stream.op for stream in streams):
        return Merged([], 0, None if settings.schedule == "random" else 0)
    if settings.schedule == "timed":
        return Timed(streams, settings, seed).merged(until)
    chance = Random(seed)
    left = [len(stream.op) for stream in streams]
    ready = [c for c, n in enumerate(left) if n]
    order = []
    while ready:
        at = chance.below(len(ready))
        cpu = ready[at]
        order.append(cpu)
        left[cpu] -= 1
        if not left[cpu]:
            if until == "first":
                break
            del ready[at]
    return Merged(order, _ended(streams, order), None)


def _ended(streams: Sequence[Stream], order: Sequence[int]) -> int:
    """Count the operations whose last access is in the order."""
    done = [0] * len(streams)
    for cpu in order:
        done[cpu] += 1
    return sum(
        sum(
            1
            for i in range(n)
            if s.op[i] and (i + 1 == len(s.op) or s.op[i + 1] != s.op[i])
        )
        for s, n in zip(streams, done, strict=True)
    )  # fmt: skip


class Timed:
    """Schedules accesses by the time that each access takes.

    A hit takes hit_ns. Any other access is a request to its line. The line serves one request at a
    time, in order of arrival. If two requests arrive at the same time, the CPU with the lower
    number is served first. A request takes upgrade_ns if its CPU still has a copy of the line when
    the service begins, and otherwise transfer_ns. After the fraction `handover` of that time,
    copies change. At the end of that time, the CPU continues. Private work between accesses is
    varied by `jitter`.
    """

    def __init__(self, streams: Sequence[Stream], settings: Settings, seed: int) -> None:
        self._streams, self._settings = streams, settings
        self._chance = Random(seed)
        lines = max((max(s.line, default=-1) for s in streams), default=-1) + 1
        self._caches = Caches(lines, settings.protocol)
        self._queues: list[deque[int]] = [deque() for _ in range(lines)]
        self._busy = [False] * lines
        self._at = [0] * len(streams)
        self._due: list[tuple[float, int, int]] = []
        self._since = [0.0] * len(streams)
        self._before = [0.0] * len(streams)

    def merged(self, until: Until) -> Merged:
        settings, at = self._settings, self._at
        for cpu, stream in enumerate(self._streams):
            start = settings.own_ns * self._chance.unit()
            if stream.op:
                self._push(start + self._work(cpu), cpu, RUN)
        order: list[int] = []
        places = [0] * len(self._streams)
        took: list[float] = []
        end = own = 0.0
        for now, cpu, what in self._events():
            stream = self._streams[cpu]
            line, kind = stream.line[at[cpu]], stream.kind[at[cpu]]
            done = now
            if what == TAKE:
                self._caches.access(cpu, line, kind)
                places[cpu] = len(order)
                order.append(cpu)
                took.append(0.0)
                continue
            if what == COME:
                self._busy[line] = False
                if self._queues[line]:
                    self._serve(self._queues[line].popleft(), line, now)
            elif self._caches.hits(cpu, line, kind):
                self._caches.access(cpu, line, kind)
                self._since[cpu] = now
                places[cpu] = len(order)
                order.append(cpu)
                took.append(0.0)
                done = now + settings.hit_ns
            else:
                self._since[cpu] = now
                if self._busy[line]:
                    self._queues[line].append(cpu)
                else:
                    self._serve(cpu, line, now)
                continue
            end = max(end, done)
            took[places[cpu]] = done - self._since[cpu]
            own += self._before[cpu]
            at[cpu] += 1
            if at[cpu] < len(stream.op):
                self._push(done + self._work(cpu), cpu, RUN)
            elif until == "first":
                break
        return Merged(order, _ended(self._streams, order), end, took, own)

    def _events(self) -> Iterator[tuple[float, int, int]]:
        while self._due:
            yield heapq.heappop(self._due)

    def _push(self, time: float, cpu: int, what: int) -> None:
        heapq.heappush(self._due, (time, cpu, what))

    def _work(self, cpu: int) -> float:
        share = self._streams[cpu].work[self._at[cpu]]
        s = self._settings
        work = 0.0
        if share != 0:
            work = s.own_ns * share * (1 + s.jitter * (2 * self._chance.unit() - 1))
        self._before[cpu] = work
        return work

    def _serve(self, cpu: int, line: int, now: float) -> None:
        s = self._settings
        takes = s.upgrade_ns if cpu in self._caches.copies[line] else s.transfer_ns
        self._busy[line] = True
        self._push(now + takes * s.handover, cpu, TAKE)
        self._push(now + takes, cpu, COME)


# Reads the model's numbers and their sources from stated.json, which the page also reads.


STATED: Final = "lessons/*/view/model/stated.json"
"""The file next to the page's model, in the model's lesson."""
SHARES: Final = ("handover", "jitter")
"""Names of numbers that are at most 1."""
NUMBERS: Final = ("hit_ns", "transfer_ns", "upgrade_ns", "own_ns", *SHARES)


@cache
def stated() -> dict[str, Any]:
    """Return the numbers with their sources, the mail's rates, and what the model is known to omit.

    Raises:
        InputError: no lesson has the file.
    """
    tree: dict[str, Any] = json.loads(stated_file().read_text(encoding="utf-8"))
    return tree


def stated_file() -> Path:
    """Return the file of stated().

    Raises:
        InputError: no lesson has the file.
    """
    for file in sorted(repo_root().glob(STATED)):
        return file
    raise InputError(
        "no lesson has the numbers of the cache-line model.",
        remedy=f"Add the lesson whose folder has {STATED.partition('*/')[2]}.",
    )


def stated_settings() -> Settings:
    """Return the model's settings, taken from the stated numbers."""
    return Settings(**{name: stated()["stated"][name]["value"] for name in NUMBERS})


def part_numbers() -> dict[str, int]:
    """Return function -> number of the function's part of the profile, from 1."""
    parts = enumerate(stated()["profile"]["parts"], start=1)
    return {name: number for number, part in parts for name in part["functions"]}
