# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: a lane of lesson 02 played by hand, as pages that the kernel could write."""

from __future__ import annotations

from duet.decode import Decoder
from duet.lessons.schema import Lesson
from duet.session.program import compile_program
from duet.session.reduce import LaneReducer, Reduction
from duet.session.tables import TABLES
from tests.support import ring
from tests.support.ring import EXP_GP, PRINT, SRCU_GP, STRINGS, SWITCH, WAKING, CpuBuffer

SYMBOLS = {
    "shrinker_rwsem": 0xFFFFFFFF81111000,
    "namespace_sem": 0xFFFFFFFF81112000,
    "shrinker_srcu": 0xFFFFFFFF81113000,
}
EVENTS = {
    "switch": SWITCH,
    "waking": WAKING,
    "print": PRINT,
    "exp_gp": EXP_GP,
    "srcu_gp": SRCU_GP,
    "sys_mount": ring.probe("sys_mount", 1001),
    "sys_umount": ring.probe("sys_umount", 1002),
    "cleanup_ret": ring.ret_probe("cleanup_ret", 1003),
    "unregister": ring.probe("unregister", 1004),
    "unregister_ret": ring.ret_probe("unregister_ret", 1005),
    "lock": ring.probe("lock", 1006, ("u64", "sem")),
    "lock_ret": ring.ret_probe("lock_ret", 1007),
    "exp_call": ring.probe("exp_call", 1008),
    "exp_ret": ring.ret_probe("exp_ret", 1009),
    "shrink": ring.probe("shrink", 1010),
    "shrink_ret": ring.ret_probe("shrink_ret", 1011),
    "srcu_call": ring.probe("srcu_call", 1012, ("u64", "ssp"), ("u8", "do_norm")),
    "srcu_ret": ring.ret_probe("srcu_ret", 1013),
}
FILES = ring.files(*EVENTS.values())
BLOCKED, PREEMPTED, RUNNABLE, ZOMBIE = 2, 0x100, 0, 0x20
KWORKER = 900
Span = tuple[str, int, float, float]
"""kind, row, begin, end"""


class Stage:
    """Events of one lane. Times are in ns after `start`, once `start` was called."""

    def __init__(self, cpus: int = 2, hogs: int = 2) -> None:
        self.cpus = [CpuBuffer() for _ in range(cpus)]
        self.hogs = {100 + n: f"storm-{n}" for n in range(hogs)}
        self.base = 1_000_000_000
        self.count = 0

    def name(self, tid: int) -> str:
        return self.hogs.get(tid) or {0: "swapper", 99: "storm", 98: "storm-reclaim"}.get(tid, "kw")

    def add(self, ts: int, cpu: int, event: str, pid: int, *values: int | str) -> None:
        fields = EVENTS[event].fields
        hidden = sum(name.startswith("__probe") for _, name in fields)
        record = EVENTS[event].pack(pid, *([0xFFFFFFFF81000000] * hidden), *values)
        self.cpus[cpu].add(self.base + ts, record)
        self.count += 1

    def switch(self, ts: int, cpu: int, prev: int, following: int, state: int = RUNNABLE) -> None:
        names = self.name(prev), self.name(following)
        self.add(ts, cpu, "switch", prev, names[0], prev, 120, state, names[1], following, 120)

    def wake(self, ts: int, cpu: int, waker: int, target: int) -> None:
        self.add(ts, cpu, "waking", waker, self.name(target), target, 120, cpu)

    def gp(self, ts: int, cpu: int, tid: int, stage: int) -> None:
        self.add(ts, cpu, "srcu_gp", tid, SYMBOLS["shrinker_srcu"], 4, stage, 0)

    def exp(self, ts: int, cpu: int, tid: int, word: str) -> None:
        self.add(ts, cpu, "exp_gp", tid, STRINGS["rcu_preempt"], 8, STRINGS[word])

    def start(self, ts: int = 0, cpu: int = 0) -> None:
        self.add(ts, cpu, "print", 99, 0, "storm: start\n")

    def barrier(self) -> None:
        """All hogs have a name and sleep; then time begins."""
        for number, tid in enumerate(self.hogs):
            cpu = number % len(self.cpus)
            at = -1000 + 10 * number
            self.switch(at, cpu, 0, tid)
            self.switch(at + 5, cpu, tid, 0, 1)
        self.start()

    def pages(self) -> list[tuple[int, bytes]]:
        """Return and remove the pages of each CPU."""
        return [(cpu, buffer.take()) for cpu, buffer in enumerate(self.cpus)]


def reducer(
    lesson: Lesson, arm: str, decoder: Decoder, hogs: int = 0, step_events: int = 10**6
) -> LaneReducer:
    workload = lesson.workloads["storm"]
    program = compile_program(lesson, arm, workload, SYMBOLS, decoder.string_id)
    return LaneReducer(program, decoder, hogs, step_events)


class Outcome:
    """All tables of a lane, joined."""

    def __init__(self, lesson: Lesson) -> None:
        self.kinds = [kind.name for kind in lesson.kinds]
        self.layers = {kind.name: kind.layer for kind in lesson.kinds}
        self.tables: dict[str, list[dict[str, float]]] = {name: [] for name in TABLES}
        self.losses: list[tuple[float, float, int | None]] = []
        self.watermark = 0.0

    def take(self, reduction: Reduction) -> None:
        for batch in reduction.batches:
            columns = {name: column.tolist() for name, column in batch.columns.items()}
            assert list(columns) == list(TABLES[batch.table])
            rows = [
                dict(zip(columns, cells, strict=True))
                for cells in zip(*columns.values(), strict=True)
            ]
            if batch.table == "open":
                self.tables["open"] = rows
            else:
                self.tables[batch.table] += rows
            self.watermark = max(self.watermark, batch.watermark_ns)
        self.losses += [(loss.t0_ns, loss.t1_ns, loss.events) for loss in reduction.losses]

    def spans(self, layer: str | None = None, table: str = "spans") -> list[Span]:
        found = [
            (self.kinds[int(r["kind"])], int(r["row"]), r["t0_ns"], r["t1_ns"])
            for r in self.tables[table]
        ]
        return sorted(
            (s for s in found if layer is None or self.layers[s[0]] == layer),
            key=lambda s: (s[1], s[2], s[3]),
        )


def play(
    stage: Stage, lesson: Lesson, arm: str = "srcu", hogs: int = 0
) -> tuple[Outcome, LaneReducer]:
    """Decode and reduce a whole stage at once."""
    decoder = Decoder(FILES)
    lane = reducer(lesson, arm, decoder, hogs)
    for cpu, pages in stage.pages():
        lane.feed(cpu, pages)
    outcome = Outcome(lesson)
    outcome.take(lane.finish())
    return outcome, lane
