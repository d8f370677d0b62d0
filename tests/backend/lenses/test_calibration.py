# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's true time is always within a sample's error, whatever frames and clocks do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duet.lenses import Calibration, bracket

MS = 1_000_000
delays = st.integers(0, 30 * MS)


@given(
    offset=st.integers(-(10**12), 10**15),
    drift=st.floats(-40e-6, 40e-6),
    frames=st.lists(
        st.tuples(st.integers(0, 60_000 * MS), delays, delays), min_size=1, max_size=30
    ),
    at=st.integers(0, 60_000 * MS),
)
def test_the_true_time_lies_within_the_error(
    offset: int, drift: float, frames: list[tuple[int, int, int]], at: int
) -> None:
    def guest(host: int) -> int:
        return int(host * (1 + drift)) + 10**16 - offset

    calibration = Calibration()
    for sent, there, back in sorted(frames):
        done = sent + there
        calibration.order_sent(sent, guest(done))
        calibration.reply_received(done + back, guest(done))
    window = calibration.guest(at, at + MS)
    assert window is not None
    slack = 2  # rounding
    assert window.low_ns - slack <= guest(at) <= guest(at + MS) <= window.high_ns + slack
    assert window.error_ns >= MS // 2


@given(
    holds=st.lists(st.tuples(*[st.integers(0, 20 * MS)] * 6), max_size=4),
    frames=st.lists(st.tuples(st.integers(0, 400 * MS), delays, delays), min_size=1, max_size=10),
    at=st.integers(0, 400 * MS),
)
def test_a_guest_that_was_held_is_timed_as_rightly(
    holds: list[tuple[int, ...]], frames: list[tuple[int, int, int]], at: int
) -> None:
    """Each hold: stop is called after a pause, it stands, that is answered; so with going on."""
    calls, now = [], 0
    for parts in holds:
        calls.append([now := now + part for part in parts])

    def guest(host: int) -> int:
        stood = sum(max(0, min(goes, host) - stands) for _, stands, _, _, goes, _ in calls)
        return host - stood + 7 * MS

    calibration = Calibration()
    for stops, _, stood, goes, _, went in calls:
        calibration.stopping(stops)
        calibration.stopped(stood)
        calibration.resumed(goes, went)
    for sent, there, back in sorted(frames):
        calibration.order_sent(sent, guest(sent + there))
        calibration.reply_received(sent + there + back, guest(sent + there))
    window = calibration.guest(at, at)
    assert window is not None
    assert window.low_ns <= guest(at) <= window.high_ns


def test_while_it_stands_its_time_does() -> None:
    calibration = Calibration()
    calibration.order_sent(0, 0)
    calibration.reply_received(0, 0)
    calibration.stopping(1000)
    calibration.stopped(1002)
    window = calibration.guest(9000, 9000)
    assert window is not None and (window.low_ns, window.high_ns) == (1000, 1002)


def test_without_a_bound_on_either_side_nothing_is_claimed() -> None:
    calibration = Calibration()
    assert calibration.guest(0, 1) is None
    calibration.reply_received(100, 50)
    assert calibration.guest(0, 1) is None
    calibration.order_sent(90, 50)
    window = calibration.guest(100, 100)
    assert window is not None and (window.low_ns, window.high_ns) == (50, 60)


def test_the_best_frames_count() -> None:
    calibration = Calibration()
    calibration.order_sent(1_000, 1_900)
    calibration.reply_received(3_000, 2_000)
    calibration.order_sent(5_000, 5_100)
    calibration.reply_received(6_300, 6_200)
    window = calibration.guest(7_000, 7_000)
    assert window is not None
    assert (window.low_ns, window.high_ns) == (6_900, 7_100)


def test_on_the_count_clock_a_tick_may_have_been_due() -> None:
    window = bracket(10 * MS, 12 * MS, 4 * MS)
    assert (window.at_ns, window.error_ns) == (13 * MS, 3 * MS)
