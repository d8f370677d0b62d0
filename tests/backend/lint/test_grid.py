# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of a lesson's grids are recorded, as the lesson says, and of the tree's kernels."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from duet.lessons.grid import CELLS_BYTES
from duet.lessons.load import load
from duet.lessons.view import read_views
from duet.lint import probes
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.lessons import lint_lesson
from duet.lint.recorded import crossings, fresh, grid
from tests.support.gridded import (
    CELLS,
    ENTRIES,
    METRIC,
    RECORDING,
    SLUG,
    cell_file,
    declare,
    gridded,
    read_list,
    write_list,
)
from tests.support.planted import not_built

AGAIN = f"Record it with ./duet record {SLUG} --grid all."


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lesson with one recording and two cells."""
    monkeypatch.setattr(probes, "find_image", not_built)
    return gridded(root, tmp_path, monkeypatch)


def found(rule: Any = grid) -> list[Finding | NotChecked]:
    folder = load(SLUG)
    return list(rule(Subject(folder, folder.folder.parents[1], read_views())))


def findings(rule: Any = grid) -> list[Finding]:
    return [one for one in found(rule) if isinstance(one, Finding)]


def sentences() -> list[str]:
    assert all(one.remedy.endswith(".") for one in findings())
    return [one.sentence for one in findings()]


def test_cells_as_the_lesson_says_have_no_problem(folder: Path) -> None:
    assert found() == []


def test_a_missing_cell_is_named_with_the_command(folder: Path) -> None:
    cell_file(folder, CELLS[1]).unlink()
    (one,) = findings()
    assert one.sentence == "the cell grid-delayed-32 is not recorded"
    assert one.remedy == AGAIN
    assert (one.where, one.place) == ("cell grid-delayed-32", ("grids", "entries"))


def test_a_cell_that_is_not_listed_is_not_recorded(folder: Path) -> None:
    write_list(folder, read_list(folder)[1:])
    assert sentences() == ["the cell grid-delayed-0 is not recorded"]


def test_a_value_that_was_added_is_not_recorded(folder: Path) -> None:
    declare(folder, entries=ENTRIES | {"over": {"delayed": [0, 16, 32]}})
    assert sentences() == ["the cell grid-delayed-16 is not recorded"]


def test_another_file_than_the_listed_one_is_found(folder: Path) -> None:
    path = cell_file(folder, CELLS[0])
    path.write_bytes(path.read_bytes() + b"\0")
    assert sentences() == ["the cell grid-delayed-0 differs from the file that the list names"]


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"written": 256, "nr": 64, "scans": 112}},
        {"arms": ["scan-2013", "stock"]},
        {"arms": ["stock", "scan-2013", "evictable-list"]},
        {"workload": None},
        {"window_ms": 5},
    ],
    ids=["params", "arms", "order", "workload", "window"],
)
def test_a_grid_that_was_edited_is_to_be_recorded_again(
    folder: Path, change: dict[str, Any]
) -> None:
    declare(folder, entries=ENTRIES | change)
    assert sentences() == [
        f"the cell {name} was recorded with other knobs, arms, workload or window"
        for name in CELLS
    ]  # fmt: skip
    assert {one.remedy for one in findings()} == {AGAIN}


def test_another_name_of_the_grid_is_an_edit_too(folder: Path) -> None:
    declare(folder, renamed=ENTRIES)
    assert len(sentences()) == 2 and "with other knobs" in sentences()[0]


CURVE = ENTRIES["curves"]["first"]


@pytest.mark.parametrize(
    "curves",
    [
        {},
        {"first": CURVE | {"metric": "freed"}},
        {"first": CURVE, "second": CURVE | {"metric": "freed"}},
    ],
    ids=["none", "other", "more"],
)
def test_curves_of_other_metrics_are_to_be_recorded_again(
    folder: Path, curves: dict[str, Any]
) -> None:
    declare(folder, entries=ENTRIES | {"curves": curves})
    assert sentences() == [f"the cell {name} was recorded for other curves" for name in CELLS]


def test_other_words_of_a_curve_need_no_recording(folder: Path) -> None:
    curves = {"other": CURVE | {"title": "other words", "per": False}, "again": CURVE}
    declare(folder, entries=ENTRIES | {"curves": curves})
    assert found() == []


def test_a_cell_without_the_number_of_an_arm_is_to_be_recorded_again(folder: Path) -> None:
    entries = read_list(folder)
    del entries[1]["values"][METRIC]["stock"]
    write_list(folder, entries)
    assert sentences() == [f"the cell {CELLS[1]} was recorded for other curves"]


def spare(folder: Path, *, file: bool, entry: bool) -> None:
    """Add a cell that no grid has: its file, its entry in the list, or both."""
    if file:
        shutil.copy(cell_file(folder, CELLS[0]), cell_file(folder, "grid-delayed-7"))
    if entry:
        entries = read_list(folder)
        write_list(folder, [*entries, entries[0] | {"name": "grid-delayed-7"}])


@pytest.mark.parametrize("where", [["file"], ["entry"], ["file", "entry"]], ids="-".join)
def test_a_cell_that_no_grid_has_is_found_once(folder: Path, where: list[str]) -> None:
    spare(folder, file="file" in where, entry="entry" in where)
    (one,) = findings()
    assert one.sentence == "no grid of the lesson has the cell grid-delayed-7"
    assert one.remedy == (
        "Delete recorded/grid/grid-delayed-7.duet, and the cell in recorded/grid.json."
    )
    assert (one.where, one.place) == ("cell grid-delayed-7", ("grids",))


def test_cells_of_a_grid_that_was_deleted_are_found(folder: Path) -> None:
    declare(folder)
    assert sentences() == [f"no grid of the lesson has the cell {name}" for name in CELLS]
    said = [one for one in lint_lesson(SLUG)[0] if "no grid of the lesson" in one.sentence]
    assert [one.file for one in said] == [f"lessons/{SLUG}/lesson.yaml"] * 2


@pytest.mark.parametrize(
    ("metric", "change", "said"),
    [
        ("lookup_us", {}, "a run of one-file on scan-2013 has no lookup_us"),
        ("lock_waits", {"workload": "neighbour"},
         "a run of neighbour on scan-2013 has no lock_waits"),
        ("lookup_us", {"workload": None}, None),
    ],
    ids=["workload", "clock", "first-workload"],
)  # fmt: skip
def test_a_curve_needs_a_metric_of_its_runs(
    folder: Path, metric: str, change: dict[str, Any], said: str | None
) -> None:
    curves = {"first": CURVE | {"metric": metric}}
    declare(folder, entries=ENTRIES | change | {"curves": curves})
    without = [one for one in findings() if " has no " in one.sentence]
    assert [one.sentence for one in without] == ([] if said is None else [said])
    for one in without:
        assert one.place == ("grids", "entries", "curves", "first", "metric")
        assert one.remedy == "Choose a metric of this workload that all arms of the grid have."


def test_a_curve_needs_a_metric_of_all_arms(folder: Path) -> None:
    lesson = yaml.safe_load((folder / "lesson.yaml").read_text())
    lesson["metrics"][METRIC]["arms"] = ["scan-2013", "evictable-list"]
    (folder / "lesson.yaml").write_text(yaml.safe_dump(lesson, sort_keys=False))
    assert sentences() == [f"a run of one-file on stock has no {METRIC}"]


def test_cells_have_a_budget(folder: Path) -> None:
    size = sum(cell_file(folder, name).stat().st_size for name in CELLS)
    extra = cell_file(folder, "grid-delayed-7")
    extra.write_bytes(bytes(CELLS_BYTES - size))
    assert len(findings()) == 1
    extra.write_bytes(bytes(CELLS_BYTES - size + 1))
    *_, last = findings()
    assert last.sentence == (
        f"the cells of the lesson's grids have {CELLS_BYTES + 1} bytes, more than {CELLS_BYTES}"
    )
    assert last.remedy == "Record fewer values, or a shorter window_ms."


def test_a_grid_of_which_nothing_is_recorded_is_not_checked(folder: Path) -> None:
    shutil.rmtree(folder / "recorded/grid")
    (folder / "recorded/grid.json").unlink()
    assert found() == [NotChecked("no cell of its grids is recorded yet")]


def test_a_list_without_files_is_a_problem(folder: Path) -> None:
    shutil.rmtree(folder / "recorded/grid")
    assert sentences() == [f"the cell {name} is not recorded" for name in CELLS]


def test_a_lesson_without_grids_has_no_problem(folder: Path) -> None:
    declare(folder)
    shutil.rmtree(folder / "recorded/grid")
    (folder / "recorded/grid.json").unlink()
    assert found() == []


@pytest.mark.parametrize("text", ["", "{", '{"tables": []}', '[{"name": "grid-delayed-0"}]'])
def test_a_damaged_list_is_one_sentence(folder: Path, text: str) -> None:
    path = folder / "recorded/grid.json"
    path.write_text(text)
    (one,) = found()
    assert isinstance(one, Finding)
    said = "grid.json is not a list of recorded cells that ./duet record --grid writes"
    assert one.sentence == said
    assert one.remedy == f"Delete {path}, and record the grid again with --grid all."


def test_the_list_of_another_lesson_has_no_cell_of_this_one(folder: Path, root: Path) -> None:
    other = root / "lessons/01-shrinker-bitmaps"
    shutil.copy(other / "recorded/grid.json", folder / "recorded")
    assert sentences() == [
        *(f"the cell {name} is not recorded" for name in CELLS),
        *(f"no grid of the lesson has the cell {name}"
          for name in sorted(one["name"] for one in read_list(other))),
    ]  # fmt: skip


def test_a_cell_of_another_lesson_is_to_be_recorded_again(folder: Path) -> None:
    entries = read_list(folder)
    entries[0]["lesson"] = "01-shrinker-bitmaps"
    write_list(folder, entries)
    assert sentences() == [
        f"the cell {CELLS[0]} was recorded with other knobs, arms, workload or window"
    ]


def test_a_grid_that_cannot_be_recorded_is_one_sentence(folder: Path) -> None:
    declare(folder, entries=ENTRIES | {"over": {"delayed": [0, 10**9]}})
    (one,) = findings()
    assert one.sentence.startswith("parameter 'delayed' must be from ")
    assert not one.sentence.endswith(".") and one.place == ("grids",)


@pytest.mark.parametrize("name", [CELLS[0], "grid-mine"])
@pytest.mark.parametrize("grids", [{"entries": ENTRIES}, {}], ids=["grid", "no-grid"])
def test_a_recording_that_is_called_like_a_cell_is_found(
    folder: Path, name: str, grids: dict[str, Any]
) -> None:
    declare(folder, **grids)
    path = folder / f"recorded/{name}.duet"
    shutil.copy(folder / f"recorded/{RECORDING}.duet", path)
    (one,) = [one for one in findings() if one.file is not None]
    assert one.sentence == "only cells of grids have names that begin with grid-"
    assert one.remedy == "Give the recording another name."
    assert (one.file, one.where) == (path, path.name)


def test_the_lint_has_the_rule(folder: Path) -> None:
    cell_file(folder, CELLS[0]).unlink()
    (one,) = [one for one in lint_lesson(SLUG)[0] if "not recorded" in one.sentence]
    lines = (folder / "lesson.yaml").read_text().splitlines()
    assert (one.file, one.where) == (f"lessons/{SLUG}/lesson.yaml", "cell grid-delayed-0")
    assert lines[one.line - 1].strip() == "entries:"
    shutil.rmtree(folder / "recorded/grid")
    (folder / "recorded/grid.json").unlink()
    assert "no cell of its grids is recorded yet" in lint_lesson(SLUG)[1]


# Rule `crossings`.

CROSSING = {"grid": "entries", "curve": "first", "below": 0.5}


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


def measured(folder: Path, *ratios: float) -> None:
    """Let the cells have these ratios of scan-2013 to stock."""
    entries = read_list(folder)
    for one, ratio in zip(entries, ratios, strict=True):
        one["values"][METRIC] |= {"scan-2013": ratio * 10, "stock": 10.0}
    write_list(folder, entries)


@pytest.mark.parametrize(
    ("limit", "ratios"),
    [
        ({"below": 0.5}, (0.8, 0.3)),
        ({"below": 0.5}, (0.3, 0.52)),
        ({"below": 0.5}, (0.9, 0.8)),
        ({"above": 2}, (1.0, 3.0)),
    ],
    ids=["between", "at-once", "never", "above"],
)
def test_a_clear_answer_has_no_problem(
    folder: Path, limit: dict[str, float], ratios: tuple[float, ...]
) -> None:
    predict(folder, crossing={"grid": "entries", "curve": "first", **limit})
    measured(folder, *ratios)
    assert found(crossings) == []


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ((0.8, 0.48), "the ratio at 32 is 0.48, too close to the limit 0.5"),
        ((0.52, 0.1), "the ratio at 0 is 0.52, too close to the limit 0.5"),
        ((0.8, 0.54), "the ratio at 32 is 0.54, too close to the limit 0.5"),
    ],
)
def test_an_answer_too_close_to_the_limit_is_found(
    folder: Path, ratios: tuple[float, ...], said: str
) -> None:
    predict(folder, crossing=CROSSING)
    measured(folder, *ratios)
    (one,) = findings(crossings)
    assert one.sentence == said and one.place == ("predictions", "where", "crossing")
    assert one.remedy == "Ask for another limit, with a clear answer."


@pytest.mark.parametrize(
    ("prediction", "key", "said"),
    [
        ({"crossing": CROSSING | {"grid": "entrys"}}, "crossing",
         "no grid has the curve entrys.first"),
        ({"crossing": CROSSING | {"curve": "frist"}}, "crossing",
         "no grid has the curve entries.frist"),
        ({"metric": "crossing"}, "crossing",
         "`crossing:` and the metric crossing belong together"),
        ({"metric": "ops_ratio", "crossing": CROSSING}, "crossing",
         "`crossing:` and the metric crossing belong together"),
        ({"crossing": CROSSING, "arms": ["scan-2013", "today"]}, "arms",
         "the grid has no arm 'today'"),
    ],
    ids=["grid", "curve", "missing", "superfluous", "arm"],
)  # fmt: skip
def test_a_crossing_names_what_a_grid_has(
    folder: Path, prediction: dict[str, Any], key: str, said: str
) -> None:
    predict(folder, **prediction)
    measured(folder, 0.9, 0.1)
    (one,) = findings(crossings)
    assert said in one.sentence and one.remedy.endswith(".")
    assert one.place == ("predictions", "where", key)


def test_a_crossing_without_cells_is_not_checked(folder: Path) -> None:
    predict(folder, crossing=CROSSING)
    (folder / "recorded/grid.json").unlink()
    assert found(crossings) == [NotChecked("no cell answers the prediction over the grid yet")]


def test_a_damaged_list_is_left_to_the_other_rule(folder: Path) -> None:
    predict(folder, crossing=CROSSING)
    (folder / "recorded/grid.json").write_text("{")
    assert found(crossings) == []


# Rule `fresh`.


def test_cells_of_the_trees_kernels_are_fresh(folder: Path) -> None:
    assert found(fresh) == []


def test_a_changed_patch_makes_cells_stale_as_it_does_recordings(
    folder: Path, tmp_path: Path
) -> None:
    patch = tmp_path / "kernel-patches" / SLUG / "evictable-list.patch"
    lines = patch.read_text().splitlines(keepends=True)
    added = next(n for n, line in enumerate(lines) if line.startswith("+\t"))
    patch.write_text("".join(lines[:added] + lines[added + 1 :]))
    stale = findings(fresh)
    assert [one.where for one in stale] == [f"{name}.duet" for name in (RECORDING, *CELLS)]
    assert stale[1].file == cell_file(folder, CELLS[0])
    assert {one.sentence for one in stale} == {
        "the kernel of evictable-list differs from the recorded one "
        f"({SLUG}/evictable-list.patch has changed)"
    }
    assert {one.remedy for one in stale} == {f"Make it again with ./duet record-all {SLUG}."}


def test_a_cell_that_is_known_to_be_stale_is_not_checked(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "kernel-patches/bases/6.1/base.config").open("a") as config:
        config.write("CONFIG_TEST_ONLY=y\n")
    (folder / "recorded/stale.txt").write_text(f"{CELLS[0]}\n")
    left = [one.sentence for one in found(fresh) if isinstance(one, NotChecked)]
    assert left == ["grid-delayed-0 is stale, and stale.txt lists it to be made again"]
    assert {one.where for one in findings(fresh)} == {f"{RECORDING}.duet", f"{CELLS[1]}.duet"}
