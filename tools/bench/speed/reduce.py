# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage reduce: pages to spans and states, beside SQL that derives the states of threads.

Our side takes pages and BEAT frames as a replay does (the lane's pipeline and engine, in this
process), and gives the tables of the page: states, function spans, operations, tracks, links and
points.

The peers give states and function spans only. Their SQL derives states as Perfetto defines its
table thread_state: the switches and wake-ups of each thread in order of time, each state until the
next (lead() over a window). A function span begins at an entry event if the next event of this
entry-return pair is a return. Both sides must agree on the running time of every thread of the
workload, and on the number and the time of the spans of each function.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from duet.bundle.reader import DECODE_PAGES
from duet.decode import CpuColumns, Decoder
from duet.lessons.load import LessonFolder
from duet.lessons.load import rows as rows_of
from duet.lessons.plan import probes_of, workload_of
from duet.lessons.schema import Lesson
from duet.runs.replay import HISTORY_EVENTS
from duet.session.engine import LaneEngine, LaneSetup
from duet.session.limits import Limits
from duet.session.pipeline import LanePipeline, Work
from duet.session.program import SWITCH_EVENT, WAKING_EVENT
from duet.session.tables import Batch
from duet.wire import GuestFile, PageSplitter
from tools.bench.speed import perfetto
from tools.bench.speed.capture import Capture, capture
from tools.bench.speed.pages import Group, LanePages, chunks, lane_pages
from tools.bench.speed.pairs import (
    Bench,
    Figure,
    Point,
    Result,
    Row,
    Side,
    Skipped,
    Stage,
    Turn,
    compare,
    measured,
)

NAME = "reduce"
RATE, SQL = 3.0, 10.0
"""Targets: M events a second of CPU time, and the ratio beside SQL."""
SMOKE_REPEATS = 32
CHUNK_BYTES = 64 << 10
"""Bytes that a port gives at a time."""
TICK_NS = 40_000_000
TURNS = 3
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
TIMES = (1, 2, 4, 8, 16)
LANE_SHARE = 1 / 16
LIVE_TICKS = 25
"""Ticks of a second of a live run."""
CPU = "s of CPU"


def run(bench: Bench) -> Iterator[Result]:
    """Compare our reducer with each peer on one capture, and draw its costs."""
    made = capture(bench)
    whole = lane_pages(made)
    if bench.smoke:
        whole = whole.repeated(SMOKE_REPEATS)
    lane = Lane.of(made, whole)
    rows: list[Row] = []
    for result in _beside_sql(bench, lane, whole):
        if isinstance(result, Row):
            rows.append(result)
        yield result
    yield _rate(
        "rate of our reducer, as a replay feeds it", whole, [row.cpu_s for row in rows],
        "From pages to tables, with decoding. The best of the medians above.",
    )  # fmt: skip
    ticks = whole.by_time(TICK_NS)
    yield _rate(
        "rate of our reducer, as a live run feeds it", whole,
        [measured(lambda: reduced(lane, ticks)).cpu_s for _ in range(bench.pairs)],
        f"The same in {len(ticks):,} parts of {TICK_NS // 1_000_000} ms. Best of {bench.pairs}.",
    )  # fmt: skip
    if not bench.smoke:
        yield from _curves(lane, whole)


def _rate(case: str, whole: LanePages, costs: Sequence[float], note: str) -> Figure:
    rates = [whole.events / cpu_s / 1e6 for cpu_s in costs]
    spread = (min(rates), max(rates))
    return Figure(
        NAME, case, max(rates), "M events/s of CPU", RATE, most=False, spread=spread, note=note
    )


# Ours: the lane's pipeline with an engine in this process.


@dataclass(frozen=True, slots=True)
class Function:
    """A kind of function span, and the events of its entry and its return."""

    kind: int
    opens: str
    closes: str


