# SPDX-License-Identifier: GPL-2.0-or-later
"""How many events a second one core decodes: python -m tests.bench.decode [SECONDS]."""

from __future__ import annotations

import sys
import time

from duet.decode import Decoder
from tests.support import ring
from tests.support.ring import SWITCH, WAKING, CpuBuffer


def pages(events: int) -> bytes:
    """Alternating switches, wakings and probes, as a storm gives them."""
    buffer, hit = CpuBuffer(), ring.probe("hit", 1200, ("u64", "arg"))
    records = [
        SWITCH.pack(9, "storm-0", 9, 120, 2, "swapper/0", 0, 120),
        WAKING.pack(9, "storm-1", 10, 120, 1),
        hit.pack(9, 1, 2),
    ]
    for index in range(events):
        buffer.add(1000 * index, records[index % 3])
    return buffer.take()


def main() -> None:
    """Decode the same pages over and over and print the rate."""
    span_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    count, hit = 60_000, ring.probe("hit", 1200, ("u64", "arg"))
    given, decoder = pages(count), Decoder(ring.files(SWITCH, WAKING, hit))
    rounds, begin = 0, time.perf_counter()
    while (now := time.perf_counter()) - begin < span_s:
        decoder.decode(0, given)
        rounds += 1
    rate = rounds * count / (now - begin)
    print(f"{rate / 1e6:.1f} M events/s, {len(given) / count:.1f} bytes an event")


if __name__ == "__main__":
    main()
