# SPDX-License-Identifier: GPL-2.0-or-later
"""Points follow from raw answers: another deadline, key or limit gives others."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from duet.plugins.labs.grades import LabScore
from duet.plugins.labs.records import Attempt, Grade, broken, linked
from duet.plugins.labs.schema import Lab
from duet.plugins.labs.scoring import Key, lab_score

DEADLINE = "2026-01-31T12:00:00+00:00"
AT_S = 1769860800.0
"""The deadline, as Unix time."""


def lab(**changes: Any) -> Lab:
    tree: dict[str, Any] = {
        "title": "A lab",
        "deadline": DEADLINE,
        "grace_minutes": 10,
        "tasks": {
            "choose": {
                **{"kind": "predict", "title": "Choose", "ask": "Which?", "choices": ["a", "b"]},
                **{"right": 2, "points": 2, "again": 0.5},
            },
            "count": {
                **{"kind": "predict", "title": "Count", "ask": "How many?", "number": 0.3},
            },
            "reach": {
                **{"kind": "measure", "title": "Reach", "ask": "Reach it.", "points": 4},
                "params": {"hogs": 9},
                "limits": [
                    {"metric": "rate", "arm": "new", "to": "old", "at_least": 0.5},
                    {"metric": "rate", "arm": "old", "at_most": 90},
                ],
            },
            "say": {
                **{"kind": "explain", "title": "Say", "ask": "Why?", "points": 3},
                "rubric": [{"says": "why", "points": 2}, {"says": "how", "points": 1}],
            },
            "mend": {"kind": "challenge", "title": "Mend", "challenge": "one-word", "points": 8},
        },
    }
    return Lab.model_validate(tree | changes)


KEYS = {
    **{"choose": Key(choice=1), "count": Key(number=0.3, within=0)},
    **{"reach": Key(), "say": Key(), "mend": Key()},
}


def chain(*given: tuple[str, dict[str, Any], dict[str, Any], float]) -> list[Attempt]:
    found: list[Attempt] = []
    for number, (task, answer, seen, at_s) in enumerate(given, 1):
        previous = found[-1].sha256 if found else ""
        found.append(linked(previous, "x", "p", number, task, answer, seen, at_s))
    return found


def points(attempts: list[Attempt], of: Lab | None = None, *grades: Grade) -> dict[str, Any]:
    score = lab_score("x", of or lab(), "p", attempts, {g.attempt: g for g in grades}, KEYS)
    assert isinstance(score, LabScore)
    return {task.task: (task.state, task.points) for task in score.tasks}


def run(params: dict[str, int], new: float, old: float, arm: str = "new") -> dict[str, Any]:
    return {
        **{"run": "kept:x:run-1", "clock": "count", "workload": "storm", "params": params},
        "values": {"rate": {arm: new, "old": old}},
    }


def test_the_best_attempt_counts_and_each_further_one_is_worth_less() -> None:
    wrong, right = ("choose", {"choice": 0}, {}, 1.0), ("choose", {"choice": 1}, {}, 2.0)
    assert points(chain(wrong))["choose"] == ("scored", 0.0)
    assert points(chain(wrong, right))["choose"] == ("scored", 1.0)
    assert points(chain(right, wrong))["choose"] == ("scored", 2.0)
    assert points([])["choose"] == ("open", 0.0)


def test_an_attempt_counts_until_grace_is_over_and_anew_when_the_date_moves() -> None:
    late = chain(("choose", {"choice": 1}, {}, AT_S + 601))
    assert points(late)["choose"] == ("open", 0.0)
    assert points(chain(("choose", {"choice": 1}, {}, AT_S + 599)))["choose"] == ("scored", 2.0)
    assert points(late, lab(grace_minutes=11))["choose"] == ("scored", 2.0)


def test_each_limit_of_a_run_is_worth_its_share() -> None:
    def reached(found: dict[str, Any]) -> float:
        return float(points(chain(("reach", {"run": "r"}, found, 1.0)))["reach"][1])

    assert reached(run({"hogs": 9}, 60, 80)) == 4.0
    assert reached(run({"hogs": 9}, 60, 100)) == 2.0, "one of two limits"
    assert reached(run({"hogs": 3}, 60, 80)) == 0.0, "not the knobs that were asked for"
    assert reached(run({"hogs": 9}, 60, 80, "own-new-0123456789")) == 4.0, "a change of the arm"
    assert reached(run({"hogs": 9}, 60, 80, "newer")) == 2.0


def test_an_explanation_is_ungraded_until_a_person_gives_points() -> None:
    said = chain(("say", {"text": "Because."}, {}, 1.0))
    assert points(said)["say"] == ("ungraded", 0.0)
    grade = Grade("x", "p", 1, 2.5, "how is missing", "t", 2.0)
    assert points(said, None, grade)["say"] == ("scored", 2.5)


@pytest.mark.parametrize(
    ("found", "worth"),
    [
        ({"met": True, "lines": []}, 8.0),
        ({"met": False, "lines": [{"kind": "goal", "holds": True}]}, 4.0),
        (
            {
                "met": False,
                "lines": [{"kind": "goal", "holds": True}, {"kind": "stress", "holds": False}],
            },
            0.0,
        ),
        ({"met": False, "lines": [{"kind": "rule", "holds": True}]}, 0.0),
    ],
)
def test_a_challenge_that_is_not_met_has_half_for_its_goals(
    found: dict[str, Any], worth: float
) -> None:
    assert points(chain(("mend", {"arm": "a"}, found, 1.0)))["mend"] == ("scored", worth)


def test_a_chain_shows_what_was_changed_left_out_or_put_in() -> None:
    whole = chain(("count", {"value": 1.0}, {}, 1.0), ("count", {"value": 0.3}, {}, 2.0))
    assert broken(whole) == ""
    assert points(whole)["count"] == ("scored", 1.0)
    other = linked("", "x", "p", 1, "count", {"value": 0.3}, {}, 1.0)
    assert broken([other, whole[1]]) == "attempt 2 does not follow the one before."
    assert broken(whole[1:]) == "attempt 1 is missing."
    tree = {name: getattr(whole[0], name) for name in Attempt.__dataclass_fields__}
    forged = Attempt(**(tree | {"answer": {"value": 0.3}}))
    assert broken([forged, whole[1]]) == "attempt 1 was changed after it was stored."


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"deadline": "2026-01-31T12:00:00"}, "the time zone is missing"),
        ({"deadline": None, "feedback": "later"}, "but there is no deadline"),
        ({"tasks": {}}, "at least 1"),
    ],
)
def test_a_lab_that_contradicts_itself_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        lab(**changes)
