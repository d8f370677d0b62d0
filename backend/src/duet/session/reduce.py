# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 6. Columns of one lane become spans, operations, links and counts. Pure, incremental.

Times that leave here are nanoseconds since the start marker; what lies before it only tells
which thread was in which state, and is cut off at zero. After lost events every state is
unknown until an event tells it again: no span reaches over a loss.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from duet.decode.columns import CpuColumns
from duet.session.merge import Merger, Stream, loss_acts
from duet.session.points import PointSorter
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, Program
from duet.session.reduce_binding import OTHER, THREAD, Loop, Out, Why
from duet.session.tables import TABLES, Batch, Loss, Metrics, Quantiles, Role, Row

STEP_EVENTS = 25_000
"""A run that stays in the guest until its end comes in many steps."""


@dataclass(slots=True)
class Reduction:
    """What one step gave: batches (without empty ones, but always `open`), and changed rows.

    `more` says that events within the watermark are left: call again with the same one.
    """

    more: bool = False
    batches: list[Batch] = field(default_factory=list)
    rows: tuple[Row, ...] | None = None
    losses: list[Loss] = field(default_factory=list)


class LaneReducer:
    """The state of one lane.

    Args:
        program: the lesson, compiled for arm and workload.
        threads: rows to keep for threads of the workload, where it is known how many will come.
        step_events: most events worked on in one step.
    """

    def __init__(self, program: Program, threads: int = 0, step_events: int = STEP_EVENTS) -> None:
        self._p = program
        self._merger = Merger(program)
        self._points = PointSorter(program.points)
        self._loop = Loop(program, loss_acts())
        self._reserved = threads
        self._step_events = step_events
        self._names: dict[int, bytes] = {}
        self._ours: dict[bytes, bool] = {}
        self._rows: list[Row] = []
        self._rows_changed = False
        self._origin: int | None = None
        self._watermark = 0
        self._losses: list[Loss] = []
        self._waits: list[NDArray[np.generic]] = []
        self._op_times: list[NDArray[np.generic]] = []
        self._track_rows: dict[int, int] = {}
        self.events_read = 0
        self.events_missed = 0
        """Events that pages say are missing (where the kernel counted them)."""
        self.uncounted_losses = 0

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""
        return self._origin

    @property
    def held(self) -> int:
        """Events that wait for the watermark."""
        return self._merger.held

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows so far."""
        return tuple(self._rows)

    def feed(self, columns: Iterable[CpuColumns]) -> None:
        """Take decoded columns; they are worked on when the watermark has passed them."""
        for part in columns:
            self.events_read += part.events
            self._learn_names(part)
            self._merger.add(part)
            self._points.add(part)

    def advance(self, watermark_ns: int) -> Reduction:
        """Work on events up to a guest time at which every CPU is complete."""
        self._step(watermark_ns)
        if not self._merger.ripe_left:
            self._watermark = max(self._watermark, watermark_ns)
        return self._flush()

    def finish(self, watermark_ns: int = 0, *, drained: bool = False) -> Reduction:
        """Work on what is left, since nothing more will come.

        Args:
            watermark_ns: complete up to here, though the last event may be older.
            drained: the agent's last word covers all it sent. Then what lies beyond the watermark
                is the far end of a cut recording's last pages: other CPUs' pages of that time
                are gone, so it would tell half a story.
        """
        self._step(watermark_ns if drained and watermark_ns else 1 << 62)
        if not self._merger.ripe_left:
            self._watermark = max(self._watermark, watermark_ns)
        return self._flush()

    def _step(self, watermark_ns: int) -> None:
        stream = self._merger.take(watermark_ns, self._step_events)
        if stream is not None:
            self._run(stream)
            self._watermark = max(self._watermark, int(stream.ts[-1]))

    @property
    def watermark_ns(self) -> float:
        """Up to where events are complete, since the start marker."""
        return self._relative(self._watermark)

    def metrics(self, events_lost: int) -> Metrics:
        """Counts so far.

        Args:
            events_lost: from all who count losses (see losses.py).
        """
        kinds = zip(self._p.kinds, self._loop.counts(), strict=True)
        waits, op_times = _joined(self._waits), _joined(self._op_times)
        return Metrics(
            watermark_ns=self.watermark_ns,
            ops=len(waits),
            spans={name: count for name, count in kinds if count},
            cycles=self._loop.cycles,
            wait_ns=Quantiles.of(waits),
            op_ns=Quantiles.of(op_times),
            events_read=self.events_read,
            events_lost=events_lost,
        )

    def track_events(self, row: int) -> frozenset[str]:
        """The event types that a track's row is drawn from."""
        track = self._track_rows.get(row)
        return frozenset() if track is None else self._p.tracks[track].events

    def wait_samples(self) -> tuple[float, ...]:
        """The waiting time of every operation, in order of completion."""
        return tuple(_joined(self._waits).tolist())

    # names and rows

    def _learn_names(self, part: CpuColumns) -> None:
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

    def _start(self, ts: int) -> None:
        """The start marker: time begins here, and the rows that are known are given out."""
        self._origin = ts
        self._loop.start(ts)
        alive = {tid: self._name(tid) for tid, gone, _ in self._loop.threads() if not gone}
        self._rows = [Row(number, 0, "", "thread") for number in range(self._reserved)]
        numbers = {t: m for t, n in alive.items() if (m := self._p.rows.match(n)) and m.groups()}
        for tid in sorted(numbers, key=lambda tid: (_order(numbers[tid].group(1)), tid)):
            self._place_thread(tid)
        for tid, name in alive.items():
            if name == self._p.other and tid not in numbers:
                self._append_row(tid, "other")
        for number, track in enumerate(self._p.tracks):
            self._track_rows[len(self._rows)] = number
            self._loop.place_track(number, len(self._rows))
            self._rows.append(Row(len(self._rows), -1, track.name, "track"))
        self._loop.rows_are(len(self._rows))
        self._rows_changed = True

    def _append_row(self, tid: int, role: Role) -> None:
        row = len(self._rows)
        self._rows.append(Row(row, tid, self._name(tid), role))
        self._loop.place(tid, row)
        self._loop.rows_are(len(self._rows))
        self._rows_changed = True

    def _place_thread(self, tid: int) -> None:
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
        self._rows_changed = True

    # events

    def _run(self, stream: Stream) -> None:
        while True:
            why, about = self._loop.run(stream)
            self._take_others()
            if why is Why.DONE:
                break
            if why is Why.START:
                self._start(about)
            elif why is Why.PLACE:
                self._place_thread(about)
            else:
                self._lose(int(stream.ts[about]), int(stream.a[about]), int(stream.b[about]))
        waited, lasted = self._loop.take(Out.TIMES, ("<f8", "<f8"))
        if len(waited):
            self._waits.append(waited)
            self._op_times.append(lasted)

    def _take_others(self) -> None:
        """Others that came after the start have the rows that follow."""
        (tids,) = self._loop.take(Out.OTHERS, ("<i8",))
        for tid in tids.tolist():
            self._rows.append(Row(len(self._rows), tid, self._name(tid), "other"))
            self._rows_changed = True

    def _lose(self, t0: int, t1: int, count: int) -> None:
        """What was open when events were lost has ended there, seen or not."""
        if count < 0:
            self.uncounted_losses += 1
        else:
            self.events_missed += count
        times = self._relative(t0), self._relative(t1)
        self._losses.append(Loss(*times, count if count >= 0 else None, "ring buffer"))

    # results

    def _relative(self, ts: int) -> float:
        return float(max(0, ts - self._origin)) if self._origin is not None else 0.0

    def _flush(self) -> Reduction:
        result = Reduction(more=self._merger.ripe_left, losses=self._losses)
        self._losses = []
        if self._origin is None:
            return result
        mark = self._relative(self._watermark)
        for table, out in (("spans", Out.SPANS), ("ops", Out.OPS), ("links", Out.LINKS)):
            if self._loop.rows(out):
                result.batches.append(self._batch(table, out, mark))
        points, n = self._points.take(self._origin, self._watermark)
        if n:
            result.batches.append(Batch("points", points, n, mark))
        self._loop.still_open(mark)
        result.batches.append(self._batch("open", Out.OPEN, mark))
        if self._rows_changed:
            result.rows, self._rows_changed = self.rows, False
        return result

    def _batch(self, table: str, out: Out, mark: float) -> Batch:
        n, types = self._loop.rows(out), TABLES[table]
        columns = self._loop.take(out, tuple(types.values()))
        return Batch(table, dict(zip(types, columns, strict=True)), n, mark)


def _joined(parts: list[NDArray[np.generic]]) -> NDArray[np.float64]:
    """All parts as one, in place of them."""
    if len(parts) > 1:
        parts[:] = [np.concatenate(parts)]
    return np.asarray(parts[0] if parts else [], np.float64)


def _order(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 30, text)
