# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of a lesson's grids: their names, their runs, and which of them a selection names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.lessons.grid import Cell, cells_of, chosen_cells, read_selection
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson

ARMS = ["rwsem", "srcu"]
HOGS = {"arms": ARMS, "over": {"hogs": [1, 3, 9], "exp_holdoff": [0, 25000]}}
SECONDS = {"arms": ["srcu", "srcu-expedited"], "over": {"seconds": [1, 2]}}


def with_grids(folder: LessonFolder, clock: str = "wall", **grids: dict[str, Any]) -> LessonFolder:
    """The lesson with these grids, on this clock."""
    data = folder.lesson.model_dump() | {"grids": grids, "clock": clock}
    changed = Lesson.model_validate(data)
    return LessonFolder(folder.slug, folder.folder, folder.patch_dir, changed)


@pytest.fixture
def two(lesson02: LessonFolder) -> LessonFolder:
    """Lesson 02 with two grids."""
    return with_grids(lesson02, hogs=HOGS, seconds=SECONDS)


def names(cells: list[Cell]) -> list[str]:
    return [cell.name for cell in cells]


def test_cells_are_all_combinations_in_the_order_of_the_lesson(two: LessonFolder) -> None:
    assert names(cells_of(two)) == [
        "grid-hogs-1-exp-holdoff-0", "grid-hogs-1-exp-holdoff-25000",
        "grid-hogs-3-exp-holdoff-0", "grid-hogs-3-exp-holdoff-25000",
        "grid-hogs-9-exp-holdoff-0", "grid-hogs-9-exp-holdoff-25000",
        "grid-seconds-1", "grid-seconds-2",
    ]  # fmt: skip
    assert [cell.grid for cell in cells_of(two)] == ["hogs"] * 6 + ["seconds"] * 2


def test_the_order_of_the_knobs_is_the_grids(lesson02: LessonFolder) -> None:
    over = dict(reversed(HOGS["over"].items()))  # type: ignore[attr-defined]
    first, second, *_ = cells_of(with_grids(lesson02, hogs=HOGS | {"over": over}))
    assert (first.name, second.name) == ("grid-exp-holdoff-0-hogs-1", "grid-exp-holdoff-0-hogs-3")
    assert dict(first.values) == {"exp_holdoff": 0, "hogs": 1}


def test_a_cell_has_all_knobs_of_its_run(lesson02: LessonFolder) -> None:
    more = HOGS | {"params": {"vcpus": 2, "seconds": 1}, "window_ms": 80}
    folder = with_grids(lesson02, hogs=more)
    cell = cells_of(folder)[3]
    assert cell.name == "grid-hogs-3-exp-holdoff-25000"
    assert dict(cell.values) == {"hogs": 3, "exp_holdoff": 25000}
    asked = {"hogs": 3, "exp_holdoff": 25000, "vcpus": 2, "seconds": 1}
    assert dict(cell.params) == folder.check_params(asked, "wall")
    models = {name for name, one in folder.lesson.params.items() if one.applies == "model"}
    assert set(cell.params) == set(folder.lesson.params) - models
    assert cell.arms == tuple(ARMS) and cell.window_ms == 80 and cell.clock == "wall"


def test_the_workload_is_the_first_unless_the_grid_names_another(lesson02: LessonFolder) -> None:
    first, *_, last = lesson02.lesson.workloads
    assert first != last
    assert {cell.workload for cell in cells_of(with_grids(lesson02, one=SECONDS))} == {first}
    other = with_grids(lesson02, one=SECONDS | {"workload": last})
    assert {cell.workload for cell in cells_of(other)} == {last}
    assert {cell.window_ms for cell in cells_of(other)} == {None}


def test_on_the_count_clock_a_guest_has_one_vcpu(lesson02: LessonFolder) -> None:
    cells = cells_of(with_grids(lesson02, "count", one=SECONDS | {"params": {"vcpus": 2}}))
    assert {(cell.clock, cell.params["vcpus"]) for cell in cells} == {("count", 1)}


