# SPDX-License-Identifier: GPL-2.0-or-later
"""A real recording through the whole path: replay guest, wire, decode, reduce, session."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet import messages as m
from duet.base.errors import InputError
from duet.bundle import Bundle, Record, open_bundle, trim
from duet.guests.replay import ReplayGuest
from duet.lenses import LensState, Sample
from duet.lessons.load import LessonFolder
from duet.session import (
    Batch,
    Contention,
    LaneGuests,
    LaneSource,
    Line,
    Loss,
    Row,
    RunResult,
    RunSession,
    RunSpec,
    SessionSink,
)
from duet.wire import Beat, FrameReader, decode_frame

Run = Callable[..., Any]


class CollectingSink(SessionSink):
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.lane_phases: dict[str, list[str]] = {}
        self.rows: dict[str, tuple[Row, ...]] = {}
        self.batches: dict[tuple[str, str], list[Batch]] = {}
        self.losses: list[Loss] = []
        self.lines: list[Line] = []

    def on_run(self, phase: m.RunPhase, message: str) -> None:
        self.phases.append(phase)

    def on_lane(self, state: m.Lane) -> None:
        self.lane_phases.setdefault(state.arm, []).append(state.phase)

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        assert rows[: len(self.rows.get(arm, ()))] or not self.rows.get(arm)
        self.rows[arm] = rows

    def on_batch(self, arm: str, new: Batch) -> None:
        assert arm in self.rows, "rows come before what uses them"
        assert all(len(column) == new.n for column in new.columns.values())
        self.batches.setdefault((arm, new.table), []).append(new)

    def on_loss(self, arm: str, loss: Loss) -> None:
        self.losses.append(loss)

    def on_line(self, arm: str, line: Line) -> None:
        self.lines.append(line)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        raise AssertionError("this recording has no samples")

    def on_lens(self, arm: str, state: LensState) -> None:
        raise AssertionError("this recording has no x-ray")

    def on_contention(self, arm: str, contention: Contention) -> None:
        raise AssertionError("a recording has no guest that waits")

    def table(self, arm: str, table: str) -> dict[str, np.ndarray]:
        parts = self.batches[arm, table]
        parts = parts[-1:] if table == "open" else parts
        return {
            name: np.concatenate([part.columns[name] for part in parts])
            for name in parts[0].columns
        }


@pytest.fixture(scope="session")
def recording(root: Path) -> Bundle:
    return open_bundle(root / "tests" / "fixtures" / "transcripts" / "storm-3-hogs-reclaim.duet")


def spec_of(folder: LessonFolder, bundle: Bundle, *arms: str) -> RunSpec:
    return RunSpec(
        run_id="recorded",
        folder=folder,
        arms=arms,
        workload=bundle.manifest.workload,
        params=bundle.manifest.params,
        clock="wall",
        source="recorded",
    )


Played = tuple[CollectingSink, RunResult, RunSession]


async def play(spec: RunSpec, lanes: dict[str, list[Record]], bundle: Bundle) -> Played:
    def source(arm: str) -> LaneSource:
        symbols = bundle.manifest.arm(arm).symbols
        return LaneSource(arm, symbols, lambda _: ReplayGuest(lanes[arm]))

    sink = CollectingSink()
    async with LaneGuests() as owner:
        session = RunSession(owner, spec, {arm: source(arm) for arm in spec.arms}, sink)
        return sink, await session.execute(), session


@pytest.fixture(scope="session")
def whole(lesson02: LessonFolder, recording: Bundle) -> Played:
    arms = ("rwsem", "srcu")
    records = {arm: list(recording.records(arm)) for arm in arms}
    return asyncio.run(play(spec_of(lesson02, recording, *arms), records, recording))


def test_phases_follow_the_recording(whole: Played) -> None:
    sink, result, _ = whole
    assert sink.phases[0] == "preparing"
    assert sink.phases[-1] == result.phase == "done"
    for phases in sink.lane_phases.values():
        assert [p for p, _ in itertools.groupby(phases)] in (
            ["booting", "ready", "running", "draining", "done"],
            ["booting", "ready", "running", "done"],
        )


@pytest.mark.parametrize(("arm", "umounts"), [("rwsem", 307), ("srcu", 194)])
def test_the_operations_are_as_many_as_the_workload_counted(
    whole: Played, arm: str, umounts: int
) -> None:
    sink, result, _ = whole
    lane = result.lanes[arm]
    assert lane.metrics.events_lost == 0
    assert lane.loss == ()
    assert (lane.ops, lane.metrics.ops, lane.status) == (umounts, umounts, 0)
    assert len(sink.table(arm, "ops")["id"]) == umounts
    assert lane.metrics.wait_ns is not None
    assert lane.metrics.wait_ns.n == umounts


@pytest.mark.parametrize("arm", ["rwsem", "srcu"])
def test_lines_have_their_times_though_they_come_before_the_events(whole: Played, arm: str) -> None:
    _, result, _ = whole
    times = [line.t_ns for line in result.lanes[arm].lines]
    assert times == sorted(times)
    assert times[-1] >= whole[0].table(arm, "ops")["t1_ns"].max()  # its own sums


@pytest.mark.parametrize("arm", ["rwsem", "srcu"])
def test_states_of_a_row_have_no_gap_and_no_overlap(
    whole: Played, lesson02: LessonFolder, arm: str
) -> None:
    sink, _, _ = whole
    states = [n for n, k in enumerate(lesson02.lesson.kinds) if k.layer == "state"]
    spans, still = sink.table(arm, "spans"), sink.table(arm, "open")
    for row in (r for r in sink.rows[arm] if r.role in ("thread", "other")):
        pairs = []
        for table in (spans, still):
            mine = (table["row"] == row.row) & np.isin(table["kind"], states)
            pairs += zip(table["t0_ns"][mine].tolist(), table["t1_ns"][mine].tolist(), strict=True)
        pairs.sort()
        assert pairs[0][0] == 0
        for one, following in itertools.pairwise(pairs):
            assert one[1] == following[0]


def test_every_srcu_wait_lies_inside_its_call_and_is_ended_by_a_wake(
    whole: Played, lesson02: LessonFolder
) -> None:
    sink, result, _ = whole
    kinds = [kind.name for kind in lesson02.lesson.kinds]
    spans = sink.table("srcu", "spans")

    def of(kind: str) -> list[tuple[int, float, float]]:
        mine = spans["kind"] == kinds.index(kind)
        return sorted(
            zip(
                spans["row"][mine].tolist(),
                spans["t0_ns"][mine].tolist(),
                spans["t1_ns"][mine].tolist(),
                strict=True,
            )
        )

    waits, calls = of("wait_srcu"), of("srcu_call")
    assert len(calls) == result.lanes["srcu"].metrics.ops
    assert waits
    for row, begin, end in waits:
        assert any(c[0] == row and c[1] <= begin and end <= c[2] for c in calls)
    links = sink.table("srcu", "links")
    wakes = set(zip(links["to_row"].tolist(), links["t_ns"].tolist(), strict=True))
    assert len([w for w in waits if (w[0], w[2]) in wakes]) >= 0.95 * len(waits)
    assert of("reader")
    assert of("gp_armed")
    assert not of("wait_lock") or len(of("wait_lock")) < len(waits)


def test_srcu_waits_and_the_stock_kernel_does_not(
    whole: Played,
) -> None:
    _, result, _ = whole
    stock, srcu = (result.lanes[arm].metrics for arm in ("rwsem", "srcu"))
    assert stock.cycles == 0
    assert srcu.cycles > 50
    assert stock.wait_ns is not None
    assert srcu.wait_ns is not None
    assert srcu.wait_ns.p50 > 100 * max(1.0, stock.wait_ns.p50)
    assert "wait_srcu" not in stock.spans


def test_raw_records_stand_behind_a_mark(whole: Played) -> None:
    sink, _, session = whole
    spans = sink.table("srcu", "spans")
    at = float(spans["t0_ns"][len(spans["t0_ns"]) // 2])
    row = int(spans["row"][len(spans["t0_ns"]) // 2])
    found = session.raw_events("srcu", at, row, 10)
    assert len(found) == 10
    assert any(event["t_ns"] == at for event in found)
    assert sorted(event["t_ns"] for event in found) == [event["t_ns"] for event in found]
    track = next(r.row for r in sink.rows["srcu"] if r.name == "grace-period")
    names = {event["event"] for event in session.raw_events("srcu", at, track, 50)}
    assert names == {"rcu/srcu_gp_state"}
    assert {event["cpu"] for event in session.raw_events("srcu", at, None, 50)} == {0, 1}
    assert {event["cpu"] for event in session.raw_events("srcu", at, None, 50, 1)} == {1}
    with pytest.raises(InputError, match="rows, but is 999"):
        session.raw_events("srcu", at, 999, 5)


def test_a_cut_recording_shows_the_same_beginning(
    lesson02: LessonFolder,
    recording: Bundle,
    whole: Played,
    run_async: Run,
) -> None:
    sink, _, _ = whole
    cut = trim(recording.records("srcu"), "storm: start", 200)
    size = sum(len(record.payload) for record in cut)
    assert size < 0.6 * sum(len(record.payload) for record in recording.records("srcu"))
    spec = spec_of(lesson02, recording, "srcu")
    short, result, _ = run_async(play(spec, {"srcu": cut}, recording))
    lane = result.lanes["srcu"]
    assert lane.phase == "done"
    assert lane.metrics.events_lost == 0
    # It ends where every CPU's pages still are: beyond, a lone CPU would tell half a story.
    end = lane.metrics.watermark_ns
    assert 170e6 <= end <= 200e6
    for table in ("spans", "ops"):
        full, part = sink.table("srcu", table), short.table("srcu", table)
        for name in full:
            if name != "id":
                first = np.sort(full[name][full["t1_ns"] <= end])
                assert np.array_equal(first, np.sort(part[name]))


def test_beats_of_a_cut_recording_speak_of_its_own_bytes(recording: Bundle) -> None:
    cut = trim(recording.records("srcu"), "storm: start", 200)
    reader, sizes, settled = FrameReader(), [0, 0], 0
    for record in cut:
        if record.stream >= 0:
            sizes[record.stream] += len(record.payload)
            continue
        for raw in reader.feed(record.payload):
            frame = decode_frame(raw)
            if isinstance(frame, Beat):
                assert frame.cpus[0].empty_at_ns
                sent = [row.bytes_sent for row in frame.cpus]
                settled += sent == sizes
                last = sent
    assert settled > 3
    # pages that reach over the end of the window come after its last beat
    assert all(0 <= size - sent <= 8 * 4096 for size, sent in zip(sizes, last, strict=True))


def test_a_recording_that_ends_in_the_middle_fails_its_lane_alone(
    lesson02: LessonFolder, recording: Bundle, run_async: Run
) -> None:
    lanes = {arm: list(recording.records(arm)) for arm in ("rwsem", "srcu")}
    del lanes["srcu"][len(lanes["srcu"]) // 2 :]
    spec = spec_of(lesson02, recording, "rwsem", "srcu")
    _, result, _ = run_async(play(spec, lanes, recording))
    assert result.phase == "done"
    assert result.lanes["rwsem"].phase == "done"
    lane = result.lanes["srcu"]
    assert lane.phase == "failed"
    assert lane.error is not None
    assert "ends before the end of its run" in lane.error.sentence
    assert lane.metrics.ops > 0


def test_a_broken_page_fails_its_lane_with_the_decoders_words(
    lesson02: LessonFolder, recording: Bundle, run_async: Run
) -> None:
    records = list(recording.records("srcu"))
    at = next(i for i, r in enumerate(records) if r.stream == 1)
    page = bytearray(records[at].payload)
    page[8:10] = b"\xff\xff"
    records[at] = records[at]._replace(payload=bytes(page))
    spec = spec_of(lesson02, recording, "srcu")
    _, result, _ = run_async(play(spec, {"srcu": records}, recording))
    assert result.phase == "failed"
    error = result.lanes["srcu"].error
    assert error is not None
    assert "page 0 of CPU 1 says 65535 bytes" in error.sentence


@pytest.mark.parametrize("pieces", [1, 7, 4096])
def test_any_split_of_the_ports_gives_the_same(
    lesson02: LessonFolder,
    recording: Bundle,
    whole: Played,
    run_async: Run,
    pieces: int,
) -> None:
    records = [
        Record(r.host_ns, r.stream, r.payload[at : at + size])
        for r in recording.records("srcu")
        for size in (max(pieces, len(r.payload) // 40),)
        for at in range(0, len(r.payload), size)
    ]
    spec = spec_of(lesson02, recording, "srcu")
    sink, result, _ = run_async(play(spec, {"srcu": records}, recording))
    assert result.lanes["srcu"].metrics == whole[1].lanes["srcu"].metrics
    assert len(sink.table("srcu", "spans")["id"]) == len(whole[0].table("srcu", "spans")["id"])
