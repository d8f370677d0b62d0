# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow twin of duet.session.reduce, one event after the other in Python; it came before loop/.

A test holds the two together: what either says of the same columns is the same to the bit.

Times that leave here are nanoseconds since the start marker; what lies before it only tells
which thread was in which state, and is cut off at zero. After lost events every state is
unknown until an event tells it again: no span reaches over a loss.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from duet.decode.columns import CpuColumns
from duet.session.merge import Merger, Stream, loss_acts
from duet.session.points import PointSorter
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, Act, Program
from duet.session.tables import Batch, Loss, Metrics, Quantiles, Role, Row, columns_of
from tests.backend.session.slow.slow_threads import EXIT_STATES, GONE, SLEEP_STATES, UNKNOWN, Thread
from tests.backend.session.slow.slow_tracks import Track

Cells = tuple[float, ...]
STEP_EVENTS = 25_000
"""A tenth of a second; a run that stays in the guest until its end comes in many steps."""


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
        hogs: rows to keep for hogs, where it is known how many will come.
        step_events: most events worked on in one step.
    """

    def __init__(self, program: Program, hogs: int = 0, step_events: int = STEP_EVENTS) -> None:
        self._p = program
        self._merger = Merger(program)
        self._points = PointSorter(program.points)
        self._acts = (*program.acts, loss_acts())
        self._hogs = hogs
        self._step_events = step_events
        self._threads: dict[int, Thread] = {}
        self._names: dict[int, bytes] = {}
        self._ours: dict[bytes, bool] = {}
        self._tracks = [Track(rule) for rule in program.tracks]
        self._rows: list[Row] = []
        self._rows_changed = False
        self._origin: int | None = None
        self._watermark = 0
        self._spans: list[Cells] = []
        self._ops: list[Cells] = []
        self._links: list[Cells] = []
        self._losses: list[Loss] = []
        self._span_number = 0
        self._op_number = 0
        self._link_number = 0
        self._counts = [0] * len(program.kinds)
        self._waits: list[float] = []
        self._op_times: list[float] = []
        self._cycles = 0
        self.events_read = 0
        self.events_missed = 0
        """Events that pages say are missing (where the kernel counted them)."""
        self.uncounted_losses = 0

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""
        return self._origin

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
            events_lost: from all who count losses (see loss.py).
        """
        kinds = zip(self._p.kinds, self._counts, strict=True)
        return Metrics(
            watermark_ns=self.watermark_ns,
            ops=self._op_number,
            spans={name: count for name, count in kinds if count},
            cycles=self._cycles,
            wait_ns=Quantiles.of(np.array(self._waits, np.float64)),
            op_ns=Quantiles.of(np.array(self._op_times, np.float64)),
            events_read=self.events_read,
            events_lost=events_lost,
        )

    def track_events(self, row: int) -> frozenset[str]:
        """The event types that a track's row is drawn from."""
        return next((t.rule.events for t in self._tracks if t.row == row), frozenset())

    def wait_samples(self) -> tuple[float, ...]:
        """The waiting time of every operation, in order of completion."""
        return tuple(self._waits)

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
            if name != known and number and self._is_ours(name) and not self._has_role(known):
                self._names[number] = name
                if thread := self._threads.get(number):
                    thread.name = name.decode(errors="replace")

    def _is_ours(self, name: bytes) -> bool:
        if name not in self._ours:
            self._ours[name] = fnmatchcase(name.decode(errors="replace"), self._p.comm)
        return self._ours[name]

    def _has_role(self, name: bytes | None) -> bool:
        """A hog keeps its name, though an older event on another CPU may still tell another."""
        if name is None:
            return False
        text = name.decode(errors="replace")
        return text == self._p.other or bool(self._p.rows.match(text))

    def _thread(self, tid: int) -> Thread | None:
        """The thread of that number if it belongs to the workload."""
        thread = self._threads.get(tid)
        if thread is None and tid in self._names:
            name = self._names[tid].decode(errors="replace")
            thread = self._threads[tid] = Thread(tid, name)
            if self._origin is not None and name == self._p.other:
                self._append_row(thread, "other")
        return thread

    def _start(self, ts: int) -> None:
        """The start marker: time begins here, and the rows that are known are given out."""
        for tid in self._names:
            self._thread(tid)
        self._origin = ts
        alive = [t for t in self._threads.values() if t.state != GONE]
        self._rows = [Row(number, 0, "", "thread") for number in range(self._hogs)]
        numbered = [(m, t) for t in alive if (m := self._p.rows.match(t.name)) and m.groups()]
        numbered.sort(key=lambda pair: (_order(pair[0].group(1)), pair[1].tid))
        for _, thread in numbered:
            self._place_hog(thread)
        for thread in alive:
            if thread.name == self._p.other and thread.row < 0:
                self._append_row(thread, "other")
        for track in self._tracks:
            track.row = len(self._rows)
            self._rows.append(Row(track.row, -1, track.rule.name, "track"))
        self._rows_changed = True

    def _append_row(self, thread: Thread, role: Role) -> None:
        thread.row = len(self._rows)
        self._rows.append(Row(thread.row, thread.tid, thread.name, role))
        self._rows_changed = True

    def _place_hog(self, thread: Thread) -> None:
        """Give a hog the row of its number if that is free, else the first free one."""
        found = self._p.rows.match(thread.name)
        if not found:
            return
        free = [row.row for row in self._rows if row.role == "thread" and row.tid == 0]
        if not free:
            self._append_row(thread, "thread")
            return
        own = _order(found.group(1))[0] if found.groups() else -1
        thread.row = own if own in free else free[0]
        self._rows[thread.row] = Row(thread.row, thread.tid, thread.name, "thread")
        self._rows_changed = True

    # events

    def _run(self, stream: Stream) -> None:
        acts, threads = self._acts, self._threads
        running, switch = self._p.running, self._p.codes.get(SWITCH_EVENT, -1)
        columns = (stream.ts, stream.cpu, stream.code, stream.pid, stream.a, stream.b, stream.c)
        for ts, cpu, code, pid, a, b, c in zip(*(x.tolist() for x in columns), strict=True):
            thread = threads.get(pid) or self._thread(pid)
            if thread is not None and code != switch:
                thread.woken = False
                if thread.state != running and thread.state != GONE:
                    self._enter(thread, running, ts, cpu)  # it emits events, so it runs
            for act, operand in acts[code]:
                if act == Act.SWITCH:
                    self._switch(ts, cpu, a, b, c)
                elif act == Act.WAKING:
                    self._waking(ts, pid, a)
                elif act == Act.OPEN:
                    if thread is not None:
                        self._open(thread, operand, ts, (a, b, c))
                elif act == Act.CLOSE:
                    if thread is not None:
                        self._close(thread, operand, ts, cpu)
                elif act == Act.PHASE:
                    self._phase(self._tracks[operand], ts, cpu, pid, a)
                elif act == Act.OP_OPEN:
                    if thread is not None:
                        self._op_open(thread, ts)
                elif act == Act.OP_CLOSE:
                    if thread is not None:
                        self._op_close(thread, ts)
                elif act == Act.LOSS:
                    self._lose(ts, a, b)
                elif a and self._origin is None:
                    self._start(ts)

    def _enter(self, thread: Thread, state: int, ts: int, cpu: int) -> None:
        """The thread's state changes; the former one becomes a span."""
        former = thread.state
        if former >= 0 and thread.row >= 0:
            self._emit(thread.since, ts, thread.row, former, thread.cpu, 0.0, thread.span)
        thread.state = state
        thread.since = ts
        thread.cpu = cpu
        self._span_number += 1
        thread.span = self._span_number

    def _emit(
        self, t0: int, t1: int, row: int, kind: int, cpu: int, arg: float, number: int
    ) -> None:
        origin = self._origin
        if origin is None or t1 <= origin or t1 == t0:
            return
        begin = t0 - origin if t0 > origin else 0
        self._spans.append((begin, t1 - origin, row, kind, cpu, arg, number))
        self._counts[kind] += 1

    def _switch(self, ts: int, cpu: int, prev: int, following: int, prev_state: int) -> None:
        p = self._p
        thread = self._thread(prev)
        if thread is not None and thread.state != GONE:
            if thread.state != p.running:
                self._enter(thread, p.running, ts, cpu)
            if prev_state & EXIT_STATES:
                self._enter(thread, GONE, ts, -1)
            elif prev_state & SLEEP_STATES:
                woken, cause = thread.woken, thread.cause(p.wait_other)
                self._enter(thread, p.runnable if woken else cause, ts, -1)
                thread.woken = False
            else:
                self._enter(thread, p.runnable, ts, -1)
        thread = self._thread(following)
        if thread is not None and thread.state != p.running:
            self._enter(thread, p.running, ts, cpu)

    def _waking(self, ts: int, waker: int, target: int) -> None:
        p = self._p
        thread = self._thread(target)
        if thread is None or thread.state == GONE:
            return
        if thread.state == p.running:
            # Awake before it was off its CPU: the switch that follows tells a sleep that is
            # over already (try_to_wake_up() of 6.1 emits this before it waits for on_cpu).
            thread.woken = True
        elif thread.state != p.runnable:
            self._enter(thread, p.runnable, ts, -1)
        for link in p.links:
            track = self._tracks[link.track]
            if track.inside.get(waker) != link.during or thread.row < 0 or track.row < 0:
                continue
            self._link_number += 1
            at = ts - (self._origin or 0)
            self._links.append((at, track.row, thread.row, link.kind, self._link_number))

    def _open(self, thread: Thread, group: int, ts: int, args: tuple[int, int, int]) -> None:
        chosen = None
        for rule in self._p.groups[group]:
            if all(args[column] == value for column, value in rule.when):
                chosen = rule
                break
        arg = float(args[chosen.arg]) if chosen is not None and chosen.arg >= 0 else 0.0
        self._span_number += 1
        thread.calls.append((group, ts, chosen, arg, self._span_number))

    def _close(self, thread: Thread, group: int, ts: int, cpu: int) -> None:
        calls = thread.calls
        place = len(calls) - 1
        while place >= 0 and calls[place][0] != group:
            place -= 1
        if place < 0:
            return  # its entry was not traced
        _, since, rule, arg, number = calls[place]
        del calls[place:]  # whatever is above it has lost its return
        if rule is None:
            return
        if rule.kind >= 0 and thread.row >= 0:
            self._emit(since, ts, thread.row, rule.kind, cpu, arg, number)
        nested = any(call[2] is not None and call[2].counts for call in calls)
        if rule.counts and not nested and 0 <= thread.op_t0 <= since:
            thread.waited += ts - since

    def _op_open(self, thread: Thread, ts: int) -> None:
        if self._origin is not None and thread.row < 0:
            self._place_hog(thread)
        thread.op_t0 = ts
        thread.waited = 0
        thread.certain = True
        thread.calls.clear()  # the outermost call: what is still open has lost its return

    def _op_close(self, thread: Thread, ts: int) -> None:
        since, thread.op_t0 = thread.op_t0, -1
        origin = self._origin
        if origin is None or since < origin or thread.row < 0:
            return
        self._op_number += 1
        self._ops.append((since - origin, ts - origin, thread.row, 1, self._op_number))
        self._waits.append(thread.waited)
        self._op_times.append(ts - since)

    def _phase(self, track: Track, ts: int, cpu: int, tid: int, value: int) -> None:
        former = track.kind
        begins = track.step(value, tid)
        if begins is None:
            return
        if former >= 0 and track.row >= 0:
            self._emit(track.since, ts, track.row, former, track.cpu, 0.0, track.span)
        track.kind, track.since, track.cpu = begins, ts, cpu
        if begins >= 0:
            self._span_number += 1
            track.span = self._span_number
        elif track.rule.cycles and self._origin is not None:
            self._cycles += 1

    def _lose(self, t0: int, t1: int, count: int) -> None:
        """What was open when events were lost ends here, seen or not."""
        for thread in self._threads.values():
            if thread.state >= 0:
                self._enter(thread, UNKNOWN, t0, -1)
            thread.forget()
        for track in self._tracks:
            if track.kind >= 0 and track.row >= 0:
                self._emit(track.since, t0, track.row, track.kind, track.cpu, 0.0, track.span)
            track.forget()
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
        for table, rows in (("spans", self._spans), ("ops", self._ops), ("links", self._links)):
            if rows:
                result.batches.append(Batch(table, columns_of(table, rows), len(rows), mark))
        self._spans, self._ops, self._links = [], [], []
        points, n = self._points.take(self._origin, self._watermark)
        if n:
            result.batches.append(Batch("points", points, n, mark))
        still = self._still_open(mark)
        result.batches.append(Batch("open", columns_of("open", still), len(still), mark))
        if self._rows_changed:
            result.rows, self._rows_changed = self.rows, False
        return result

    def _still_open(self, mark: float) -> list[Cells]:
        cells: list[Cells] = []

        def add(since: int, row: int, kind: int, cpu: int, arg: float, number: int) -> None:
            begin = self._relative(since)
            if begin < mark:
                cells.append((begin, mark, row, kind, cpu, arg, number))

        for thread in self._threads.values():
            if thread.row < 0:
                continue
            if thread.state >= 0:
                add(thread.since, thread.row, thread.state, thread.cpu, 0.0, thread.span)
            for _, since, rule, arg, number in thread.calls:
                if rule is not None and rule.kind >= 0:
                    add(since, thread.row, rule.kind, -1, arg, number)
        for track in self._tracks:
            if track.kind >= 0 and track.row >= 0:
                add(track.since, track.row, track.kind, track.cpu, 0.0, track.span)
        return cells


def _order(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 30, text)
