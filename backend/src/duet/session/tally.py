# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics `event`, `span` and `pending` of a lesson, from the columns of one run. Pure numpy.

Events are in one order over all CPUs: by time, then CPU, then the CPU's own order. What lies
before the workload's start marker does not count. A phase lasts from '<phase>: start' to
'<phase>: end'; starts of several writers nest, and a phase may come many times. A metric whose
events were not switched on has no value; one whose events were on and never came is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from duet.decode.decoder import CpuColumns, EventType, FieldKind, Table
from duet.lessons.plan import probes_of, workload_of
from duet.lessons.schema import Lesson, Metric
from duet.session.program import PRINT_EVENT

# Entries and returns as brackets, matched by numpy alone. Pure.
#
# A return without an entry is left out; an entry without a return stays open and hides nothing.

Ints = NDArray[np.int64]


def depths(step: Ints, group: Ints | None = None) -> Ints:
    """How deep each place is, after its step of +1, -1 or 0; never below zero.

    Args:
        group: number per place, rising; every group begins at depth 0.
    """
    if not len(step):
        return np.empty(0, np.int64)
    if group is None:
        group = np.zeros(len(step), np.int64)
    total = np.cumsum(step)
    first = np.searchsorted(group, group, side="left")
    total = total - (total[first] - step[first])
    # The lowest point so far is where returns had no entry. Groups are lifted apart, each far
    # below the one before, so that one running minimum serves them all.
    apart = (group - group[0]) * (2 * len(step) + 1)
    lowest = np.minimum.accumulate(np.minimum(total, 0) - apart) + apart
    return np.asarray(total - lowest, np.int64)


