# SPDX-License-Identifier: GPL-2.0-or-later
"""In which pieces events come makes no difference: a replay gets others than the live run did."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duet.decode import Decoder
from duet.lessons.load import LessonFolder, load
from duet.lessons.schema import Lesson
from duet.session.engine import LaneEngine, LaneSetup
from duet.session.pipeline import LanePipeline
from duet.session.reduce import LaneReducer
from duet.session.tables import Row
from duet.wire import Beat, CpuBeat, Frame, Stats
from tests.support.chaos import Chaos
from tests.support.stage import BLOCKED, FILES, KWORKER, SYMBOLS, Outcome, Stage, reducer

B = 101


class Play:
    """A lane of lesson 02."""

    def __init__(self, lesson: Lesson) -> None:
        self.decoder = Decoder(FILES)
        self.lane: LaneReducer = reducer(lesson, "srcu", self.decoder, 2)
        self.outcome = Outcome(lesson)

    def feed(self, cpu: int, page: bytes) -> None:
        self.lane.feed(cpu, page)

    def advance(self, watermark_ns: int) -> None:
        while True:
            step = self.lane.advance(watermark_ns)
            self.outcome.take(step)
            if not step.more:
                return

    def end(self) -> tuple[object, tuple[Row, ...], object]:
        """All tables, rows, counts and losses."""
        self.advance(1 << 60)
        return self.outcome.tables, self.lane.rows, (self.lane.metrics(0), self.outcome.losses)


def paged(stage: Stage) -> Iterator[tuple[int, bytes]]:
    """Pages since the last time."""
    for cpu, buffer in enumerate(stage.cpus):
        if page := buffer.take():
            yield cpu, page


@pytest.mark.parametrize("kind", ["hog", "reader"])
def test_a_thread_that_says_its_name_after_the_start(lesson02: LessonFolder, kind: str) -> None:
    """It takes its name before the start and runs on; the first event that says it comes later."""
    tid, name = (B, "storm-1") if kind == "hog" else (98, "storm-reclaim")
    stage, whole = Stage(cpus=2, hogs=2), Play(lesson02.lesson)
    cut = Play(lesson02.lesson)
    stage.hogs[tid] = "storm"
    happenings = [
        (-900, lambda at: stage.switch(at, 0, 0, 100)),
        (-800, lambda at: stage.switch(at, 0, 100, 0, 1)),
        (-500, lambda at: stage.switch(at, 1, 0, tid)),
        (0, stage.start),
        (50, lambda at: stage.switch(at, 1, tid, 0, 1)),
        (60, lambda at: stage.wake(at, 0, KWORKER, tid)),
        (70, lambda at: stage.switch(at, 1, 0, tid)),
        (90, lambda at: stage.switch(at, 1, tid, 0, BLOCKED)),
    ]
    for at, happen in happenings:
        if at > 0:
            stage.hogs[tid] = name
        happen(at)
        for cpu, page in paged(stage):
            whole.feed(cpu, page)
            cut.feed(cpu, page)
        cut.advance(stage.base + at)
    assert cut.end() == whole.end()
    (row,) = (row.row for row in whole.lane.rows if row.name == name)
    assert [(s[0], *s[2:]) for s in cut.outcome.spans("state") if s[1] == row] == [
        ("running", 0, 50),
        ("wait_other", 50, 60),
        ("runnable", 60, 70),
        ("running", 70, 90),
    ]


def sent(seed: int) -> list[list[Frame | bytes]]:
    """What a guest sends during events without sense: by CPU, and frames."""
    stage, dice = Chaos(seed, 0), random.Random(seed)
    cpus: list[list[Frame | bytes]] = [[], []]
    frames: list[Frame | bytes] = []
    empty_at, missed = [0, 0], 0
    for _ in range(12):
        for _ in range(dice.randrange(80)):
            stage.happens(dice.randrange(2))
        for cpu, buffer in enumerate(stage.cpus):
            if buffer.body or buffer.missed is None:  # a page that reports a loss has an event
                cpus[cpu].append(buffer.take())
                stage.now[cpu] += dice.choice((0, 100))
                empty_at[cpu] = stage.base + stage.now[cpu]
                stage.now[cpu] += 1
                if dice.random() < 0.2:
                    buffer.lose(dice.randrange(3))
        rows = [CpuBeat(sum(map(len, cpus[cpu])), empty_at[cpu]) for cpu in (0, 1)]  # type: ignore[arg-type]
        frames.append(Beat(stage.base + max(stage.now), tuple(rows)))
        if dice.random() < 0.3:
            missed += dice.randrange(3)
            frames.append(Stats(False, (), missed))
    return [*cpus, frames]


def arrived(seed: int) -> Iterator[tuple[int, Frame | bytes]]:
    """A transcript: ports are apart, each in its own order."""
    dice, ports = random.Random(seed), sent(seed)
    while any(ports):
        port = dice.choice([number for number, rest in enumerate(ports) if rest])
        yield port, ports[port].pop(0)


def played(lesson: Lesson, seed: int, chance: float) -> object:
    """All that a lane gives, with a step behind a record by chance, and one at the end."""
    pipeline = LanePipeline(LaneEngine(LaneSetup(lesson, "srcu", "storm", SYMBOLS, 2)))
    pipeline.files.update(FILES)
    outcome, rows, dice = Outcome(lesson), [], random.Random(seed)
    for number, (port, record) in enumerate([*arrived(seed), (-1, b"")]):
        if isinstance(record, bytes):
            pipeline.feed_pages(port, record, len(record), number)
        else:
            pipeline.feed_frame(record)
        work = pipeline.take_work(final=port < 0) if port < 0 or dice.random() < chance else None
        while work:
            step = pipeline.work(work)
            outcome.take(step)
            rows += [] if step.rows is None else [step.rows]
            work = work.rest() if step.more else None
    pipeline.count()
    return outcome.tables, rows[-1:], sorted(pipeline.losses, key=repr), pipeline.metrics()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from((0.05, 0.3, 1.0)))
def test_events_without_sense_in_any_steps(seed: int, chance: float) -> None:
    lesson = load("02-grace-periods").lesson
    assert played(lesson, seed, chance) == played(lesson, seed, 0)
