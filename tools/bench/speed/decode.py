# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage decode: ring-buffer pages to columns, beside programs that read the same pages.

Our decoder makes a column of every field of every event. kbuffer's loop only visits the events, so
no decoder that uses libtraceevent can be faster than this loop; trace-cmd prints a line of text for
each event; pure Python does what kbuffer's loop does.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from duet.base.errors import InfraError
from duet.base.native import compiled, load_library
from duet.decode import CpuColumns, Decoder
from duet.export import tracedat
from tools.bench.speed import perfetto
from tools.bench.speed.capture import capture
from tools.bench.speed.pages import (
    HEADER_BYTES,
    MISSED,
    PADDING,
    TIME_EXTEND,
    TIME_STAMP,
    LanePages,
    chunks,
    lane_pages,
)
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

NAME = "decode"
RATE, KBUFFER, TRACE_CMD = 10.0, 0.5, 10.0
"""Targets: M events a second of CPU time, and ratios beside two peers."""
SMOKE_REPEATS = 64
PYTHON_PAGES = 8192
"""Pages that pure Python reads; the whole capture would take it many seconds a turn."""
PART_PAGES = 512
"""Pages that are decoded at a time; a replay gives up to four times as many."""
CURVE = "decode: CPU time by number of events"
CURVE_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
CURVE_TURNS = 3
LINE = re.compile(
    rb"^ *[^\n]{1,24}-\d+ +\[\d+\] +(?:[\w.]{4,8} +)?\d+\.\d+: +(\S+?):", re.MULTILINE
)
"""A line of `trace-cmd report` about an event."""

U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")


def run(bench: Bench) -> Iterator[Result]:
    """Compare our decoder with each peer on one capture."""
    made = capture(bench)
    whole = lane_pages(made)
    dat = made.trace_dat
    if bench.smoke:
        whole = whole.repeated(SMOKE_REPEATS)
        dat = bench.folder / "repeated.dat"
        export(whole, dat)
    case = f"{whole.events:,} events"
    rows: list[Row] = []
    for result in (_beside_kbuffer(bench, case, whole), _beside_trace_cmd(bench, case, whole, dat)):
        if isinstance(result, Row):
            rows.append(result)
        yield result
    yield _beside_perfetto(bench, case, whole)
    yield _beside_python(bench, whole)
    yield rate([whole.events / row.cpu_s for row in rows] or [_alone(whole)])
    if not bench.smoke:
        yield from _curve(whole)


def rate(rates: list[float]) -> Figure:
    """Return a figure: the number of events decoded per second of CPU time."""
    found = [each / 1e6 for each in rates]
    return Figure(
        NAME, "rate of our decoder", max(found), "M events/s of CPU", RATE, most=False,
        spread=(min(found), max(found)),
        note="The better of the medians of the comparisons above.",
    )  # fmt: skip


def _alone(whole: LanePages) -> float:
    return whole.events / min(decoded(whole, counts).cpu_s for _ in range(CURVE_TURNS))


# Ours: pages to columns, in parts as a replay decodes them. Each part is dropped after it was
# counted, as a replay drops it after use.

Found = Counter[str]
"""Events by name, and under TIMES the sum of their times modulo 2^64."""
TIMES = "sum of times"
WRAP = 1 << 64


def decoded(whole: LanePages, view: Callable[[CpuColumns], Found]) -> Turn:
    """Decode all pages into columns.

    Args:
        view: returns what is compared of a part's columns. Its time is not part of the turn's time.
    """
    blobs, found = whole.blobs(), Counter[str]()
    made = measured(lambda: Decoder(whole.lane.files, whole.lane.page_bytes))
    decoder = made.output
    assert isinstance(decoder, Decoder)
    wall_s, cpu_s = made.wall_s, made.cpu_s
    for cpu, part in chunks(blobs, PART_PAGES * whole.lane.page_bytes):
        turn = measured(partial(decoder.decode, cpu, part))
        assert isinstance(turn.output, CpuColumns)
        wall_s, cpu_s = wall_s + turn.wall_s, cpu_s + turn.cpu_s
        found.update(view(turn.output))
    return Turn(wall_s, cpu_s, _wrapped(found))