def test_a_lesson_without_grids_has_no_cells(lesson02: LessonFolder) -> None:
    assert cells_of(with_grids(lesson02)) == []


@pytest.mark.parametrize(
    ("clock", "grids", "sentence", "remedy"),
    [
        ("wall", {"a": SECONDS, "b": SECONDS | {"arms": ARMS}},
         "two cells of the grids of 02-grace-periods are called grid-seconds-1.", "knob of `over`"),
        ("wall", {"a": HOGS | {"over": {"hogs": [1, 10]}}},
         "parameter 'hogs' must be from 1 to 9, not 10.", "Leave the parameter out"),
        ("wall", {"a": HOGS | {"over": {"exp_holdoff": [0, 7]}}},
         "parameter 'exp_holdoff' must be one of 25000, 0, not 7.", "Leave the parameter out"),
        ("wall", {"a": SECONDS | {"params": {"hogs": 0}}},
         "parameter 'hogs' must be from 1 to 9, not 0.", "Leave the parameter out"),
        ("count", {"a": HOGS | {"over": {"vcpus": [1, 2]}}},
         "the grid a varies vcpus, but no run on the count clock has this value.",
         "Leave the knob out of `over`."),
    ],
    ids=["same-names", "range", "choices", "params", "overridden"],
)  # fmt: skip
def test_a_grid_that_cannot_be_recorded_is_refused(
    lesson02: LessonFolder, clock: str, grids: dict[str, Any], sentence: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        cells_of(with_grids(lesson02, clock, **grids))
    assert caught.value.sentence == sentence
    assert remedy in caught.value.remedy


def test_a_cell_is_not_called_like_another_knobs_cell(lesson02: LessonFolder) -> None:
    """Underscores become hyphens, so two knobs may give one name."""
    params = lesson02.lesson.model_dump()["params"]
    params |= {"a_b": params["hogs"] | {"role": None}, "a-b": params["hogs"] | {"role": None}}
    data = lesson02.lesson.model_dump() | {
        "params": params,
        "grids": {key: {"arms": ARMS, "over": {key: [1, 2]}} for key in ("a_b", "a-b")},
    }
    folder = LessonFolder("02-x", lesson02.folder, lesson02.patch_dir, Lesson.model_validate(data))
    with pytest.raises(InputError, match="two cells of the grids of 02-x are called grid-a-b-1"):
        cells_of(folder)


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        ("hogs=1", ["grid-hogs-1-exp-holdoff-0", "grid-hogs-1-exp-holdoff-25000"]),
        ("hogs=9,1,exp_holdoff=0", ["grid-hogs-1-exp-holdoff-0", "grid-hogs-9-exp-holdoff-0"]),
        ("exp_holdoff=0,hogs=3", ["grid-hogs-3-exp-holdoff-0"]),
        ("hogs=3..3", ["grid-hogs-3-exp-holdoff-0", "grid-hogs-3-exp-holdoff-25000"]),
        ("seconds=1..2", ["grid-seconds-1", "grid-seconds-2"]),
    ],
)
def test_a_selection_names_cells(two: LessonFolder, selection: str, chosen: list[str]) -> None:
    assert names(chosen_cells(two, selection)) == chosen


def test_all_is_all(two: LessonFolder) -> None:
    assert chosen_cells(two, "all") == cells_of(two)