class Found(NamedTuple):
    """What both sides must agree on.

    Args:
        running: running time of each thread in ns.
        calls: number and time in ns of the function spans of each kind.
    """

    running: dict[int, int]
    calls: dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Lane:
    """What the engine has to know about a lane.

    Args:
        running: number of the kind `running`.
        functions: functions whose spans are compared.
    """

    setup: LaneSetup
    running: int
    files: tuple[GuestFile, ...]
    functions: tuple[Function, ...]

    @staticmethod
    def of(made: Capture, whole: LanePages) -> Lane:
        folder: LessonFolder = made.folder()
        manifest = whole.manifest
        workload = workload_of(folder.lesson, manifest.workload)
        lesson = with_all_rows(folder.lesson, manifest.workload)
        setup = LaneSetup(
            lesson, made.arm, manifest.workload, whole.entry.symbols,
            threads=rows_of(folder.lesson, workload, manifest.params),
            history_events=HISTORY_EVENTS,
        )  # fmt: skip
        kinds = [kind.name for kind in folder.lesson.kinds]
        files = tuple(frame for frame in whole.lane.frames if isinstance(frame, GuestFile))
        functions = functions_of(folder.lesson, made.arm)
        return Lane(setup, kinds.index("running"), files, functions)


def with_all_rows(lesson: Lesson, workload: str) -> Lesson:
    """Return the lesson with a row for each thread that its pattern matches.

    Without a group in the pattern, threads get rows only when they begin an operation.
    """
    found = lesson.workloads[workload]
    if re.compile(found.rows).groups:
        return lesson
    changed = found.model_copy(update={"rows": f"{found.rows}()"})
    return lesson.model_copy(update={"workloads": {**lesson.workloads, workload: changed}})


def functions_of(lesson: Lesson, arm: str) -> tuple[Function, ...]:
    """Return the functions that a lane draws, without those whose spans need a condition."""
    event_of = {name: probe.event for name, probe in probes_of(lesson, arm).items()}
    kinds = [kind.name for kind in lesson.kinds]
    spans = [one for one in lesson.spans if {one.open, one.close} <= event_of.keys()]
    conditional = {one.kind for one in spans if one.when}
    return tuple(
        Function(kinds.index(one.kind), event_of[one.open], event_of[one.close])
        for one in spans
        if one.kind and one.kind not in conditional
    )


@dataclass(slots=True)
class Reduced:
    """Tables of a lane."""

    batches: list[Batch]
    tids: dict[int, int]
    origin_ns: int

    def found(self, lane: Lane) -> Found:
        """Return the sums of spans that have ended."""
        columns = [batch.columns for batch in self.batches if batch.table == "spans"]
        if not columns:
            return Found({}, {})
        row, kind, begin, end = (
            np.concatenate([part[name] for part in columns])
            for name in ("row", "kind", "t0_ns", "t1_ns")
        )
        lasts, runs = end - begin, kind == lane.running
        running: dict[int, int] = {}
        # Exact: the sums are whole numbers below 2^53.
        times = np.bincount(row[runs], lasts[runs])
        for one in np.unique(row[runs]).tolist():
            tid = self.tids[one]
            running[tid] = running.get(tid, 0) + int(times[one])
        calls = {
            one: (int((kind == one).sum()), int(lasts[kind == one].sum()))
            for one in sorted({function.kind for function in lane.functions})
        }
        return Found(running, {one: each for one, each in calls.items() if each[0]})


def reduced(lane: Lane, groups: Sequence[Group]) -> Reduced:
    """Feed groups of pages to a pipeline, and return all tables."""
    pipeline = LanePipeline(LaneEngine(lane.setup))
    result = Reduced([], {}, 0)
    splitters: dict[int, PageSplitter] = {}
    for file in lane.files:
        pipeline.feed_frame(file)
    for pages, beat in groups:
        for cpu, chunk in chunks(pages, CHUNK_BYTES):
            splitter = splitters.setdefault(cpu, PageSplitter())
            pipeline.feed_pages(cpu, splitter.feed(chunk), len(chunk), 0)
        pipeline.feed_frame(beat)
        _work(pipeline, pipeline.take_work(), result)
    _work(pipeline, pipeline.take_work(final=True), result)
    pipeline.count()
    result.origin_ns = pipeline.origin_ns or 0
    return result


