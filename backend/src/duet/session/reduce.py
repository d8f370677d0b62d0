# SPDX-License-Identifier: GPL-2.0-or-later
"""Reduce pages of one lane to spans, operations, links and counts (stage 6). Pure, incremental.

Resulting times are nanoseconds since the start marker. Events before the start marker only
determine the state of threads, and spans are cut off at zero. After lost events, every state is
unknown until an event determines it, so no span crosses a loss.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.base.native import compiled, load_library
from duet.decode.decoder import PAGES, DecodeError, Decoder
from duet.session.formats import Pick, format_words
from duet.session.program import SWITCH_EVENT, Act, Program
from duet.session.tables import (
    TABLES,
    Batch,
    Loss,
    Metrics,
    MissingEvents,
    Quantiles,
    Role,
    Row,
    Samples,
)
from duet.wire.frames import PAGE_BYTES

# Bindings of the C functions of loop/; loop/reduce.h documents these functions.
#
# ctypes releases the GIL while a C function runs.

FOLDER = Path(__file__).with_name("loop")
FLAGS = ("-fwrapv", "-fvisibility=hidden")
"""-fwrapv defines integer overflow, which the times of a hostile recording may cause."""


class StopReason(IntEnum):
    """Reason why `Loop.run` returned; equal to `enum why` in loop/reduce.h."""

    NO_MEMORY = -1
    DONE = 0
    START = 1
    PLACE = 2
    LOST = 3
    NAMED = 4


class OutTable(IntEnum):
    """Tables of a loop; equal to `enum table_name` in loop/reduce.h."""

    SPANS = 0
    OPS = 1
    LINKS = 2
    OPEN = 3
    TIMES = 4
    POINTS = 5
    PRINTS = 6


Ints = NDArray[np.int64]
THREAD, OTHER = 1, 2
"""Roles of a thread, as bits."""

_HANDLE = ctypes.c_void_p
_INTS = ctypes.c_void_p
_INT_OUT = ctypes.POINTER(ctypes.c_int)
_INT64_OUT = ctypes.POINTER(ctypes.c_int64)
_LONG_OUT = ctypes.POINTER(ctypes.c_long)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "reduce_new": (_HANDLE, [_INTS, ctypes.c_long]),
    "reduce_free": (None, [_HANDLE]),
    "reduce_strings": (ctypes.c_int, [_HANDLE, ctypes.c_long, _INTS, _INTS]),
    "reduce_feed": (
        ctypes.c_int,
        [_HANDLE, ctypes.c_int, ctypes.c_char_p, ctypes.c_long, ctypes.c_long, _INTS],
    ),
    "reduce_error": (ctypes.c_char_p, [_HANDLE]),
    "reduce_fed": (_INT64_OUT, [_HANDLE]),
    "reduce_decoded": (_INT64_OUT, [_HANDLE]),
    "reduce_name": (ctypes.c_char_p, [_HANDLE, ctypes.c_long]),
    "reduce_know": (ctypes.c_int, [_HANDLE, ctypes.c_int64, ctypes.c_int]),
    "reduce_ripen": (ctypes.c_long, [_HANDLE, ctypes.c_int64]),
    "reduce_run": (ctypes.c_int, [_HANDLE, _LONG_OUT]),
    "reduce_about": (ctypes.c_int64, [_HANDLE]),
    "reduce_event": (_INT64_OUT, [_HANDLE]),
    "reduce_last": (ctypes.c_int64, [_HANDLE]),
    "reduce_held": (ctypes.c_long, [_HANDLE]),
    "reduce_points": (ctypes.c_int, [_HANDLE, ctypes.c_int64]),
    "reduce_start": (None, [_HANDLE, ctypes.c_int64]),
    "reduce_thread": (
        ctypes.c_int,
        [_HANDLE, ctypes.c_long, ctypes.POINTER(ctypes.c_int64), _INT_OUT, _INT_OUT],
    ),
    "reduce_place": (None, [_HANDLE, ctypes.c_int64, ctypes.c_int]),
    "reduce_place_track": (None, [_HANDLE, ctypes.c_int, ctypes.c_int]),
    "reduce_still_open": (ctypes.c_int, [_HANDLE, ctypes.c_double]),
    "reduce_table": (ctypes.c_long, [_HANDLE, ctypes.c_int]),
    "reduce_copy": (ctypes.c_void_p, [_HANDLE, ctypes.c_int]),
    "reduce_clear": (None, [_HANDLE, ctypes.c_int]),
    "reduce_counts": (_INT64_OUT, [_HANDLE]),
    "reduce_cycles": (ctypes.c_int64, [_HANDLE]),
}


def ensure(flags: Sequence[str] = ()) -> Path:
    """Return the library's path, and compile it if needed."""
    first = FOLDER / "run.c"
    rest = [file for file in FOLDER.iterdir() if file != first and file.suffix in (".c", ".h")]
    return compiled(first, rest=[*sorted(rest), PAGES], flags=(*FLAGS, *flags))


