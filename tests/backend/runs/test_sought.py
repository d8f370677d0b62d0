# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows that show what a step must show: the cases that the page is held to as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet.lessons.schema import MustShow, Scene
from duet.runs.sought import LaneTables, Names, ProbeSamples, StepInRun, is_shown, windows_that_show
from tests.support.columns import columns_of

CASES = json.loads((Path(__file__).parents[2] / "fixtures" / "sought.json").read_text())
MS = 1e6


def names() -> Names:
    return Names(
        tuple(name for name, _ in CASES["kinds"]),
        tuple((name, tuple(fields)) for name, fields in CASES["points"]),
        tuple(CASES["links"]),
    )


def lane(tree: dict[str, Any]) -> LaneTables:
    """Columns as a run has them, of what a case says in ms."""
    known = names()
    points = [name for name, _ in known.points]
    rows = {
        "spans": [
            (t0 * MS, t1 * MS, row, known.kinds.index(kind), 0, 0, 0)
            for kind, row, t0, t1 in sorted(tree["spans"], key=lambda span: span[3])
        ],
        "ops": [(t0 * MS, t1 * MS, 0, 1, 0) for t0, t1 in tree["ops"]],
        "links": [(t * MS, 0, 0, known.links.index(name), 0) for name, t in tree["links"]],
        "points": [
            (t * MS, points.index(name), 0, 0, *(*values, 0, 0, 0, 0, 0, 0)[:6], 0)
            for name, t, *values in tree["points"]
        ],
    }
    tables = {table: columns_of(table, [tuple(r) for r in made]) for table, made in rows.items()}
    return LaneTables(tables, tree["threads"], tree["end"] * MS, {"counts": looks(tree)})


def looks(tree: dict[str, Any]) -> ProbeSamples:
    seen = tree.get("looks", [])
    facts = {name for _, known in seen for name in known}
    return ProbeSamples(
        np.array([t * MS for t, _ in seen], np.float64),
        {name: np.array([known.get(name, np.nan) for _, known in seen]) for name in facts},
    )


def shown(case: dict[str, Any]) -> list[list[float]]:
    """[start in ms, how much of what is marked `most`], the best first."""
    lanes = {arm: lane(tree) for arm, tree in CASES["runs"][case["run"]].items()}
    if axis := case.get("axis"):
        number = [name for name, _ in CASES["points"]].index(axis)
        lanes = {arm: one.on_axis(number) for arm, one in lanes.items()}
    scene = Scene(
        id="one",
        title="one",
        arms=tuple(lanes),
        must_show=MustShow.model_validate({"that": "it is so", "marks": case["marks"]}),
        **case["scene"],
    )
    step = StepInRun(scene, lanes, names(), 1e9 / CASES["hz"])
    windows = windows_that_show(step)
    assert is_shown(step) == bool(windows)
    return [[round(one.start / MS, 6), round(one.amount, 3)] for one in windows]


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: str(case["name"]))
def test_the_windows_that_show_it(case: dict[str, Any]) -> None:
    assert shown(case) == case["shown"]


def test_the_cases_are_no_empty_ones() -> None:
    """Some windows show something, some do not, and most of it comes first."""
    found = [case["shown"] for case in CASES["cases"]]
    assert [] in found and sum(map(bool, found)) > 10
    assert any(np.ptp([amount for _, amount in one]) > 0 for one in found if one)
