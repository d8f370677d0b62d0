# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread of the workload: what it does now, and which functions it is inside of. Pure."""

from __future__ import annotations

from duet.session.program import SpanRule

UNKNOWN = -1
"""A state that nobody knows: before the first event, or after a loss."""
GONE = -2
"""The thread has ended."""
EXIT_STATES = 0x30
"""EXIT_DEAD | EXIT_ZOMBIE as sched_switch reports them (include/linux/sched.h, 6.1)."""
SLEEP_STATES = 0xFF
"""Any of these bits: off the run queue. 0 is runnable, 0x100 is preempted (TASK_REPORT_MAX)."""

Call = tuple[int, int, SpanRule | None, float, int]
"""An open function: group, entry time, the rule that held, arg, span number."""


class Thread:
    """Mutable state of one thread; the reducer's own."""

    __slots__ = (
        "calls",
        "certain",
        "cpu",
        "name",
        "op_t0",
        "row",
        "since",
        "span",
        "state",
        "tid",
        "waited",
        "woken",
    )

    def __init__(self, tid: int, name: str) -> None:
        self.tid = tid
        self.name = name
        self.row = -1
        self.state = UNKNOWN
        self.since = 0
        self.cpu = -1
        self.span = 0
        self.woken = False
        """A wake came while it was still on its CPU, on the way to sleep."""
        self.certain = True
        """False after a loss, until the next operation: its open functions are unknown."""
        self.calls: list[Call] = []
        self.op_t0 = -1
        self.waited = 0

    def cause(self, wait_other: int) -> int:
        """The state that a sleep is in now: by the innermost open function that says so."""
        for call in reversed(self.calls):
            rule = call[2]
            if rule is not None and rule.wait >= 0:
                return rule.wait
        return wait_other if self.certain or self.calls else UNKNOWN

    def forget(self) -> None:
        """Events were lost: nothing about it is known now."""
        if self.state != GONE:
            self.state = UNKNOWN
        self.calls.clear()
        self.certain = False
        self.woken = False
        self.op_t0 = -1
