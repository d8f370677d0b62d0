# SPDX-License-Identifier: GPL-2.0-or-later
"""Acts become lines for the workload; what makes no sense is refused with a list of what exists."""

from __future__ import annotations

import pytest

from duet.base.errors import InputError
from duet.lessons.load import load
from duet.lessons.plan import act_line, plan_text

LESSON = load("01-shrinker-bitmaps").lesson
PARAMS = {name: param.default for name, param in LESSON.params.items()} | {"n": 56}


def test_an_act_is_a_line_of_the_workload() -> None:
    assert act_line(LESSON, "containers-live", "touch", 17, PARAMS) == "touch 17"
    assert act_line(LESSON, "containers-live", "drop", 0, PARAMS) == "drop"


@pytest.mark.parametrize(
    ("workload", "name", "value", "sentence", "remedy"),
    [
        (
            "containers",
            "touch",
            1,
            "the workload containers has no act",
            "This workload has no acts",
        ),
        ("containers-live", "mount", 1, "has no act 'mount'", "Choose from: touch, drop."),
        ("containers-live", "touch", 0, "a number from 1 to 56, not 0", "Choose a number"),
        ("containers-live", "touch", 57, "a number from 1 to 56, not 57", "Choose a number"),
    ],
)
def test_what_makes_no_sense_is_refused(
    workload: str, name: str, value: int, sentence: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        act_line(LESSON, workload, name, value, PARAMS)
    assert refused.value.remedy.startswith(remedy)


def test_only_a_workload_that_takes_input_gets_one() -> None:
    lines = {
        name: plan_text(LESSON, "after", name, PARAMS, {}).splitlines() for name in LESSON.workloads
    }
    assert {name for name, text in lines.items() if "input host" in text} == {"containers-live"}
