# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics `event`, `span` and `pending` of a lesson, from the columns of one run. Pure numpy.

Events of all CPUs are sorted by time, CPU and sequence number. Events before the workload's start
marker do not count. A phase lasts from '<phase>: start' to '<phase>: end'. Starts of several
writers nest, and a phase may occur many times. A metric has no value if its events were disabled.
It is 0 if they were enabled but never occurred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duet.decode.decoder import EventType, FieldKind
from duet.lessons.plan import probes_of, workload_of
from duet.lessons.schema import Lesson, Metric
from duet.session.formats import Pick

# Match entries and returns like brackets, with numpy. Pure.
#
# A return without an entry is ignored. An entry without a return stays open and hides no other
# entry.

Ints = NDArray[np.int64]


def depths(step: Ints, group: Ints | None = None) -> Ints:
    """Return the nesting depth after each step of +1, -1 or 0; never below zero.

    Args:
        group: ascending group number per step; every group starts at depth 0.
    """
    if not len(step):
        return np.empty(0, np.int64)
    if group is None:
        group = np.zeros(len(step), np.int64)
    total = np.cumsum(step)
    first = np.searchsorted(group, group, side="left")
    total = total - (total[first] - step[first])
    # A new minimum means a return without an entry. Each group is shifted far below the previous
    # one, so that one running minimum serves all groups.
    apart = (group - group[0]) * (2 * len(step) + 1)
    lowest = np.minimum.accumulate(np.minimum(total, 0) - apart) + apart
    return np.asarray(total - lowest, np.int64)


def pairs(tid: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Match each return (-1) with the innermost open entry (+1) of its thread.

    Args:
        tid: thread of each step, in order of time.

    Returns:
        Indices of entries and of their returns, sorted by thread, then entry.
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
    # On each nesting level of a thread, entries and returns alternate. The last entry may lack a
    # return.
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
    """Return a mask of the pairs that lie in no other pair of their thread.

    Args:
        tid: thread of each step.
        opens: entries from `pairs`, sorted by thread, then entry.
        closes: returns from `pairs`.
    """
    if not len(opens):
        return np.empty(0, np.bool_)
    thread = np.unique(tid[opens], return_inverse=True)[1]
    # Shift each thread's indices beyond the indices of earlier threads.
    end = closes + thread * (int(closes.max()) + 1)
    latest = np.maximum.accumulate(end)
    return np.concatenate((np.ones(1, np.bool_), end[1:] > latest[:-1]))


@dataclass(frozen=True, slots=True)
class _Ordered:
    """Sorted events of one metric.

    Args:
        number: index of the phase's occurrence that contains the event; -1 if none contains it.
        times: number of occurrences of the phase.
    """

    ts: Ints
    pid: Ints
    value: Ints
    source: Ints
    number: Ints
    times: int


Records = tuple[Ints, Ints, Ints, Ints, Ints]
"""Time, CPU, sequence number, thread and value of the records of a Pick, in any order."""
Printed = tuple[int, int, int, bytes]
"""Time, CPU and sequence number of a printed text, and the text without whitespace at its ends."""


class Tally:
    """The metrics of a lesson on one arm and workload, from the records that `picks` choose.

    Args:
        events: the enabled event types (Decoder.by_name).
    """

    def __init__(
        self, lesson: Lesson, arm: str, workload: str, events: Mapping[str, EventType]
    ) -> None:
        self.faults: dict[str, str] = {}
        """Metric -> why it has no value, as a sentence; complete after `values`."""
        self.picks: list[Pick] = []
        self._metrics: dict[str, tuple[Metric, tuple[int, ...]]] = {}
        """Metric -> indices of its picks."""
        self._unsigned: set[str] = set()
        self._start = workload_of(lesson, workload).start_marker.encode()
        event_of = {name: one.event for name, one in probes_of(lesson, arm).items()}
        for name, metric in lesson.metrics.items():
            probes = metric.probes
            if not probes or (metric.arms and arm not in metric.arms):
                continue
            if metric.workloads and workload not in metric.workloads:
                continue
            on = [event_of[p] for p in probes if event_of.get(p) in events]
            if len(on) < len(probes):
                off = ", ".join(p for p in probes if event_of.get(p) not in events)
                self.faults[name] = f"its event was not enabled: {off}."
                continue
            self._prepare(name, metric, on, events)
        self._never = dict(self.faults)

    def values(
        self, records: Callable[[int], Records], printed: Sequence[Printed]
    ) -> dict[str, float]:
        """Return metric -> value before scaling. Integers are exact Python ints.

        Args:
            records: returns the records of the pick with a given index.
        """
        markers = sorted(printed)
        values: dict[str, float] = {}
        self.faults = dict(self._never)
        for name, (metric, numbers) in self._metrics.items():
            ordered = self._order(name, metric, [records(number) for number in numbers], markers)
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
                self.faults[name] = f"none of its events occurred{where}."
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
        picks = [Pick(on[0], metric.field, where), *(Pick(event, None) for event in on[1:])]
        first = len(self.picks)
        self.picks += picks
        self._metrics[name] = metric, tuple(range(first, len(self.picks)))

    def _order(
        self, name: str, metric: Metric, joined: Sequence[Records], markers: Sequence[Printed]
    ) -> _Ordered | None:
        """Sort events and markers together; None if a marker of the phase is missing."""
        marks = self._marks(metric.phase, markers)
        texts = np.array([code for *_, code in marks], np.int64)
        place = np.array([mark[:3] for mark in marks], np.int64).reshape(-1, 3).T
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

    def _marks(
        self, phase: str | None, markers: Sequence[Printed]
    ) -> list[tuple[int, int, int, int]]:
        """Return (ts, cpu, seq, code) of the first start marker and of the phase's markers.

        A marker may be both a start marker and a phase marker. Then the start marker comes right
        before the phase marker.
        """
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
"""Code of the start marker. A phase's markers have the codes 1 and -1."""


def _pending(metric: Metric, ordered: _Ordered) -> float | None:
    """Return the number of open pairs, including pairs that were opened before the phase."""
    count = depths(np.where(ordered.source == 0, 1, -1))
    return _pick(count[ordered.number >= 0], metric.pick or "max")


def _signed(value: int) -> int:
    """Reinterpret a 64-bit value as signed, as it is stored in columns."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _pick(values: NDArray[np.int64], pick: str, *, unsigned: bool = False) -> float | None:
    """Return one figure for many values (median by nearest rank).

    If there are no values, return 0 for a sum, otherwise None.
    """
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
    """Return the sum of 64-bit numbers as a Python int, which may exceed 64 bits."""
    low = (values & values.dtype.type(0xFFFFFFFF)).sum(dtype=np.uint64)
    return (int((values >> values.dtype.type(32)).sum()) << 32) + int(low)
