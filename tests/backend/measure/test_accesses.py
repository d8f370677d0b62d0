# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of the microscope as metrics: which cells one is of, per operation or of a run, and what
is refused; and the runs that a measurement makes for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from duet.base.errors import DuetError, InputError
from duet.lenses.scope.wire import CELL, Cells
from duet.lessons.load import LessonFolder, load
from duet.lessons.schema import Claim, Lesson
from duet.lessons.schema.workload import AccessCount
from duet.measure import Kind, MeasurePlan, Step
from duet.measure.claims import broken, plan_of_claim
from duet.measure.plan import conditions, metrics_of, steps
from duet.measure.run import Collector
from duet.measure.values import access_value
from duet.session import LaneResult, MicroscopeRequest, ScopeResult
from tests.backend.measure.test_collect import lane

OBJECT = 0xFFFF_8880_0123_4540
"""Begins a line; its field at 60 lies on two."""
COUNTER = 0xFFFF_FFFF_8200_0028
FIELDS = ((0, "flags"), (8, "name"), (60, "count"), (68, "rest"))
REQUEST = MicroscopeRequest(
    ("get", "put", "look"), "look", load("05-cacheline-pingpong").lesson.microscope
)
ROWS = [  # address, function, inside, sizes, cpus, reads, writes, rmws
    (OBJECT, 2, 1, 4, 1, 30, 0, 0),
    (OBJECT + 8, 2, 1, 8, 1, 20, 0, 0),
    (OBJECT + 60, 0, 1, 8, 1, 10, 0, 10),
    (OBJECT + 64, 0, 1, 8, 1, 10, 0, 10),
    (OBJECT + 60, 1, 0, 8, 1, 0, 7, 0),
    (OBJECT + 128, 2, 1, 8, 1, 5, 0, 0),
    (COUNTER - 8, 1, 1, 8, 1, 3, 0, 0),
    (COUNTER, 0, 1, 8, 3, 0, 0, 40),
    (COUNTER, 1, 0, 8, 3, 0, 2, 0),
]


def scope(touching: int = 10, **counts: int) -> ScopeResult:
    cells = np.array(ROWS, CELL)
    given = {"begun": 12, "ended": 11, "slept": 0, "left": 0, "again": 0} | counts
    order = (
        [given[name] for name in ("begun", "ended")],
        [given[n] for n in ("slept", "left", "again")],
    )
    found = Cells(0, 0, 0, 0, 147, 0, *order[0], touching, *order[1], True, True, cells, cells[:0])
    return ScopeResult(found, {}, (OBJECT, 192), FIELDS)


def value(
    seen: ScopeResult | None = None, request: MicroscopeRequest = REQUEST, **count: Any
) -> float:
    places = ((COUNTER, COUNTER + 8),) if count.get("variable") == "nr_files" else None
    return access_value(AccessCount.model_validate(count), seen or scope(), request, places)


def test_a_count_is_of_a_line_or_of_the_bytes_alone() -> None:
    # Both lines of the field, inside operations, over those that touched the object.
    assert value(field="count", count="reads") == 7
    assert value(field="count", count="reads", line=False) == 2
    assert value(field="count", count="rmws") == 2
    assert value(field="flags", count="reads", by=("look",), line=False) == 3
    assert value(field="count", by=("put",)) == 0
    assert value(field="count", by=("put",), per="run", count="writes") == 7
    assert value(count="accesses", per="run") == 147


def test_shared_lines_are_the_kernels_own_that_two_cpus_touch_and_one_writes() -> None:
    rows = [
        (COUNTER, 0, 1, 8, 3, 20, 0, 40),  # both CPUs, by one function
        (COUNTER + 8, 2, 1, 8, 1, 30, 0, 0),  # a neighbour on that line
        (OBJECT, 0, 1, 8, 1, 50, 10, 0),  # two CPUs, by two functions
        (OBJECT + 32, 1, 1, 8, 2, 70, 0, 0),
        (OBJECT + 64, 2, 1, 8, 3, 900, 0, 0),  # nobody writes
        (OBJECT + 128, 2, 1, 8, 1, 900, 900, 0),  # one CPU
        (0xFFFF_C900_0000_1000, 2, 1, 8, 3, 900, 900, 0),  # a stack
        (0x7F00_0000_0000, 2, 1, 8, 3, 900, 900, 0),  # user memory
        (OBJECT, 0, 0, 8, 3, 900, 900, 0),  # outside of operations
    ]
    seen = scope()
    seen = replace(seen, cells=replace(seen.cells, cells=np.array(rows, CELL)))
    assert value(seen, shared=True, count="reads") == 17
    assert value(seen, shared=True, count="writes") == 1
    assert value(seen, shared=True, count="rmws") == 4
    assert value(seen, shared=True, count="reads", by=("look",)) == 3
    with pytest.raises(ValidationError, match="names field and shared"):
        AccessCount(field="count", shared=True)


def test_a_variable_has_the_line_that_it_lies_on() -> None:
    assert value(variable="nr_files", count="reads") == 0.3
    assert value(variable="nr_files", count="reads", line=False) == 0
    assert value(variable="nr_files", count="rmws") == 4
    # Without an object an operation is one that ended.
    free = replace(REQUEST, aim=None)
    assert value(request=free, variable="nr_files", count="rmws") == pytest.approx(40 / 11)
    with pytest.raises(InputError, match="wanted the address of 'jiffies'"):
        value(variable="jiffies")
    with pytest.raises(InputError, match="no field 'nothing'"):
        value(field="nothing")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (scope(0, ended=0, left=12), "none of 12 calls of look.. was seen to return: 12 left by"),
        (scope(0, begun=0, ended=0), "look.. was not called"),
        (scope(0), "none of 11 calls of look.. touched the watched object"),
    ],
)
def test_without_a_whole_operation_there_is_no_value(seen: ScopeResult, why: str) -> None:
    with pytest.raises(DuetError, match=f"there are no figures per operation: {why}"):
        value(seen, field="count")
    assert value(seen, field="count", count="writes", per="run") == 7