@cache
def library() -> ctypes.CDLL:
    """Return the compiled loop, loaded once.

    Raises:
        InfraError: the loop cannot be compiled.
    """
    return load_library(ensure(), _SIGNATURES)


class Fed(NamedTuple):
    """Records of one call of `feed` whose format is known."""

    events: int
    first_ns: int
    last_ns: int


class Loop:
    """One `struct reduce`. Only one thread at a time may use it."""

    def __init__(self, program: Program, decoder: Decoder, picks: Sequence[Pick] = ()) -> None:
        self._lib = library()
        self._kinds = len(program.kinds)
        words = np.array(
            program_words(program) + format_words(program, decoder.by_name, picks), np.int64
        )
        self._handle = ctypes.c_void_p(self._lib.reduce_new(words.ctypes.data, len(words)))
        if not self._handle:
            raise MemoryError("reduce_new")
        addresses, ids = decoder.kernel_strings()
        if self._lib.reduce_strings(self._handle, len(ids), addresses.ctypes.data, ids.ctypes.data):
            raise MemoryError("reduce_strings")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.reduce_free(self._handle)
            self._handle = ctypes.c_void_p()

    def feed(self, cpu: int, pages: bytes, complete: Sequence[tuple[int, int]] = ()) -> Fed:
        """Queue the events of complete pages of one CPU, oldest first.

        Args:
            complete: (page number, guest time) pairs. All of the CPU's events up to the guest time
                arrived before the page. So events that were lost just before the page are later
                than the guest time.

        Raises:
            DecodeError: a page is incomplete, or a record exceeds its page.
        """
        count, rest = divmod(len(pages), PAGE_BYTES)
        if rest:
            raise DecodeError(
                f"the last page of CPU {cpu} lacks {PAGE_BYTES - rest} of {PAGE_BYTES} bytes."
            )
        marks = np.array(complete, np.int64)
        if self._lib.reduce_feed(self._handle, cpu, pages, count, len(complete), marks.ctypes.data):
            raise DecodeError(self._lib.reduce_error(self._handle).decode(errors="replace"))
        return Fed(*self._lib.reduce_fed(self._handle)[:3])

    @property
    def decoded(self) -> tuple[int, int]:
        """Number of records with a format, and without."""
        known, unknown = self._lib.reduce_decoded(self._handle)[:2]
        return known, unknown

    def know(self, tid: int, role: int) -> None:
        """Add a thread of the workload, or change its role.

        Args:
            role: THREAD and OTHER, as bits.
        """
        if self._lib.reduce_know(self._handle, tid, role):
            raise MemoryError("reduce_know")

    def ripen(self, until_ns: int) -> int:
        """Let `run` take the queued events up to a guest time. Return their number."""
        ripe = int(self._lib.reduce_ripen(self._handle, until_ns))
        if ripe < 0:
            raise MemoryError("reduce_ripen")
        return ripe

    def run(self, limit: ctypes.c_long) -> StopReason:
        """Process ripe events until the caller is needed, or `limit` events were taken.

        Unless the reason is DONE, handle it and call again. `limit` is counted down.
        """
        why = StopReason(self._lib.reduce_run(self._handle, ctypes.byref(limit)))
        if why is StopReason.NO_MEMORY:
            raise MemoryError("reduce_run")
        return why

    @property
    def about(self) -> int:
        """Time of the start marker (START), or the thread that needs a row (PLACE)."""
        return int(self._lib.reduce_about(self._handle))

    @property
    def event(self) -> tuple[int, int, int]:
        """Time and first two arguments of the current event (LOST, NAMED)."""
        ts, a, b = self._lib.reduce_event(self._handle)[:3]
        return ts, a, b

    @property
    def last_ns(self) -> int:
        """Guest time of the last event that `run` has taken."""
        return int(self._lib.reduce_last(self._handle))

    @property
    def held(self) -> int:
        """Number of queued events that `run` may not take yet."""
        return int(self._lib.reduce_held(self._handle))

    def name(self, number: int) -> str:
        """Return a thread's name."""
        text: bytes = self._lib.reduce_name(self._handle, number)
        return text.decode(errors="replace")

    def points(self, until_ns: int) -> None:
        """Fill the table POINTS with the points up to a guest time."""
        if self._lib.reduce_points(self._handle, until_ns):
            raise MemoryError("reduce_points")

    def start(self, origin_ns: int) -> None:
        self._lib.reduce_start(self._handle, origin_ns)

    def threads(self) -> list[tuple[int, bool, int]]:
        """Return (tid, gone, row or -1) of threads that had an event or were known at the start."""
        found: list[tuple[int, bool, int]] = []
        tid, gone, row = ctypes.c_int64(), ctypes.c_int(), ctypes.c_int()
        outs = ctypes.byref(tid), ctypes.byref(gone), ctypes.byref(row)
        while self._lib.reduce_thread(self._handle, len(found), *outs):
            found.append((tid.value, bool(gone.value), row.value))
        return found

    def place(self, tid: int, row: int) -> None:
        """Assign a row to a thread."""
        self._lib.reduce_place(self._handle, tid, row)

    def place_track(self, track: int, row: int) -> None:
        """Assign a row to a track."""
        self._lib.reduce_place_track(self._handle, track, row)

    def still_open(self, mark_ns: float) -> None:
        """Fill the table OPEN with the spans that are open at a time since the start marker."""
        if self._lib.reduce_still_open(self._handle, mark_ns):
            raise MemoryError("reduce_still_open")

    def rows(self, table: int) -> int:
        """Return the number of rows of a table.

        Args:
            table: an OutTable, or len(OutTable) plus the index of a Pick.
        """
        return int(self._lib.reduce_table(self._handle, table))

    def take_columns(self, table: int, dtypes: tuple[str, ...]) -> list[NDArray[np.generic]]:
        """Return the columns of a table, and clear it.

        Args:
            dtypes: numpy types of all its columns, as wide as those in loop/program.c.
        """
        columns = self.copy_columns(table, dtypes)
        self._lib.reduce_clear(self._handle, table)
        return columns

    def copy_columns(self, table: int, dtypes: tuple[str, ...]) -> list[NDArray[np.generic]]:
        """Return the columns of a table without clearing it."""
        n = self.rows(table)
        if not n:
            return [np.empty(0, dtype) for dtype in dtypes]
        columns = _columns(dtypes)
        ends = list(accumulate(-(-n * width // 8) * 8 for _, width in columns))
        first = self._lib.reduce_copy(self._handle, table)
        if not first:
            raise MemoryError("reduce_copy")
        cells = ctypes.string_at(first, ends[-1])
        return [
            np.frombuffer(cells, dtype, n, begin)
            for (dtype, _), begin in zip(columns, (0, *ends), strict=False)
        ]

    def counts(self) -> list[int]:
        return list(self._lib.reduce_counts(self._handle)[: self._kinds])

    @property
    def cycles(self) -> int:
        """Ended cycles of the lesson's first track."""
        return int(self._lib.reduce_cycles(self._handle))


@cache
def _columns(dtypes: tuple[str, ...]) -> tuple[tuple[np.dtype[np.generic], int], ...]:
    return tuple((np.dtype(dtype), np.dtype(dtype).itemsize) for dtype in dtypes)


OWN_ACTS = ((Act.LOSS, 0),), ((Act.NAME, 0),)
"""Acts of the loop's own events, whose codes follow the codes of the program."""


def program_words(program: Program) -> list[int]:
    """Encode the program for reduce_new()."""
    p = program
    words = [p.running, p.runnable, p.wait_other, p.codes.get(SWITCH_EVENT, -1), len(p.kinds)]
    acts = (*p.acts, *OWN_ACTS)
    words.append(len(acts))
    for pairs in acts:
        words += [len(pairs), *(int(number) for pair in pairs for number in pair)]
    words.append(len(p.groups))
    for group in p.groups:
        words.append(len(group))
        for rule in group:
            words += [rule.kind, rule.wait, rule.arg, int(rule.counts), len(rule.when)]
            words += [number for pair in rule.when for number in pair]
    words.append(len(p.tracks))
    for track in p.tracks:
        steps = [
            (v, after, opens) for v, choices in track.steps.items() for after, opens in choices
        ]
        words += [int(track.cycles), len(steps), *(number for step in steps for number in step)]
    words.append(len(p.links))
    for link in p.links:
        words += [link.during, link.track, link.kind]
    return words


# The rows of a lane: which threads are drawn, and under which names. Pure.


class Rows:
    """The rows of one lane.

    Args:
        program: defines the names of threads and other processes, and the tracks.
        loop: the C loop in which the row of each thread and track is stored.
        reserved: number of rows reserved for the workload's threads, if that is known.
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
        return tuple(self._rows)

    def changed(self) -> tuple[Row, ...] | None:
        """Return all rows if they have changed since the last call, else None."""
        was, self._changed = self._changed, False
        return self.all if was else None

    def track_events(self, row: int) -> frozenset[str]:
        """Return the event types of a track's row; empty for other rows."""
        track = self._track_rows.get(row)
        return frozenset() if track is None else self._p.tracks[track].events

    def name(self, tid: int, text: str) -> None:
        """Name a thread. Its first name with a role is final; later names are ignored."""
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
        """Process the start marker: time starts here, and known threads and tracks get rows."""
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
        """Assign the row with the number in the thread's name if free, else the first free row."""
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


STEP_EVENTS = 25_000
"""Maximum number of events per step. A run whose pages all arrive at its end takes many steps."""


@dataclass(slots=True)
class Reduction:
    """Result of one step: non-empty batches (`open` even if it is empty), changed rows, and losses.

    If `more` is set, some events within the watermark are left. Call again with the same watermark.
    """

    more: bool = False
    batches: list[Batch] = field(default_factory=list)
    rows: tuple[Row, ...] | None = None
    losses: list[Loss] = field(default_factory=list)


class LaneReducer:
    """The state of one lane.

    Args:
        program: the lesson, compiled for arm and workload.
        decoder: has the formats of the guest's events.
        threads: number of rows reserved for the workload's threads, if that is known.
        step_events: maximum number of events processed in one step.
        picks: records that are kept for metrics; `picked` returns them.
    """

    def __init__(
        self,
        program: Program,
        decoder: Decoder,
        threads: int = 0,
        step_events: int = STEP_EVENTS,
        picks: Sequence[Pick] = (),
    ) -> None:
        self._p = program
        self._loop = Loop(program, decoder, picks)
        self._rows = Rows(program, self._loop, threads)
        self._step_events = step_events
        self._ripe = 0
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
        """Number of events beyond the watermark."""
        return self._loop.held

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._rows.all

    @property
    def decoded(self) -> int:
        """Number of records so far, including records of unknown event types."""
        return sum(self._loop.decoded)

    def feed(self, cpu: int, pages: bytes, complete: Sequence[tuple[int, int]] = ()) -> Fed:
        """Add complete pages. Their events are processed once the watermark has passed them.

        Args:
            complete: as in Loop.feed().

        Raises:
            DecodeError: a page is incomplete, or a record exceeds its page.
        """
        fed = self._loop.feed(cpu, pages, complete)
        self.events_read += fed.events
        return fed

    def picked(self, number: int) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return time, CPU, sequence number, thread and value of the records of a Pick."""
        columns = self._loop.copy_columns(len(OutTable) + number, ("<i8",) * 5)
        ts, cpu, seq, tid, value = (column.view(np.int64) for column in columns)
        return ts, cpu, seq, tid, value

    def printed(self) -> list[tuple[int, int, int, bytes]]:
        """Return (time, CPU, sequence number, text) of the texts that were printed."""
        columns = self._loop.copy_columns(OutTable.PRINTS, ("<i8", "<i8", "<i8", "S256"))
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def advance(self, watermark_ns: int) -> Reduction:
        """Process events up to the watermark, a guest time."""
        return self._step(watermark_ns, watermark_ns)

    def finish(self, watermark_ns: int = 0, *, drained: bool = False) -> Reduction:
        """Process the remaining events of a run that has ended.

        Args:
            watermark_ns: guest time up to which every CPU is complete.
            drained: the agent has drained, and all its bytes have arrived. Then events beyond the
                watermark exist only in a truncated recording. They are ignored, because other CPUs'
                pages for that time are missing.
        """
        return self._step(watermark_ns if drained and watermark_ns else 1 << 62, watermark_ns)

    def _step(self, until_ns: int, watermark_ns: int) -> Reduction:
        begun = self._ripe
        self._ripe = begun or self._loop.ripen(until_ns)
        taken = self._run()
        self._ripe -= taken
        if taken:
            self._watermark = max(self._watermark, self._loop.last_ns)
        if begun and not self._ripe:
            self._ripe = self._loop.ripen(until_ns)
        if not self._ripe:
            self._watermark = max(self._watermark, watermark_ns)
        return self._flush()

    @property
    def watermark_ns(self) -> float:
        """Time since the start marker up to which events are complete."""
        return self._relative(self._watermark)

    def metrics(self, events_lost: int) -> Metrics:
        """Return the counts so far.

        Args:
            events_lost: lost events from all sources (LossLedger in pipeline.py).
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
        """Return the event types of a track's row; empty for other rows."""
        return self._rows.track_events(row)

    # events

    def _run(self) -> int:
        """Process ripe events. Return their number."""
        loop, limit = self._loop, ctypes.c_long(self._step_events)
        while (why := loop.run(limit)) is not StopReason.DONE:
            if why is StopReason.START:
                self._origin = loop.about
                self._rows.start(loop.about)
            elif why is StopReason.PLACE:
                self._rows.place_thread(loop.about)
            elif why is StopReason.NAMED:
                _, tid, number = loop.event
                self._rows.name(tid, loop.name(number))
            else:
                # The reason is LOST: the loop has ended all open spans at the loss.
                t0, t1, count = loop.event
                self.missing.add(self._relative(t0), self._relative(t1), count)
        if loop.rows(OutTable.TIMES):
            waited, lasted = loop.take_columns(OutTable.TIMES, ("<f8", "<f8"))
            self._waits.add(waited)
            self._op_times.add(lasted)
        return self._step_events - limit.value

    # results

    def _relative(self, ts: int) -> float:
        return float(max(0, ts - self._origin)) if self._origin is not None else 0.0

    def _flush(self) -> Reduction:
        result = Reduction(more=self._ripe > 0, losses=self.missing.take_losses())
        if self._origin is None:
            return result
        mark = self._relative(self._watermark)
        self._loop.points(self._watermark)
        for table, out in (
            ("spans", OutTable.SPANS),
            ("ops", OutTable.OPS),
            ("links", OutTable.LINKS),
            ("points", OutTable.POINTS),
        ):
            if self._loop.rows(out):
                result.batches.append(batch_of(self._loop, table, out, mark))
        self._loop.still_open(mark)
        result.batches.append(batch_of(self._loop, "open", OutTable.OPEN, mark))
        result.rows = self._rows.changed()
        return result


def batch_of(loop: Loop, table: str, out: OutTable, mark: float) -> Batch:
    """Return a table's new rows, which are complete up to `mark`, and clear the table."""
    n, types = loop.rows(out), TABLES[table]
    columns = loop.take_columns(out, tuple(types.values()))
    return Batch(table, dict(zip(types, columns, strict=True)), n, mark)