def counts(part: CpuColumns) -> Found:
    """Return the number of events by name."""
    return Counter({name: len(table) for name, table in part.tables.items()})


def counts_and_times(part: CpuColumns) -> Found:
    """Return the number of events by name, and the sum of their times."""
    return counts(part) + Counter({TIMES: sum(int(t.ts_ns.sum()) for t in part.tables.values())})


def short(found: Found) -> dict[str, int]:
    """Return the counts with event names that lack the group."""
    return {name.partition("/")[2]: count for name, count in sorted(found.items())}


def _wrapped(found: Found) -> dict[str, int]:
    return {name: n % WRAP for name, n in sorted(found.items())}


def _named(whole: LanePages, ids: Mapping[int, int], times: int) -> dict[str, int]:
    """Convert counts by event id to the form that `counts_and_times` returns."""
    names = {event.id: event.name for event in Decoder(whole.lane.files).events}
    found = {names.get(number, str(number)): count for number, count in ids.items()}
    return _wrapped(Counter({**found, TIMES: times}))


# libtraceevent's kbuffer in C.

SOURCE = Path(__file__).with_name("kbuffer_loop.c")
IDS = 65536
_COUNTS = ctypes.c_uint64 * IDS
SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "kbuffer_loop": (
        ctypes.c_uint64,
        [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64)],
    )
}


