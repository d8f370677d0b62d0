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
        one("open_server", "CPU ms", SEGMENTS, 1.85, 3.0,
            "the server, for a page's socket: handshake, greeting, lesson, list of segments"),
        one("open_nginx", "CPU ms", SEGMENTS, 0.22, 0.4, "nginx, for the same"),
        one("open_bytes", "bytes", SEGMENTS, 196e3, 198e3, "sent for the same"),
        one("page_first_bytes", "bytes", SEGMENTS, 229e3, 231e3,
            "of the page, compressed: its document and the files that this names"),
        one("page_all_bytes", "bytes", SEGMENTS, 881e3, 883e3,
            "of the same with all scripts and styles that these name"),
        one("segment_nginx", "CPU ms", SEGMENTS, 0.009, 0.047,
            "nginx, for a segment of 10 to 100 KB in its cache"),
        one("segment_server", "CPU ms", SEGMENTS, 0.4, 0.58,
            "the server, for a segment without a cache before it"),
        one("live_segments_server", "CPU ms", SEGMENTS, 0.09, 0.17,
            "the server, for a viewer and second of a live run by segments out of a cache"),
        one("live_segments_nginx", "CPU ms", SEGMENTS, 0.1, 0.17, "nginx, for the same"),
        one("live_segments_bytes", "bytes", SEGMENTS, 0.16e6, 0.17e6, "sent for the same"),
        one("live_messages_bytes", "bytes", SEGMENTS, 1.14e6, 1.2e6,
            "for a viewer and second of a live run by messages"),
        one("live_messages_server", "CPU ms", VIEWERS, 1.5, 2.3, "the server, for the same"),
        one("server_memory", "bytes", SEGMENTS, 148e6, 150e6, "of the server with one recording"),
        one("viewer_memory", "bytes", SEGMENTS, 70e3, 118e3, "of the server, for each socket"),
        one("place_server", "CPU ms", FOLLOWERS, 0.013, 0.047,
            "the server, for one place of a class's driver to one follower"),
        one("place_bytes", "bytes", FOLLOWERS, 250, 260, "sent for the same"),
        one("lane_cores", "CPUs", CLASS, 0.36, 1.0,
            "guest, decoding and server of one lane while its run goes on"),
        one("lane_memory", "bytes", CLASS, 332e6, 700e6, "of the same, at its peak"),
        one("run_time", "s", CLASS, 6.0, 6.5, "a run has its slot for so long"),
        one("copy_start", "ms", LANES, 117, 443,
            "from the request to the first event of a lane that is a copy of a parked guest"),
        one("boot_start", "ms", LANES, 1247, 2801, "the same of a lane that boots"),
        one("parked_memory", "bytes", LANES, 111e6, 125e6, "of a parked guest"),
        one("lease_first", "ms", POOL, 0.0, 9300,
            "later to the first event where a lease of a pool has to be had first"),
        one("lease_stands", "ms", POOL, 0.0, 1700, "later where the lease stands already"),
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
