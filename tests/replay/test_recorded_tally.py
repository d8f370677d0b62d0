# SPDX-License-Identifier: GPL-2.0-or-later
"""Counted metrics of a real recording, against the same counted one by one."""

from __future__ import annotations

from collections import defaultdict

import pytest

from duet.bundle import Bundle, open_bundle
from duet.bundle.manifest import CTL
from duet.decode import Decoder
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson, Metric
from duet.session.engine import LaneEngine, LaneSetup
from duet.session.pipeline import LanePipeline
from duet.wire import FrameReader, GuestFile, decode_frame

METRICS = {
    "calls": {"event": "srcu_call"},
    "normal": {"event": "srcu_call", "where": {"do_norm": 1}},
    "asked": {"event": "srcu_call", "field": "do_norm"},
    "ssp": {"event": "srcu_call", "field": "ssp", "pick": "last"},
    "in_unregister": {"span": ["unregister", "unregister_ret"], "pick": "sum"},
    "longest": {"span": ["unregister", "unregister_ret"], "pick": "max"},
    "mean": {"span": ["unregister", "unregister_ret"]},
    "storm": {"event": "unregister", "phase": "storm"},
}


def with_metrics(lesson: Lesson) -> Lesson:
    metrics = {
        name: Metric.model_validate({"title": name, "unit": "n", "better": "lower", **metric})
        for name, metric in METRICS.items()
    }
    return lesson.model_copy(update={"metrics": metrics})


def parts(bundle: Bundle, arm: str) -> tuple[dict[str, bytes], dict[int, bytes]]:
    """Format files and, per CPU, all whole pages of a lane."""
    files: dict[str, bytes] = {}
    ports: dict[int, bytearray] = defaultdict(bytearray)
    reader = FrameReader()
    for record in bundle.records(arm):
        if record.stream == CTL:
            for raw in reader.feed(record.payload):
                frame = decode_frame(raw)
                if isinstance(frame, GuestFile):
                    files[frame.name] = frame.content
        else:
            ports[record.stream] += record.payload
    return files, {cpu: bytes(d[: len(d) // 4096 * 4096]) for cpu, d in ports.items()}


@pytest.mark.parametrize("recording", ["1-hog", "3-hogs"])
@pytest.mark.parametrize("arm", ["srcu", "srcu-expedited"])
def test_a_recording_is_tallied_as_it_is_counted(
    lesson02: LessonFolder, recording: str, arm: str
) -> None:
    bundle = open_bundle(lesson02.folder / "recorded" / f"{recording}.duet")
    files, pages = parts(bundle, arm)
    lane = LaneSetup(
        with_metrics(lesson02.lesson), arm, "storm", {"shrinker_srcu": 1, "shrinker_rwsem": 2}
    )
    pipeline = LanePipeline(LaneEngine(lane))
    pipeline.files.update(files)
    for cpu, held in pages.items():  # in two halves: what is fed piece by piece is one run
        half = len(held) // 8192 * 4096
        for piece in (held[:half], held[half:]):
            pipeline.feed_pages(cpu, piece, len(piece), 1)
            work = pipeline.take_work()
            if work is not None:
                pipeline.work(work)
    work = pipeline.take_work(final=True)
    assert work is not None
    while pipeline.work(work).more:
        work = work.rest()
    pipeline.count(tallies=True)
    assert pipeline.counts.tallies == count(Decoder(files), pages)
    assert pipeline.counts.faults == {"storm": "the workload wrote no marker 'storm: end'."}


def count(decoder: Decoder, pages: dict[int, bytes]) -> dict[str, float]:
    """One event after the other, with a stack per thread."""
    events: list[tuple[int, int, int, str, int, dict[str, int | bytes]]] = []
    for cpu, held in pages.items():
        for name, table in decoder.decode(cpu, held).tables.items():
            cells = {field: column.tolist() for field, column in table.columns.items()}
            for i, (ts, seq) in enumerate(zip(table.ts_ns.tolist(), table.seq, strict=True)):
                fields = {field: column[i] for field, column in cells.items()}
                events.append((ts, cpu, int(seq), name, int(table.pid[i]), fields))
    events.sort(key=lambda e: e[:3])
    begun, stacks = False, defaultdict(list)
    calls: list[dict[str, int | bytes]] = []
    times: list[int] = []
    for ts, _, _, name, tid, fields in events:
        if name == "ftrace/print" and fields["buf"].strip() == b"storm: start":
            begun = True
        if name == "duet/srcu_call" and begun:
            calls.append(fields)
        if name == "duet/unregister":
            stacks[tid].append((ts, begun))
        if name == "duet/unregister_ret" and stacks[tid]:
            since, counts = stacks[tid].pop()
            if counts:
                times.append(ts - since)
    assert len(calls) > 10 and len(times) > 10
    return {
        "calls": len(calls),
        "normal": sum(c["do_norm"] == 1 for c in calls),
        "asked": sum(c["do_norm"] for c in calls),
        "ssp": calls[-1]["ssp"] & (2**64 - 1),
        "in_unregister": sum(times),
        "longest": max(times),
        "mean": sum(times) / len(times),
    }
