# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulated scheduler knows the truth; the reducer has to find it from the events alone.

Also: any cutting into pages and watermarks gives what reducing all at once gives.
"""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duet.decode import Decoder
from duet.lessons.load import LessonFolder, load
from tests.support.stage import (
    BLOCKED,
    FILES,
    KWORKER,
    PREEMPTED,
    SYMBOLS,
    Outcome,
    Span,
    Stage,
    reducer,
)

SRCU = SYMBOLS["shrinker_srcu"]
SCRIPT: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("sys_mount", ()),
    ("lock", (SYMBOLS["shrinker_rwsem"],)),
    ("lock_ret", ()),
    ("sys_umount", ()),
    ("unregister", ()),
    ("srcu_call", (SRCU, 1)),
    ("srcu_ret", ()),
    ("unregister_ret", ()),
    ("exp_call", ()),
    ("exp_ret", ()),
    ("cleanup_ret", ()),
)
CAUSE = {"lock": "wait_lock", "srcu_call": "wait_srcu", "exp_call": "wait_exp"}


class World:
    """Hogs on CPUs, moved at random; every move is an event and a line of truth."""

    def __init__(self, seed: int, cpus: int, hogs: int) -> None:
        self.dice = random.Random(seed)
        self.stage = Stage(cpus, hogs)
        self.stage.barrier()
        self.tids = list(self.stage.hogs)
        self.on: list[int] = [0] * cpus
        self.state = dict.fromkeys(self.tids, "wait_other")
        self.since = dict.fromkeys(self.tids, 0)
        self.step = dict.fromkeys(self.tids, 0)
        self.inside: dict[int, list[str]] = {tid: [] for tid in self.tids}
        self.truth: list[Span] = []
        self.ops = dict.fromkeys(self.tids, 0)
        self.now = 0

    def enter(self, tid: int, state: str) -> None:
        if self.now > self.since[tid]:
            row = self.tids.index(tid)
            self.truth.append((self.state[tid], row, self.since[tid], self.now))
        self.state[tid], self.since[tid] = state, self.now

    def move(self) -> None:
        cpu = self.dice.randrange(len(self.on))
        self.now += self.dice.choice((1, 2, 50, 3000))
        current = self.on[cpu]
        waiting = [t for t in self.tids if self.state[t] == "runnable"]
        asleep = [t for t in self.tids if self.state[t].startswith("wait")]
        choice = self.dice.random()
        if asleep and choice < 0.3:
            tid = self.dice.choice(asleep)
            self.stage.wake(self.now, cpu, current or KWORKER, tid)
            self.enter(tid, "runnable")
        elif not current and waiting:
            self.swap(cpu, 0, self.dice.choice(waiting), 0)
        elif current and choice < 0.4:
            following = self.dice.choice([*waiting, 0])
            if following:
                self.swap(cpu, current, following, self.dice.choice((0, PREEMPTED)))
        elif current and choice < 0.6:
            self.swap(cpu, current, self.dice.choice([*waiting, 0]), BLOCKED)
        elif current:
            self.call(cpu, current)

    def swap(self, cpu: int, prev: int, following: int, state: int) -> None:
        self.stage.switch(self.now, cpu, prev, following, state)
        if prev:
            causes = [CAUSE[name] for name in self.inside[prev] if name in CAUSE]
            asleep = causes[-1] if causes else "wait_other"
            self.enter(prev, asleep if state == BLOCKED else "runnable")
        if following:
            self.enter(following, "running")
        self.on[cpu] = following

    def call(self, cpu: int, tid: int) -> None:
        name, values = SCRIPT[self.step[tid] % len(SCRIPT)]
        self.step[tid] += 1
        self.stage.add(self.now, cpu, name, tid, *values)
        if name in CAUSE:
            self.inside[tid].append(name)
        elif [n.split("_")[0] + "_ret" for n in self.inside[tid][-1:]] == [name]:
            self.inside[tid].pop()
        if name == "cleanup_ret":
            self.ops[tid] += 1


def world(seed: int, cpus: int, hogs: int, moves: int) -> World:
    made = World(seed, cpus, hogs)
    for _ in range(moves):
        made.move()
    return made


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3), st.integers(1, 5), st.integers(1, 400))
def test_states_are_the_truth_of_the_scheduler(seed: int, cpus: int, hogs: int, moves: int) -> None:
    lesson = load("02-grace-periods").lesson
    made = world(seed, cpus, hogs, moves)
    decoder = Decoder(FILES)
    lane = reducer(lesson, "srcu", decoder)
    for cpu, pages in made.stage.pages():
        lane.feed(cpu, pages)
    outcome = Outcome(lesson)
    outcome.take(lane.finish())
    assert outcome.spans("state") == sorted(made.truth, key=lambda s: (s[1], s[2], s[3]))
    assert len(outcome.tables["ops"]) == sum(made.ops.values())
    check_invariants(outcome)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**6), max_size=12), st.integers(1, 200))
def test_any_cutting_gives_what_the_whole_gives(seed: int, cuts: list[int], step: int) -> None:
    lesson = load("02-grace-periods").lesson
    made = world(seed, 2, 3, 300)
    pages = [buffer.take() for buffer in made.stage.cpus]
    whole_decoder, cut_decoder = Decoder(FILES), Decoder(FILES)
    whole = reducer(lesson, "srcu", whole_decoder)
    piece = reducer(lesson, "srcu", cut_decoder, step_events=step)
    for number, buffer in enumerate(pages):
        whole.feed(number, buffer)
    once, often = Outcome(lesson), Outcome(lesson)
    once.take(whole.finish())
    dice = random.Random(seed)
    rest = [[p[at : at + 4096] for at in range(0, len(p), 4096)] for p in pages]
    marks = iter(sorted(cuts))
    while any(rest):
        cpu = dice.choice([c for c, left in enumerate(rest) if left])
        piece.feed(cpu, rest[cpu].pop(0))
        # complete only up to the earliest page that is still missing
        firsts = [int.from_bytes(left[0][:8], "little") for left in rest if left]
        limit = min(firsts) - 1 if firsts else 1 << 60
        often.take(piece.advance(min(limit, made.stage.base + next(marks, 10**9))))
        assert once.watermark == 0 or often.watermark <= once.watermark or not firsts
    more = True
    while more:
        last = piece.finish()
        often.take(last)
        more = last.more
    assert often.spans("state") == once.spans("state")
    assert often.spans("function") == once.spans("function")
    assert often.tables["ops"] == once.tables["ops"]
    assert piece.metrics(0).wait_ns == whole.metrics(0).wait_ns


def check_invariants(outcome: Outcome) -> None:
    """States of a row are without gap and overlap; every SRCU wait lies in its call."""
    spans = outcome.spans("state") + outcome.spans("state", "open")
    for _, group in itertools.groupby(sorted(spans, key=lambda s: (s[1], s[2])), lambda s: s[1]):
        row = list(group)
        assert row[0][2] == 0
        assert row[-1][3] == outcome.watermark
        for one, following in itertools.pairwise(row):
            assert one[3] == following[2]
    calls = outcome.spans("function") + outcome.spans("function", "open")
    for kind, number, begin, end in spans:
        if kind == "wait_srcu":
            assert any(
                c[0] == "srcu_call" and c[1] == number and c[2] <= begin and end <= c[3]
                for c in calls
            )


@pytest.mark.parametrize("arm", ["rwsem", "srcu", "srcu-expedited"])
def test_every_arm_of_the_lesson_compiles(arm: str, lesson02: LessonFolder) -> None:
    made = world(1, 2, 3, 200)
    decoder = Decoder(FILES)
    lane = reducer(lesson02.lesson, arm, decoder)
    for cpu, pages in made.stage.pages():
        lane.feed(cpu, pages)
    assert lane.finish().batches
