# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulates many viewers of one recording behind one nginx or CDN with one link. Pure.

The simulation is exact for its model, in which all fetching viewers share the link equally
(processor sharing), as TCP connections do on average. So one curve V describes all viewers: a
viewer who arrived at `came` has received V(now) - V(came) bytes. V grows at the rate link /
viewers, or at the rate of a viewer's own link if that rate is lower. So the slope of V changes only
when a viewer arrives or has received everything. The simulation steps through these events, and
then looks up all delays in V. Simulating a hundred thousand viewers takes less than a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from duet.base.errors import InputError

Floats = npt.NDArray[np.float64]
AT_ONCE: Final = 4
"""Number of segments that a page fetches at once (frontend/src/protocol)."""
MOST_VIEWERS: Final = 1_000_000
MOST_SEGMENTS: Final = 10_000
PERCENTILES: Final = (50, 90, 99, 100)


@dataclass(frozen=True, slots=True)
class Scene:
    """Parameters of a simulation.

    Args:
        segment_bytes: size of each segment in order, including headers.
        link_bytes_per_s: capacity of the link from nginx or the CDN to all viewers.
        own_bytes_per_s: capacity of each viewer's own link.
        nginx_s: CPU time that nginx, with one worker, needs per segment.
        round_trip_s: round-trip time to nginx.
        arrive_s: time within which viewers arrive at random. With 0, all viewers arrive at the same
            time.
    """

    segment_bytes: Sequence[int]
    link_bytes_per_s: float
    own_bytes_per_s: float
    nginx_s: float = 0.0
    round_trip_s: float = 0.0
    arrive_s: float = 0.0

    def __post_init__(self) -> None:
        """Check the values; raises InputError."""
        rates = (self.link_bytes_per_s, self.own_bytes_per_s)
        times = (self.nginx_s, self.round_trip_s, self.arrive_s)
        count = len(self.segment_bytes)
        good = 1 <= count <= MOST_SEGMENTS and all(one > 0 for one in self.segment_bytes)
        if not (good and all(1 <= one < np.inf for one in rates)
                and all(0 <= one < np.inf for one in times)):  # fmt: skip
            raise InputError(
                "a simulation needs segments that are not empty, links of at least one byte per "
                "second, "
                "and times that are not negative.",
                remedy="./duet plan --help lists the options with their units.",
            )

    @property
    def total_bytes(self) -> int:
        """Return the size of the whole recording."""
        return sum(self.segment_bytes)

    @property
    def served_bytes_per_s(self) -> float:
        """Return the total rate, which is limited by the link or by nginx's CPU."""
        by_cpu = np.inf
        if self.nginx_s:
            by_cpu = self.total_bytes / (self.nginx_s * len(self.segment_bytes))
        return float(min(self.link_bytes_per_s, by_cpu))

    @property
    def one_bytes_per_s(self) -> float:
        """Return one viewer's maximum rate, which their own link or the round-trip time limits."""
        by_trip = np.inf
        if self.round_trip_s:
            by_trip = AT_ONCE * self.total_bytes / len(self.segment_bytes) / self.round_trip_s
        return float(min(self.own_bytes_per_s, by_trip))


@dataclass(frozen=True, slots=True)
class Simulated:
    """Simulated delays in seconds. A viewer's time begins at 0 when the viewer arrives.

    Args:
        first_s: time until the first segment has arrived, at each of PERCENTILES.
        whole_s: time until all segments have arrived.
        next_s: time between the arrivals of two successive segments.
        until_s: time until each segment has arrived, by segment and then by percentile.
        over_s: time from the first viewer's arrival to the last byte.
        nginx_s: total CPU time of nginx.
    """

    viewers: int
    first_s: tuple[float, ...]
    whole_s: tuple[float, ...]
    next_s: tuple[float, ...]
    until_s: tuple[tuple[float, ...], ...]
    over_s: float
    nginx_s: float
    bytes: int


