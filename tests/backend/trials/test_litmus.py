# SPDX-License-Identifier: GPL-2.0-or-later
"""Litmus tests of challenges: what Documentation/memory-barriers.txt allows and forbids."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from duet.lessons import load as lessons
from duet.lessons.schema.challenges import Litmus
from duet.trials.challenge import swapped, witness

BUFFERED = {"a": ["x = 1", "smp_mb()", "p = y"], "b": ["y = 1", "smp_mb()", "q = x"]}
PASSED = {
    "writer": ["data = 1", "smp_wmb()", "flag = 1"],
    "reader": ["f = flag", "smp_rmb()", "d = data"],
}
TWICE = {"a": ["x = 1", "x = 2"], "b": ["p = x", "q = x"]}


def litmus(program: dict[str, list[str]], never: dict[str, int], **starts: int) -> Litmus:
    return Litmus(
        says="s",
        source="w",
        starts=starts,
        program={cpu: tuple(lines) for cpu, lines in program.items()},
        never=never,
    )


@pytest.mark.parametrize(
    ("program", "never", "starts", "without", "possible"),
    [
        # "CPU MEMORY BARRIERS", (4): store, then load, needs a general barrier on both sides.
        (BUFFERED, {"p": 0, "q": 0}, {"x": 0, "y": 0}, (), False),
        (BUFFERED, {"p": 0, "q": 0}, {"x": 0, "y": 0}, ("smp_mb()",), True),
        (BUFFERED, {"p": 1, "q": 1}, {"x": 0, "y": 0}, (), True),
        # "SMP BARRIER PAIRING": each half of the pair is needed.
        (PASSED, {"f": 1, "d": 0}, {"data": 0, "flag": 0}, (), False),
        (PASSED, {"f": 1, "d": 0}, {"data": 0, "flag": 0}, ("smp_wmb()",), True),
        (PASSED, {"f": 1, "d": 0}, {"data": 0, "flag": 0}, ("smp_rmb()",), True),
        # "GUARANTEES": accesses of one CPU to one variable stay in order.
        (TWICE, {"x": 1}, {"x": 0}, (), False),
        (TWICE, {"p": 2, "q": 1}, {"x": 0}, (), False),
        (TWICE, {"p": 1, "q": 2}, {"x": 0}, (), True),
    ],
)
def test_what_may_come_of_it(
    program: dict[str, list[str]],
    never: dict[str, int],
    starts: dict[str, int],
    without: tuple[str, ...],
    possible: bool,
) -> None:
    assert (witness(litmus(program, never, **starts), without) is not None) is possible


def test_the_barrier_of_lesson_01_is_needed_and_enough() -> None:
    order = lessons.load("01-shrinker-bitmaps").lesson.challenges["no-barrier"].order
    assert order is not None and len(order.barriers) == 2
    assert witness(order, ()) is None
    steps = witness(order, ("smp_mb__after_atomic()",))
    assert steps is not None
    pair = swapped(order, steps)
    assert pair is not None
    assert [str(one.access) for one in pair] == ["seen = list", "bit = 0"]
    assert witness(order, ("smp_mb__before_atomic()",)) is not None, "the adder's half"
    alone = order.model_copy(update={"program": {**order.program, "walk": ("bit = 0",)}})
    alone = Litmus.model_validate({**alone.model_dump(), "never": {"list": 1, "bit": 0}})
    assert witness(alone, ()) is not None, "without the second check the barrier is no help"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"program": {"a": ("x == 1",), "b": ("x = 1",)}}, "is not a statement"),
        ({"program": {"a": ("y = 1",), "b": ("x = 1",)}}, "has no initial value"),
        ({"program": {"a": ("x = 1",) * 4, "b": ("x = 1",) * 4}}, "too many"),
        ({"never": {"z": 1}}, "no access in the program names z"),
    ],
)
def test_what_cannot_be_played_is_refused(changed: dict[str, object], said: str) -> None:
    fields: dict[str, object] = {
        "says": "s",
        "source": "w",
        "starts": {"x": 0},
        "program": {"a": ("x = 1",), "b": ("s = x",)},
        "never": {"s": 1},
    }
    Litmus.model_validate(fields)
    with pytest.raises(ValidationError, match=said):
        Litmus.model_validate(fields | changed)
