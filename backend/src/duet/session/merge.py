# SPDX-License-Identifier: GPL-2.0-or-later
"""Merge the columns of all CPUs into one stream, ordered by time up to a watermark. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.decode.decoder import CpuColumns, LostEvents, Table
from duet.session.program import MAX_ARGS, PRINT_EVENT, SWITCH_EVENT, WAKING_EVENT, Act, Program

# The first event that names a thread of the workload. Pure.
#
# A thread's name applies from the event that gives the name, never to earlier events. Otherwise the
# result would depend on which pages have already arrived, and a replay would differ from the live
# run.

NAMING = (
    (SWITCH_EVENT, "prev_pid", "prev_comm"),
    (SWITCH_EVENT, "next_pid", "next_comm"),
    (WAKING_EVENT, "pid", "comm"),
)
"""(event, column of the thread's id, column of its name)."""
Pair = tuple[int, bytes]
"""A thread and a name."""


class Naming(NamedTuple):
    """The first event of a CPU that gives a thread a name.

    Args:
        number: index of the name in `Names.texts`.
    """

    ts_ns: int
    seq: int
    tid: int
    number: int


class Names:
    """Finds names of the workload's threads in decoded columns."""

    def __init__(self, program: Program) -> None:
        self._p = program
        self._numbers: dict[bytes, int] = {}
        """Name -> its index in `texts`; -1 if it is not a name of the workload."""
        self._seen: dict[int, set[Pair]] = {}
        self.texts: list[str] = []

    def find(self, part: CpuColumns) -> list[Naming]:
        """Return the names that occur for the first time on their CPU, in order of events."""
        if self._p.running < 0:
            return []  # without kinds, no threads are drawn
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
    """Return the first row of each (thread, name) pair not in `but`, without a loop over rows."""
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
"""Sequence number of losses. It sorts a loss after all events with the same CPU and time."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Events as columns. A merged stream is sorted by time, CPU and sequence number."""

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
        """Return the selected rows. `places` are indices, a mask or a slice."""
        return Stream(*(getattr(self, name)[places] for name in Stream.__slots__))

    @staticmethod
    def join(parts: Iterable[Stream]) -> Stream:
        """Concatenate the parts."""
        held = list(parts)
        return Stream(
            *(np.concatenate([getattr(p, name) for p in held]) for name in Stream.__slots__)
        )


class Merger:
    """Sorts events of all CPUs, and holds back events beyond the watermark."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loss_code = len(program.acts)
        self._name_code = self._loss_code + 1
        self._held: list[Stream] = []
        self._ripe: Stream | None = None

    @property
    def ripe_left(self) -> bool:
        """Whether `take_events` left events within the last watermark because of its limit."""
        return self._ripe is not None

    @property
    def held(self) -> int:
        """Number of events beyond the watermark."""
        return sum(len(part) for part in self._held)

    def add(self, columns: CpuColumns) -> None:
        """Add the events that the program uses, and ignore others."""
        for name, table in columns.tables.items():
            code = self._program.codes.get(name)
            if code is not None:
                self._held.append(self._flat(columns.cpu, name, code, table))
        if columns.losses:
            self._held.append(self._losses(columns.losses))

    def add_names(self, cpu: int, names: Sequence[Naming]) -> None:
        """Add names of threads. Call this before `add` for the columns that contain them.

        The sort is stable, so a name is processed right before its event.
        """
        if names:
            ts, seq, tid, number = np.array(names, np.int64).T
            zeros = np.zeros(len(names), np.int64)
            code = zeros + self._name_code
            self._held.append(Stream(ts, zeros + cpu, seq, code, zeros, tid, number, zeros))

    def take_events(self, watermark_ns: int, limit: int) -> Stream | None:
        """Remove and return the events up to and including the watermark, sorted; None if none.

        Args:
            limit: maximum number of events. A later call returns the remaining events first.
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
            return None  # joining all held parts at every step would be slow
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
    """Return the acts of the events LOSS and NAME. Their codes follow the codes of the program."""
    return ((Act.LOSS, 0),), ((Act.NAME, 0),)
