# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns of all CPUs become one stream in time order, up to a watermark. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.decode.decoder import CpuColumns, LostEvents, Table
from duet.session.program import MAX_ARGS, PRINT_EVENT, SWITCH_EVENT, WAKING_EVENT, Act, Program

# Which threads have names of the workload, and which event says so first. Pure.
#
# A thread has its name from that event on and no sooner. What events that come later say does not
# count for earlier ones: it would make a difference which of them are here already, and a replay
# gets them in other pieces than the live run did.

NAMING = (
    (SWITCH_EVENT, "prev_pid", "prev_comm"),
    (SWITCH_EVENT, "next_pid", "next_comm"),
    (WAKING_EVENT, "pid", "comm"),
)
"""Columns that name a thread."""
Pair = tuple[int, bytes]
"""A thread and a name."""


class Naming(NamedTuple):
    """The first event of a CPU that says a name of a thread.

    Args:
        number: of the name in `Names.texts`.
    """

    ts_ns: int
    seq: int
    tid: int
    number: int


class Names:
    """Finds names in decoded columns."""

    def __init__(self, program: Program) -> None:
        self._p = program
        self._numbers: dict[bytes, int] = {}
        """-1: a name of nobody in the workload."""
        self._seen: dict[int, set[Pair]] = {}
        self.texts: list[str] = []

    def find(self, part: CpuColumns) -> list[Naming]:
        """What a part says for the first time on its CPU, in order."""
        if self._p.running < 0:
            return []  # no kinds, no threads to draw
        seen = self._seen.setdefault(part.cpu, set())
        found: dict[Pair, Naming] = {}
        others: set[Pair] = set()
        for event, tid, comm in NAMING:
            if table := part.tables.get(event):
                for pair, row in _first_rows(table, tid, comm, seen).items():
                    number = self._number(pair[1])
                    if pair[0] == 0 or number < 0:
                        others.add(pair)
                        continue
                    naming = Naming(int(table.ts_ns[row]), int(table.seq[row]), pair[0], number)
                    found[pair] = min(naming, found.get(pair, naming))
        seen |= others | found.keys()
        return sorted(found.values(), key=lambda one: (*one[:3], self.texts[one.number]))

    def _number(self, name: bytes) -> int:
        if name not in self._numbers:
            text = name.decode(errors="replace")
            ours = fnmatchcase(text, self._p.comm)
            self._numbers[name] = len(self.texts) if ours else -1
            if ours:
                self.texts.append(text)
        return self._numbers[name]


def _first_rows(table: Table, tid: str, comm: str, but: set[Pair]) -> dict[Pair, int]:
    """The first row of each thread and name, without those of a set; no loop over rows."""
    columns = table.columns
    pairs: list[Pair] = list(zip(columns[tid].tolist(), columns[comm].tolist(), strict=True))
    new = set(pairs) - but
    if not new:
        return {}
    first = dict(zip(reversed(pairs), range(len(pairs) - 1, -1, -1), strict=True))
    return {pair: first[pair] for pair in new}


Ints = NDArray[np.int64]
Acts = tuple[tuple[tuple[Act, int], ...], ...]
LAST_SEQ = 1 << 62
"""Losses sort behind all events of their CPU at the same time."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Events in order: by time, then CPU, then the CPU's own order (never against it)."""

    ts: Ints
    cpu: Ints
    seq: Ints
    code: Ints
    pid: Ints
    a: Ints
    b: Ints
    c: Ints

    def __len__(self) -> int:
        return len(self.ts)

    def pick(self, places: NDArray[np.generic] | slice) -> Stream:
        """The rows at these places (indices, a mask or a slice)."""
        return Stream(*(getattr(self, name)[places] for name in Stream.__slots__))

    @staticmethod
    def join(parts: Iterable[Stream]) -> Stream:
        """All parts behind one another."""
        held = list(parts)
        return Stream(
            *(np.concatenate([getattr(p, name) for p in held]) for name in Stream.__slots__)
        )


