# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 6. Columns of one lane become spans, operations, links and counts. Pure, incremental.

Times that leave here are nanoseconds since the start marker; what lies before it only tells
which thread was in which state, and is cut off at zero. After lost events every state is
unknown until an event tells it again: no span reaches over a loss.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from duet.decode.columns import CpuColumns
from duet.session.merge import Merger, Stream, own_acts
from duet.session.names import Names
from duet.session.points import PointSorter
from duet.session.program import Program
from duet.session.reduce_binding import Loop, Out, Why
from duet.session.rows import Rows
from duet.session.samples import MissingEvents, Samples
from duet.session.tables import TABLES, Batch, Loss, Metrics, Quantiles, Row

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
        self._loop = Loop(program, own_acts())
        self._names = Names(program)
        self._rows = Rows(program, self._loop, threads)
        self._step_events = step_events
        self._origin: int | None = None
        self._watermark = 0
        self.missing = MissingEvents()
        self._waits = Samples()
        self._op_times = Samples()
        self.events_read = 0

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
        return self._rows.all

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
        """Work on what is left, since nothing more will come.

        Args:
            watermark_ns: complete up to here, though the last event may be older.
            drained: the agent's last word covers all it sent. Then what lies beyond the watermark
                is the far end of a cut recording's last pages: other CPUs' pages of that time
                are gone, so it would tell half a story.
        """
        return self._step(watermark_ns if drained and watermark_ns else 1 << 62, watermark_ns)

    def _step(self, until_ns: int, watermark_ns: int) -> Reduction:
        stream = self._merger.take(until_ns, self._step_events)
        if stream is not None:
            self._run(stream)
            self._watermark = max(self._watermark, int(stream.ts[-1]))
        if not self._merger.ripe_left:
            self._watermark = max(self._watermark, watermark_ns)
        return self._flush()

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
        waits, op_times = self._waits.all(), self._op_times.all()
        return Metrics(
            watermark_ns=self.watermark_ns,
            start_ns=self._origin,
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
        return self._rows.track_events(row)

    # events

    def _run(self, stream: Stream) -> None:
        while True:
            why, about = self._loop.run(stream)
            if why is Why.DONE:
                break
            if why is Why.START:
                self._origin = about
                self._rows.start(about)
            elif why is Why.PLACE:
                self._rows.place_thread(about)
            elif why is Why.NAMED:
                self._rows.name(int(stream.a[about]), self._names.texts[int(stream.b[about])])
            else:
                # What was open when events were lost has ended there, seen or not.
                t0, t1 = int(stream.ts[about]), int(stream.a[about])
                times = self._relative(t0), self._relative(t1)
                self.missing.add(*times, int(stream.b[about]))
        waited, lasted = self._loop.take(Out.TIMES, ("<f8", "<f8"))
        if len(waited):
            self._waits.add(waited)
            self._op_times.add(lasted)

    # results

    def _relative(self, ts: int) -> float:
        return float(max(0, ts - self._origin)) if self._origin is not None else 0.0

    def _flush(self) -> Reduction:
        result = Reduction(more=self._merger.ripe_left, losses=self.missing.take())
        if self._origin is None:
            return result
        mark = self._relative(self._watermark)
        for table, out in (("spans", Out.SPANS), ("ops", Out.OPS), ("links", Out.LINKS)):
            if self._loop.rows(out):
                result.batches.append(batch_of(self._loop, table, out, mark))
        points, n = self._points.take(self._origin, self._watermark)
        if n:
            result.batches.append(Batch("points", points, n, mark))
        self._loop.still_open(mark)
        result.batches.append(batch_of(self._loop, "open", Out.OPEN, mark))
        result.rows = self._rows.changed()
        return result


def batch_of(loop: Loop, table: str, out: Out, mark: float) -> Batch:
    """All new rows of one table, complete up to the mark."""
    n, types = loop.rows(out), TABLES[table]
    columns = loop.take(out, tuple(types.values()))
    return Batch(table, dict(zip(types, columns, strict=True)), n, mark)
