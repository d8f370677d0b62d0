# SPDX-License-Identifier: GPL-2.0-or-later
"""The loop in C says what its slow counterpart in Python says, to the bit.

Of events that make no sense, and of the lessons' recordings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from duet.base.settings import repo_root
from duet.bundle import open_bundle
from duet.decode import CpuColumns, Decoder
from duet.guests.types import CTL_STREAM
from duet.lessons.load import LessonFolder, load
from duet.lessons.plan import workload_of
from duet.session.lane.guest import MAX_CPU_PORTS
from duet.session.program import Program, compile_program
from duet.session.reduce import LaneReducer, Reduction
from duet.session.tables import Batch, Metrics
from duet.wire import FrameReader, GuestFile, PageSplitter, decode_frame
from tests.backend.session.slow.slow_reduce import LaneReducer as SlowReducer
from tests.support.chaos import Chaos
from tests.support.stage import FILES, SYMBOLS

RECORDINGS = sorted((repo_root() / "lessons").glob("*/recorded/*.duet"))
ARMS = ("rwsem", "srcu", "srcu-delayed")
TICK = 50
"""Pages of a recording that are fed before the next step."""


class Reducer(Protocol):
    """What both are."""

    def feed(self, columns: Iterable[CpuColumns]) -> None: ...
    def advance(self, watermark_ns: int) -> Reduction: ...
    def finish(self, watermark_ns: int = 0, *, drained: bool = False) -> Reduction: ...
    def metrics(self, events_lost: int) -> Metrics: ...


def both(program: Program, hogs: int, step_events: int) -> tuple[Reducer, Reducer]:
    return LaneReducer(program, hogs, step_events), SlowReducer(program, hogs, step_events)


def columns(batch: Batch) -> list[NDArray[np.generic]]:
    return list(batch.columns.values())


def said(reducer: Any, step: Reduction) -> dict[str, Any]:
    """All that a step gave, comparable."""
    return {
        "more": step.more,
        "rows": step.rows,
        "losses": step.losses,
        "metrics": reducer.metrics(3),
        "lost": (reducer.missing.count, reducer.missing.uncounted, reducer.origin_ns),
        "batches": [
            (b.table, b.n, b.watermark_ns, list(b.columns), [c.dtype.str for c in columns(b)],
             [c.tobytes() for c in columns(b)])
            for b in step.batches
        ],
    }  # fmt: skip


def drive(reducer: Reducer, ticks: list[tuple[list[CpuColumns], int]]) -> Iterator[dict[str, Any]]:
    """Each step, then the last ones; a reducer is asked again while it has more."""
    for columns, watermark in ticks:
        reducer.feed(columns)
        while True:
            step = reducer.advance(watermark)
            yield said(reducer, step)
            if not step.more:
                break
    while True:
        step = reducer.finish(ticks[-1][1])
        yield said(reducer, step)
        if not step.more:
            return


def hold(program: Program, hogs: int, step_events: int, ticks: list[Any]) -> int:
    """Compare step by step; how many spans there were."""
    fast, slow = both(program, hogs, step_events)
    spans = 0
    for number, (quick, sure) in enumerate(
        zip(drive(fast, ticks), drive(slow, ticks), strict=True)
    ):
        assert quick == sure, f"step {number}"
        spans += sum(batch[1] for batch in quick["batches"] if batch[0] == "spans")
    return spans


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from(ARMS),
    st.integers(1, 5),
    st.integers(0, 3),
    st.sampled_from((1, 7, 10_000)),
)
def test_events_without_sense_mean_the_same_to_both(
    seed: int, arm: str, parts: int, hogs: int, step_events: int
) -> None:
    lesson = load("02-grace-periods").lesson
    decoder = Decoder(FILES)
    storm = lesson.workloads["storm"]
    program = compile_program(lesson, arm, storm, SYMBOLS, decoder.string_id)
    stage = Chaos(seed, 40 * parts)
    ticks = [(stage.columns(decoder), stage.base + min(stage.now))]
    for _ in range(parts):
        for _ in range(60):
            stage.happens(stage.dice.randrange(2))
        ticks.append(
            (stage.columns(decoder), stage.base + min(stage.now) - stage.dice.randrange(3))
        )
    hold(program, hogs, step_events, ticks)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parts[-3][:2]}-{path.stem}")
def test_a_recording_means_the_same_to_both(path: Path) -> None:
    bundle = open_bundle(path)
    folder = load(bundle.manifest.lesson)
    for entry in bundle.manifest.arms[:2]:
        reader, splitters = FrameReader(), dict[int, PageSplitter]()
        files: dict[str, bytes] = {}
        pages: list[tuple[int, bytes]] = []
        for _, stream, payload in bundle.records(entry.name):
            if 0 <= stream < MAX_CPU_PORTS:
                splitter = splitters.setdefault(stream, PageSplitter())
                pages.append((stream, splitter.feed(payload)))
            elif stream == CTL_STREAM:
                frames = (decode_frame(raw) for raw in reader.feed(payload))
                files |= {f.name: f.content for f in frames if isinstance(f, GuestFile)}
        spans = hold(*_of_recording(folder, bundle, entry, files, pages))
        assert spans or folder.lesson.view != "gantt"


def _of_recording(
    folder: LessonFolder, bundle: Any, entry: Any, files: dict[str, bytes], pages: list[Any]
) -> tuple[Program, int, int, list[Any]]:
    lesson = folder.lesson
    decoder = Decoder(files)
    workload = workload_of(lesson, bundle.manifest.workload)
    program = compile_program(lesson, entry.name, workload, entry.symbols, decoder.string_id)
    ticks = []
    for begin in range(0, len(pages), TICK):
        columns = [decoder.decode(cpu, part) for cpu, part in pages[begin : begin + TICK] if part]
        ends = [int(t.ts_ns[-1]) for c in columns for t in c.tables.values() if len(t)]
        ticks.append((columns, max(ends) if begin + TICK >= len(pages) else min(ends)))
    return program, 3, 25_000, ticks