def simulate(scene: Scene, viewers: int, seed: int = 1) -> Simulated:
    """Simulate this many viewers.

    Raises:
        InputError: there are no viewers, or more than MOST_VIEWERS.
    """
    if not 1 <= viewers <= MOST_VIEWERS:
        raise InputError(
            f"a simulation needs 1 to {MOST_VIEWERS} viewers, but got {viewers}.",
            remedy="Choose a number in this range.",
        )
    came = arrivals(viewers, scene.arrive_s, seed)
    times, had = curve(came, scene)
    at_came = np.interp(came, times, had)
    marks = progress_marks(scene.segment_bytes)
    # time to connect and to request the first segment
    wait_s = 2 * scene.round_trip_s + scene.nginx_s
    until = np.empty((len(marks), viewers))
    for row, mark in zip(until, marks, strict=True):
        row[:] = np.interp(at_came + mark, had, times) - came + wait_s
    gaps = np.diff(until, axis=0) if len(marks) > 1 else np.zeros((1, viewers))
    return Simulated(
        viewers=viewers,
        first_s=percentiles(until[0]),
        whole_s=percentiles(until[-1]),
        next_s=percentiles(gaps.ravel()),
        until_s=tuple(percentiles(row) for row in until),
        over_s=float((until[-1] + came).max() - came.min()),
        nginx_s=scene.nginx_s * len(marks) * viewers,
        bytes=scene.total_bytes * viewers,
    )


def arrivals(viewers: int, arrive_s: float, seed: int) -> Floats:
    """Return the sorted arrival times."""
    if not arrive_s:
        return np.zeros(viewers)
    return np.sort(np.random.default_rng(seed).uniform(0.0, arrive_s, viewers))


def curve(came: Floats, scene: Scene) -> tuple[Floats, Floats]:
    """Return (times, V) at each change of slope.

    V is the number of bytes that a viewer who arrived at the start could have received. All viewers
    fetch the same bytes, so the viewers finish in the order of arrival.
    """
    size = float(scene.total_bytes)
    link, own = scene.served_bytes_per_s, scene.one_bytes_per_s
    viewers = len(came)
    times, had = np.empty(2 * viewers), np.empty(2 * viewers)
    ends = np.empty(viewers)  # value of V at which each viewer has received everything
    now, level, here, left = 0.0, 0.0, 0, 0
    for bend in range(2 * viewers):
        there = here - left
        # V also grows while nobody fetches, so that each value of V belongs to exactly one time.
        rate = min(own, link / there) if there else own
        end_s = now + (ends[left] - level) / rate if there else np.inf
        if here < viewers and came[here] <= end_s:
            level += rate * (came[here] - now)
            now = came[here]
            ends[here] = level + size
            here += 1
        else:
            now, level = end_s, ends[left]
            left += 1
        times[bend], had[bend] = now, level
    return times, had


def progress_marks(segment_bytes: Sequence[int], at_once: int = AT_ONCE) -> Floats:
    """For each segment, return how many bytes a viewer has received when this segment and all
    earlier segments are complete.

    Segments that are being fetched receive equal shares of the bytes. When one segment is complete,
    the next segment is requested.
    """
    left: dict[int, float] = {}
    whole = np.empty(len(segment_bytes))
    had, following = 0.0, 0
    while following < len(segment_bytes) or left:
        while following < len(segment_bytes) and len(left) < at_once:
            left[following] = float(segment_bytes[following])
            following += 1
        least = min(left.values())
        had += least * len(left)
        for number in list(left):
            left[number] -= least
            if left[number] <= 1e-6:
                whole[number] = had
                del left[number]
    return np.asarray(np.maximum.accumulate(whole))


def percentiles(values: Floats) -> tuple[float, ...]:
    """Compute the percentiles that PERCENTILES lists."""
    return tuple(float(one) for one in np.percentile(values, PERCENTILES))
