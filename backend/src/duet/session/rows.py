# SPDX-License-Identifier: GPL-2.0-or-later
"""Which threads of a lane are drawn, under which names, in which rows. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase

from duet.decode.columns import CpuColumns
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, Program
from duet.session.reduce_binding import OTHER, THREAD, Loop, Out
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
        self._names: dict[int, bytes] = {}
        self._ours: dict[bytes, bool] = {}
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

    def learn_names(self, part: CpuColumns) -> None:
        if self._p.running < 0:
            return  # no kinds, no threads to draw
        pairs: dict[int, bytes] = {}
        for event, tid, comm in (
            (SWITCH_EVENT, "prev_pid", "prev_comm"),
            (SWITCH_EVENT, "next_pid", "next_comm"),
            (WAKING_EVENT, "pid", "comm"),
        ):
            if table := part.tables.get(event):
                columns = table.columns
                pairs.update(zip(columns[tid].tolist(), columns[comm].tolist(), strict=True))
        for number, name in pairs.items():
            known = self._names.get(number)
            if name != known and number and self._is_ours(name) and not self._role(known):
                self._names[number] = name
                self._loop.know(number, self._role(name))

    def _is_ours(self, name: bytes) -> bool:
        if name not in self._ours:
            self._ours[name] = fnmatchcase(name.decode(errors="replace"), self._p.comm)
        return self._ours[name]

    def _role(self, name: bytes | None) -> int:
        """A hog keeps its name, though an older event on another CPU may still tell another."""
        if name is None:
            return 0
        text = name.decode(errors="replace")
        thread = THREAD if self._p.rows.match(text) else 0
        return thread | (OTHER if text == self._p.other else 0)

    def _name(self, tid: int) -> str:
        return self._names[tid].decode(errors="replace")

    def start(self, ts: int) -> None:
        """The start marker: time begins here, and the rows that are known are given out."""
        self._loop.start(ts)
        alive = {tid: self._name(tid) for tid, gone, _ in self._loop.threads() if not gone}
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
        self._loop.rows_are(len(self._rows))
        self._changed = True

    def _append_row(self, tid: int, role: Role) -> None:
        row = len(self._rows)
        self._rows.append(Row(row, tid, self._name(tid), role))
        self._loop.place(tid, row)
        self._loop.rows_are(len(self._rows))
        self._changed = True

    def place_thread(self, tid: int) -> None:
        """Give a thread the row of its number if that is free, else the first free one."""
        free = [row.row for row in self._rows if row.role == "thread" and row.tid == 0]
        if not free:
            self._append_row(tid, "thread")
            return
        found = self._p.rows.match(self._name(tid))
        own = _order(found.group(1))[0] if found and found.groups() else -1
        row = own if own in free else free[0]
        self._rows[row] = Row(row, tid, self._name(tid), "thread")
        self._loop.place(tid, row)
        self._changed = True

    def place_others(self) -> None:
        """Give others that came after the start the rows that follow."""
        (tids,) = self._loop.take(Out.OTHERS, ("<i8",))
        for tid in tids.tolist():
            self._rows.append(Row(len(self._rows), tid, self._name(tid), "other"))
            self._changed = True


def _order(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 30, text)