def pairs(tid: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Places of entries (+1) and of their returns (-1), each with the innermost open entry.

    Args:
        tid: thread per place; places are in order of time.

    Returns:
        Two arrays of one length, sorted by thread, then entry.
    """
    nothing = np.empty(0, np.int64)
    if not len(tid):
        return nothing, nothing
    order = np.argsort(tid, kind="stable")
    thread, moved = np.asarray(tid)[order], np.asarray(step)[order]
    depth = depths(moved, np.unique(thread, return_inverse=True)[1])
    before = np.concatenate((np.zeros(1, np.int64), depth[:-1]))
    before[1:][thread[1:] != thread[:-1]] = 0
    level = np.where(moved > 0, depth, before)  # a return without an entry is on level 0
    at = np.lexsort((np.arange(len(order)), level, thread))
    at = at[level[at] > 0]
    here, there = at[:-1], at[1:]
    # On one level of one thread entries and returns take turns; the last entry may lack its own.
    match = (
        (moved[here] > 0)
        & (moved[there] < 0)
        & (thread[here] == thread[there])
        & (level[here] == level[there])
    )
    opens, closes = here[match], there[match]
    by_entry = np.argsort(opens, kind="stable")
    return order[opens[by_entry]], order[closes[by_entry]]


def outermost(tid: Ints, opens: Ints, closes: Ints) -> NDArray[np.bool_]:
    """Which of the pairs lie in no other pair of their thread.

    Args:
        tid: thread per place.
        opens: as `pairs` gives them, sorted by thread, then entry.
    """
    if not len(opens):
        return np.empty(0, np.bool_)
    thread = np.unique(tid[opens], return_inverse=True)[1]
    end = closes + thread * (int(closes.max()) + 1)  # threads lifted apart, as in `depths`
    latest = np.maximum.accumulate(end)
    return np.concatenate((np.ones(1, np.bool_), end[1:] > latest[:-1]))


@dataclass(slots=True)
class _Held:
    """What is kept of one event type for one metric."""

    event: str
    value: str | None
    where: tuple[tuple[str, int], ...]
    parts: list[tuple[Ints, Ints, Ints, Ints, Ints]] = field(default_factory=list)

    def add(self, cpu: int, table: Table) -> None:
        keep: NDArray[np.bool_] | slice = slice(None)
        if self.where:
            columns = table.columns
            keep = np.logical_and.reduce([columns[name] == is_ for name, is_ in self.where])
        ts, seq, pid = table.ts_ns[keep], table.seq[keep], table.pid[keep].astype(np.int64)
        value = table.columns[self.value][keep].astype(np.int64, copy=False) if self.value else seq
        if len(ts):
            self.parts.append((ts, np.full(len(ts), cpu, np.int64), seq, pid, value))

    def joined(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Columns ts, cpu, seq, pid and value of all parts; not in order yet."""
        if not self.parts:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, nothing, nothing, nothing
        ts, cpu, seq, pid, value = (np.concatenate(c) for c in zip(*self.parts, strict=True))
        return ts, cpu, seq, pid, value


@dataclass(frozen=True, slots=True)
class _Ordered:
    """Events in order.

    Args:
        number: which time of the phase an event lies in; -1 for none.
        times: how often the phase came.
    """

    ts: Ints
    pid: Ints
    value: Ints
    source: Ints
    number: Ints
    times: int


class Tally:
    """Counts what the metrics of one lesson, arm and workload ask for.

    Args:
        events: the event types that were switched on (Decoder.by_name).
    """

    def __init__(
        self, lesson: Lesson, arm: str, workload: str, events: Mapping[str, EventType]
    ) -> None:
        self.faults: dict[str, str] = {}
        """Why a metric has no value, in a sentence; complete after `values`."""
        self._metrics: dict[str, tuple[Metric, tuple[_Held, ...]]] = {}
        self._unsigned: set[str] = set()
        self._markers: list[tuple[int, int, int, bytes]] = []
        self._start = workload_of(lesson, workload).start_marker.encode()
        event_of = {p.name: p.event for p in probes_of(lesson, arm)}
        for name, metric in lesson.metrics.items():
            probes = metric.probes
            if not probes or (metric.arms and arm not in metric.arms):
                continue
            if metric.workloads and workload not in metric.workloads:
                continue
            on = [event_of[p] for p in probes if event_of.get(p) in events]
            if len(on) < len(probes):
                off = ", ".join(p for p in probes if event_of.get(p) not in events)
                self.faults[name] = f"its event was not switched on: {off}."
                continue
            self._prepare(name, metric, on, events)
        self._never = dict(self.faults)

    def feed(self, columns: Iterable[CpuColumns]) -> None:
        for part in columns:
            if table := part.tables.get(PRINT_EVENT):
                rows = zip(
                    table.ts_ns.tolist(),
                    table.seq.tolist(),
                    table.columns["buf"].tolist(),
                    strict=True,
                )
                self._markers += [(ts, part.cpu, seq, text.strip()) for ts, seq, text in rows]
            for _, helds in self._metrics.values():
                for held in helds:
                    if table := part.tables.get(held.event):
                        held.add(part.cpu, table)

    def values(self) -> dict[str, float]:
        """Metric -> value, picked and not scaled. Integers stay exact (they are Python ints)."""
        values: dict[str, float] = {}
        self.faults = dict(self._never)
        for name, (metric, helds) in self._metrics.items():
            ordered = self._order(name, metric, helds)
            if ordered is None:
                continue
            if metric.span:
                value = self._span(metric, ordered)
            elif metric.pending:
                value = _pending(metric, ordered)
            else:
                value = self._event(metric, ordered, unsigned=name in self._unsigned)
            if value is None:
                where = f" between its '{metric.phase}' markers" if metric.phase else ""
                self.faults[name] = f"none of its events came{where}."
            else:
                values[name] = value
        return values

    def _prepare(
        self, name: str, metric: Metric, on: list[str], events: Mapping[str, EventType]
    ) -> None:
        fields = {f.name: f for f in events[on[0]].fields}
        for wanted in (*metric.where, *([metric.field] if metric.field else [])):
            found = fields.get(wanted)
            if found is None or found.kind is not FieldKind.INT:
                there = ", ".join(f.name for f in fields.values() if f.kind is FieldKind.INT)
                self.faults[name] = f"{on[0]} has no number '{wanted}'; it has: {there}."
                return
        if metric.field and fields[metric.field].size == 8 and not fields[metric.field].signed:
            self._unsigned.add(name)
        where = tuple((key, _signed(value)) for key, value in metric.where.items())
        held = _Held(on[0], metric.field, where)
        self._metrics[name] = (metric, (held, *(_Held(event, None, ()) for event in on[1:])))

    def _order(self, name: str, metric: Metric, helds: tuple[_Held, ...]) -> _Ordered | None:
        """Events and markers in one order; None where the phase did not come to its end."""
        marks = self._marks(metric.phase)
        texts = np.array([code for *_, code in marks], np.int64)
        place = np.array([mark[:3] for mark in marks], np.int64).reshape(-1, 3).T
        joined = [held.joined() for held in helds]
        ts, cpu, seq = (np.concatenate([*(part[i] for part in joined), place[i]]) for i in range(3))
        pid, value = (
            np.concatenate([*(part[i] for part in joined), np.zeros_like(texts)]) for i in (3, 4)
        )
        sources = [np.full(len(part[0]), number) for number, part in enumerate(joined)]
        source = np.concatenate([*sources, np.full_like(texts, -1)])
        mark = np.concatenate([*(np.zeros(len(part[0]), np.int64) for part in joined), texts])
        order = np.lexsort((seq, cpu, ts))
        source, mark = source[order], mark[order]
        begun = np.cumsum(mark == _ORIGIN) > 0 if (mark == _ORIGIN).any() else np.True_
        number, times = np.zeros(len(order), np.int64), 1
        if metric.phase:
            step = np.where(begun & (np.abs(mark) == 1), mark, 0)
            depth = depths(step)
            if not (step == 1).any():
                self.faults[name] = f"the workload wrote no marker '{metric.phase}: start'."
                return None
            if depth[-1]:
                self.faults[name] = f"the workload wrote no marker '{metric.phase}: end'."
                return None
            entered = (depth == 1) & (step == 1)
            number, times = np.where(depth > 0, np.cumsum(entered) - 1, -1), int(entered.sum())
        number = np.where(begun, number, -1)
        keep = (source >= 0) & (number >= (0 if metric.event else -1))
        at = order[keep]
        return _Ordered(ts[at], pid[at], value[at], source[keep], number[keep], times)

    def _marks(self, phase: str | None) -> list[tuple[int, int, int, int]]:
        """(ts, cpu, seq, what) of the start marker (once) and of the phase's starts and ends.

        A marker may be both: then time begins right before the phase.
        """
        markers = sorted(self._markers)
        first = next((m for m in markers if m[3] == self._start), None)
        marks = [(*first[:2], first[2] - 1, _ORIGIN)] if first else []
        if phase:
            step = {f"{phase}: start".encode(): 1, f"{phase}: end".encode(): -1}
            marks += [(*m[:3], step[m[3]]) for m in markers if m[3] in step]
        return marks

    def _event(self, metric: Metric, ordered: _Ordered, *, unsigned: bool) -> float | None:
        pick = metric.pick or "sum"
        if metric.field:
            return _pick(ordered.value, pick, unsigned=unsigned)
        if pick == "sum" or not metric.phase:
            return len(ordered.ts)
        return _pick(np.bincount(ordered.number, minlength=ordered.times), pick)

    def _span(self, metric: Metric, ordered: _Ordered) -> float | None:
        step = np.where(ordered.source == 0, 1, -1)
        opens, closes = pairs(ordered.pid, step)
        outer = outermost(ordered.pid, opens, closes)
        opens, closes = opens[outer], closes[outer]
        began = ordered.number[opens] >= 0
        times = ordered.ts[closes][began] - ordered.ts[opens][began]
        return _pick(times, metric.pick or "mean")


_ORIGIN = 2
"""Code of the start marker, beside 1 and -1 of a phase."""


def _pending(metric: Metric, ordered: _Ordered) -> float | None:
    """What began before the phase counts as long as it is not over."""
    count = depths(np.where(ordered.source == 0, 1, -1))
    return _pick(count[ordered.number >= 0], metric.pick or "max")


def _signed(value: int) -> int:
    """The value as the bits of a signed 64-bit column."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _pick(values: NDArray[np.int64], pick: str, *, unsigned: bool = False) -> float | None:
    """One of many values (the median by nearest rank); None of none, but their sum is 0."""
    held: NDArray[np.integer] = values.view(np.uint64) if unsigned else values
    if pick == "sum":
        return _exact_sum(held)
    if not len(held):
        return None
    if pick == "mean":
        return _exact_sum(held) / len(held)
    ordered = {
        "last": lambda: held[-1],
        "first": lambda: held[0],
        "max": lambda: held.max(),
        "min": lambda: held.min(),
        "p50": lambda: np.sort(held)[(len(held) - 1) // 2],
    }
    return int(ordered[pick]())


def _exact_sum(values: NDArray[np.integer]) -> int:
    """The sum of 64-bit numbers, which need not fit into 64 bits."""
    low = (values & values.dtype.type(0xFFFFFFFF)).sum(dtype=np.uint64)
    return (int((values >> values.dtype.type(32)).sum()) << 32) + int(low)
