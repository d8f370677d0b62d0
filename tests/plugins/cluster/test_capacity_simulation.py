# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulation of viewers at one link: cases with known answers, and its bounds."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from duet.base.errors import InputError
from duet.plugins.cluster.capacity.simulation import (
    Scene,
    arrivals,
    curve,
    progress_marks,
    simulate,
)

TEN = Scene(segment_bytes=[1000] * 10, link_bytes_per_s=1e5, own_bytes_per_s=1e9)


def test_segments_four_at_once_share_what_comes() -> None:
    assert progress_marks([10] * 6, at_once=4).tolist() == [40, 40, 40, 40, 60, 60]
    assert progress_marks([10] * 3, at_once=1).tolist() == [10, 20, 30]
    assert progress_marks([40, 10, 10], at_once=2).tolist() == [60, 60, 60], "in order"
    sizes = np.random.default_rng(1).integers(1, 10_000, 300).tolist()
    marks = progress_marks(sizes)
    assert marks[-1] == pytest.approx(sum(sizes)) and np.all(np.diff(marks) >= 0)
    assert np.all(marks >= np.cumsum(sizes) - 1e-3), "no segment before its bytes"


def test_who_is_alone_has_the_whole_link() -> None:
    one = simulate(TEN, 1)
    assert one.whole_s[0] == pytest.approx(0.1) and one.first_s[0] == pytest.approx(0.04)
    own = simulate(replace(TEN, own_bytes_per_s=1e4), 1)
    assert own.whole_s[0] == pytest.approx(1.0), "or what his own link takes"
    far = simulate(replace(TEN, round_trip_s=0.4), 1)
    assert far.whole_s[0] == pytest.approx(1.0 + 0.8), "or four segments in a round trip"


def test_all_at_once_share_it_equally() -> None:
    many = simulate(TEN, 50)
    assert many.whole_s == pytest.approx((5.0,) * 4) and many.over_s == pytest.approx(5.0)
    assert many.first_s == pytest.approx((2.0,) * 4)
    assert many.bytes == 50 * 10_000


def test_two_who_overlap() -> None:
    """The second comes when the first has half: 0.05 s; both share until the first has all."""
    came = np.array([0.0, 0.05])
    times, had = curve(came, TEN)
    assert times.tolist() == pytest.approx([0.0, 0.05, 0.15, 0.2])
    assert had.tolist() == pytest.approx([0.0, 5e3, 1e4, 1.5e4])


def test_the_link_is_never_exceeded_and_never_idle_while_somebody_waits() -> None:
    scene = replace(TEN, arrive_s=1.0)
    for viewers in (3, 30, 300):
        came = arrivals(viewers, scene.arrive_s, seed=3)
        times, had = curve(came, scene)
        assert np.all(np.diff(times) >= -1e-12) and np.all(np.diff(had) >= -1e-6)
        ends = np.interp(np.interp(came, times, had) + scene.total_bytes, had, times)
        assert np.all(np.diff(ends) >= -1e-9), "equal recordings leave as they came"
        busy = 0.0  # single server with the link's rate, first come first served, is as busy
        for at in came:
            busy = max(busy, at) + scene.total_bytes / scene.link_bytes_per_s
        assert ends[-1] == pytest.approx(busy), "any way of sharing is done at the same time"


def test_nginx_can_be_what_is_slow() -> None:
    slow = simulate(replace(TEN, nginx_s=0.01, link_bytes_per_s=1e9), 20)
    assert slow.over_s == pytest.approx(20 * 10 * 0.01 + 0.01)
    assert slow.nginx_s == pytest.approx(2.0)


def test_more_viewers_never_wait_less() -> None:
    scene = replace(TEN, arrive_s=2.0)
    found = [simulate(scene, viewers).whole_s[2] for viewers in (1, 10, 100, 1000)]
    for few, more in itertools.pairwise(found):
        assert few <= more + 1e-9


def test_a_hundred_thousand_take_seconds_of_computing() -> None:
    began = time.process_time()
    found = simulate(Scene([25_000] * 12, 125e6, 2.5e6, 4e-5, 0.02, 60.0), 100_000)
    assert time.process_time() - began < 20.0
    assert found.over_s == pytest.approx(100_000 * 300_000 / 125e6, rel=0.05)


@pytest.mark.parametrize(
    "change",
    [
        {"segment_bytes": []},
        {"segment_bytes": [0]},
        {"link_bytes_per_s": 0.0},
        {"own_bytes_per_s": float("inf")},
        {"nginx_s": -1.0},
        {"arrive_s": float("nan")},
    ],
    ids=str,
)
def test_what_cannot_be_simulated_gets_a_sentence(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="a simulation needs"):
        replace(TEN, **change)


@pytest.mark.parametrize("viewers", [0, -1, 10_000_000])
def test_viewers_have_bounds(viewers: int) -> None:
    with pytest.raises(InputError, match="1 to 1000000 viewers"):
        simulate(TEN, viewers)
