# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that a view draws one by one, kept with their fields. Pure numpy, no loop over events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from duet.decode.columns import CpuColumns, Table
from duet.errors import KernelError
from duet.lessons.schema import Point
from duet.session.tables import TABLES, Columns

FIELD_COLUMNS = "abcdef"


@dataclass(frozen=True, slots=True)
class PointRule:
    """A point of the lesson, on one arm.

    Args:
        kind: its place in the lesson's list, which is its number on the wire.
        fields: fields of the event that become the columns a, b, c, ...
    """

    event: str
    kind: int
    fields: tuple[str, ...]


def point_rules(points: Sequence[Point], event_of: Mapping[str, str]) -> tuple[PointRule, ...]:
    """The rules of an arm: points whose probe it does not have never come.

    Args:
        event_of: probe -> event, of this arm.
    """
    return tuple(
        PointRule(event_of[point.probe], kind, point.fields)
        for kind, point in enumerate(points)
        if point.probe is not None and point.probe in event_of
    )


class PointSorter:
    """Holds points until the watermark has passed them; gives them out in order of time."""

    def __init__(self, rules: Sequence[PointRule]) -> None:
        self._rules: dict[str, list[PointRule]] = {}
        for rule in rules:
            self._rules.setdefault(rule.event, []).append(rule)
        self._held: list[Columns] = []
        self._given = 0

    def add(self, columns: CpuColumns) -> None:
        """Take the events that are points; others are none of its business."""
        for event, rules in self._rules.items():
            if table := columns.tables.get(event):
                self._held += [_cells(columns.cpu, table, rule) for rule in rules]

    def take(self, origin_ns: int, watermark_ns: int) -> tuple[Columns, int]:
        """Points from the start marker up to and with the watermark: columns and how many.

        What lies before the marker is dropped: it is set-up, not the workload.
        """
        ripe: list[Columns] = []
        waiting: list[Columns] = []
        for part in self._held:
            # A CPU writes in order of time. Slices: what waits is not copied at every step.
            begin, end = np.searchsorted(part["ts"], (origin_ns, watermark_ns + 1)).tolist()
            if begin < end:
                ripe.append({name: column[begin:end] for name, column in part.items()})
            if end < len(part["ts"]):
                waiting.append({name: column[end:] for name, column in part.items()})
        self._held = waiting
        if not ripe:
            return {}, 0
        cells = {name: np.concatenate([part[name] for part in ripe]) for name in ripe[0]}
        n = len(cells["ts"])
        order = np.lexsort((cells["seq"], cells["cpu"], cells["ts"]))
        cells["t_ns"] = cells["ts"].astype(np.int64) - origin_ns
        cells["id"] = np.empty(n, np.uint32)
        cells["id"][order] = np.arange(self._given + 1, self._given + n + 1)
        self._given += n
        types = TABLES["points"]
        return {name: cells[name][order].astype(dtype) for name, dtype in types.items()}, n


def _cells(cpu: int, table: Table, rule: PointRule) -> Columns:
    n = len(table)
    cells: Columns = {
        "ts": table.ts_ns,
        "seq": table.seq,
        "kind": np.full(n, rule.kind, np.uint8),
        "cpu": np.full(n, cpu, np.int16),
        "tid": table.pid,
    }
    for place, name in enumerate(FIELD_COLUMNS):
        field = rule.fields[place] if place < len(rule.fields) else None
        if field is not None and field not in table.columns:
            raise KernelError(
                f"{rule.event} has no field '{field}', which the lesson's picture needs.",
                remedy=f"Choose from: {', '.join(table.columns)}.",
            )
        cells[name] = table.columns[field].astype(np.float64) if field else np.zeros(n)
    return cells
