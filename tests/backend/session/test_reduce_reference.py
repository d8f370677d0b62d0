# SPDX-License-Identifier: GPL-2.0-or-later
"""The loop in C says what its slow counterpart in Python says, to the bit.

Of events that make no sense, and of the lessons' recordings.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from duet.base.settings import repo_root
from duet.bundle import open_bundle
from duet.decode import Decoder
from duet.guests.types import CTL_STREAM
from duet.lessons.load import load
from duet.lessons.plan import workload_of
from duet.session.lane.guest import MAX_CPU_PORTS
from duet.session.program import compile_program
from duet.session.reduce import LaneReducer, Reduction
from duet.session.tables import Batch
from duet.wire import FrameReader, GuestFile, PageSplitter, decode_frame
from tests.backend.session.slow.slow_reduce import LaneReducer as SlowReducer
from tests.support.chaos import Chaos
from tests.support.stage import FILES, SYMBOLS

RECORDINGS = sorted((repo_root() / "lessons").glob("*/recorded/*.duet"))
ARMS = ("rwsem", "srcu", "srcu-delayed")
TICK = 50
"""Pages of a recording that are fed before the next step."""


Tick = tuple[list[tuple[int, bytes]], int]
"""Pages that arrive, each with its CPU, and the watermark after them."""


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


def steps(reducer: LaneReducer | SlowReducer, watermark: int, *, last: bool) -> Iterator[Any]:
    """All steps up to a watermark, or to the end; a reducer is asked again while it has more."""
    while True:
        step = reducer.finish(watermark) if last else reducer.advance(watermark)
        yield said(reducer, step)
        if not step.more:
            return


def hold(fast: LaneReducer, slow: SlowReducer, decoder: Decoder, ticks: list[Tick]) -> int:
    """Compare step by step; how many spans there were."""
    spans = 0
    for number, (pages, watermark) in enumerate([*ticks, ([], ticks[-1][1])]):
        for cpu, part in pages:
            fast.feed(cpu, part)
        slow.feed([decoder.decode(cpu, part) for cpu, part in pages])
        last = number == len(ticks)
        both = zip(
            steps(fast, watermark, last=last), steps(slow, watermark, last=last), strict=True
        )
        for quick, sure in both:
            assert quick == sure, f"tick {number}"
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
    ticks = [(stage.pages(), stage.base + min(stage.now))]
    for _ in range(parts):
        for _ in range(60):
            stage.happens(stage.dice.randrange(2))
        ticks.append((stage.pages(), stage.base + min(stage.now) - stage.dice.randrange(3)))
    fast = LaneReducer(program, decoder, hogs, step_events)
    hold(fast, SlowReducer(program, hogs, step_events), decoder, ticks)


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
        decoder = Decoder(files)
        workload = workload_of(folder.lesson, bundle.manifest.workload)
        program = compile_program(
            folder.lesson, entry.name, workload, entry.symbols, decoder.string_id
        )
        fast = LaneReducer(program, decoder, 3)
        spans = hold(fast, SlowReducer(program, 3), decoder, _ticks(files, pages))
        assert spans or folder.lesson.view != "gantt"


def _ticks(files: dict[str, bytes], pages: list[tuple[int, bytes]]) -> list[Tick]:
    decoder = Decoder(files)
    ticks: list[Tick] = []
    for begin in range(0, len(pages), TICK):
        some = [(cpu, part) for cpu, part in pages[begin : begin + TICK] if part]
        columns = [decoder.decode(cpu, part) for cpu, part in some]
        ends = [int(t.ts_ns[-1]) for c in columns for t in c.tables.values() if len(t)]
        ticks.append((some, max(ends) if begin + TICK >= len(pages) else min(ends)))
    return ticks
