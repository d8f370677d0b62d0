# SPDX-License-Identifier: GPL-2.0-or-later
"""What may be asked of `duet measure`, and the sentences for what may not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError
from duet.cli import main
from duet.cli.arguments import untraced
from duet.cli.measure.args import MeasureArgs, command_of, read_plan
from duet.cli.measure.run import write_report
from duet.lessons.load import load
from duet.measure.plan import conditions
from duet.runs import measure as evidence

SLUG = "02-grace-periods"


def asked(**more: Any) -> Any:
    return read_plan(MeasureArgs(SLUG, **more))


def test_defaults_are_what_a_verdict_takes() -> None:
    wall = asked()
    assert (wall.clock, wall.repeats, wall.shifts, wall.perturbed) == ("wall", 5, (0,), 0)
    count = asked(clock="count")
    assert (count.repeats, count.shifts, count.perturbed) == (2, (0, 3), 3)
    assert asked(clock="count", shift="3").shifts == (3,)
    assert asked(sweep="hogs=1,3,9").sweep == ("hogs", (1, 3, 9))


def test_several_vcpus_on_the_count_clock_are_asked_for_by_name() -> None:
    alone = asked(clock="count")
    assert alone.params["vcpus"] == 1 and "vcpus" not in command_of(alone)
    assert [c.sharing for c in conditions(alone)] == [1, 1]
    for number in (2, 4):  # 2 is the default of the wall clock
        several = asked(clock="count", settings=(f"vcpus={number}",), shift="3")
        assert several.params["vcpus"] == number
        assert f"--set vcpus={number} " in command_of(several)
        assert [c.sharing for c in conditions(several)] == [number]
        assert several.metrics is not None and "ops_per_s" in several.metrics
    swept = asked(clock="count", sweep="vcpus=1,4", shift="0")
    assert [c.sharing for c in conditions(swept)] == [1, 4]
    assert [c.sharing for c in conditions(asked(settings=("vcpus=4",)))] == [1]


def test_a_workload_whose_numbers_take_a_trace_has_no_several_vcpus() -> None:
    with pytest.raises(InputError, match="needs a trace"):
        untraced(load(SLUG), "no such workload")


def test_the_command_gives_the_same_again() -> None:
    plan = asked(
        arms="rwsem,srcu", clock="count", settings=("hogs=9",), sweep="seconds=1,2", shift="3"
    )
    command = command_of(plan)
    assert command == (
        "./duet measure 02-grace-periods --arms rwsem,srcu --workload storm --clock count "
        "--set hogs=9 --sweep seconds=1,2 --repeats 2 --shift 3"
    )


def test_layouts_are_asked_for_by_number_and_one_is_off() -> None:
    assert asked().layouts == asked(layouts="1").layouts == 0
    assert "--layouts" not in command_of(asked(layouts="1"))
    assert asked(layouts=" 5 ").layouts == 5
    assert command_of(asked(layouts="7")).endswith("--repeats 5 --layouts 7")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"arms": "rwsem"}, "a comparison needs two arms, but got only 'rwsem'"),
        ({"arms": "rwsem,srcy"}, "has no arm 'srcy' (did you mean 'srcu'?)"),
        ({"arms": "srcu,srcu"}, "an arm was named twice"),
        ({"arms": " , "}, "--arms needs names separated by commas, but got ' , '"),
        ({"repeats": "0"}, "--repeats needs 1 to 100 runs per arm, but got 0"),
        ({"repeats": "-3"}, "--repeats needs 1 to 100 runs per arm, but got -3"),
        ({"repeats": "five"}, "--repeats needs 1 to 100 runs per arm, but got five"),
        ({"repeats": ""}, "--repeats needs 1 to 100 runs per arm, but got nothing"),
        ({"sweep": ""}, "--sweep needs NAME=VALUE,VALUE, but got ''"),
        ({"sweep": "=1,2"}, "--sweep needs NAME=VALUE,VALUE, but got '=1,2'"),
        ({"sweep": "hogs=1,2", "settings": ("hogs=3",)}, "'hogs' is both set and swept"),
        ({"sweep": "hogs"}, "--sweep needs NAME=VALUE,VALUE"),
        ({"sweep": "hogs="}, "--sweep needs NAME=VALUE,VALUE"),
        ({"sweep": "hogs=1,x"}, "--sweep hogs needs whole numbers"),
        ({"sweep": "hogs=1,1"}, "--sweep hogs has a duplicate value"),
        ({"sweep": "hogs=1,99"}, "parameter 'hogs' must be from 1 to 9, not 99"),
        ({"sweep": "hog=1,2"}, "has no parameter 'hog' (did you mean 'hogs'?)"),
        ({"settings": ("vcpus=5",), "clock": "count"}, "'vcpus' must be from 1 to 4, not 5"),
        ({"shift": "3"}, "--shift sets the nanoseconds per instruction of the count clock"),
        ({"shift": "11", "clock": "count"}, "--shift needs numbers from 0 to 10"),
        ({"shift": "0,0", "clock": "count"}, "--shift has a duplicate value"),
        ({"layouts": "4"}, "--layouts needs 5 to 30 links of each arm, but got 4"),
        ({"layouts": "0"}, "--layouts needs 5 to 30 links of each arm, but got 0"),
        ({"layouts": "31"}, "--layouts needs 5 to 30 links of each arm, but got 31"),
        ({"layouts": "-5"}, "--layouts needs 5 to 30 links of each arm, but got -5"),
        ({"layouts": ""}, "--layouts needs 5 to 30 links of each arm, but got nothing"),
        ({"clock": "sun"}, "does not run on the clock 'sun'"),
        ({"workload": "fio"}, "there is no workload 'fio'"),
        ({"settings": ("hogs",)}, "--set needs NAME=NUMBER"),
        ({"settings": ("hogs=99",)}, "parameter 'hogs' must be from 1 to 9, not 99"),
        ({"settings": ("hogs=1", "hogs=2")}, "--set gives 'hogs' two values, 1 and 2"),
    ],
)
def test_bad_input_is_reported_in_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        asked(**given)
    assert sentence in caught.value.sentence
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "a measurement needs a lesson"),
        (["02-grace-period"], "there is no lesson '02-grace-period' (did you mean '02-grace-per"),
        (["05-cacheline-pingpong", "--clock", "count"], "does not run on the clock 'count', which"),
        ([SLUG, "--format", "xml"], "there is no format 'xml'"),
        ([SLUG, "--output", "/nowhere/x"], "x cannot be written (No such file or directory)"),
        ([SLUG, "--output", "/"], "--output / cannot be written"),
        ([SLUG, "--format", "sweep"], "--format sweep shows a swept knob"),
        (["--all"], "--all needs --published"),
        (
            [SLUG, "--all", "--published"],
            "--all means every lesson, but 02-grace-periods",
        ),
        (["--published", "--clock", "wall"], "from the lessons' own `published:`"),
        (["--published", "--layouts", "5"], "from the lessons' own `published:`"),
        (["--all", "--published", "--repeats", "0"], "from the lessons' own `published:`"),
        (["--all", "--published", "--output", "/nowhere/x"], "/nowhere/x cannot be written"),
        (["--all", "--published", "--format", "lkp"], "makes one table and has no format 'lkp'"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_that_can_be_written_is_left_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("of yesterday")
    for file in (old, new):
        assert main(["measure", SLUG, "--arms", "srcu", "--output", str(file)]) == 2
        assert "two arms" in capsys.readouterr().err
    assert old.read_text() == "of yesterday"
    assert not new.exists()


def test_a_report_whose_file_went_away_stands_on_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_report("numbers", tmp_path / "gone" / "x") == 3
    reported = capsys.readouterr()
    assert reported.out == "numbers\n"
    assert reported.err.startswith("error: the report could not be written to ")
    assert write_report("numbers", tmp_path / "x") == 0
    assert (tmp_path / "x").read_text() == "numbers\n"


def test_a_kernel_that_is_not_built_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "kernel_sources", not_built)
    assert main(["measure", SLUG]) == 3
    reported = capsys.readouterr()
    # Which one comes first depends on what is built here.
    assert re.match(
        r"error: the kernel of [a-z-]+ is not built yet\.\nremedy: Run \./duet b", reported.err
    )
    assert reported.out == ""


async def not_built(*_: Any) -> Any:
    raise InfraError("the kernel of rwsem is not built yet.", remedy="Run ./duet build 02.")


def test_an_error_is_json_where_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", SLUG, "--arms", "srcu", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "input"


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    main(["measure", "--help"])
    text = capsys.readouterr().out
    for key in ("comparisons", "perturbed", "--published", "--sweep"):
        assert key in text