class Merger:
    """Holds what lies beyond the watermark until it is complete."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loss_code = len(program.acts)
        self._name_code = self._loss_code + 1
        self._held: list[Stream] = []
        self._ripe: Stream | None = None

    @property
    def ripe_left(self) -> bool:
        """Events within the last watermark are left, since `take` was limited."""
        return self._ripe is not None

    @property
    def held(self) -> int:
        """Events that wait for the watermark."""
        return sum(len(part) for part in self._held)

    def add(self, columns: CpuColumns) -> None:
        """Take the events that the program knows; others are none of its business."""
        for name, table in columns.tables.items():
            code = self._program.codes.get(name)
            if code is not None:
                self._held.append(self._flat(columns.cpu, name, code, table))
        if columns.losses:
            self._held.append(self._losses(columns.losses))

    def add_names(self, cpu: int, names: Sequence[Naming]) -> None:
        """Take names of threads, before the columns that say them.

        Each is then worked on right before the event that says it, since the order is stable.
        """
        if names:
            ts, seq, tid, number = np.array(names, np.int64).T
            zeros = np.zeros(len(names), np.int64)
            code = zeros + self._name_code
            self._held.append(Stream(ts, zeros + cpu, seq, code, zeros, tid, number, zeros))

    def take(self, watermark_ns: int, limit: int) -> Stream | None:
        """Events up to and with the watermark, in order, at most `limit`; None if there are none.

        What a former call left comes first.
        """
        ripe = self._ripe or self._ripen(watermark_ns)
        if ripe is not None and len(ripe) > limit:
            self._ripe = ripe.pick(slice(limit, None))
            return ripe.pick(slice(0, limit))
        self._ripe = self._ripen(watermark_ns)
        return ripe

    def _ripen(self, watermark_ns: int) -> Stream | None:
        if not self._held:
            return None
        if all(int(part.ts.min()) > watermark_ns for part in self._held if len(part)):
            return None  # what waits is not joined at every step
        whole = Stream.join(self._held)
        ripe = whole.ts <= watermark_ns
        if not ripe.any():
            self._held = [whole]
            return None
        if ripe.all():
            self._held = []
        else:
            self._held = [whole.pick(~ripe)]
            whole = whole.pick(ripe)
        return whole.pick(np.lexsort((whole.seq, whole.cpu, whole.ts)))

    def _flat(self, cpu: int, name: str, code: int, table: Table) -> Stream:
        n = len(table)
        if name == PRINT_EVENT:
            cells = [self._is_marker(table)]
        else:
            cells = [
                table.columns[field].astype(np.int64, copy=False)
                for field in self._program.args[code]
            ]
        cells += [np.zeros(n, np.int64)] * (MAX_ARGS - len(cells))
        return Stream(
            table.ts_ns,
            np.full(n, cpu, np.int64),
            table.seq,
            np.full(n, code, np.int64),
            table.pid.astype(np.int64),
            *cells,
        )

    def _is_marker(self, table: Table) -> Ints:
        wanted = self._program.start_marker.encode()
        texts = table.columns["buf"].tolist()
        return np.array([text.strip() == wanted for text in texts], np.int64)

    def _losses(self, losses: tuple[LostEvents, ...]) -> Stream:
        def column(values: Iterable[int]) -> Ints:
            return np.fromiter(values, np.int64, len(losses))

        zeros = np.zeros(len(losses), np.int64)
        return Stream(
            column(loss.t0_ns for loss in losses),
            column(loss.cpu for loss in losses),
            zeros + LAST_SEQ,
            zeros + self._loss_code,
            zeros,
            column(loss.t1_ns for loss in losses),
            column(-1 if loss.count is None else loss.count for loss in losses),
            zeros,
        )


def own_acts() -> Acts:
    """The acts behind a loss and a name, whose codes follow those of the program."""
    return ((Act.LOSS, 0),), ((Act.NAME, 0),)
