# SPDX-License-Identifier: GPL-2.0-or-later
"""Counted metrics: brackets against a slow reference, phases, picks, exact sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.decode import CpuColumns, Table
from duet.decode.decoder import EventType, Field, FieldKind
from duet.lessons.schema import Lesson
from duet.session.engine import LaneEngine, LaneSetup
from duet.session.pipeline import LanePipeline
from duet.session.tally import Records, Tally, depths, outermost, pairs
from tests.support import stage

Row = tuple[int, int, str, int, dict[str, int]]
"""time, CPU, probe (or marker text), tid, fields"""

LESSON: dict[str, Any] = {
    "title": "t",
    "question": "q",
    "summary": "s",
    "clock": "count",
    "clocks": ["count"],
    "arms": [
        {"name": "a", "title": "A", "role": "before", "summary": "s"},
        {"name": "b", "title": "B", "role": "after", "summary": "s"},
    ],
    "params": {},
    "workloads": {
        "w": {"title": "w", "summary": "s", "run": "w", "comm": "w*"},
        "other": {"title": "w", "summary": "s", "run": "w", "comm": "w*"},
    },
    "probes": [
        {"name": "visit", "event": "duet/visit"},
        {"name": "enter", "event": "duet/enter"},
        {"name": "leave", "event": "duet/leave"},
        {"name": "off", "event": "duet/off"},
        {"name": "only-b", "event": "duet/only_b", "arms": ["b"]},
    ],
}


def lesson(**metrics: dict[str, Any]) -> Lesson:
    full = {
        name: {"title": name, "unit": "n", "better": "lower", **metric}
        for name, metric in metrics.items()
    }
    return Lesson.model_validate({**LESSON, "metrics": full})


def integer(name: str, size: int = 8, *, signed: bool = True) -> Field:
    return Field(name, FieldKind.INT, size, signed, 8)


EVENTS = {
    f"duet/{name}": EventType(
        f"duet/{name}",
        number,
        (integer("n"), integer("big", signed=False), Field("comm", FieldKind.CHARS, 16, False, 16)),
    )
    for number, name in enumerate(("visit", "enter", "leave", "only_b"))
}


def columns(*rows: Row) -> list[CpuColumns]:
    """Rows as a decoder would give them, one part per CPU."""
    parts = []
    for cpu in sorted({row[1] for row in rows}):
        mine = [row for row in rows if row[1] == cpu]
        tables: dict[str, Table] = {}
        names = {f"duet/{r[2]}" if f"duet/{r[2]}" in EVENTS else "ftrace/print" for r in mine}
        for name in names:
            of_it = [
                (seq, row)
                for seq, row in enumerate(mine)
                if (f"duet/{row[2]}" if f"duet/{row[2]}" in EVENTS else "ftrace/print") == name
            ]
            cells: dict[str, Any] = {
                field: np.array([row[4].get(field, 0) for _, row in of_it], np.uint64).view(
                    np.int64
                )
                for field in ("n", "big")
            }
            if name == "ftrace/print":
                cells = {"buf": np.array([f"{row[2]}\n".encode() for _, row in of_it], "S256")}
            tables[name] = Table(
                np.array([row[0] for _, row in of_it], np.int64),
                np.array([seq for seq, _ in of_it], np.int64),
                np.array([row[3] for _, row in of_it], np.int32),
                cells,
            )
        parts.append(CpuColumns(cpu, tables, (), len(mine)))
    return parts


class Fed(Tally):
    """A Tally and what its picks found, by numpy."""

    def __init__(self, of: Lesson, arm: str = "a", workload: str = "w") -> None:
        super().__init__(of, arm, workload, EVENTS)
        self._parts: list[CpuColumns] = []

    def feed(self, parts: list[CpuColumns]) -> None:
        self._parts += parts

    def _records(self, number: int) -> Records:
        pick = self.picks[number]
        found = []
        for part in self._parts:
            if (table := part.tables.get(pick.event)) is None:
                continue
            keep = np.ones(len(table), np.bool_)
            for name, is_ in pick.where:
                keep &= table.columns[name] == is_
            value = table.columns[pick.value] if pick.value else table.seq
            cpus = np.full(len(table), part.cpu, np.int64)
            cells = (table.ts_ns, cpus, table.seq, table.pid.astype(np.int64), value)
            found.append([column[keep] for column in cells])
        empty = [np.empty(0, np.int64)] * 5
        ts, cpu, seq, tid, value = (np.concatenate(c) for c in zip(empty, *found, strict=True))
        return ts, cpu, seq, tid, value

    def figures(self) -> dict[str, float]:
        printed = [
            (int(ts), part.cpu, int(seq), text.strip())
            for part in self._parts
            if (table := part.tables.get("ftrace/print")) is not None
            for ts, seq, text in zip(
                table.ts_ns, table.seq, table.columns["buf"].tolist(), strict=True
            )
        ]
        return self.values(self._records, printed)


def tally(rows: list[Row], arm: str = "a", workload: str = "w", **metrics: Any) -> Fed:
    one = Fed(lesson(**metrics), arm, workload)
    one.feed(columns(*rows))
    return one


START: Row = (0, 0, "duet: start", 1, {})


def visits(*times: int, cpu: int = 0, **fields: int) -> list[Row]:
    return [(t, cpu, "visit", 7, fields) for t in times]


# events


def test_events_are_counted_from_the_start_marker_on() -> None:
    rows = [*visits(-5), START, *visits(1, 2, 3)]
    values = tally(rows, m={"event": "visit"}).figures()
    assert values == {"m": 3}


def test_where_and_field_choose_and_add() -> None:
    rows = [START, *visits(1, 2, n=3), *visits(4, n=5), *visits(6, n=5, big=1)]
    values = tally(
        rows,
        total={"event": "visit", "field": "n"},
        fives={"event": "visit", "where": {"n": 5}},
        both={"event": "visit", "where": {"n": 5, "big": 1}},
        none={"event": "visit", "where": {"n": 6}},
        most={"event": "visit", "field": "n", "pick": "max"},
        last={"event": "visit", "field": "big", "pick": "last"},
        mean={"event": "visit", "field": "n", "pick": "mean"},
        middle={"event": "visit", "field": "n", "pick": "p50"},
    ).figures()
    assert values == {
        "total": 16,
        "fives": 2,
        "both": 1,
        "none": 0,
        "most": 5,
        "last": 1,
        "mean": 4.0,
        "middle": 3,
    }


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_a_sum_is_exact_beyond_64_bits(numbers: list[int]) -> None:
    rows = [START, *(row for n in numbers for row in visits(1, big=n))]
    values = tally(
        rows,
        m={"event": "visit", "field": "big"},
        top={"event": "visit", "field": "big", "pick": "max"},
    ).figures()
    assert values["m"] == sum(numbers)
    assert values.get("top") == (max(numbers) if numbers else None)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_a_signed_sum_is_exact_too(numbers: list[int]) -> None:
    rows = [START, *(row for n in numbers for row in visits(1, n=n & (2**64 - 1)))]
    assert tally(rows, m={"event": "visit", "field": "n"}).figures()["m"] == sum(numbers)


def test_a_metric_of_other_arms_workloads_or_events_off_has_no_value() -> None:
    one = tally(
        [START, *visits(1)],
        theirs={"event": "visit", "arms": ["b"]},
        elsewhere={"event": "visit", "workloads": ["other"]},
        silent={"event": "off"},
        on_b={"event": "only-b"},
        text={"event": "visit", "field": "comm"},
        wrong={"event": "visit", "field": "m"},
        empty={"event": "visit", "field": "n", "where": {"n": 9}, "pick": "mean"},
        never={"event": "enter"},
    )
    assert one.figures() == {"never": 0}
    assert one.faults == {
        "silent": "its event was not enabled: off.",
        "on_b": "its event was not enabled: only-b.",
        "text": "duet/visit has no number 'comm'; it has: n, big.",
        "wrong": "duet/visit has no number 'm'; it has: n, big.",
        "empty": "none of its events occurred.",
    }


def test_what_came_later_is_no_fault_any_more() -> None:
    one = tally([START], m={"event": "visit", "field": "n", "pick": "max"})
    assert one.figures() == {} and "m" in one.faults
    one.feed(columns(*visits(5, n=4)))
    assert one.figures() == {"m": 4} and one.faults == {}


# phases


def mark(at: int, text: str, cpu: int = 0) -> Row:
    return (at, cpu, text, 1, {})


def test_a_phase_may_come_often() -> None:
    rows = [START, *visits(1), mark(2, "scan: start"), *visits(3, 4), mark(5, "scan: end")]
    rows += [*visits(6), mark(7, "scan: start"), mark(8, "scan: end"), mark(9, "scan: start")]
    rows += [*visits(10), mark(11, "scan: end"), *visits(12)]
    values = tally(
        rows,
        m={"event": "visit", "phase": "scan"},
        last={"event": "visit", "phase": "scan", "pick": "last"},
        least={"event": "visit", "phase": "scan", "pick": "min"},
        mean={"event": "visit", "phase": "scan", "pick": "mean"},
    ).figures()
    assert values == {"m": 3, "last": 1, "least": 0, "mean": 1.0}


def test_a_phase_holds_on_all_cpus_by_time_and_on_its_own_by_order() -> None:
    rows = [START, mark(10, "p: start"), *visits(10, 20), mark(20, "p: end"), *visits(20)]
    rows += visits(9, 10, 15, 20, 21, cpu=1)
    # On the marker's CPU the two inside count, though the times are equal; on CPU 1 what bears
    # the time of a marker comes behind it.
    assert tally(rows, m={"event": "visit", "phase": "p"}).figures() == {"m": 2 + 2}


def test_starts_of_several_writers_nest_and_a_stray_end_is_nothing() -> None:
    rows = [START, mark(1, "p: end"), mark(2, "p: start"), mark(3, "p: start"), *visits(4)]
    rows += [mark(5, "p: end"), *visits(6), mark(7, "p: end"), *visits(8)]
    one = tally(rows, m={"event": "visit", "phase": "p"})
    assert one.figures() == {"m": 2}


def test_a_phase_may_begin_with_the_start_marker() -> None:
    rows = [*visits(1), mark(2, "duet: start"), *visits(3), mark(4, "duet: end"), *visits(5)]
    assert tally(rows, m={"event": "visit", "phase": "duet"}).figures() == {"m": 1}


@pytest.mark.parametrize(
    ("markers", "said"),
    [
        ([], "the workload wrote no marker 'p: start'."),
        ([mark(1, "p: start")], "the workload wrote no marker 'p: end'."),
        ([mark(1, "q: start"), mark(2, "q: end")], "the workload wrote no marker 'p: start'."),
    ],
)
def test_an_unfinished_phase_has_no_value(markers: list[Row], said: str) -> None:
    one = tally([START, *markers, *visits(5)], m={"event": "visit", "phase": "p"})
    assert one.figures() == {}
    assert one.faults == {"m": said}


# spans


def calls(*rows: tuple[int, str, int]) -> list[Row]:
    return [(at, 0, {"(": "enter", ")": "leave"}[what], tid, {}) for at, what, tid in rows]


SPAN = {"span": ["enter", "leave"]}


def test_spans_are_paired_per_thread() -> None:
    rows = [START, *calls((1, "(", 1), (2, "(", 2), (11, ")", 1), (32, ")", 2))]
    values = tally(
        rows,
        mean=SPAN,
        total={**SPAN, "pick": "sum"},
        first={**SPAN, "pick": "first"},
        most={**SPAN, "pick": "max"},
    ).figures()
    assert values == {"mean": 20.0, "total": 40, "first": 10, "most": 30}


def test_a_recursion_counts_once_and_missing_halves_hide_nothing() -> None:
    rows = [START, *calls((1, ")", 1), (2, "(", 1), (3, "(", 1), (5, ")", 1), (12, ")", 1))]
    rows += calls((13, "(", 1), (20, "(", 1), (25, ")", 1))  # the return of 13 was lost
    assert tally(rows, m={**SPAN, "pick": "sum"}).figures() == {"m": 10 + 5}


def test_a_span_belongs_to_the_phase_in_which_it_begins() -> None:
    rows = [START, *calls((1, "(", 1)), mark(2, "p: start"), *calls((3, ")", 1), (4, "(", 1))]
    rows += [mark(5, "p: end"), *calls((10, ")", 1))]
    assert tally(rows, m={**SPAN, "phase": "p"}).figures() == {"m": 6.0}


def test_without_spans_only_a_sum_has_a_value() -> None:
    one = tally([START], m=SPAN, total={**SPAN, "pick": "sum"})
    assert one.figures() == {"total": 0}
    assert one.faults == {"m": "none of its events occurred."}


PENDING = {"pending": ["enter", "leave"]}


def test_what_is_pending_is_begun_by_one_thread_and_ended_by_another() -> None:
    rows = [START, *calls((1, "(", 1), (2, "(", 2), (3, ")", 9), (4, "(", 1), (5, "(", 3))]
    rows += calls((6, ")", 9), (7, ")", 9))
    values = tally(
        rows, m=PENDING, least={**PENDING, "pick": "min"}, mean={**PENDING, "pick": "mean"}
    )
    assert values.figures() == {"m": 3, "least": 1, "mean": pytest.approx(12 / 7)}


def test_what_began_before_a_phase_is_pending_in_it() -> None:
    rows = [START, *calls((1, "(", 1), (2, "(", 2)), mark(3, "p: start"), *calls((4, "(", 3))]
    rows += [mark(5, "p: end"), *calls((6, "(", 4), (7, "(", 5))]
    assert tally(rows, m={**PENDING, "phase": "p"}).figures() == {"m": 3}


def test_an_end_whose_begin_was_not_seen_takes_nothing_away() -> None:
    rows = [START, *calls((1, ")", 9), (2, ")", 9), (3, "(", 1))]
    assert tally(rows, m=PENDING).figures() == {"m": 1}
    assert tally([START], m=PENDING).figures() == {}


STEPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1, -1])), max_size=60)


@given(STEPS)
def test_brackets_are_what_a_stack_would_say(steps: list[tuple[int, int]]) -> None:
    stacks: dict[int, list[int]] = {}
    wanted = []
    for place, (tid, step) in enumerate(steps):
        stack = stacks.setdefault(tid, [])
        if step > 0:
            stack.append(place)
        elif stack:
            wanted.append((tid, stack.pop(), place))
    tids = np.array([tid for tid, _ in steps], np.int64)
    opens, closes = pairs(tids, np.array([step for _, step in steps], np.int64))
    assert list(zip(opens.tolist(), closes.tolist(), strict=True)) == [
        (o, c) for _, o, c in sorted(wanted)
    ]
    outer = outermost(tids, opens, closes)
    for (tid, o, c), is_outer in zip(sorted(wanted), outer.tolist(), strict=True):
        assert is_outer == (not any(t == tid and a < o and c < b for t, a, b in wanted))


@given(st.lists(st.sampled_from([1, -1, 0]), max_size=60))
def test_depth_never_falls_below_zero(steps: list[int]) -> None:
    deep, wanted = 0, []
    for step in steps:
        deep = max(0, deep + step)
        wanted.append(deep)
    assert depths(np.array(steps, np.int64)).tolist() == wanted


@given(STEPS, st.integers(0, 60))
def test_the_cut_between_feeds_changes_nothing(steps: list[tuple[int, int]], at: int) -> None:
    rows = calls(*((n, "(" if step > 0 else ")", tid) for n, (tid, step) in enumerate(steps)))
    whole = tally([START, *rows], m={**SPAN, "pick": "sum"}).figures()
    parts = Fed(lesson(m={**SPAN, "pick": "sum"}))
    parts.feed(columns(START, *rows[:at]))
    late = [(*row[:2], *row[2:]) for row in rows[at:]]
    for part in columns(*late):
        for table in part.tables.values():
            table.seq[:] += 1000
        parts.feed([part])
    assert parts.figures() == whole


# the pipeline of a lesson without kinds


def test_a_lesson_of_numbers_runs_through_the_pipeline() -> None:
    numbers = Lesson.model_validate(
        {
            **LESSON,
            "probes": [
                {"name": "switch", "event": "sched/sched_switch"},
                {"name": "lock", "event": "duet/lock"},
                {"name": "lock-ret", "event": "duet/lock_ret"},
            ],
            "metrics": {
                "switches": {"title": "s", "unit": "n", "better": "neither", "event": "switch"},
                "held": {
                    "title": "h",
                    "unit": "ns",
                    "better": "lower",
                    "span": ["lock", "lock-ret"],
                },
            },
        }
    )
    play = stage.Stage(cpus=1, hogs=1)
    play.add(0, 0, "print", 99, 0, "duet: start\n")
    play.switch(10, 0, 0, 100)
    play.add(20, 0, "lock", 100, 5)
    play.add(170, 0, "lock_ret", 100)
    play.switch(180, 0, 100, 0, 1)
    pages = play.cpus[0].take()
    pipeline = LanePipeline(LaneEngine(LaneSetup(numbers, "a", "w", {})))
    pipeline.files.update(stage.FILES)
    assert pipeline.counts.tallies == {}
    pipeline.feed_pages(0, pages, len(pages), 1)
    work = pipeline.take_work(final=True)
    assert work is not None
    reduction = pipeline.work(work)
    assert not reduction.more
    pipeline.count(tallies=True)
    assert pipeline.counts.tallies == {"switches": 2, "held": 150.0}
    assert pipeline.counts.faults == {}
    assert not pipeline.headless
    assert pipeline.metrics().events_read == 5
    # The guest's own clock at the start marker, and not since then.
    assert pipeline.metrics().start_ns == play.base
    assert [b.n for b in reduction.batches] == [0]  # nothing to draw
