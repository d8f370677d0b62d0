# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a recording as CSV, with one file per table and per event type, and times in guest ns.

Recordings are untrusted, so text that a spreadsheet would read as a formula gets a leading
apostrophe.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from duet.bundle import Bundle
from duet.bundle.decoding import ConfinedDecoder
from duet.bundle.reader import read_lane
from duet.decode import CpuColumns, FieldKind
from duet.export.scene import Scene, Target
from duet.session.tables import TABLES

FORMULA = re.compile(r"^[=+\-@\t\r]")
Rows = Iterable[Sequence[object]]


def write(target: Target, bundle: Bundle, scene: Scene) -> None:
    """Write all tables.

    Raises:
        InputError: a lane is malformed, or a file exists and may not be replaced.
        InfraError: a file cannot be written.
    """
    _derived(target, scene)
    _events(target, bundle)


def _derived(target: Target, scene: Scene) -> None:
    """Write the tables that the session computes and the page draws."""
    for table, columns in TABLES.items():
        rows: list[Sequence[object]] = []
        for arm in scene.arms:
            cells = scene.table(arm, table)
            lists = [cells[name].tolist() for name in columns]
            if "kind" in columns:
                place = list(columns).index("kind")
                names = scene.kind_names(table)
                lists[place] = [names.get(number, number) for number in lists[place]]
            rows += zip([arm] * len(lists[0]), *lists, strict=True)
        _write(target, table, ["lane", *columns], rows)
    lanes = scene.played.lanes
    _write(
        target,
        "rows",
        ["lane", "row", "tid", "name", "role"],
        [
            (arm, row.row, row.tid, row.name, row.role)
            for arm in scene.arms
            for row in scene.rows(arm)
        ],
    )
    _write(
        target,
        "losses",
        ["lane", "t0_ns", "t1_ns", "events", "where"],
        [(a, x.t0_ns, x.t1_ns, x.events, x.where) for a in scene.arms for x in lanes[a].loss],
    )
    _write(
        target,
        "lines",
        ["lane", "t_ns", "stream", "text"],
        [(a, x.t_ns, x.stream, x.text) for a in scene.arms for x in lanes[a].lines],
    )
    _write(
        target,
        "figures",
        ["lane", "figure", "value"],
        [(arm, *pair) for arm in scene.arms for pair in scene.figures(arm).items()],
    )
    for probe in scene.probes:
        _samples(target, scene, probe)


def _samples(target: Target, scene: Scene, probe: str) -> None:
    """Write the samples of one probe. Each row has one number, from one column of one sample.

    A row cannot contain a complete sample, because the columns of a sample may differ in length.
    For example, a map may have more words than owners.
    """
    _write(
        target,
        f"samples-{_file(probe)}",
        ["lane", "sample", "t_ns", "error_ns", "column", "at", "value"],
        (
            (arm, sample.seq, t_ns, sample.error_ns, column, at, value)
            for arm in scene.arms
            for sample, t_ns in scene.samples(arm)
            if sample.probe == probe
            for column, cells in sample.columns.items()
            for at, value in enumerate(np.frombuffer(cells, "<" + sample.dtypes[column]).tolist())
        ),
    )


def _events(target: Target, bundle: Bundle) -> None:
    """Write all decoded records of the ring buffers: one file per event type, for all lanes."""
    parts: dict[str, list[tuple[str, ConfinedDecoder, CpuColumns]]] = {}
    for entry in bundle.manifest.arms:
        lane = read_lane(bundle, entry.name)
        if not lane.pages:
            continue
        decoder = lane.decoder()
        for part in lane.decoded(decoder):
            for name in part.tables:
                parts.setdefault(name, []).append((entry.name, decoder, part))
    for name, found in sorted(parts.items()):
        fields = list(dict.fromkeys(f for *_, part in found for f in part.tables[name].columns))
        heads = ["lane", "cpu", "ts_ns", "seq", "tid", *fields]
        rows = (row for item in found for row in _event_rows(name, fields, *item))
        _write(target, f"events-{_file(name)}", heads, rows)


def _event_rows(
    name: str, fields: list[str], arm: str, decoder: ConfinedDecoder, part: CpuColumns
) -> Rows:
    table = part.tables[name]
    kinds = {field.name: field for field in decoder.by_name[name].fields}
    lists: list[list[Any]] = []
    for field in fields:
        if field not in table.columns:
            lists.append([""] * len(table))
            continue
        cells: list[Any] = table.columns[field].tolist()
        kind = kinds[field]
        if kind.kind is FieldKind.STRING:
            cells = [decoder.strings[cell] for cell in cells]
        elif kind.kind is not FieldKind.INT:
            cells = [cell.decode(errors="replace") for cell in cells]
        elif kind.size == 8 and not kind.signed:
            cells = [cell & 0xFFFF_FFFF_FFFF_FFFF for cell in cells]
        lists.append(cells)
    n = len(table)
    times = (table.ts_ns.tolist(), table.seq.tolist(), table.pid.tolist())
    yield from zip([arm] * n, [part.cpu] * n, *times, *lists, strict=True)


def _write(target: Target, name: str, heads: Sequence[str], rows: Rows) -> None:
    with target.file(f"{name}.csv") as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_cell(head) for head in heads])
        writer.writerows([_cell(cell) for cell in row] for row in rows)
        text.flush()
        text.detach()


def _cell(cell: object) -> object:
    if isinstance(cell, str):
        return f"'{cell}" if FORMULA.match(cell) else cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 53:
        return int(cell)
    return cell


def _file(name: str) -> str:
    """Return the name of a probe or event with only characters that are safe in a file name."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:100]
