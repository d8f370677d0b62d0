# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a lane is complete, and how much of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duet.session.pipeline import Completeness, LossLedger
from duet.wire import Beat, CpuBeat, CpuStats, Stats


def beat(*cpus: tuple[int, int]) -> Beat:
    return Beat(0, tuple(CpuBeat(sent, at) for sent, at in cpus))


def test_a_beat_holds_once_its_bytes_are_here() -> None:
    here = Completeness()
    here.beat(beat((4096, 100), (0, 100)))
    assert here.watermark_ns == 0
    assert here.missing_bytes == 4096
    here.bytes_came(0, 4095)
    assert here.watermark_ns == 0
    here.bytes_came(0, 1)
    assert (here.watermark_ns, here.missing_bytes) == (100, 0)


def test_the_slowest_cpu_decides() -> None:
    here = Completeness()
    here.beat(beat((0, 500), (0, 300)))
    assert here.watermark_ns == 300


def test_bytes_of_an_earlier_run_count() -> None:
    here = Completeness({0: 8192})
    here.beat(beat((8192, 70)))
    assert here.watermark_ns == 70


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_the_watermark_never_runs_ahead_of_the_bytes(steps: list[tuple[int, bool]]) -> None:
    here, sent, received, empties, now = Completeness(), 0, 0, [(0, 0)], 0
    for pages, reported in steps:
        now += 10
        sent += pages
        if reported:
            here.beat(beat((sent, now)))
            empties.append((sent, now))
        elif received < sent:
            received += 1
            here.bytes_came(0, 1)
        known = max(at for need, at in empties if need <= received)
        assert here.watermark_ns == known


def stats(overrun: int = 0, dropped: int = 0, read: int = 0, missed: int = 0) -> Stats:
    return Stats(True, (CpuStats(0, overrun, 0, dropped, read),), missed)


def test_what_a_page_and_a_counter_tell_is_counted_once() -> None:
    ledger = LossLedger()
    ledger.stats(stats(overrun=50, read=10), 1)
    assert ledger.take_losses(float) == []
    assert ledger.by_place(50, 10, complete=True) == {"ring buffer": 50, "kprobe": 0, "host": 0}
    assert ledger.unreported(50, 10, 9.0, 20.0) == []


def test_what_no_page_reported_is_reported_at_the_end() -> None:
    ledger = LossLedger()
    ledger.stats(stats(overrun=50, dropped=7, read=12), 1)
    (ring, full, host) = ledger.unreported(20, 10, 9.0, 30.0)
    assert (ring.events, ring.where, ring.t0_ns, ring.t1_ns) == (30, "ring buffer", 0.0, 9.0)
    assert (full.events, full.where, full.t0_ns, full.t1_ns) == (7, "ring buffer", 9.0, 30.0)
    assert (host.events, host.where) == (2, "host")


def test_kprobe_misses_are_reported_as_they_grow() -> None:
    ledger = LossLedger()
    ledger.stats(stats(missed=3), 2)
    assert [loss.events for loss in ledger.take_losses(float)] == [3]
    ledger.stats(stats(missed=3), 3)
    assert ledger.take_losses(float) == []
    ledger.stats(stats(missed=5), 4)
    (grown,) = ledger.take_losses(lambda mono_ns: mono_ns - 1.0)
    assert (grown.t0_ns, grown.t1_ns, grown.events) == (2.0, 3.0, 2)
    assert ledger.by_place(0, 0, complete=True)["kprobe"] == 5


def test_nothing_is_missed_here_before_all_has_come() -> None:
    ledger = LossLedger()
    ledger.stats(stats(read=100), 1)
    assert ledger.by_place(0, 40, complete=False)["host"] == 0
    assert ledger.by_place(0, 40, complete=True)["host"] == 60
