# SPDX-License-Identifier: GPL-2.0-or-later
"""The decoded records of a run, kept for those who ask what lies behind a mark. Bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from duet.decode import CpuColumns, Decoder, EventType, FieldKind, Table
from duet.session.program import SWITCH_EVENT, WAKING_EVENT

RawEvent = dict[str, JsonValue]


class History:
    """Columns as they were decoded, the oldest dropped beyond a number of events.

    Args:
        max_events: of all kinds; about 80 bytes each.
    """

    def __init__(self, max_events: int) -> None:
        self._max = max_events
        self._parts: deque[tuple[int, int, CpuColumns]] = deque()
        self._events = 0
        self._names: dict[int, str] = {}
        self.dropped = 0
        """Events no longer kept."""
        self.decoder: Decoder | None = None

    def add(self, columns: Iterable[CpuColumns]) -> None:
        """Keep these; forget the oldest if they are too many."""
        for part in columns:
            if not part.events:
                continue
            first = min(int(t.ts_ns[0]) for t in part.tables.values())
            last = max(int(t.ts_ns[-1]) for t in part.tables.values())
            self._parts.append((first, last, part))
            self._events += part.events
        while self._events > self._max and len(self._parts) > 1:
            _, _, oldest = self._parts.popleft()
            self._events -= oldest.events
            self.dropped += oldest.events

    def around(
        self,
        at_ns: int,
        n: int,
        tid: int | None = None,
        events: frozenset[str] | None = None,
        cpu: int | None = None,
    ) -> list[RawEvent]:
        """The `n` records nearest to a guest time, in order of time.

        Args:
            tid: only those that this thread emitted or that switch or wake it.
            events: only these event types.
            cpu: only those that were written on this CPU.
        """
        found: list[tuple[int, int, int, str, Table, int]] = []
        wanted = [part for part in tuple(self._parts) if cpu is None or part[2].cpu == cpu]
        parts = sorted(wanted, key=lambda p: _distance(p[0], p[1], at_ns))
        for first, last, part in parts:
            if len(found) >= n and _distance(first, last, at_ns) > found[n - 1][0]:
                break
            for name, table in part.tables.items():
                if events is not None and name not in events:
                    continue
                for place in _nearest(name, table, at_ns, n, tid):
                    ts = int(table.ts_ns[place])
                    found.append((abs(ts - at_ns), ts, part.cpu, name, table, place))
            found.sort(key=lambda item: item[0])
            del found[n:]
        found.sort(key=lambda item: (item[1], item[2], int(item[4].seq[item[5]])))
        return [self._raw_event(ts, cpu, name, table, at) for _, ts, cpu, name, table, at in found]

    def _raw_event(self, ts: int, cpu: int, name: str, table: Table, place: int) -> RawEvent:
        assert self.decoder is not None
        kind = self.decoder.by_name[name]
        fields = self._fields(kind, table, place)
        tid = int(table.pid[place])
        task = self._task(name, fields, tid)
        return {"t_ns": ts, "cpu": cpu, "tid": tid, "task": task, "event": name, "fields": fields}

    def _fields(self, kind: EventType, table: Table, place: int) -> dict[str, JsonValue]:
        assert self.decoder is not None
        fields: dict[str, JsonValue] = {}
        for field in kind.fields:
            cell = table.columns[field.name][place].item()
            if field.kind is FieldKind.STRING:
                fields[field.name] = self.decoder.strings[cell]
            elif isinstance(cell, bytes):
                fields[field.name] = cell.decode(errors="replace")
            elif field.size == 8 and not field.signed:
                value = cell & 0xFFFF_FFFF_FFFF_FFFF
                fields[field.name] = f"{value:#x}" if value > 1 << 53 else value
            else:
                fields[field.name] = cell
        return fields

    def _task(self, event: str, fields: dict[str, JsonValue], tid: int) -> str:
        """The emitting task's name: from its own switch, else from the last one that was seen."""
        if event == SWITCH_EVENT:
            return str(fields["prev_comm"])
        if not self._names:
            for _, _, part in tuple(self._parts):
                if table := part.tables.get(SWITCH_EVENT):
                    pairs = zip(
                        table.columns["next_pid"].tolist(),
                        table.columns["next_comm"].tolist(),
                        strict=True,
                    )
                    self._names.update({t: c.decode(errors="replace") for t, c in pairs})
        return self._names.get(tid, "")


def _distance(first: int, last: int, at: int) -> int:
    return max(first - at, at - last, 0)


def _nearest(name: str, table: Table, at: int, n: int, tid: int | None) -> list[int]:
    """Places of the nearest rows, at most n on either side."""
    places: NDArray[np.int64] = np.arange(len(table))
    if tid is not None:
        mask = table.pid == tid
        for field in {SWITCH_EVENT: ("next_pid",), WAKING_EVENT: ("pid",)}.get(name, ()):
            mask = mask | (table.columns[field] == tid)
        places = np.flatnonzero(mask)
    middle = int(np.searchsorted(table.ts_ns[places], at))
    chosen: list[int] = places[max(0, middle - n) : middle + n].tolist()
    return chosen
