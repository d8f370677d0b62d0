# SPDX-License-Identifier: GPL-2.0-or-later
"""Which threads of a lane are drawn, under which names, in which rows. Pure."""

from __future__ import annotations

from duet.session.program import Program
from duet.session.reduce_binding import OTHER, THREAD, Loop
from duet.session.tables import Role, Row


class Rows:
    """The rows of one lane.

    Args:
        program: says which names are threads and others, and which tracks there are.
        loop: is given the row of each thread and track.
        reserved: rows for threads of the workload, where it is known how many will come.
    """

    def __init__(self, program: Program, loop: Loop, reserved: int) -> None:
        self._p = program
        self._loop = loop
        self._reserved = reserved
        self._names: dict[int, str] = {}
        self._started = False
        self._rows: list[Row] = []
        self._changed = False
        self._track_rows: dict[int, int] = {}

    @property
    def all(self) -> tuple[Row, ...]:
        """All rows so far."""
        return tuple(self._rows)

    def changed(self) -> tuple[Row, ...] | None:
        """All rows, if they are others than at the last call."""
        was, self._changed = self._changed, False
        return self.all if was else None

    def track_events(self, row: int) -> frozenset[str]:
        """The event types that a track's row is drawn from."""
        track = self._track_rows.get(row)
        return frozenset() if track is None else self._p.tracks[track].events

    def name(self, tid: int, text: str) -> None:
        """An event says a thread's name; the first one with a role is the thread's for good."""
        if self._role(self._names.get(tid)):
            return
        self._names[tid], role = text, self._role(text)
        self._loop.know(tid, role)
        if self._started and self._is_numbered(text):
            self.place_thread(tid)
        elif self._started and role & OTHER:
            self._append_row(tid, "other")

    def _is_numbered(self, text: str) -> bool:
        found = self._p.rows.match(text)
        return found is not None and bool(found.groups())

    def _role(self, text: str | None) -> int:
        if text is None:
            return 0
        thread = THREAD if self._p.rows.match(text) else 0
        return thread | (OTHER if text == self._p.other else 0)

    def start(self, ts: int) -> None:
        """The start marker: time begins here, and the rows that are known are given out."""
        self._loop.start(ts)
        self._started = True
        alive = {tid: self._names[tid] for tid, gone, _ in self._loop.threads() if not gone}
        self._rows = [Row(number, 0, "", "thread") for number in range(self._reserved)]
        numbers = {t: m for t, n in alive.items() if (m := self._p.rows.match(n)) and m.groups()}
        for tid in sorted(numbers, key=lambda tid: (_order(numbers[tid].group(1)), tid)):
            self.place_thread(tid)
        for tid, name in alive.items():
            if name == self._p.other and tid not in numbers:
                self._append_row(tid, "other")
        for number, track in enumerate(self._p.tracks):
            self._track_rows[len(self._rows)] = number
            self._loop.place_track(number, len(self._rows))
            self._rows.append(Row(len(self._rows), -1, track.name, "track"))
        self._changed = True

    def _append_row(self, tid: int, role: Role) -> None:
        row = len(self._rows)
        self._rows.append(Row(row, tid, self._names[tid], role))
        self._loop.place(tid, row)
        self._changed = True

    def place_thread(self, tid: int) -> None:
        """Give a thread the row of its number if that is free, else the first free one."""
        free = [row.row for row in self._rows if row.role == "thread" and row.tid == 0]
        if not free:
            self._append_row(tid, "thread")
            return
        found = self._p.rows.match(self._names[tid])
        own = _order(found.group(1))[0] if found and found.groups() else -1
        row = own if own in free else free[0]
        self._rows[row] = Row(row, tid, self._names[tid], "thread")
        self._loop.place(tid, row)
        self._changed = True


def _order(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 30, text)
