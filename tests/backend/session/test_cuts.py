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
from duet.session.reduce import LaneReducer
from duet.session.tables import Row
from tests.support.chaos import Chaos
from tests.support.stage import BLOCKED, FILES, KWORKER, Outcome, Stage, reducer

B = 101
Pages = list[list[bytes]]
"""Of each CPU, in order."""


def pages_of(stage: Stage) -> Pages:
    whole = [buffer.take() for buffer in stage.cpus]
    return [[cpu[at : at + 4096] for at in range(0, len(cpu), 4096)] for cpu in whole]


class Play:
    """A lane of lesson 02."""

    def __init__(self, lesson: Lesson, step_events: int = 10**6) -> None:
        self.decoder = Decoder(FILES)
        self.lane: LaneReducer = reducer(lesson, "srcu", self.decoder, 2, step_events)
        self.outcome = Outcome(lesson)

    def feed(self, cpu: int, page: bytes) -> None:
        self.lane.feed([self.decoder.decode(cpu, page)])

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


def begin_of(pages: list[bytes], number: int) -> int:
    """When a page's first event was, or what was lost before it at the earliest."""
    if number == len(pages):
        return 1 << 60
    lost = int.from_bytes(pages[number][8:12], "little") >> 31
    return int.from_bytes(pages[max(0, number - lost)][:8], "little")


def at_once(lesson: Lesson, pages: Pages) -> Play:
    play = Play(lesson)
    for cpu, mine in enumerate(pages):
        play.feed(cpu, b"".join(mine))
    return play


def piecemeal(lesson: Lesson, pages: Pages, dice: random.Random, step_events: int) -> Play:
    """Page by page; each watermark is complete, and as far as it can be or less."""
    play, rest = Play(lesson, step_events), [list(mine) for mine in pages]
    while any(rest):
        cpu = dice.choice([number for number, left in enumerate(rest) if left])
        play.feed(cpu, rest[cpu].pop(0))
        begins = [
            begin_of(mine, len(mine) - len(left)) for mine, left in zip(pages, rest, strict=True)
        ]
        play.advance(min(begins) - dice.choice((1, 1, 20)))
    return play


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


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from((1, 7, 10_000)))
def test_events_without_sense_in_any_pieces(seed: int, step_events: int) -> None:
    lesson, pages = load("02-grace-periods").lesson, pages_of(Chaos(seed, 600))
    cut = piecemeal(lesson, pages, random.Random(seed), step_events)
    assert cut.end() == at_once(lesson, pages).end()