@pytest.mark.parametrize(
    ("selection", "sentence", "remedy"),
    [
        ("hog=1", "no grid of lesson 02-grace-periods varies 'hog'.",
         "Choose from: hogs, exp_holdoff, seconds."),
        ("vcpus=1", "no grid of lesson 02-grace-periods varies 'vcpus'.", "Choose from: hogs"),
        ("hogs=2", "the grids of lesson 02-grace-periods have no hogs=2.",
         "Choose from: 1, 3, 9. Or add the value to `grids:` in lesson.yaml."),
        ("hogs=1..3", "the grids of lesson 02-grace-periods have no hogs=2.", "1, 3, 9"),
        ("none", "--grid needs `all` or values of knobs, but got 'none'.",
         "--grid KNOB=1..9,OTHER=1,2"),
    ],
)  # fmt: skip
def test_what_no_grid_has_is_said(
    two: LessonFolder, selection: str, sentence: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        chosen_cells(two, selection)
    assert caught.value.sentence == sentence
    assert remedy in caught.value.remedy


def test_a_lesson_without_a_grid_cannot_be_selected_from(lesson02: LessonFolder) -> None:
    with pytest.raises(InputError) as caught:
        chosen_cells(with_grids(lesson02), "all")
    assert caught.value.sentence == "lesson 02-grace-periods has no grid."
    assert "`grids:`" in caught.value.remedy


def test_knobs_that_no_grid_turns_together_are_refused(two: LessonFolder) -> None:
    with pytest.raises(InputError) as caught:
        chosen_cells(two, "hogs=1,seconds=1")
    said = "no grid of lesson 02-grace-periods varies hogs and seconds together."
    assert caught.value.sentence == said
    assert caught.value.remedy == "Choose knobs of one grid."


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("hogs=1..9,vcpus=1,2", {"hogs": list(range(1, 10)), "vcpus": [1, 2]}),
        ("hogs=1", {"hogs": [1]}),
        ("hogs=1,3..5,9", {"hogs": [1, 3, 4, 5, 9]}),
        ("level=-2..0,-7", {"level": [-2, -1, 0, -7]}),
        ("a_b-2=0,c=1", {"a_b-2": [0], "c": [1]}),
    ],
)
def test_a_selection_is_read(text: str, values: dict[str, list[int]]) -> None:
    assert read_selection(text) == values


MALFORMED = [
    "", "hogs", "hogs=", "=1", "hogs=1,", ",hogs=1", "hogs=1,,2", "hogs=a", "hogs=9..1", "hogs=1..",
    "hogs=..9", "hogs=1...9", "hogs=1.5", "hogs=1;vcpus=2", "hogs=1 ,vcpus=2", "hogs= 1", "hogs==1",
    "hogs=1\n", "Hogs=1", "hogs=0..1000", "hogs=0..99999999999999", "all,hogs=1", "hogs=1..3..5",
    "hogs=-", "hogs=²", "hogs=1,Vcpus=2", "hogs=1,=2", "hogs=--1", "hogs=1..--2", "hogs=--1..2",
    "hogs=" + "9" * 19, "hogs=-" + "9" * 19, "hogs=1.." + "9" * 5000, "hogs=" + "9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: repr(text[:20]))
def test_a_malformed_selection_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_selection(text)
    said = f"--grid needs `all` or values of knobs, but got '{text:.60}'."
    assert caught.value.sentence == said
    assert caught.value.remedy == "Write for example: --grid KNOB=1..9,OTHER=1,2"


def test_a_number_has_at_most_18_digits() -> None:
    most = int("9" * 18)
    assert read_selection(f"n={most},{-most}") == {"n": [most, -most]}
    assert read_selection(f"n={most - 1}..{most}") == {"n": [most - 1, most]}


def test_a_range_has_at_most_a_thousand_values() -> None:
    assert read_selection("n=1..1000") == {"n": list(range(1, 1001))}


WORDS = st.lists(
    st.sampled_from(["hogs", "vcpus", "=", ",", "..", "-", "1", "9", "07", " ", "x", "٣"])
)


@given(st.one_of(st.text(max_size=40), WORDS.map("".join)))
@example("hogs=1..9,vcpus=1,2")
@example("hogs=--1")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        wanted = read_selection(text)
    except InputError as error:
        assert error.remedy
        return
    assert wanted and all(values for values in wanted.values())
    # What was read says the same when it is written out.
    plain = ",".join(f"{name}={','.join(map(str, v))}" for name, v in wanted.items())
    assert read_selection(plain) == wanted


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True),
                       st.lists(st.integers(-2000, 2000), min_size=1, max_size=5),
                       min_size=1, max_size=3))  # fmt: skip
def test_written_values_are_read_back(wanted: dict[str, list[int]]) -> None:
    text = ",".join(f"{name}={','.join(map(str, v))}" for name, v in wanted.items())
    assert read_selection(text) == wanted
