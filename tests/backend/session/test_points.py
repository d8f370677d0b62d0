# SPDX-License-Identifier: GPL-2.0-or-later
"""Points: events kept with their fields, in order, from the start marker to the watermark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from duet.base.errors import KernelError
from duet.decode.decoder import CpuColumns, Table
from duet.lessons.schema import Point
from duet.session.program import PointSorter, point_rules

VISIT = Point(name="visit", probe="visit", title="a visit", fields=("memcg", "ret"))
CLEAR = Point(name="clear", probe="clear", title="a clear")
RULES = point_rules((VISIT, CLEAR), {"visit": "vmscan/visit", "clear": "vmscan/clear"})


def cpu(number: int, **tables: Mapping[str, list[int]]) -> CpuColumns:
    """Events of one CPU; `ts` and `seq` beside the fields."""
    made = {
        f"vmscan/{name}": Table(
            np.array(cells["ts"], np.int64),
            np.array(cells["seq"], np.int64),
            np.full(len(cells["ts"]), 40 + number, np.int32),
            {k: np.array(v, np.int64) for k, v in cells.items() if k not in ("ts", "seq")},
        )
        for name, cells in tables.items()
    }
    return CpuColumns(number, made, (), sum(len(t) for t in made.values()))


def test_points_come_in_order_with_their_fields() -> None:
    sorter = PointSorter(RULES)
    sorter.add(cpu(1, visit={"ts": [105, 130], "seq": [1, 2], "memcg": [7, 8], "ret": [-2, 3]}))
    sorter.add(cpu(0, clear={"ts": [105, 120], "seq": [9, 10]}))
    columns, n = sorter.take_points(100, 200)
    assert n == 4
    assert columns["t_ns"].tolist() == [5, 5, 20, 30]
    assert columns["kind"].tolist() == [1, 0, 1, 0]
    assert columns["cpu"].tolist() == [0, 1, 0, 1]
    assert columns["a"].tolist() == [0, 7, 0, 8]
    assert columns["b"].tolist() == [0, -2, 0, 3]
    assert columns["id"].tolist() == [1, 2, 3, 4]


def test_points_beyond_the_watermark_wait_and_those_before_the_marker_go() -> None:
    sorter = PointSorter(RULES)
    sorter.add(cpu(0, clear={"ts": [90, 100, 150, 300], "seq": [1, 2, 3, 4]}))
    assert sorter.take_points(100, 200)[0]["t_ns"].tolist() == [0, 50]
    assert sorter.take_points(100, 250) == ({}, 0)
    columns, _ = sorter.take_points(100, 300)
    assert columns["t_ns"].tolist() == [200]
    assert columns["id"].tolist() == [3]


def test_a_point_of_a_probe_that_the_arm_lacks_never_comes() -> None:
    sorter = PointSorter(point_rules((VISIT, CLEAR), {"clear": "vmscan/clear"}))
    sorter.add(cpu(0, visit={"ts": [100], "seq": [1], "memcg": [1], "ret": [0]}))
    assert sorter.take_points(0, 200) == ({}, 0)


def test_a_field_that_the_event_lacks_is_reported_with_those_it_has() -> None:
    sorter = PointSorter(RULES)
    with pytest.raises(KernelError, match="vmscan/visit has no field 'ret'") as reported:
        sorter.add(cpu(0, visit={"ts": [1], "seq": [1], "memcg": [1]}))
    assert reported.value.remedy == "Choose from: memcg."


@pytest.mark.parametrize("step", [1, 3, 50])
def test_points_given_out_in_steps_are_the_same_as_at_once(step: int) -> None:
    times = np.random.default_rng(5).integers(0, 100, 200)
    parts = [
        cpu(n, clear={"ts": sorted(times[n::2].tolist()), "seq": list(range(100))}) for n in (0, 1)
    ]
    whole, stepped = PointSorter(RULES), PointSorter(RULES)
    for part in parts:
        whole.add(part)
        stepped.add(part)
    at_once = whole.take_points(0, 100)[0]["t_ns"]
    given = [stepped.take_points(0, mark) for mark in range(0, 101 + step, step)]
    assert np.concatenate([c["t_ns"] for c, n in given if n]).tolist() == at_once.tolist()
