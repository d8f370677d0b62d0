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
        calibration.told(sent, guest(done))
        calibration.heard(done + back, guest(done))
    window = calibration.guest(at, at + MS)
    assert window is not None
    slack = 2  # rounding
    assert window.low_ns - slack <= guest(at) <= guest(at + MS) <= window.high_ns + slack
    assert window.error_ns >= MS // 2


def test_without_a_bound_on_either_side_nothing_is_claimed() -> None:
    calibration = Calibration()
    assert calibration.guest(0, 1) is None
    calibration.heard(100, 50)
    assert calibration.guest(0, 1) is None
    calibration.told(90, 50)
    window = calibration.guest(100, 100)
    assert window is not None and (window.low_ns, window.high_ns) == (50, 60)


def test_the_best_frames_count() -> None:
    calibration = Calibration()
    calibration.told(1_000, 1_900)
    calibration.heard(3_000, 2_000)
    calibration.told(5_000, 5_100)
    calibration.heard(6_300, 6_200)
    window = calibration.guest(7_000, 7_000)
    assert window is not None
    assert (window.low_ns, window.high_ns) == (6_900, 7_100)


def test_on_the_count_clock_a_tick_may_have_been_due() -> None:
    window = bracket(10 * MS, 12 * MS, 4 * MS)
    assert (window.at_ns, window.error_ns) == (13 * MS, 3 * MS)
