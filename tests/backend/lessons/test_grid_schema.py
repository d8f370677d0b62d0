# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids of lesson.yaml and crossings of story.yaml: what is wrong is one sentence with a remedy."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from duet.lessons.document import LessonError, Problem
from duet.lessons.load import read_lesson
from duet.lessons.schema import FILES
from tests.support.gridded import ENTRIES, SLUG, declare


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """The YAML files of a lesson, with one grid."""
    copy = tmp_path / "lessons" / SLUG
    copy.mkdir(parents=True)
    for name in FILES:
        if (root / "lessons" / SLUG / name).is_file():
            shutil.copy(root / "lessons" / SLUG / name, copy)
    declare(copy, entries=ENTRIES)
    return copy


def wrong(folder: Path) -> list[Problem]:
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    return list(caught.value.problems)


def curve(**change: object) -> dict[str, Any]:
    return {"curves": {"first": {**ENTRIES["curves"]["first"], **change}}}


def predict(folder: Path, **prediction: object) -> None:
    """Add a prediction `where` to the story."""
    path = folder / "story.yaml"
    story = yaml.safe_load(path.read_text())
    whole = {
        "question": "Where?", "choices": ["early", "late"], "metric": "crossing",
        "arms": ["scan-2013", "stock"], "bounds": [32],
    }  # fmt: skip
    story["predictions"]["where"] = whole | prediction
    path.write_text(yaml.safe_dump(story, sort_keys=False))


def test_a_grid_is_read_with_its_defaults(folder: Path) -> None:
    grid = read_lesson(folder).grids["entries"]
    assert grid.over == {"delayed": (0, 32)} and grid.arms == tuple(ENTRIES["arms"])
    assert grid.curves["first"].per
    declare(folder, few={"arms": ["stock"], "over": {"delayed": [0, 32], "nr": [16, 32, 64]}})
    few = read_lesson(folder).grids["few"]
    assert (few.workload, few.window_ms, few.params, few.curves) == (None, None, {}, {})
    assert list(few.over) == ["delayed", "nr"], "names of cells follow this order"


PLANTED: list[tuple[dict[str, Any], str, str, str]] = [
    # change of the grid, key below grids.entries, sentence, remedy
    ({"over": {"delayed": [32, 0]}}, "over.delayed",
     "a grid needs at least two ascending values of delayed", "List each value once, in order."),
    ({"over": {"delayed": [0, 32, 32]}}, "over.delayed",
     "a grid needs at least two ascending values of delayed", "List each value once, in order."),
    ({"over": {"delayed": [32]}}, "over.delayed",
     "a grid needs at least two ascending values of delayed", "List each value once, in order."),
    ({"over": {"delayed": []}}, "over.delayed",
     "a grid needs at least two ascending values of delayed", "List each value once, in order."),
    ({"params": {"written": 256, "delayed": 0}}, "params.delayed",
     "delayed is also in `over`, so `params` cannot set it", "Leave it out."),
    (curve(over="written"), "curves.first.over",
     "this grid has no recordings over 'written'", "Choose from: delayed."),
    (curve(metric="first_fred"), "curves.first.metric",
     "no metric is called 'first_fred'", "Write 'first_freed'"),
    ({"arms": ["scan-2013", "stok"]}, "arms[1]", "no arm is called 'stok'", "Write 'stock'"),
    ({"over": {"delay": [0, 32]}, "curves": {}}, "over.delay",
     "no param is called 'delay'", "Write 'delayed'"),
    ({"params": {"writen": 256}}, "params.writen",
     "no param is called 'writen'", "Write 'written'"),
    ({"workload": "one-fil"}, "workload", "no workload is called 'one-fil'", "Write 'one-file'"),
    ({"arms": ["stock", "scan-2013", "stock"]}, "arms",
     "a grid names each arm once", "Leave out the repeated arm."),
    ({"arms": []}, "arms", "at least 1 item", "the lanes of each recording"),
    ({"over": {}, "curves": {}}, "over", "at least 1 item", "recorded values of each knob"),
    ({"over": {"delayed": [0, 1], "nr": [16, 32], "scans": [1, 2], "hot": [0, 1]}, "params": {}},
     "over", "at most 3 items", "recorded values of each knob"),
    ({"window_ms": 0}, "window_ms", "greater than or equal to 1", "how much of each lane to keep"),
    ({"ovr": {}}, "ovr", "there is no such key (did you mean 'over'?)", "Keys here: arms, over"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "key", "sentence", "remedy"),
    PLANTED,
    ids=[f"{n}-{p[1]}" for n, p in enumerate(PLANTED)],
)
def test_a_planted_error_is_one_sentence_at_its_key(
    folder: Path, change: dict[str, Any], key: str, sentence: str, remedy: str
) -> None:
    declare(folder, entries=ENTRIES | change)
    (one,) = wrong(folder)
    assert one.file == f"lessons/{SLUG}/lesson.yaml"
    assert one.key == f"grids.entries.{key}"
    assert sentence in one.sentence
    assert remedy in one.remedy and one.remedy.endswith(".")


def test_all_faults_of_a_grid_are_named_at_once(folder: Path) -> None:
    several = {"over": {"delayed": [1, 0], "nr": [32]}, **curve(over="written")}
    declare(folder, entries=ENTRIES | several)
    assert [one.key.removeprefix("grids.entries.") for one in wrong(folder)] == [
        "over.delayed", "over.nr", "params.nr", "curves.first.over",
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [{"below": 0.5}, {"above": 2}])
def test_a_crossing_has_one_limit(folder: Path, limit: dict[str, float]) -> None:
    predict(folder, crossing={"grid": "entries", "curve": "first", **limit})
    crossing = read_lesson(folder).predictions["where"].crossing
    assert crossing is not None and crossing.grid == "entries" and crossing.curve == "first"
    assert {"below": crossing.below, "above": crossing.above} == {
        "below": None, "above": None, **limit,
    }  # fmt: skip


@pytest.mark.parametrize("limits", [{}, {"below": 0.5, "above": 2}], ids=["neither", "both"])
def test_a_crossing_with_both_limits_or_none_is_refused(
    folder: Path, limits: dict[str, float]
) -> None:
    predict(folder, crossing={"grid": "entries", "curve": "first", **limits})
    (one,) = wrong(folder)
    assert one.file.endswith("story.yaml")
    assert one.key == "predictions.where.crossing.below"
    assert one.sentence == "a crossing needs either `below` or `above`"
    assert one.remedy == "Write one of the two."


def test_a_limit_that_no_ratio_passes_is_refused(folder: Path) -> None:
    predict(folder, crossing={"grid": "entries", "curve": "first", "below": 0})
    (one,) = wrong(folder)
    assert one.key == "predictions.where.crossing.below"
    assert "greater than 0" in one.sentence and one.remedy
