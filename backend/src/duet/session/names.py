# SPDX-License-Identifier: GPL-2.0-or-later
"""Which threads have names of the workload, and which event says so first. Pure.

A thread has its name from that event on and no sooner. What events that come later say does not
count for earlier ones: it would make a difference which of them are here already, and a replay
gets them in other pieces than the live run did.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from duet.decode.columns import CpuColumns, Table
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, Program

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
