# SPDX-License-Identifier: GPL-2.0-or-later
"""Points: events kept with their fields, in order, from the start marker to the watermark."""

from __future__ import annotations

import re

import numpy as np
import pytest

from duet.base.errors import KernelError
from duet.decode import Decoder
from duet.lessons.schema import Point
from duet.session.program import PRINT_EVENT, Act, PointRule, Program, point_rules
from duet.session.reduce import LaneReducer
from duet.session.tables import Columns
from tests.support import ring
from tests.support.ring import CpuBuffer

VISIT = Point(name="visit", probe="visit", title="a visit", fields=("memcg", "ret"))
CLEAR = Point(name="clear", probe="clear", title="a clear")
RULES = point_rules((VISIT, CLEAR), {"visit": "vmscan/visit", "clear": "vmscan/clear"})
EVENTS = {
    "visit": ring.Event("vmscan/visit", 1300, (("long", "memcg"), ("long", "ret"))),
    "clear": ring.Event("vmscan/clear", 1301, (("long", "memcg"),)),
}
START_NS = 1000
Happening = tuple[int, int, str, tuple[int, ...]]
"""Time since the start marker, CPU, event, fields."""


def lane(rules: tuple[PointRule, ...] = RULES) -> LaneReducer:
    program = Program(
        kinds=(), codes={PRINT_EVENT: 0}, args=((),), acts=(((Act.MARKER, 0),),),
        groups=(), tracks=(), links=(), points=rules, comm="*", rows=re.compile("x"),
        other=None, start_marker="go", running=-1, runnable=-1, wait_other=-1,
    )  # fmt: skip
    return LaneReducer(program, Decoder(ring.files(ring.PRINT, *EVENTS.values())))


def feed(to: LaneReducer, *happenings: Happening) -> None:
    """Feed events in order of time, and the start marker on CPU 0."""
    cpus = [CpuBuffer(), CpuBuffer()]
    marker = START_NS, 0, ring.PRINT.pack(1, 0, "go\n")
    records = [
        (START_NS + ts, cpu, EVENTS[name].pack(40 + cpu, *values))
        for ts, cpu, name, values in happenings
    ]
    for ts, cpu, record in sorted([marker, *records], key=lambda one: one[0]):
        cpus[cpu].add(ts, record)
    for cpu, buffer in enumerate(cpus):
        to.feed(cpu, buffer.take())


def points(of: LaneReducer, watermark_ns: int) -> Columns:
    batches = of.advance(START_NS + watermark_ns).batches
    return next((batch.columns for batch in batches if batch.table == "points"), {})


def test_points_come_in_order_with_their_fields() -> None:
    mine = lane()
    feed(mine, (5, 1, "visit", (7, -2)), (30, 1, "visit", (8, 3)), (5, 0, "clear", (9,)),
         (20, 0, "clear", (9,)))  # fmt: skip
    columns = points(mine, 200)
    assert columns["t_ns"].tolist() == [5, 5, 20, 30]
    assert columns["kind"].tolist() == [1, 0, 1, 0]
    assert columns["cpu"].tolist() == [0, 1, 0, 1]
    assert columns["tid"].tolist() == [40, 41, 40, 41]
    assert columns["a"].tolist() == [0, 7, 0, 8]
    assert columns["b"].tolist() == [0, -2, 0, 3]
    assert columns["id"].tolist() == [1, 2, 3, 4]


def test_points_beyond_the_watermark_wait_and_those_before_the_marker_go() -> None:
    mine = lane()
    feed(mine, *((ts, 0, "clear", (0,)) for ts in (-10, 0, 50, 200)))
    assert points(mine, 100)["t_ns"].tolist() == [0, 50]
    assert points(mine, 150) == {}
    columns = points(mine, 200)
    assert columns["t_ns"].tolist() == [200]
    assert columns["id"].tolist() == [3]


def test_a_point_of_a_probe_that_the_arm_lacks_never_comes() -> None:
    mine = lane(point_rules((VISIT, CLEAR), {"clear": "vmscan/clear"}))
    feed(mine, (1, 0, "visit", (1, 0)))
    assert points(mine, 200) == {}


def test_a_field_that_the_event_lacks_is_reported_with_those_it_has() -> None:
    rules = point_rules((VISIT,), {"visit": "vmscan/clear"})
    with pytest.raises(KernelError, match="vmscan/clear has no field 'ret'") as reported:
        lane(rules)
    assert reported.value.remedy == "Choose from: memcg."


@pytest.mark.parametrize("step", [1, 3, 50])
def test_points_given_out_in_steps_are_the_same_as_at_once(step: int) -> None:
    times = np.random.default_rng(5).integers(0, 100, 200).tolist()
    happenings = [(ts, n % 2, "clear", (n,)) for n, ts in enumerate(sorted(times))]
    whole, stepped = lane(), lane()
    feed(whole, *happenings)
    feed(stepped, *happenings)
    at_once = points(whole, 100)
    given = [found for mark in range(0, 101 + step, step) if (found := points(stepped, mark))]
    for name, column in at_once.items():
        assert np.concatenate([one[name] for one in given]).tolist() == column.tolist()
