# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference implementation of the order of events and points, with numpy.

It merges the columns of all CPUs into one stream, ordered by time up to a watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.decode.decoder import CpuColumns, LostEvents, Table
from duet.session.program import MAX_ARGS, PRINT_EVENT, PointRule, Program
from duet.session.tables import TABLES, Columns


class Naming(NamedTuple):
    """The first event of a CPU that gives a thread a name.

    Args:
        number: index of the name in `Names.said`.
    """

    ts_ns: int
    seq: int
    tid: int
    number: int


Ints = NDArray[np.int64]
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


FIELD_COLUMNS = "abcdef"


class PointSorter:
    """Holds points until the watermark has passed them, and returns them sorted by time."""

    def __init__(self, rules: Sequence[PointRule]) -> None:
        self._rules: dict[str, list[PointRule]] = {}
        for rule in rules:
            self._rules.setdefault(rule.event, []).append(rule)
        self._held: list[Columns] = []
        self._given = 0

    def add(self, columns: CpuColumns) -> None:
        """Add the events that are points, and ignore others."""
        for event, rules in self._rules.items():
            if table := columns.tables.get(event):
                self._held += [_cells(columns.cpu, table, rule) for rule in rules]

    def take_points(self, origin_ns: int, watermark_ns: int) -> tuple[Columns, int]:
        """Remove the points up to and including the watermark.

        Return their columns and their number.

        Points before the start marker belong to the setup, and are dropped.
        """
        ripe: list[Columns] = []
        waiting: list[Columns] = []
        for part in self._held:
            # A CPU writes in order of time. Slices avoid copying the waiting points at every step.
            begin, end = np.searchsorted(part["ts"], (origin_ns, watermark_ns + 1)).tolist()
            if begin < end:
                ripe.append({name: column[begin:end] for name, column in part.items()})
            if end < len(part["ts"]):
                waiting.append({name: column[end:] for name, column in part.items()})
        self._held = waiting
        if not ripe:
            return {}, 0
        cells = {name: np.concatenate([part[name] for part in ripe]) for name in ripe[0]}
        n = len(cells["ts"])
        order = np.lexsort((cells["seq"], cells["cpu"], cells["ts"]))
        cells["t_ns"] = cells["ts"].astype(np.int64) - origin_ns
        cells["id"] = np.empty(n, np.uint32)
        cells["id"][order] = np.arange(self._given + 1, self._given + n + 1)
        self._given += n
        types = TABLES["points"]
        return {name: cells[name][order].astype(dtype) for name, dtype in types.items()}, n


def _cells(cpu: int, table: Table, rule: PointRule) -> Columns:
    n = len(table)
    cells: Columns = {
        "ts": table.ts_ns,
        "seq": table.seq,
        "kind": np.full(n, rule.kind, np.uint8),
        "cpu": np.full(n, cpu, np.int16),
        "tid": table.pid,
    }
    for place, name in enumerate(FIELD_COLUMNS):
        field = rule.fields[place] if place < len(rule.fields) else None
        cells[name] = table.columns[field].astype(np.float64) if field else np.zeros(n)
    return cells