def _work(pipeline: LanePipeline, work: Work | None, result: Reduced) -> None:
    while work is not None:
        made = pipeline.work(work)
        result.batches += made.batches
        if made.rows is not None:
            result.tids = {row.row: row.tid for row in made.rows}
        work = work.rest() if made.more else None


def replayed(lane: Lane, whole: LanePages) -> Turn:
    """Reduce a lane in parts as large as a replay's backlog; the output is the running times."""
    groups = whole.by_size(Limits().backlog_bytes // whole.lane.page_bytes)
    turn = measured(lambda: reduced(lane, groups))
    assert isinstance(turn.output, Reduced)
    return turn._replace(output=turn.output.found(lane))


# The peers: rows of switches and wake-ups in a database, and states by SQL.

Ints = NDArray[np.int64]
Columns = dict[str, Ints]
SWITCH_COLUMNS = ("ts", "cpu", "prev_pid", "prev_state", "next_pid")
FIRST_COLUMNS = ("ts", "cpu", "tid")
CALL_COLUMNS = ("ts", "tid", "function", "opens")
STATES = """
create table thread_state as
with change (ts, tid, cpu, state) as (
  select ts, next_pid, cpu, 'Running' from sched_switch where next_pid <> 0
  union all
  select ts, prev_pid, null,
    case when prev_state & 48 <> 0 then 'X' when prev_state & 255 <> 0 then 'S' else 'R' end
  from sched_switch where prev_pid <> 0
  union all
  select ts, tid, null, 'W' from sched_waking where tid <> 0
  union all
  select ts, tid, cpu, 'Running' from first_event where tid <> 0
), ordered as (
  select *, lag(state) over (partition by tid order by ts) as before from change
)
select ts, lead(ts) over (partition by tid order by ts) - ts as dur, tid, cpu,
  case when state = 'W' then 'R' else state end as state
from ordered where state <> 'W' or before is null or before = 'S'
"""
CALLS = """
create table call_slice as
select ts, till - ts as dur, tid, function from (
  select ts, tid, function, opens, lead(ts) over pair as till, lead(opens) over pair as next
  from call window pair as (partition by tid, function order by ts)
) as one where opens = 1 and next = 0
"""
RUNNING = """
select tid, sum(ts + dur - case when ts > {0} then ts else {0} end) from thread_state
where state = 'Running' and ts + dur > {0} group by tid
"""
CALLED = """
select function, tid, count(*), sum(ts + dur - case when ts > {0} then ts else {0} end)
from call_slice where dur > 0 and ts + dur > {0} group by function, tid
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """Decoded rows that the SQL needs, as columns.

    Args:
        first: first event of each thread that emitted an event before its first switch.
        calls: entries and returns of functions, by index in the lane's list.
    """

    switches: Columns
    wakings: Columns
    first: Columns
    calls: Columns


def tables_of(
    lane: Lane, whole: LanePages, blobs: dict[int, bytes], first: Columns | None = None
) -> Tables:
    """Decode a lane's pages into the rows of the database.

    Args:
        blobs: `whole.blobs()`.
        first: first events, if they are known.
    """
    decoder = Decoder(whole.lane.files, whole.lane.page_bytes)
    size = DECODE_PAGES * whole.lane.page_bytes
    parts = [decoder.decode(cpu, part) for cpu, part in chunks(blobs, size)]
    switches = _columns(parts, SWITCH_EVENT, SWITCH_COLUMNS[2:])
    wakings = _columns(parts, WAKING_EVENT, ("pid",))
    return Tables(
        switches,
        {"ts": wakings["ts"], "tid": wakings["pid"]},
        first or _first_events(parts, switches),
        _calls(parts, lane.functions),
    )


def _columns(parts: Sequence[CpuColumns], event: str, fields: Sequence[str]) -> Columns:
    found = [(part.cpu, part.tables[event]) for part in parts if event in part.tables]
    columns = {
        "ts": np.concatenate([table.ts_ns for _, table in found]),
        "cpu": np.concatenate([np.full(len(table), cpu, np.int64) for cpu, table in found]),
    }
    for field in fields:
        columns[field] = np.concatenate(
            [np.asarray(table.columns[field], np.int64) for _, table in found]
        )
    return columns


def _first_events(parts: Sequence[CpuColumns], switches: Columns) -> Columns:
    """Return the first event of each thread that emits an event before its first switch.

    Such a thread runs already when the trace begins.
    """
    first: dict[int, tuple[int, int]] = {}
    for part in parts:
        for name, table in part.tables.items():
            if name != SWITCH_EVENT:
                tids, places = np.unique(table.pid, return_index=True)
                for tid, at in zip(tids.tolist(), table.ts_ns[places].tolist(), strict=True):
                    first[tid] = min((at, part.cpu), first.get(tid, (at, part.cpu)))
    for field in ("prev_pid", "next_pid"):
        order = np.argsort(switches["ts"], kind="stable")
        tids, places = np.unique(switches[field][order], return_index=True)
        times = switches["ts"][order][places]
        for tid, at in zip(tids.tolist(), times.tolist(), strict=True):
            if tid in first and first[tid][0] >= at:
                del first[tid]
    rows = np.array([(at, cpu, tid) for tid, (at, cpu) in first.items()], np.int64)
    return dict(zip(FIRST_COLUMNS, rows.reshape(-1, 3).T, strict=True))


def _calls(parts: Sequence[CpuColumns], functions: Sequence[Function]) -> Columns:
    found: list[NDArray[np.int64]] = [np.empty((4, 0), np.int64)]
    for number, function in enumerate(functions):
        for opens, event in enumerate((function.closes, function.opens)):
            for table in (part.tables[event] for part in parts if event in part.tables):
                n = len(table)
                found.append(
                    np.stack([table.ts_ns, table.pid, np.full(n, number), np.full(n, opens)])
                )
    return dict(zip(CALL_COLUMNS, np.concatenate(found, axis=1, dtype=np.int64), strict=True))


class Database(Protocol):
    """A database in memory."""

    def load(self, name: str, columns: Columns) -> None:
        """Create a table."""

    def run(self, statement: str) -> list[tuple[int, ...]]:
        """Run a statement, and return its rows."""

    def close(self) -> None: ...


class Sqlite:
    """SQLite, which is also the engine of Perfetto's SQL."""

    def __init__(self) -> None:
        self._to = sqlite3.connect(":memory:", isolation_level=None)

    def load(self, name: str, columns: Columns) -> None:
        self._to.execute(f"create table {name} ({', '.join(f'{one} int' for one in columns)})")
        marks = ", ".join("?" * len(columns))
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        self._to.execute("begin")
        self._to.executemany(f"insert into {name} values ({marks})", rows)
        self._to.execute("commit")

    def run(self, statement: str) -> list[tuple[int, ...]]:
        return list(self._to.execute(statement))

    def close(self) -> None:
        self._to.close()


class Duckdb:
    """DuckDB, a columnar database, on one thread."""

    def __init__(self, module: Any) -> None:
        self._to = module.connect(":memory:", config={"threads": 1})

    def load(self, name: str, columns: Columns) -> None:
        self._to.register("given", columns)
        self._to.execute(f"create table {name} as select * from given")
        self._to.unregister("given")

    def run(self, statement: str) -> list[tuple[int, ...]]:
        return [tuple(map(int, row)) for row in self._to.execute(statement).fetchall()]

    def close(self) -> None:
        self._to.close()


def _beside_sql(bench: Bench, lane: Lane, whole: LanePages) -> Iterator[Result]:
    rows = tables_of(lane, whole, whole.blobs())
    first = reduced(lane, whole.by_size(Limits().backlog_bytes // whole.lane.page_bytes))
    drawn = frozenset(tid for tid in first.tids.values() if tid > 0)
    makers: list[tuple[str, Callable[[], Database]]] = [("SQL in SQLite", Sqlite)]
    case = f"{whole.events:,} events"
    try:
        duckdb = import_module("duckdb")
        makers.append(("SQL in DuckDB", lambda: Duckdb(duckdb)))
    except ImportError:
        yield Skipped(
            NAME, f"{case}, beside SQL in DuckDB",
            "DuckDB is not installed: .venv/bin/python -m pip install duckdb.",
        )  # fmt: skip
    ours = Side("ours", lambda: replayed(lane, whole))
    for name, make in makers:
        for from_pages in (True, False):
            sql = Sql(make, lane, whole, rows, first.origin_ns, drawn, from_pages)
            yield compare(
                bench, NAME, case, ours,
                Side(f"{name}, {'from pages' if from_pages else 'rows inserted before'}", sql.turn),
                work=whole.events, unit="events",
                target=SQL if from_pages and make is Sqlite else None,
                note=FROM_PAGES if from_pages else FROM_ROWS,
            )  # fmt: skip
    yield _beside_perfetto(bench, case, lane, whole, sql)


FROM_PAGES = (
    "Our decoder makes the columns, the database gets those that it needs, and SQL derives states "
    "and function spans. Ours also gives causes of sleeps, operations, tracks, links and points."
)
FROM_ROWS = "The same SQL; neither decoding nor inserting the rows is counted."


@dataclass(frozen=True, slots=True)
class Sql:
    """A database that derives the states of threads.

    Args:
        drawn: threads whose running times are compared.
        from_pages: whether a turn also decodes the pages and inserts the rows.
    """

    make: Callable[[], Database]
    lane: Lane
    whole: LanePages
    rows: Tables
    origin_ns: int
    drawn: frozenset[int]
    from_pages: bool

    def turn(self) -> Turn:
        """Derive the states; the output is the running times."""
        database = self.make()
        blobs = self.whole.blobs()
        if not self.from_pages:
            _load(database, self.rows)

        def body() -> None:
            if self.from_pages:
                _load(database, tables_of(self.lane, self.whole, blobs, self.rows.first))
            database.run(STATES)
            database.run(CALLS)

        turn = measured(body)
        found = self._found(database)
        database.close()
        return turn._replace(output=found)

    def _found(self, database: Database) -> Found:
        running = database.run(RUNNING.format(self.origin_ns))
        calls: dict[int, tuple[int, int]] = {}
        for function, tid, count, time in database.run(CALLED.format(self.origin_ns)):
            if tid in self.drawn:
                kind = self.lane.functions[function].kind
                held = calls.get(kind, (0, 0))
                calls[kind] = (held[0] + count, held[1] + time)
        return Found({tid: time for tid, time in running if tid in self.drawn}, calls)


# Perfetto's trace processor: it derives thread_state and slices while it reads a trace.

PERFETTO = """
select 'running', tid, 0, sum(ts + dur - max(ts, {0})) from thread_state join thread using (utid)
where state = 'Running' and dur > 0 and ts + dur > {0} group by tid
union all
select slice.name, tid, count(*), sum(slice.ts + slice.dur - max(slice.ts, {0}))
from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
where slice.dur > 0 and slice.ts + slice.dur > {0} group by slice.name, tid;
"""


def _beside_perfetto(bench: Bench, case: str, lane: Lane, whole: LanePages, sql: Sql) -> Result:
    program = perfetto.trace_processor()
    if program is None:
        return Skipped(NAME, f"{case}, beside Perfetto's trace processor", perfetto.MISSING)
    trace, text = bench.folder / "reduce.pftrace", bench.folder / "reduce.sql"
    kprobes = {}
    for number, function in enumerate(lane.functions):
        kprobes[function.opens] = (f"function {number}", perfetto.BEGIN)
        kprobes[function.closes] = (f"function {number}", perfetto.END)
    perfetto.write_trace(trace, whole, kprobes)
    text.write_text(PERFETTO.format(sql.origin_ns))
    # Perfetto knows nothing of a thread that runs already when the trace begins.
    known = sql.drawn - {int(tid) for tid in sql.rows.first["tid"]}

    def load() -> Turn:
        turn = measured(lambda: perfetto.query(program, trace, text, raw=False))
        running: dict[int, int] = {}
        calls: dict[int, tuple[int, int]] = {}
        assert isinstance(turn.output, list)
        for name, tid, count, time in turn.output:
            if name == "running" and int(tid) in known:
                running[int(tid)] = running.get(int(tid), 0) + int(time)
            elif name != "running" and int(tid) in sql.drawn:
                kind = lane.functions[int(name.split()[1])].kind
                held = calls.get(kind, (0, 0))
                calls[kind] = (held[0] + int(count), held[1] + int(time))
        return turn._replace(output=Found(running, calls))

    def ours() -> Turn:
        turn = replayed(lane, whole)
        assert isinstance(turn.output, Found)
        running = {tid: time for tid, time in turn.output.running.items() if tid in known}
        return turn._replace(output=Found(running, turn.output.calls))

    return compare(
        bench, NAME, case, Side("ours", ours), Side("Perfetto's trace processor", load),
        work=whole.events, unit="events", target=SQL,
        note="Reads the same events as a Perfetto trace (protobuf, written before), derives "
        "thread_state and slices, and sums them up in SQL; without its table of raw events.",
    )  # fmt: skip


def _load(database: Database, rows: Tables) -> None:
    database.load("sched_switch", rows.switches)
    database.load("sched_waking", rows.wakings)
    database.load("first_event", rows.first)
    database.load("call", rows.calls)


# Cost curves.


def _curves(lane: Lane, whole: LanePages) -> Iterator[Point]:
    by_size = Limits().backlog_bytes // whole.lane.page_bytes
    for share in SHARES:
        part = whole if share == 1 else whole.cut(share)
        cost = _cost(lane, part.by_size(by_size))
        yield Point(NAME, "reduce: CPU time by number of events", part.events, "events", cost, CPU)
    for share in SHARES:
        part = whole if share == 1 else whole.cut(share)
        seconds = (part.end_ns - part.begin_ns) / 1e9
        cost = _cost(lane, part.by_time(TICK_NS))
        yield Point(NAME, "reduce: CPU time by length of a live run", seconds, "s", cost, CPU)
    part = whole.cut(LANE_SHARE)
    for times in TIMES:
        cost = _cost(lane, part.by_size(by_size), times)
        yield Point(NAME, "reduce: CPU time by number of lanes", times, "lanes", cost, CPU)
    for times in TIMES:
        dealt = whole.dealt(times)
        cost = _cost(lane, dealt.by_size(by_size))
        cpus = len(dealt.pages)
        yield Point(NAME, "reduce: CPU time by the guest's CPUs", cpus, "CPUs", cost, CPU)
    # The groups are the ticks of one second, with more and more events in each tick.
    pages = max(1, whole.count // (LIVE_TICKS * TIMES[-1]))
    for times in TIMES:
        part = whole.cut(times / TIMES[-1])
        cost = _cost(lane, part.by_size(pages * times))
        yield Point(
            NAME, "reduce: CPU time of a second of a live run, by events a second",
            part.events, "events/s", cost, CPU,
        )  # fmt: skip


def _cost(lane: Lane, groups: Sequence[Group], lanes: int = 1) -> float:
    """Return the lowest CPU time of several turns."""

    def body() -> None:
        for _ in range(lanes):
            reduced(lane, groups)

    return min(measured(body).cpu_s for _ in range(TURNS))


STAGE = Stage(NAME, "pages to spans and states", run, 20)
