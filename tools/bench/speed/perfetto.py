# SPDX-License-Identifier: GPL-2.0-or-later
"""Perfetto's trace processor as a peer: the program, and a capture's events as a Perfetto trace."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from duet.decode import CpuColumns, FieldKind, Table
from duet.decode.decoder import Decoder
from duet.export.perfetto import perfetto_protos
from duet.session.program import PRINT_EVENT, SWITCH_EVENT, WAKING_EVENT
from tools.bench.speed.pages import LanePages, chunks

VARIABLE = "TRACE_PROCESSOR"
PROGRAMS = ("trace_processor_shell", "trace_processor")
MISSING = (
    "Perfetto's trace processor is not installed: build trace_processor_shell from Perfetto's "
    f"source, and put it into PATH or name it in ${VARIABLE}."
)
WAIT_S = 300
BUNDLE = 512
"""Events in a bundle; Perfetto's tracing service writes a few pages of a CPU into each."""
BEGIN, END = 1, 2
"""KprobeEvent.KprobeType."""
Kprobes = Mapping[str, tuple[str, int]]
"""Event -> name of the slice, and BEGIN or END."""


def trace_processor() -> Path | None:
    """Return the path of the program, or None if it is not installed."""
    named = os.environ.get(VARIABLE)
    found = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    return Path(found) if found else None


def query(program: Path, trace: Path, sql: Path, *, raw: bool) -> list[list[str]]:
    """Load a trace, run the statements of a file, and return the rows of the last one.

    Args:
        raw: whether to also fill the table of all ftrace events.
    """
    options = [] if raw else ["--no-ftrace-raw"]
    done = subprocess.run(
        [program, *options, "-q", sql, trace],
        capture_output=True, text=True, check=True, timeout=WAIT_S,
    )  # fmt: skip
    return [row for row in csv.reader(done.stdout.splitlines()) if row][1:]


def write_trace(path: Path, whole: LanePages, kprobes: Kprobes) -> None:
    """Write all events of a lane as bundles of ftrace events, one CPU after the other.

    Args:
        kprobes: events that begin and end slices. Other events that Perfetto does not know become
            generic events, with their fields.
    """
    protos = perfetto_protos()
    decoder = Decoder(whole.lane.files, whole.lane.page_bytes)
    with path.open("wb") as file:
        for cpu, pages in chunks(whole.blobs(), 16 << 20):
            part = decoder.decode(cpu, pages)
            events = sorted(_events(protos, decoder, part, kprobes), key=_order)
            for at in range(0, len(events), BUNDLE):
                trace = protos.Trace()
                bundle = trace.packet.add().ftrace_events
                bundle.cpu = cpu
                bundle.event.extend(event for _, event in events[at : at + BUNDLE])
                file.write(trace.SerializeToString())


def _order(pair: tuple[int, Any]) -> int:
    return pair[0]


def _events(
    protos: Any, decoder: Decoder, part: CpuColumns, kprobes: Kprobes
) -> Iterator[tuple[int, Any]]:
    """Yield (sequence number, FtraceEvent) of each event."""
    for name, table in part.tables.items():
        columns = _cells(decoder, name, table)
        short = name.partition("/")[2]
        heads = zip(table.seq.tolist(), table.ts_ns.tolist(), table.pid.tolist(), strict=True)
        for row, (seq, time, pid) in enumerate(heads):
            event = protos.FtraceEvent(timestamp=time, pid=pid)
            if name == SWITCH_EVENT:
                _fill(event.sched_switch, columns, row)
            elif name == WAKING_EVENT:
                _fill(event.sched_waking, columns, row)
            elif name == PRINT_EVENT:
                event.print.buf = columns["buf"][row]
            elif name in kprobes:
                event.kprobe_event.name, event.kprobe_event.type = kprobes[name]
            else:
                event.generic.event_name = short
                for field, cells in columns.items():
                    value = cells[row]
                    one = event.generic.field.add(name=field)
                    if isinstance(value, str):
                        one.str_value = value
                    else:
                        one.int_value = value
            yield seq, event


def _cells(decoder: Decoder, name: str, table: Table) -> dict[str, list[Any]]:
    """Return the fields of all rows as Python's numbers and texts."""
    found: dict[str, list[Any]] = {}
    for field in decoder.by_name[name].fields:
        cells = table.columns[field.name].tolist()
        if field.kind is FieldKind.STRING:
            cells = [decoder.strings[cell] for cell in cells]
        elif field.kind is not FieldKind.INT:
            cells = [cell.decode(errors="replace") for cell in cells]
        found[field.name] = cells
    return found


def _fill(message: Any, columns: Mapping[str, list[Any]], row: int) -> None:
    known = {field.name for field in message.DESCRIPTOR.fields}
    for name in known & columns.keys():
        setattr(message, name, columns[name][row])
