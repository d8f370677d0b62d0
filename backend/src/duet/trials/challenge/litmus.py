# SPDX-License-Identifier: GPL-2.0-or-later
"""What two or three CPUs can make of a few accesses to memory, with and without a barrier. Pure.

An x86 guest cannot show what a missing barrier costs, so this is a model, and what it finds is
*modelled*. Two accesses of one CPU keep their order where they are to one variable or a barrier
stands between them, and may change places otherwise (Documentation/memory-barriers.txt,
"GUARANTEES"). All CPUs see one memory; any barrier orders all; dependencies do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from duet.lessons.schema.litmus import Barrier, Litmus, Read, Statement, Write

State = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Step:
    """One access, by the CPU that makes it."""

    cpu: str
    access: Read | Write

    def __str__(self) -> str:
        return f"{self.cpu}: {self.access}"


def witness(litmus: Litmus, without: Sequence[str]) -> tuple[Step, ...] | None:
    """An order of all accesses that ends in what must never be; None: no order does.

    Args:
        without: names of barriers that are gone, such as `smp_mb()`.
    """
    queues = [
        [(step, _before(i, statements, without)) for i, step in _steps(cpu, statements)]
        for cpu, statements in litmus.cpus.items()
    ]
    for order in _orders(queues, ()):
        if _ends(litmus, order):
            return order
    return None


def swapped(litmus: Litmus, order: Sequence[Step]) -> tuple[Step, Step] | None:
    """Two accesses of one CPU that change places in an order: (what came first, what was first)."""
    for cpu, statements in litmus.cpus.items():
        written = [step.access for _, step in _steps(cpu, statements)]
        came = [step for step in order if step.cpu == cpu]
        for one, then in pairwise(came):
            if written.index(one.access) > written.index(then.access):
                return one, then
    return None


def _steps(cpu: str, statements: Sequence[Statement]) -> Iterator[tuple[int, Step]]:
    for i, one in enumerate(statements):
        if not isinstance(one, Barrier):
            yield i, Step(cpu, one)


def _before(i: int, statements: Sequence[Statement], without: Sequence[str]) -> frozenset[int]:
    """Places of the accesses that must be over before that at place `i` is made."""
    mine = statements[i]
    ordered: set[int] = set()
    barrier = False
    for k in range(i - 1, -1, -1):
        one = statements[k]
        if isinstance(one, Barrier):
            barrier = barrier or str(one) not in without
        elif barrier or (not isinstance(mine, Barrier) and one.variable == mine.variable):
            ordered.add(k)
    return frozenset(ordered)


def _orders(
    queues: list[list[tuple[Step, frozenset[int]]]], done: tuple[Step, ...]
) -> Iterator[tuple[Step, ...]]:
    """All orders of all accesses that the rules allow."""
    if not any(queues):
        yield done
    for number, queue in enumerate(queues):
        waiting = {step.access.place for step, _ in queue}
        for k, (step, before) in enumerate(queue):
            if not before & waiting:
                rest = [*queues[:number], queue[:k] + queue[k + 1 :], *queues[number + 1 :]]
                yield from _orders(rest, (*done, step))


def _ends(litmus: Litmus, order: Sequence[Step]) -> bool:
    state = dict(litmus.starts)
    for step in order:
        one = step.access
        if isinstance(one, Write):
            state[one.variable] = one.value
        else:
            state[one.into] = state[one.variable]
    return all(state.get(name) == value for name, value in litmus.never.items())
