# SPDX-License-Identifier: GPL-2.0-or-later
"""How many events a second one core decodes and reduces: python -m tests.bench.reduce [BUNDLE].

Feeds a recording as it came, in ticks of 40 ms of host time, and counts CPU time of this process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from duet.bundle import Bundle, open_bundle
from duet.lessons.load import load
from duet.session.engine import LaneSetup
from duet.session.pipeline import LanePipeline
from duet.wire import FrameReader, PageSplitter, decode_frame
from tests.support.own_engine import OwnEngine

FIXTURE = "tests/fixtures/transcripts/storm-3-hogs-reclaim.duet"
TICK_NS = 40_000_000


def once(bundle: Bundle, arm: str) -> tuple[int, float]:
    """Events and CPU seconds of one lane."""
    lesson = load(bundle.manifest.lesson).lesson
    entry = bundle.manifest.arm(arm)
    lane = LaneSetup(lesson, arm, bundle.manifest.workload, entry.symbols, threads=3)
    pipeline = LanePipeline(OwnEngine(lane))
    reader, splitters, last = FrameReader(), dict[int, PageSplitter](), 0
    begin = time.process_time()
    for host_ns, stream, payload in bundle.records(arm):
        if stream < 0:
            for raw in reader.feed(payload):
                pipeline.feed_frame(decode_frame(raw))
        else:
            splitter = splitters.setdefault(stream, PageSplitter())
            pipeline.feed_pages(stream, splitter.feed(payload), len(payload), host_ns)
        if host_ns - last > TICK_NS and (work := pipeline.take_work()):
            pipeline.work(work)
            last = host_ns
    if work := pipeline.take_work(final=True):
        while pipeline.work(work).more:
            work = work.rest()
    pipeline.count()
    return pipeline.metrics().events_read, time.process_time() - begin


def main() -> None:
    """Print the rate of every lane; the better of three rounds, since the host is shared."""
    root = Path(__file__).parents[2]
    bundle = open_bundle(Path(sys.argv[1]) if len(sys.argv) > 1 else root / FIXTURE)
    for entry in bundle.manifest.arms:
        rates = [events / cpu for events, cpu in (once(bundle, entry.name) for _ in range(3))]
        print(f"{entry.name:16} {max(rates) / 1e3:6.0f} k events/s")


if __name__ == "__main__":
    main()
