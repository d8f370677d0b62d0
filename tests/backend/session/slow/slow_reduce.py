# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference implementation of duet.session.reduce: one event after the other, in Python.

A test compares the two: both give the same columns to the bit. Records are decoded by
duet.decode.Decoder and merged by numpy (slow_merge.py); names and rows (slow_rows.py) and the
batches of a step are made by other means than there. Only the compiled program is the same.

Times that leave here are nanoseconds since the start marker; what lies before it only says
which thread was in which state, and is cut off at zero. After lost events every state is
unknown until an event says it again: no span reaches over a loss.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from duet.decode.decoder import CpuColumns
from duet.session.program import SWITCH_EVENT, Act, Program
from duet.session.reduce import OWN_ACTS, Reduction
from duet.session.tables import Batch, Metrics, MissingEvents, Quantiles, Role
from tests.backend.session.slow.slow_merge import Merger, PointSorter, Stream
from tests.backend.session.slow.slow_rows import Names, Rows, rank, text_of
from tests.backend.session.slow.slow_threads import EXIT_STATES, GONE, SLEEP_STATES, UNKNOWN, Thread
from tests.backend.session.slow.slow_tracks import Track
from tests.support.columns import columns_of

Cells = tuple[float, ...]
STEP_EVENTS = 25_000
"""A tenth of a second; a run that stays in the guest until its end comes in many steps."""


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
        self._acts = (*program.acts, *OWN_ACTS)
        self._step_events = step_events
        self._threads: dict[int, Thread] = {}
        self._names = Names(program)
        self._rows = Rows(program, threads)
        self._tracks = [Track(rule) for rule in program.tracks]
        self._placed: dict[int, int] = {}
        """Rows of threads that were named after the start."""
        self._origin: int | None = None
        self._watermark = 0
        self._made: dict[str, list[Cells]] = {"spans": [], "ops": [], "links": []}
        self._sent = dict.fromkeys(self._made, 0)
        self._span_number = 0
        self._op_number = 0
        self._link_number = 0
        self._counts = [0] * len(program.kinds)
        self._waits: list[float] = []
        self._op_times: list[float] = []
        self._cycles = 0
        self.events_read = 0
        self.missing = MissingEvents()

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""
        return self._origin

    def feed(self, columns: Iterable[CpuColumns]) -> None:
        """Take decoded columns; they are worked on when the watermark has passed them."""
        for part in columns:
            self.events_read += part.events
            self._merger.add_names(part.cpu, self._names.find(part))
            self._merger.add(part)
            self._points.add(part)

    def advance(self, watermark_ns: int) -> Reduction:
        """Work on events up to a guest time at which every CPU is complete."""
        return self._step(watermark_ns, watermark_ns)

    def finish(self, watermark_ns: int = 0, *, drained: bool = False) -> Reduction:
        """Work on what is left; with `drained`, no further than the watermark."""
        return self._step(watermark_ns if drained and watermark_ns else 1 << 62, watermark_ns)

    def _step(self, up_to_ns: int, watermark_ns: int) -> Reduction:
        stream = self._merger.take_events(up_to_ns, self._step_events)
        reached = [self._watermark]
        if stream is not None:
            self._run(stream)
            reached += stream.ts[-1:].tolist()
        if not self._merger.ripe_left:
            reached.append(watermark_ns)
        self._watermark = max(reached)
        return self._reduction()

    @property
    def watermark_ns(self) -> float:
        """Up to where events are complete, since the start marker."""
        return self._relative(self._watermark)

    def metrics(self, events_lost: int) -> Metrics:
        """Counts so far.

        Args:
            events_lost: from all who count losses (see duet.session.pipeline).
        """
        kinds = zip(self._p.kinds, self._counts, strict=True)
        return Metrics(
            watermark_ns=self.watermark_ns,
            start_ns=self._origin,
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

    # names and rows

    def _thread(self, tid: int) -> Thread | None:
        """The thread of that number if it belongs to the workload."""
        thread = self._threads.get(tid)
        if thread is None and tid in self._names.of:
            thread = self._threads[tid] = Thread(tid, text_of(self._names.of[tid]))
            thread.row = self._placed.get(tid, -1)
        return thread

    def _name(self, tid: int, number: int) -> None:
        if not self._names.learn(tid, number):
            return
        name = text_of(self._names.of[tid])
        found = self._p.rows.match(name)
        if self._origin is not None and found and found.groups():
            self._placed[tid] = self._rows.arrive("thread", tid, name)
        elif self._origin is not None and name == self._p.other:
            self._placed[tid] = self._rows.arrive("other", tid, name)
        if (thread := self._threads.get(tid)) is not None:
            thread.name, thread.row = name, self._placed.get(tid, -1)

    def _start(self, ts: int) -> None:
        """The start marker: time begins here, and the rows that are known are given out."""
        alive = [one for one in map(self._thread, self._names.of) if one and one.state != GONE]
        alive.sort(key=list(self._threads.values()).index)
        self._origin, self._rows.started = ts, True
        found = [(one, self._p.rows.match(one.name)) for one in alive]
        numbered = [(rank(m.group(1)), one.tid, one) for one, m in found if m and m.groups()]
        for _, _, thread in sorted(numbered, key=lambda one: one[:2]):
            self._arrive(thread, "thread")
        for thread in (one for one in alive if one.row < 0 and one.name == self._p.other):
            self._arrive(thread, "other")
        for track in self._tracks:
            track.row = self._rows.arrive("track", -1, track.rule.name)

    def _arrive(self, thread: Thread, role: Role) -> None:
        thread.row = self._rows.arrive(role, thread.tid, thread.name)

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
                elif act == Act.NAME:
                    self._name(a, b)
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
        self._made["spans"].append((begin, t1 - origin, row, kind, cpu, arg, number))
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
            self._made["links"].append((at, track.row, thread.row, link.kind, self._link_number))

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
        if self._origin is not None and thread.row < 0 and self._p.rows.match(thread.name):
            self._arrive(thread, "thread")
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
        self._made["ops"].append((since - origin, ts - origin, thread.row, 1, self._op_number))
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
        self.missing.add(self._relative(t0), self._relative(t1), count)

    # results

    def _relative(self, ts: int) -> float:
        return float(max(0, ts - self._origin)) if self._origin is not None else 0.0

    def _reduction(self) -> Reduction:
        """What came since the last one. Nothing that was made is ever dropped, only counted."""
        losses = self.missing.take_losses()
        if self._origin is None:
            return Reduction(more=self._merger.ripe_left, losses=losses)
        mark = self._relative(self._watermark)
        cells = {name: rows[self._sent[name] :] for name, rows in self._made.items()}
        self._sent = {name: len(rows) for name, rows in self._made.items()}
        tables = {name: (columns_of(name, rows), len(rows)) for name, rows in cells.items()}
        tables["points"] = self._points.take_points(self._origin, self._watermark)
        still = self._still_open(mark)
        tables["open"] = columns_of("open", still), len(still)
        return Reduction(
            more=self._merger.ripe_left,
            batches=[
                Batch(name, columns, n, mark)
                for name, (columns, n) in tables.items()
                if n or name == "open"
            ],
            rows=self._rows.changed(),
            losses=losses,
        )

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