@pytest.fixture
def lesson05() -> LessonFolder:
    return load("05-cacheline-pingpong")


def claims(folder: LessonFolder) -> list[Claim]:
    """Of what the microscope counts, on the arms that every build makes."""
    metrics, usual = folder.lesson.metrics, folder.usual_arms
    counted = [claim for claim in folder.lesson.claims if metrics[claim.metric].microscope]
    return [claim for claim in counted if claim.arm in usual]


def plan_for(folder: LessonFolder, **more: Any) -> MeasurePlan:
    return replace(plan_of_claim(folder, claims(folder)[0]), arms=("stock", "moved"), **more)


def test_a_count_takes_one_run_of_each_arm_under_the_microscope(lesson05: LessonFolder) -> None:
    found = steps(plan_for(lesson05, repeats=5))
    assert [(s.arm, s.kind) for s in found] == [("stock", Kind.WATCHED), ("moved", Kind.WATCHED)]
    every = steps(plan_for(lesson05, repeats=5, metrics=None))
    assert [s.kind for s in every] == [Kind.EVIDENCE] * 10 + [Kind.WATCHED] * 2
    # It is watched in its own workloads, and on the wall clock, where its object can be found.
    for other in ({"workload": "exact"}, {"clock": "count"}):
        assert not metrics_of(plan_for(lesson05, **other), "stock", ("microscope",))


def table_of(folder: LessonFolder, reads: dict[str, LaneResult]) -> Collector:
    plan = plan_for(folder, metrics=frozenset(claim.metric for claim in claims(folder)))
    made = Collector(plan, conditions(plan)[0], {})
    for arm, result in reads.items():
        made.add(Step(0, arm, Kind.WATCHED), result)
    made.compare()
    return made


def seen_by(reads: int, rmws: int) -> ScopeResult:
    address = 0xFFFF_8880_0123_4540
    row = [(address + 88, 3, 1, 8, 3, reads, 0, rmws)]
    cells = np.array(row, CELL)
    counts = Cells(0, 0, 0, 0, reads + rmws, 0, 10, 10, 10, 0, 0, 0, True, True, cells, cells[:0])
    return ScopeResult(
        counts, {}, (address, 192), ((0, "d_flags"), (88, "d_lockref"), (96, "d_op"))
    )


def test_a_claim_on_a_count_holds_or_is_broken(lesson05: LessonFolder) -> None:
    good = {"stock": seen_by(40, 20), "moved": seen_by(20, 20)}
    made = table_of(lesson05, {arm: lane(arm, scope=seen) for arm, seen in good.items()})
    assert [broken(claim, made.table) for claim in claims(lesson05)] == [None, None]
    series = made.table.of("lock_line_reads", "stock")
    assert series is not None and (series.samples, series.evidence) == ([4], "counted")
    bad = good | {"moved": seen_by(40, 20), "stock": seen_by(40, 30)}
    made = table_of(lesson05, {arm: lane(arm, scope=seen) for arm, seen in bad.items()})
    troubles = [str(broken(claim, made.table)) for claim in claims(lesson05)]
    assert "is 3, but at most 2.5 is claimed" in troubles[0]
    assert "but at most 0.55 is claimed" in troubles[1]


def test_a_run_that_was_not_watched_says_why(lesson05: LessonFolder) -> None:
    fault = "the microscope watches nothing: the x-ray has not found the object in time."
    made = table_of(lesson05, {"stock": lane("stock", scope_fault=fault)})
    series = made.table.of("lock_line_rmws", "stock")
    assert series is not None and series.refused == fault.rstrip(".")
    trouble = broken(claims(lesson05)[0], made.table)
    assert trouble is not None and "is refused: the microscope watches nothing" in trouble


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"microscope": None}, "the lesson has no microscope"),
        ({"probe": None}, "lacks probe"),
        ({"probe": None, "object": "", "ready": "", "go": ""}, "no object is watched"),
        ({"until": "fput"}, "no function is called 'fput'"),
    ],
)
def test_a_lesson_says_what_its_microscope_lacks(
    change: dict[str, Any], why: str, lesson05: LessonFolder
) -> None:
    tree = lesson05.lesson.model_dump()
    tree["microscope"] = change.get("microscope", {**tree["microscope"], **change})
    with pytest.raises(ValidationError, match=why):
        Lesson.model_validate(tree)


def test_without_an_object_the_microscope_counts_from_the_start(lesson05: LessonFolder) -> None:
    config = lesson05.lesson.microscope
    assert config is not None
    none = {"probe": None, "object": "", "ready": "", "go": "", "until": "dput"}
    request = MicroscopeRequest.of(config.model_copy(update=none), None)
    assert (request.aim, request.until) == (None, "dput")
    assert MicroscopeRequest.of(config, None).aim is config
    functions = MicroscopeRequest.of(config, "7.3").functions
    assert functions.index("path_lookupat") == config.functions.index("step_into")
    assert "step_into" not in functions and len(functions) == len(config.functions)
