# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's x-ray: samples wait for the start marker, carry guest time, and are counted."""

from __future__ import annotations

from typing import Any

import pytest

from duet.base.clock import Clock
from duet.lenses import LensState, Sample, unpack_record
from duet.lenses.limits import PENDING_SAMPLES
from duet.session.lane.clock import LaneClock
from duet.session.lane.lenses import LaneXray
from duet.wire import Beat, CpuBeat, Ended, Started

MS = 1_000_000


class Sink:
    def __init__(self) -> None:
        self.samples: list[tuple[Sample, float]] = []
        self.states: list[LensState] = []

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        self.samples.append((sample, t_ns))

    def on_lens(self, arm: str, state: LensState) -> None:
        self.states.append(state)


class Case:
    def __init__(self, clock: Clock) -> None:
        self.sink, self.kept = Sink(), list[bytes]()
        self.origin_ns: int | None = None
        self.watermark_ns = 0.0
        self.clock = LaneClock(self, clock)
        self.xray = LaneXray(
            "after", self.clock, self.sink, lambda record, _: self.kept.append(record)
        )


def raw(seq: int = 0, began: int = 0, before: int = 0, **more: Any) -> dict[str, object]:
    return {
        "kind": "sample",
        "probe": "shrinker-maps",
        "seq": seq,
        "began_ns": began,
        "ended_ns": began + MS,
        "before_ns": before,
        "after_ns": before,
        "tick_ns": 4 * MS,
        "torn": 2,
        "failed": 1,
        "dropped": 3,
        "n": 1,
        "columns": {"ino": bytes(8)},
        "dtypes": {"ino": "f8"},
        "facts": {},
        "texts": [],
        **more,
    }


def test_on_the_count_clock_a_sample_is_bracketed_by_the_guests_own_clock() -> None:
    case = Case("count")
    case.xray.attached("memory")
    case.xray.on_raw(raw(before=100 * MS, began=7))
    assert not case.sink.samples
    case.origin_ns = 90 * MS
    case.xray.advance()
    ((sample, t_ns),) = case.sink.samples
    assert (sample.clock, t_ns, sample.error_ns) == ("guest", 10 * MS, 4 * MS)
    case.xray.finish()
    assert case.sink.states[-1] == LensState("on", "memory", "", "", 1, 2, 1, 3)


def test_on_the_wall_clock_frames_calibrate_it(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("wall")
    case.origin_ns = 1_000 * MS
    now = 50 * MS
    monkeypatch.setattr("time.monotonic_ns", lambda: now)
    case.clock.ping_sent()
    case.clock.frame(Beat(1_051 * MS, (CpuBeat(0, 0),)), 52 * MS)
    assert case.clock.answered.is_set()
    case.xray.on_raw(raw(began=60 * MS))
    ((sample, t_ns),) = case.sink.samples
    # Offset between -1001 and -999 ms: the reads lay between 1059 and 1062 ms of the guest.
    assert sample.clock == "host"
    assert t_ns == pytest.approx(60.5 * MS, abs=2_000)
    assert sample.error_ns == pytest.approx(1.5 * MS, abs=2_000)


def test_without_calibration_the_wall_clock_waits_and_does_not_guess() -> None:
    case = Case("wall")
    case.origin_ns = 0
    case.clock.frame(Started(5 * MS, 1), 6 * MS)
    case.xray.on_raw(raw(began=7 * MS))
    case.xray.finish()
    assert not case.sink.samples
    case.xray.attached("memory")
    assert case.xray.state.dropped == 1


def test_what_waits_for_the_start_is_bounded_and_counted() -> None:
    case = Case("count")
    for seq in range(PENDING_SAMPLES + 10):
        case.xray.on_raw(raw(seq, before=MS))
    case.origin_ns = 0  # all of them came after the start
    case.xray.advance()
    assert [sample.seq for sample, _ in case.sink.samples][:1] == [10]
    assert case.xray.state.dropped == 3 + 10


def test_of_a_guest_that_waits_or_is_done_only_the_last_before_the_start_is_reported() -> None:
    case = Case("count")
    for seq, before in enumerate((10, 20, 30, 100, 200, 300)):
        case.xray.on_raw(raw(seq, before=before * MS))
    case.xray.on_raw(raw(0, before=15 * MS, probe="srcu-gp"))
    case.clock.frame(Ended(250 * MS, 0), 1)
    case.origin_ns = 90 * MS
    case.xray.advance()
    reported = [(sample.probe, sample.seq) for sample, _ in case.sink.samples]
    assert reported == [("shrinker-maps", n) for n in (2, 3, 4)] + [("srcu-gp", 0)]
    assert case.xray.state.dropped == 3


def test_a_recording_gives_its_samples_back_at_their_guest_time() -> None:
    case = Case("count")
    case.origin_ns = 90 * MS
    case.xray.attached("memory")
    case.xray.on_raw(raw(before=100 * MS))
    case.xray.finish()
    replay = Case("wall")
    for record in case.kept:
        replay.xray.replay(unpack_record(record))
    assert not replay.sink.samples
    replay.origin_ns = 90 * MS
    replay.xray.advance()
    assert replay.sink.samples == case.sink.samples
    assert replay.sink.states[-1] == case.sink.states[-1]
    assert [type(unpack_record(r)).__name__ for r in case.kept].count("Sample") == 1


def test_a_fault_is_one_sentence_and_the_lane_goes_on() -> None:
    case = Case("count")
    case.xray.attached("memory")
    fault = {
        "kind": "fault",
        "message": "It has no field x.",
        "remedy": "r",
        "torn": 0,
        "failed": 7,
    }
    case.xray.on_raw(fault | {"left": 1})
    assert (case.sink.states[-1].state, case.sink.states[-1].message) == (
        "on",
        "It has no field x.",
    )
    case.xray.on_raw(fault | {"left": 0})
    assert (case.sink.states[-1].state, case.sink.states[-1].failed) == ("failed", 7)


def test_a_guest_that_goes_is_reported() -> None:
    case = Case("wall")
    case.xray.gone()
    assert not case.sink.states
    case.xray.attaching()
    case.xray.gone()
    assert case.sink.states[-1].message == "The guest ended while the x-ray read it."