def _beside_kbuffer(bench: Bench, case: str, whole: LanePages) -> Result:
    try:
        library = load_library(compiled(SOURCE, "libtraceevent"), SIGNATURES)
    except InfraError as error:
        return Skipped(NAME, f"{case}, beside kbuffer's loop", f"{error} {error.remedy}")
    blobs, size = whole.blobs(), whole.lane.page_bytes

    def loop() -> Turn:
        ids = _COUNTS()

        def body() -> int:
            return sum(
                int(library.kbuffer_loop(blob, len(blob) // size, size, ids))
                for blob in blobs.values()
            )

        turn = measured(body)
        found = {number: count for number, count in enumerate(ids) if count}
        assert isinstance(turn.output, int)
        return turn._replace(output=_named(whole, found, turn.output))

    return compare(
        bench, NAME, case,
        Side("ours", lambda: decoded(whole, counts_and_times)), Side("kbuffer's loop in C", loop),
        work=whole.events, unit="events", target=KBUFFER,
        note="The loop only counts events by id and adds up their times: it checks no bound and "
        "reads no field. Ours checks each record and makes a column of every field, in parts of "
        f"{PART_PAGES * whole.lane.page_bytes >> 20} MiB of pages that are dropped after use.",
    )  # fmt: skip


# trace-cmd report.


def _by_short_name(whole: LanePages) -> Turn:
    turn = decoded(whole, counts)
    return turn._replace(output=short(cast(Found, turn.output)))


def export(whole: LanePages, path: Path) -> None:
    """Write the pages as a trace.dat."""
    with path.open("wb") as file:
        tracedat.write(file, whole.entry, replace(whole.lane, pages=whole.blobs()))


def _beside_trace_cmd(bench: Bench, case: str, whole: LanePages, dat: Path) -> Result:
    program = shutil.which("trace-cmd")
    if program is None:
        return Skipped(
            NAME, f"{case}, beside trace-cmd report",
            "trace-cmd is not installed: apt-get install trace-cmd.",
        )  # fmt: skip
    printed = bench.folder / "report.txt"

    def report() -> Turn:
        def body() -> None:
            with printed.open("wb") as file:
                subprocess.run(
                    [program, "report", str(dat)],
                    stdout=file, stderr=subprocess.DEVNULL, check=True, timeout=300,
                )  # fmt: skip

        turn = measured(body)
        found = Counter(name.decode() for name in LINE.findall(printed.read_bytes()))
        return turn._replace(output=dict(sorted(found.items())))

    row = compare(
        bench, NAME, case,
        Side("ours", partial(_by_short_name, whole)), Side("trace-cmd report", report),
        work=whole.events, unit="events", target=TRACE_CMD,
        note="trace-cmd prints a line of text for each event of the exported trace.dat, which we "
        "do not; columns are what a program reads, and lines what a person reads.",
    )  # fmt: skip
    printed.unlink()
    return row


# Perfetto's trace processor.

PERFETTO = "select name, count(*) from ftrace_event group by name;"


def _beside_perfetto(bench: Bench, case: str, whole: LanePages) -> Result:
    program = perfetto.trace_processor()
    if program is None:
        return Skipped(NAME, f"{case}, beside Perfetto's trace processor", perfetto.MISSING)
    trace, text = bench.folder / "decode.pftrace", bench.folder / "decode.sql"
    perfetto.write_trace(trace, whole, {})
    text.write_text(PERFETTO)

    def load() -> Turn:
        turn = measured(lambda: perfetto.query(program, trace, text, raw=True))
        assert isinstance(turn.output, list)
        return turn._replace(output={name: int(count) for name, count in sorted(turn.output)})

    row = compare(
        bench, NAME, case,
        Side("ours", partial(_by_short_name, whole)), Side("Perfetto's trace processor", load),
        work=whole.events, unit="events",
        note="Reads the same events as a Perfetto trace (protobuf, written before) into its "
        "tables, sorted by time, with the states of threads; ours leaves sorting to reduce.",
    )  # fmt: skip
    trace.unlink()
    return row


# Pure Python: what kbuffer's loop does, with struct.


def _beside_python(bench: Bench, whole: LanePages) -> Row:
    part = whole.cut(min(1.0, PYTHON_PAGES / whole.count))
    return compare(
        bench, NAME, f"{part.events:,} events",
        Side("ours", lambda: decoded(part, counts_and_times)),
        Side("pure Python", lambda: _read(part)),
        work=part.events, unit="events",
        note="A loop with struct that does what kbuffer's loop does.",
    )  # fmt: skip


def _read(part: LanePages) -> Turn:
    blobs = part.blobs()

    def body() -> tuple[dict[int, int], int]:
        found: dict[int, int] = {}
        times = 0
        for blob in blobs.values():
            for page in range(0, len(blob), part.lane.page_bytes):
                times += read_page(blob, page, found)
        return found, times

    turn = measured(body)
    ids, times = cast(tuple[dict[int, int], int], turn.output)
    return turn._replace(output=_named(part, ids, times))


def read_page(blob: bytes, page: int, found: dict[int, int]) -> int:
    """Count a page's events by id, and return the sum of their times.

    Args:
        page: offset of the page.
    """
    now: int = U64.unpack_from(blob, page)[0]
    at = page + HEADER_BYTES
    end = at + (U32.unpack_from(blob, page + 8)[0] & ~MISSED)
    times = 0
    while at < end:
        (head,) = U32.unpack_from(blob, at)
        kind, step = head & 31, head >> 5
        if kind == PADDING:
            if not step:
                break
            at += 4 + U32.unpack_from(blob, at + 4)[0]
            now += step
        elif kind == TIME_EXTEND:
            now += step | U32.unpack_from(blob, at + 4)[0] << 27
            at += 8
        elif kind == TIME_STAMP:
            now = step | U32.unpack_from(blob, at + 4)[0] << 27
            at += 8
        else:
            now += step
            record, size = (at + 4, 4 * kind) if kind else (at + 8, 0)
            if not kind:
                size = (U32.unpack_from(blob, at + 4)[0] + 3) // 4 * 4
            (number,) = U16.unpack_from(blob, record)
            found[number] = found.get(number, 0) + 1
            times += now
            at = record + size
    return times


# The cost curve.


def _curve(whole: LanePages) -> Iterator[Point]:
    for share in CURVE_SHARES:
        part = whole if share == 1 else whole.cut(share)
        cpu_s = min(decoded(part, counts).cpu_s for _ in range(CURVE_TURNS))
        yield Point(NAME, CURVE, part.events, "events", cpu_s, "s of CPU")


STAGE = Stage(NAME, "ring-buffer pages to columns", run, 10)
