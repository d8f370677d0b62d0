# SPDX-License-Identifier: GPL-2.0-or-later
"""Size and opening of a long recording: python -m tests.bench.bundles [SECONDS [EVENTS_A_SECOND]].

Three lanes of a minute at 5,000 events a second each, wanted: at most 12 bytes an event, opened
within 2 s. The events are real: a recorded run's ring-buffer pages, laid behind one another with
their times moved on until the minute is full. Equal pages would pack too well: so every page's
events get new times, thread ids and values of other fields where the recording's vary (see
vary()).
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
import time
from pathlib import Path

from duet.bundle import Record, open_bundle, write_bundle
from duet.bundle.manifest import CTL, LENS
from duet.bundle.reader import read_lane

SOURCE = "lessons/02-grace-periods/recorded/9-hogs.duet"
ROOT = Path(__file__).parents[2]
PAGE = 4096
HEAD = 16
NOISE_BITS = 12
"""Of each event's time step: nanoseconds below 4 us are chance, in the recording as in life."""


def vary(page: bytes, shift_ns: int, dice: random.Random) -> bytes:
    """A page moved in time, each event's time step and fields changed as chance changes them."""
    new = bytearray(page)
    (begin,) = struct.unpack_from("<Q", page)
    struct.pack_into("<Q", new, 0, begin + shift_ns)
    (commit,) = struct.unpack_from("<I", page, 8)
    at, end = HEAD, HEAD + (commit & ~(3 << 30))
    while at + 4 <= min(end, PAGE):
        (head,) = struct.unpack_from("<I", new, at)
        kind = head & 31
        if kind == 0 or kind > 28:
            length = 8 if kind != 29 and kind != 0 else 4 + struct.unpack_from("<I", new, at + 4)[0]
            if head >> 5 == 0 and kind == 29:
                break
            at += length
            continue
        step = (head >> 5) ^ dice.getrandbits(NOISE_BITS) if head >> 5 > 1 << NOISE_BITS else (
            head >> 5
        )  # fmt: skip
        struct.pack_into("<I", new, at, step << 5 | kind)
        at += 4 + 4 * kind
    return bytes(new)


def tiled(records: list[Record], events: int, wanted: int, span_ns: int) -> list[Record]:
    """The recording's control frames and samples, and its pages again and again."""
    dice = random.Random(1)
    own = [record for record in records if record.stream in (CTL, LENS)]
    pages = [record for record in records if record.stream not in (CTL, LENS)]
    rounds = -(-wanted // events)
    step = span_ns // rounds
    for number in range(rounds):
        for record in pages:
            parts = [record.payload[n : n + PAGE] for n in range(0, len(record.payload), PAGE)]
            moved = b"".join(
                vary(part, number * step, dice) if len(part) == PAGE else part for part in parts
            )
            own.append(Record(record.host_ns + number * step, record.stream, moved))
    return own


def main() -> None:
    """Write, open, tell."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 5000.0
    bundle = open_bundle(ROOT / SOURCE)
    lanes, events = {}, 0
    for arm in bundle.manifest.arms:
        lane = read_lane(bundle, arm.name)
        held = sum(part.events for part in lane.decoded(lane.decoder()))
        records = tiled(
            list(bundle.records(arm.name)), held, int(seconds * rate), int(seconds * 1e9)
        )
        lanes[arm.name] = records
        events += held * -(-int(seconds * rate) // held)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.duet"
        began = time.perf_counter()
        size = write_bundle(path, bundle.manifest, lanes, {})
        wrote_s = time.perf_counter() - began
        cpu, wall = time.process_time(), time.perf_counter()
        again = open_bundle(path)
        opened = time.process_time() - cpu, time.perf_counter() - wall
        found = 0
        for arm in again.manifest.arms:
            lane = read_lane(again, arm.name)
            found += sum(part.events for part in lane.decoded(lane.decoder()))
    assert found == events, f"{found} of {events} events came back"
    print(f"{len(lanes)} lanes, {seconds:g} s, {events:,} events: {size:,} bytes, "
          f"{size / events:.2f} an event (wanted: at most 12); opened in {opened[1]:.2f} s, "
          f"{opened[0]:.2f} s of CPU (wanted: under 2); written in {wrote_s:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
