# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and rows of the reference implementation, by other means than duet.session.reduce.

Names come from a list of all that was said; rows are worked out anew, from the list of who came,
whenever somebody asks. Nothing is taken over from one question to the next.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field

from duet.decode.decoder import CpuColumns
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, Program
from duet.session.tables import Role, Row
from tests.backend.session.slow.slow_merge import Naming

NAMING = (
    (SWITCH_EVENT, "prev_pid", "prev_comm"),
    (SWITCH_EVENT, "next_pid", "next_comm"),
    (WAKING_EVENT, "pid", "comm"),
)
"""Columns that name a thread."""


def text_of(comm: bytes) -> str:
    """A thread's name as text."""
    return comm.decode(errors="replace")


def rank(number: str) -> tuple[bool, int, str]:
    """Order of what stands for a number in a name: numbers by value, then other texts."""
    return (False, int(number), "") if number.isdecimal() else (True, 0, number)


@dataclass(slots=True)
class Names:
    """Names of the workload's threads, in the order in which they were first named."""

    program: Program
    of: dict[int, bytes] = field(default_factory=dict)
    said: list[bytes] = field(default_factory=list)
    """By number of the naming."""
    pairs: list[tuple[int, int, bytes]] = field(default_factory=list)

    def has_role(self, comm: bytes) -> bool:
        """A thread with such a name gets a row; it keeps the name, whatever later events say."""
        name = text_of(comm)
        return name == self.program.other or re.match(self.program.rows, name) is not None

    def find(self, part: CpuColumns) -> list[Naming]:
        """Events of a part that say a name for the first time on their CPU."""
        if self.program.running < 0:
            return []  # no kinds, no threads to draw
        wanted = re.compile(fnmatch.translate(self.program.comm))
        found = []
        for event, tids, comms in NAMING:
            if (table := part.tables.get(event)) is None:
                continue
            columns = (table.ts_ns, table.seq, table.columns[tids], table.columns[comms])
            for ts, seq, tid, comm in zip(*(x.tolist() for x in columns), strict=True):
                if tid and wanted.match(text_of(comm)):
                    found.append(Naming(ts, seq, tid, len(self.said)))
                    self.said.append(comm)
        first = []
        for naming in sorted(found):
            pair = (part.cpu, naming.tid, self.said[naming.number])
            if pair not in self.pairs:
                self.pairs.append(pair)
                first.append(naming)
        return first

    def learn(self, tid: int, number: int) -> bool:
        """What an event says of a thread; whether that is news."""
        known, comm = self.of.get(tid), self.said[number]
        if known is not None and (comm == known or self.has_role(known)):
            return False
        self.of[tid] = comm
        return True


@dataclass(slots=True)
class Rows:
    """Who has which row.

    The first `reserved` rows are for threads of the workload: each takes the one of its number,
    else the first that is free. All others, and threads for whom none is left, come behind in the
    order of arrival.
    """

    program: Program
    reserved: int
    started: bool = False
    came: list[tuple[Role, int, str]] = field(default_factory=list)
    reported: tuple[Row, ...] | None = None

    def arrive(self, role: Role, tid: int, name: str) -> int:
        """Somebody comes; its row."""
        before = len(self.came)
        self.came.append((role, tid, name))
        return self.places()[before]

    def places(self) -> list[int]:
        """The rows of all who came, in their order."""
        places: list[int] = []
        for role, _, name in self.came:
            free = [number for number in range(self.reserved) if number not in places]
            behind = max([self.reserved - 1, *places]) + 1
            if role == "thread" and free:
                found = self.program.rows.match(name)
                numbers = [rank(one) for one in (found.groups() if found else ())[:1]]
                own = [number for text, number, _ in numbers if not text and number in free]
                places.append(own[0] if own else free[0])
            else:
                places.append(behind)
        return places

    def all(self) -> tuple[Row, ...]:
        """Every row; reserved ones that nobody took have the thread 0."""
        if not self.started:
            return ()
        taken = dict(zip(self.places(), self.came, strict=True))
        count = max([self.reserved - 1, *taken]) + 1
        nobody: tuple[Role, int, str] = ("thread", 0, "")
        whose = [(number, *taken.get(number, nobody)) for number in range(count)]
        return tuple(Row(number, tid, name, role) for number, role, tid, name in whose)

    def changed(self) -> tuple[Row, ...] | None:
        """All rows if they are not those of the last time, else None."""
        now = self.all()
        if not self.started or now == self.reported:
            return None
        self.reported = now
        return now
