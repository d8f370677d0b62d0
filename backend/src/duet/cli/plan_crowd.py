# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated crowd of `duet plan --viewers`: its rows, and its picture in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import InputError
from duet.capacity.constants import Figures
from duet.capacity.model import RECORDING_BYTES, SEGMENTS
from duet.capacity.simulation import Scene, Simulated, simulate
from duet.cli.plan_picture import picture
from duet.cli.results.planning import CrowdRow

HEAD_BYTES = 450
"""Of an answer, before a segment."""
OWN_BITS_PER_S = 20e6
LEAST_DRAWN = 200
ROUND_TRIP_S = 0.02
"""Of one simulated viewer: a house or a campus."""


@dataclass(frozen=True, slots=True)
class Options:
    """Of the verb; 0 and "" are for the default."""

    students: int = 30
    live: int = 0
    lanes: int = 0
    lesson: str = ""
    cache: bool = True
    pool: str = ""
    host_cpus: int = 0
    host_gib: float = 0.0
    link_mbit_per_s: float = 1000.0
    arrive_s: float = 60.0
    viewers: int = 0


def draw(file: Path, options: Options, sizes: Sequence[int], known: Figures) -> None:
    """Write the picture of the simulated crowd.

    Raises:
        InputError: there is no crowd to draw, or the file cannot be written.
    """
    if options.viewers < LEAST_DRAWN:
        raise InputError(
            f"--picture draws the curve of a crowd, but --viewers is {options.viewers}.",
            remedy=f"Give --viewers with {LEAST_DRAWN} or more, for example 100000.",
        )
    rows = crowds(options, sizes, known, (1, 2, 5))
    title = (
        f"Viewers who come within {options.arrive_s:g} s, at a link of "
        f"{options.link_mbit_per_s:g} Mbit/s (simulated)"
    )
    try:
        durable.write(file, picture(rows, title).encode())
    except OSError as error:
        raise InputError(
            f"the picture cannot be written to {file} ({error.strerror}).",
            remedy="Name a file in a folder that is there.",
        ) from None


def crowds(
    options: Options, sizes: Sequence[int], known: Figures, digits: Sequence[int] = (1,)
) -> list[CrowdRow]:
    """Simulated: for `digits` of each power of ten, up to the viewers that were asked for.

    Raises:
        InputError: these are too many.
    """
    if not options.viewers:
        return []
    if not sizes:  # the largest that is shipped
        count = round(SEGMENTS.high)
        sizes = [round(RECORDING_BYTES.high / count)] * count
    scene = Scene(
        segment_bytes=[size + HEAD_BYTES for size in sizes],
        link_bytes_per_s=options.link_mbit_per_s * 1e6 / 8,
        own_bytes_per_s=OWN_BITS_PER_S / 8,
        nginx_s=known["segment_nginx"].figure.high * 1e-3,
        round_trip_s=ROUND_TRIP_S,
        arrive_s=options.arrive_s,
    )
    counts = {options.viewers}
    counts |= {m * 10**n for n in range(2, 7) for m in digits if m * 10**n < options.viewers}
    return [crowd_row(simulate(scene, count)) for count in sorted(counts)]


def crowd_row(found: Simulated) -> CrowdRow:
    """One line of the table."""
    return CrowdRow(
        viewers=found.viewers,
        first_p50_s=round(found.first_s[0], 3),
        first_p99_s=round(found.first_s[2], 3),
        next_p99_s=round(found.next_s[2], 3),
        whole_p50_s=round(found.whole_s[0], 3),
        whole_p99_s=round(found.whole_s[2], 3),
        over_s=round(found.over_s, 1),
        nginx_cpu_s=round(found.nginx_s, 2),
    )
