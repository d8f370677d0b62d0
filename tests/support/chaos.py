# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: random events, in order of time on each CPU."""

from __future__ import annotations

import random

from tests.support.stage import EVENTS, SYMBOLS, Stage

TIDS = (100, 101, 102, 103, 98, 99, 0, 900, 901)
NAMES = ("storm-0", "storm-1", "storm-12", "storm", "storm-reclaim", "storm-x", "kw")
VALUES = (0, 1, 2, 3, 7, *SYMBOLS.values(), 0xFFFF_FFFF_FFFF_FFFF)


class Chaos(Stage):
    """A stage with random events on two CPUs."""

    def __init__(self, seed: int, events: int) -> None:
        super().__init__(cpus=2)
        self.dice = random.Random(seed)
        self.names = {tid: self.dice.choice(NAMES) for tid in TIDS}
        self.now = [0, 0]
        self.stage = 0
        for _ in range(events):
            self.happens(self.dice.randrange(2))

    def name(self, tid: int) -> str:
        if tid not in self.names or self.dice.random() < 0.02:
            self.names[tid] = self.dice.choice(NAMES)
        return self.names[tid]

    def someone(self) -> int:
        """Return a random thread: often one of two, sometimes a new one."""
        return self.dice.choice((100, 100, 100, 101, 101, 200 + self.count // 20, *TIDS))

    def happens(self, cpu: int) -> None:
        dice = self.dice
        self.now[cpu] += dice.choice((0, 0, 1, 3, 40))
        at, tid = self.now[cpu], self.someone()
        what = dice.choice(("wake", "start", "loss", *["switch"] * 6, *["srcu_gp"] * 5, *EVENTS))
        if what == "switch":
            state = dice.choice((0, 1, 2, 0x20, 0x100))
            self.switch(at, cpu, tid, self.someone(), state)
        elif what in ("wake", "waking"):
            self.wake(at, cpu, tid, self.someone())
        elif what == "start":
            if dice.random() < 0.2:
                self.start(at, cpu)
        elif what == "loss":
            if dice.random() < 0.3:
                self.cpus[cpu].lose(dice.randrange(3))
        elif what == "exp_gp":
            self.exp(at, cpu, tid, dice.choice(("start", "end")))
        elif what == "srcu_gp":
            self.stage = dice.choice(((self.stage + 1) % 7, dice.randrange(7)))
            self.gp(at, cpu, tid, self.stage)
        elif what != "print":
            hidden = [name for _, name in EVENTS[what].fields if not name.startswith("__probe")]
            values = [dice.choice(VALUES) & (1 if n == "do_norm" else -1) for n in hidden]
            self.add(at, cpu, what, tid, *values)
