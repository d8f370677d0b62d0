# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of each recording as digests: python -m tests.replay.tables --write.

A recording that decodes to other tables than before shows other pictures, so every change of a
digest in tests/fixtures/tables.json needs a reason.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from duet.bundle import Bundle, open_bundle
from duet.lessons.load import load
from duet.session.engine import LaneEngine, LaneSetup
from duet.session.pipeline import LanePipeline, Work
from duet.session.reduce import Reduction
from duet.wire import FrameReader, PageSplitter, decode_frame

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests/fixtures/tables.json"
TICK_NS = 40_000_000
"""Host time between two steps, as in a live run."""


def recordings() -> list[Path]:
    """All shipped recordings, the cells of grids, and the fixtures."""
    shipped = sorted(ROOT.glob("lessons/*/recorded/**/*.duet"))
    return [*shipped, *sorted(ROOT.glob("tests/fixtures/transcripts/*.duet"))]


def reductions(
    bundle: Bundle, arm: str, pipeline: LanePipeline, tick_ns: int
) -> Iterator[Reduction]:
    """Feed one lane as it came, and yield the result of each step."""
    reader, splitters, last = FrameReader(), dict[int, PageSplitter](), 0
    for host_ns, stream, payload in bundle.records(arm):
        if stream == -1:
            for raw in reader.feed(payload):
                pipeline.feed_frame(decode_frame(raw))
        elif stream >= 0:
            splitter = splitters.setdefault(stream, PageSplitter())
            pipeline.feed_pages(stream, splitter.feed(payload), len(payload), host_ns)
        if host_ns - last > tick_ns and (work := pipeline.take_work()):
            last = host_ns
            yield from steps(pipeline, work)
    if work := pipeline.take_work(final=True):
        yield from steps(pipeline, work)


def steps(pipeline: LanePipeline, work: Work) -> Iterator[Reduction]:
    """Yield the results of all steps of some work."""
    yield (made := pipeline.work(work))
    while made.more:
        yield (made := pipeline.work(work.rest()))


def digest(bundle: Bundle, arm: str, tick_ns: int = TICK_NS) -> str:
    """SHA-256 of all tables, rows, losses and figures of one lane."""
    lesson = load(bundle.manifest.lesson).lesson
    entry = bundle.manifest.arm(arm)
    lane = LaneSetup(lesson, arm, bundle.manifest.workload, entry.symbols)
    pipeline = LanePipeline(LaneEngine(lane))
    sha = hashlib.sha256()
    for made in reductions(bundle, arm, pipeline, tick_ns):
        for batch in made.batches:
            sha.update(f"{batch.table} {batch.n} {batch.watermark_ns}\n".encode())
            for name, column in batch.columns.items():
                sha.update(f"{name} {column.dtype.str}\n".encode() + column.tobytes())
        sha.update(repr((made.more, made.rows, made.losses)).encode())
    pipeline.count(tallies=True)
    figures = asdict(pipeline.counts), asdict(pipeline.metrics()), pipeline.lost_by_place()
    sha.update(json.dumps(figures, sort_keys=True).encode())
    return sha.hexdigest()[:32]


def digests(path: Path) -> dict[str, str]:
    """Lane -> digest, of one recording."""
    bundle = open_bundle(path)
    return {entry.name: digest(bundle, entry.name) for entry in bundle.manifest.arms}


def main() -> None:
    """Print the recordings whose tables differ from the stored ones; with --write, store them."""
    found = {str(path.relative_to(ROOT)): digests(path) for path in recordings()}
    if "--write" in sys.argv:
        STORED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    stored = json.loads(STORED.read_text())
    for name in sorted(found.keys() | stored.keys()):
        if found.get(name) != stored.get(name):
            print(f"{name}: {found.get(name)} in place of {stored.get(name)}")
    print(f"{len(found)} recordings")


if __name__ == "__main__":
    main()
