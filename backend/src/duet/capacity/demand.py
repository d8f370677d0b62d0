# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan is made for: students, live runs, the lesson, the hosts and the link that are had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from duet.capacity.estimate import Estimate
from duet.errors import InputError

MOST_STUDENTS: Final = 1_000_000
MOST_LIVE: Final = 10_000
MOST_LANES: Final = 16
MOST_CPUS: Final = 4096
MOST_MEMORY_BYTES: Final = 1 << 50
MOST_LINK: Final = 1e13
MOST_ARRIVE_S: Final = 86_400.0
RECORDING_BYTES: Final = Estimate(15e3, 300e3)
SEGMENTS: Final = Estimate(3, 12)
"""Of the largest recording of each lesson that is shipped."""
PLACES_PER_S: Final = 10.0
"""While the driver of a class plays or drags; else places are few."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One class.

    Args:
        students: pages that are open at once; each sees the recording at the start.
        live: runs that go on at once.
        lanes: of each run.
        recording_bytes: of the lesson's recording as segments.
        segments: that it is cut into.
        guest_bytes: memory of each guest.
        vcpus: of each guest.
        cache: nginx or a CDN answers for segments.
        pool: where live runs are: local (the server's own machine), slurm or kubernetes.
        host_cpus: of each host; a host runs a server, guests, or both.
        host_bytes: memory of each host.
        link_bits_per_s: of each server to the students.
        arrive_s: all of them come in this time.
    """

    students: int
    live: int
    lanes: int
    recording_bytes: Estimate
    segments: Estimate
    guest_bytes: int
    vcpus: int
    cache: bool
    pool: str
    host_cpus: int
    host_bytes: int
    link_bits_per_s: float
    arrive_s: float

    def checked(self) -> Demand:
        """The same.

        Raises:
            InputError: a number that no class has.
        """
        for what, value, low, high in (
            ("students", self.students, 0, MOST_STUDENTS),
            ("live runs", self.live, 0, MOST_LIVE),
            ("lanes of a run", self.lanes, 1, MOST_LANES),
            ("CPUs of a host", self.host_cpus, 1, MOST_CPUS),
            ("bytes of memory of a host", self.host_bytes, 1 << 28, MOST_MEMORY_BYTES),
            ("bits per second of the link", self.link_bits_per_s, 1e5, MOST_LINK),
            ("seconds in which all come", self.arrive_s, 1, MOST_ARRIVE_S),
        ):
            if not (math.isfinite(value) and low <= value <= high):
                raise InputError(
                    f"a plan has {low:g} to {high:g} {what}, but {value:g} came.",
                    remedy="./duet plan --help lists the options with their units.",
                )
        return self
