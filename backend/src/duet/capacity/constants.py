# SPDX-License-Identifier: GPL-2.0-or-later
"""The constants of the model: what each is, which command measures it, and the shipped figures.

The shipped figures were measured on the reference machine (REFERENCE). Of each, `low` and `high`
are the smallest and the largest of the runs that docs/CAPACITY.md names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from duet.capacity.estimate import Estimate

REFERENCE: Final = "2 CPUs (Xeon, virtual), 24 GiB, guests under QEMU's emulation, November 2026"
SEGMENTS: Final = "duet bench segments"
VIEWERS: Final = "duet bench viewers"
FOLLOWERS: Final = "duet bench followers"
CLASS: Final = "duet bench class"
LANES: Final = "duet bench lanes"
POOL: Final = "duet bench pool"


@dataclass(frozen=True, slots=True)
class Constant:
    """One of them.

    Args:
        unit: of its figures; "CPU ms" is time of one CPU.
        source: the command that measures it.
        what: it is, in words.
        shipped: measured on the reference machine.
    """

    name: str
    unit: str
    source: str
    what: str
    shipped: Estimate


def _constants() -> Iterable[Constant]:
    def one(name: str, unit: str, source: str, low: float, high: float, what: str) -> Constant:
        return Constant(name, unit, source, what, Estimate(low, high))

    return (
        one("open_server", "CPU ms", SEGMENTS, 2.6, 3.0,
            "the server, for a page's socket: handshake, greeting, lesson, list of segments"),
        one("open_nginx", "CPU ms", SEGMENTS, 0.35, 0.45, "nginx, for the same"),
        one("open_bytes", "bytes", SEGMENTS, 30e3, 60e3, "sent for the same"),
        one("page_first_bytes", "bytes", SEGMENTS, 200e3, 300e3,
            "of the page, compressed: its document and the files that this names"),
        one("page_all_bytes", "bytes", SEGMENTS, 500e3, 900e3,
            "of the same with all scripts and styles that these name"),
        one("segment_nginx", "CPU ms", SEGMENTS, 0.033, 0.047,
            "nginx, for a segment of some 100 KB in its cache"),
        one("segment_server", "CPU ms", SEGMENTS, 0.5, 1.0,
            "the server, for a segment without a cache before it"),
        one("live_segments_server", "CPU ms", SEGMENTS, 0.10, 0.13,
            "the server, for a viewer and second of a live run by segments out of a cache"),
        one("live_segments_nginx", "CPU ms", SEGMENTS, 0.12, 0.17, "nginx, for the same"),
        one("live_segments_bytes", "bytes", SEGMENTS, 0.14e6, 0.18e6, "sent for the same"),
        one("live_messages_bytes", "bytes", SEGMENTS, 1.0e6, 1.3e6,
            "for a viewer and second of a live run by messages"),
        one("live_messages_server", "CPU ms", VIEWERS, 0.8, 1.6, "the server, for the same"),
        one("server_memory", "bytes", SEGMENTS, 150e6, 300e6, "of the server with one recording"),
        one("viewer_memory", "bytes", SEGMENTS, 50e3, 300e3, "of the server, for each socket"),
        one("place_server", "CPU ms", FOLLOWERS, 0.043, 0.047,
            "the server, for one place of a class's driver to one follower"),
        one("place_bytes", "bytes", FOLLOWERS, 200, 400, "sent for the same"),
        one("lane_cores", "CPUs", CLASS, 0.9, 1.3,
            "guest, decoding and server of one lane while its run goes on"),
        one("lane_memory", "bytes", CLASS, 300e6, 700e6, "of the same, at its peak"),
        one("run_time", "s", CLASS, 8, 20, "a run has its slot for so long"),
        one("copy_start", "ms", LANES, 117, 140,
            "from the request to the first event of a lane that is a copy of a parked guest"),
        one("boot_start", "ms", LANES, 1247, 2600, "the same of a lane that boots"),
        one("parked_memory", "bytes", LANES, 110e6, 125e6, "of a parked guest"),
        one("lease_first", "ms", POOL, 500, 4000,
            "later to the first event where a lease of a pool has to be had first"),
        one("lease_stands", "ms", POOL, 0, 500, "later where the lease stands already"),
    )  # fmt: skip


CONSTANTS: Final[dict[str, Constant]] = {one.name: one for one in _constants()}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a constant here.

    Args:
        samples: measured on this installation; 0: the figure is shipped.
        at: day of the last of them.
    """

    constant: Constant
    figure: Estimate
    samples: int = 0
    at: str = ""


Figures = dict[str, Known]


def shipped() -> Figures:
    """All constants with the figures of the reference machine."""
    return {name: Known(one, one.shipped) for name, one in CONSTANTS.items()}
