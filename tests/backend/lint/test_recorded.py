# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings that are too large, broken or without operations, and tables that deny a claim."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from duet.lessons.load import load
from duet.lessons.view import read_views
from duet.lint.finding import Finding, Subject
from duet.lint.recorded import claims, predictions, recordings, table
from tests.support.planted import SLUG, plant


def subject(root: Path) -> Subject:
    return Subject(load(SLUG), root, read_views())


def sentences(root: Path) -> list[str]:
    return [one.sentence for one in recordings(subject(root)) if isinstance(one, Finding)]


def test_a_recording_that_is_too_large_and_broken(copy: Path) -> None:
    recorded = copy / "lessons" / SLUG / "recorded"
    recorded.mkdir()
    (recorded / "zz.duet").write_bytes(bytes(1_000_001))
    large, broken = sentences(copy)
    assert large == "the recording has 1000001 bytes, more than 1000000"
    assert "zz" in broken and not broken.endswith(".")


def test_the_operation_that_a_recording_lacks(copy: Path, root: Path) -> None:
    """It is decoded anew when lesson.yaml has changed."""
    recorded = copy / "lessons" / SLUG / "recorded"
    recorded.mkdir()
    (smallest, *_) = sorted(
        (root / "lessons" / SLUG / "recorded").glob("*.duet"), key=lambda path: path.stat().st_size
    )
    shutil.copy(smallest, recorded)
    assert sentences(copy) == []
    own = "    operation: {name: walk, plural: walks, open: shrink, close: shrink_ret}\n"
    plant(copy, "    comm: storm*\n", "    comm: storm*\n" + own)
    found = [one for one in recordings(subject(copy)) if isinstance(one, Finding)]
    assert found
    assert all("has no walk, from the probe shrink to shrink_ret" in one.sentence for one in found)
    assert "give it a separate `operation`" in found[0].remedy
    plant(copy, "plural: walks, open: shrink, close: shrink_ret", "plural: walks")
    assert sentences(copy) == []


def test_claims_are_held_against_the_recorded_table(tmp_path: Path) -> None:
    row = {"n": 5, "ops_per_s": [1.0]}
    table = {
        "lesson": SLUG, "source": "recorded", "clock": "wall", "workload": "storm",
        "metric": "ops_per_s", "title": "umounts", "better": "higher", "command": "",
        "params": {"hogs": 9, "vcpus": 2}, "at": "2026-01-01", "verdict": "",
        "rows": [
            {"arm": "rwsem", "ops_per_s_median": 1000.0, **row},
            {"arm": "srcu", "ops_per_s_median": 700.0, **row},
            {"arm": "srcu-expedited", "ops_per_s_median": 900.0, **row},
        ],
    }  # fmt: skip
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "measured.json").write_text(json.dumps({"tables": [table]}))
    folder = replace(load(SLUG), folder=tmp_path)
    found = claims(Subject(folder, tmp_path, read_views()))
    said = {one.where: one.sentence for one in found if isinstance(one, Finding)}
    assert "0.70 was measured" in said["claim 1"]
    assert "claim 2" not in said
    counted = next(
        number
        for number, claim in enumerate(folder.lesson.claims, 1)
        if (claim.arm, claim.clock, claim.shift) == ("srcu", "count", 0)
    )
    assert "no recorded table" in said[f"claim {counted}"]


def asked(tmp_path: Path, srcu: float, **also: object) -> list[str]:
    """What is wrong with a prediction that a table with this rate of srcu answers."""
    row = {"n": 5, "ops_per_s": [1.0]}
    table = {
        "lesson": SLUG, "source": "recorded", "clock": "wall", "workload": "storm",
        "metric": "ops_per_s", "title": "umounts", "better": "higher", "command": "",
        "params": {"hogs": 9, "vcpus": 2}, "at": "2026-01-01", "verdict": "",
        "rows": [
            {"arm": "rwsem", "ops_per_s_median": 1000.0, **row},
            {"arm": "srcu", "ops_per_s_median": srcu, **row},
        ],
    }  # fmt: skip
    (tmp_path / "recorded").mkdir(exist_ok=True)
    (tmp_path / "recorded" / "measured.json").write_text(json.dumps({"tables": [table]}))
    folder = load(SLUG)
    measured = {"arms": ("srcu", "rwsem"), "bounds": (0.2, 0.5), "params": {"hogs": 9}}
    change = {**measured, "measured_on": "wall", **also}
    one = folder.lesson.predictions["expedited"].model_copy(update=change)
    lesson = folder.lesson.model_copy(update={"predictions": {"one": one}})
    subject = Subject(replace(folder, lesson=lesson, folder=tmp_path), tmp_path, read_views())
    return [found.sentence for found in predictions(subject) if isinstance(found, Finding)]


def test_a_prediction_that_a_table_answers_has_a_clear_answer_there(tmp_path: Path) -> None:
    assert asked(tmp_path, 700) == []
    assert asked(tmp_path, 530) == ["the table says 0.53, which is too close to the bound 0.5"]
    assert asked(tmp_path, 530, measured_on=None) == []
    (lacking,) = asked(tmp_path, 700, params={"hogs": 3})
    assert lacking == "no recorded table on the wall clock with these params has srcu and rwsem"
    assert asked(tmp_path, 700, metric="late") == ["a table can answer only ops_ratio, not late"]


def test_a_step_that_shows_a_table_has_one_or_the_lesson_says_why_not(copy: Path) -> None:
    def found() -> list[str]:
        return [one.sentence for one in table(subject(copy)) if isinstance(one, Finding)]

    recorded = copy / "lessons" / SLUG / "recorded"
    recorded.mkdir()
    assert found() == [], "nothing is recorded at all: it is still being written"
    (recorded / "one.duet").write_bytes(b"")
    lacks = "this step shows the table of untraced runs, but none is recorded"
    assert found() == [lacks] * 2
    plant(copy, "\ncaveats:\n", "\nno_table: A rate would prove nothing.\ncaveats:\n")
    assert found() == []
    measured = {
        **{"lesson": SLUG, "source": "recorded", "clock": "wall", "params": {}, "rows": []},
        **{"workload": "storm", "metric": "ops_per_s", "title": "umounts", "better": "higher"},
        **{"at": "2026-11-29T08:00:00+00:00", "verdict": "", "command": "./duet measure"},
    }
    for curve, said in (
        ("a curve", []),
        ("", ["a table is recorded, but `no_table` says why there is none"]),
    ):
        tree = {"tables": [{**measured, "curve": curve}]}
        (recorded / "measured.json").write_text(json.dumps(tree))
        assert found() == said
