# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope's table: lines that travel come first, and are named by what is written there."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from duet.base.errors import InputError
from duet.cli.entry import main
from duet.cli.microscope.count import (
    UNNAMED,
    LineFilter,
    read_microscope_request,
    table_tree,
    write_table,
)
from duet.cli.microscope.predict import refuse_unknown
from duet.lenses.scope.coherence import stated
from duet.lenses.scope.wire import CELL, Cells
from duet.lessons.load import load
from duet.session import ScopeResult

LESSON = "05-cacheline-pingpong"
DENTRY = 0xFFFF_8880_0123_4580
STACK = 0xFFFF_C900_0036_7C40
OTHER_STACK = 0xFFFF_C900_0099_0000
FUNCTIONS = load(LESSON).lesson.microscope.functions  # type: ignore[union-attr]
LOOKUP = FUNCTIONS.index("__d_lookup_rcu")
GET = FUNCTIONS.index("lockref_get_not_dead")
PUT = FUNCTIONS.index("lockref_put_or_lock")
KNOWN = ((0, "d_flags"), (56, "d_iname"), (88, "d_lockref"), (96, "d_op"))


def cell(at: int, function: int, cpus: int, inside: int = 1, **counts: int) -> tuple[Any, ...]:
    named = [counts.get(name, 0) for name in ("reads", "writes", "rmws")]
    return (at, function, inside, 8, cpus, *named)


def result(ended: int = 11, touching: int = 10, **broken: int) -> ScopeResult:
    rows = [
        cell(DENTRY + 72, LOOKUP, 3, reads=20),
        cell(DENTRY + 88, GET, 3, reads=10, rmws=12),
        cell(DENTRY + 88, PUT, 3, inside=0, rmws=1),
        cell(DENTRY, LOOKUP, 3, reads=100),
        cell(STACK, 0, 3, reads=5, writes=900),
        cell(STACK + 8, 0, 3, writes=1),
        cell(OTHER_STACK, 0, 3, writes=800),
        cell(0x5F0040, 0, 1, reads=3),
    ]
    cells = np.array(rows, CELL)
    why = [broken.get(name, 0) for name in ("ops_slept", "ops_left", "ops_again")]
    begun = ended + sum(why)
    counts = Cells(0, 0, 0, 0, 1851, 0, begun, ended, touching, *why, True, True, cells, cells[:0])
    names = {STACK: "task stack: 39 (statstorm-0)"}
    return ScopeResult(counts, names, (DENTRY, 192), KNOWN)


def tree(top: int = 9, only: LineFilter | None = None, **counts: int) -> dict[str, Any]:
    request, microscope = read_microscope_request((LESSON, "", "", []), "", "")
    return table_tree(request, microscope, result(**counts), top, only)


def table(capsys: pytest.CaptureFixture[str], **counts: int) -> str:
    write_table(tree(**counts), [])
    return capsys.readouterr().out


def test_the_line_that_is_shared_and_written_comes_first() -> None:
    lines = tree()["lines"]
    first = lines[0]
    assert (first["line"], first["field"]) == (f"{DENTRY + 64:#x}", "d_lockref")
    assert (first["shared"], first["cpus"]) == (True, 2)
    per_op = [first[name] for name in ("reads_per_op", "writes_per_op", "rmw_per_op")]
    assert per_op == [3.0, 0.0, 1.2], "an operation is one that touched the object"
    assert first["rmws"] == 13
    assert first["by_function"]["__d_lookup_rcu"]["reads_per_op"] == 2
    assert first["by_function"]["lockref_get_not_dead"]["rmw_per_op"] == 1.2
    assert first["fields"]["d_iname"] == {
        **{"reads": 20, "writes": 0, "rmws": 0},
        **{"reads_per_op": 2, "writes_per_op": 0, "rmw_per_op": 0, "outside": 0},
    }


def test_stacks_are_counted_and_not_listed_and_what_may_be_one_comes_late() -> None:
    whole = tree()
    assert (whole["stack_lines"], whole["stack_accesses"], whole["all_lines"]) == (1, 906, 5)
    fields = [line["field"] for line in whole["lines"]]
    assert fields == ["d_lockref", "d_flags", "user memory", UNNAMED]
    assert (whole["unnamed_lines"], whole["unnamed_accesses"]) == (1, 800)


def test_stacks_without_a_name_hide_no_line_and_are_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where the x-ray names nothing, every stack is one, and the table is of `--top` lines."""
    whole = replace(result(), names={})
    request, microscope = read_microscope_request((LESSON, "", "", []), "", "")
    found = table_tree(request, microscope, whole, 3)
    assert [line["field"] for line in found["lines"]] == ["d_lockref", "d_flags", "user memory"]  # type: ignore[attr-defined]
    write_table(found, [])
    said = capsys.readouterr().out
    assert "0 of them named stacks, with 0, and 2 without a name in the vmalloc area" in said
    assert "(stacks, as a rule), with 1,706" in said


def test_the_table_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tree(top=1), ["statstorm: done"])
    text = capsys.readouterr().out
    assert "10 operations" in text
    assert "per vfs_statx()" in text
    (line,) = [line for line in text.splitlines() if "d_lockref" in line]
    assert line.split()[:5] == [f"{DENTRY + 64:#x}", "2", "3", "0", "1.2"]
    assert text.endswith("statstorm: done\n")


def test_what_no_operation_did_has_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    whole = tree()
    first = whole["lines"][0]
    assert (whole["outside"], first["outside"], first["fields"]["d_lockref"]["outside"]) == (
        1,
        1,
        1,
    )
    put = first["by_function"]["lockref_put_or_lock"]
    assert (put["rmws"], put["rmw_per_op"], put["outside"]) == (1, 0, 1)
    text = table(capsys)
    (head,) = [line for line in text.splitlines() if "vCPUs" in line]
    assert head.split()[2:6] == ["reads", "writes", "rmw", "outside"]
    (line,) = [line for line in text.splitlines() if "by lockref_put_or_lock" in line]
    assert line.split()[:4] == ["0", "0", "0", "1"]
    assert "accesses of no operation: 1 in all" in text


def test_broken_operations_have_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert tree(ops_slept=2, ops_again=1)["broken_by"] == {
        **{"ops_slept": 2, "ops_left": 0, "ops_again": 1}
    }
    text = table(capsys, ops_slept=2, ops_again=1)
    assert (
        "10 operations; 3 more were incomplete: 2 slept or were preempted, 1 entered again" in text
    )


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"ended": 0, "ops_left": 1047}, "none of 1,047 calls of vfs_statx() was seen to return: "),
        ({"ended": 0, "ops_left": 1047}, "1,047 left by a jump to another function (a tail call)"),
        ({"ended": 0}, "vfs_statx() was not called. Choose"),
        ({"ended": 7}, "none of 7 calls of vfs_statx() touched the watched object"),
    ],
)
def test_without_a_whole_operation_nothing_is_given_per_operation(
    counts: dict[str, int], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = table(capsys, touching=0, **counts)
    assert text.splitlines()[0].endswith(": loads and stores, counted")
    assert text.splitlines()[1].startswith("There are no figures per operation: ") and why in text
    whole = tree(touching=0, **counts)
    assert why in whole["no_operation"]
    assert whole["lines"][0]["rmw_per_op"] is None
    assert tree()["no_operation"] is None


def test_functions_may_be_chosen_and_the_operation_is_looked_at_too() -> None:
    _, microscope = read_microscope_request(
        (LESSON, "moved", "exact", []), "dput,dput", "vfs_statx"
    )
    assert (microscope.functions, microscope.operation, microscope.aim) == (
        ("dput", "vfs_statx"),
        "vfs_statx",
        None,
    )
    request, microscope = read_microscope_request((LESSON, "", "", []), "", "")
    assert (request.arms, request.workload) == (("stock",), "watched")
    assert microscope.aim is not None


def test_an_operation_goes_from_one_function_to_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    request, microscope = read_microscope_request(
        (LESSON, "", "", []), "dput", "do_sys_openat2..task_work_run"
    )
    assert microscope.functions == ("dput", "do_sys_openat2", "task_work_run")
    assert (microscope.operation, microscope.until) == ("do_sys_openat2", "task_work_run")
    microscope = replace(microscope, functions=FUNCTIONS)
    whole = table_tree(request, microscope, result(), 9)
    assert (whole["operation"], whole["until"]) == ("do_sys_openat2", "task_work_run")
    write_table(whole, [])
    head = capsys.readouterr().out.splitlines()[0]
    assert head.endswith("counted per do_sys_openat2() to task_work_run()")
    none = table_tree(request, microscope, result(ended=0, touching=0, ops_left=9), 9)[
        "no_operation"
    ]
    assert "was seen to go on to the return of task_work_run()" in str(none)
    assert "the caller of task_work_run()." in str(none)
    # Without --functions the lesson's own are looked at, with the operation that was asked for.
    _, microscope = read_microscope_request((LESSON, "", "", []), "", "dput")
    assert (microscope.operation, microscope.functions) == ("dput", FUNCTIONS)
    with pytest.raises(InputError, match="needs a function before and after"):
        read_microscope_request((LESSON, "", "", []), "", "dput..")


def test_only_the_lines_of_a_variable_or_of_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    field = LineFilter("dentry.d_lockref", (), "d_lockref")
    (line,) = tree(only=field, top=1)["lines"]
    assert line["line"] == f"{DENTRY + 64:#x}"
    # Also where the line is not among the busiest, and where a variable lies on two lines.
    both = tree(only=LineFilter("table", ((STACK - 8, OTHER_STACK),)), top=1)
    assert [one["line"] for one in both["lines"]] == [f"{STACK:#x}"]
    place = {"address": f"{STACK - 8:#x}", "bytes": OTHER_STACK - STACK + 8}
    assert both["line_of"] == {"name": "table", "places": [place]}
    write_table(
        tree(only=LineFilter("nr_files", ((0xFFFF_FFFF_8200_0000, 0xFFFF_FFFF_8200_0008),))), []
    )
    text = capsys.readouterr().out
    assert (
        "None of these functions touched a line of nr_files (8 bytes at 0xffffffff82000000)."
        in text
    )
    assert "what lies there" not in text
    with pytest.raises(InputError, match="has no field 'd_nothing'"):
        tree(only=LineFilter("dentry.d_nothing", (), "d_nothing"))


def test_a_lesson_without_functions_asks_for_them() -> None:
    with pytest.raises(InputError, match="names no functions for the microscope"):
        read_microscope_request(("01-shrinker-bitmaps", "", "", []), "", "")


def test_an_unknown_arm_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["microscope", LESSON, "--arm", "none", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "none" in error["sentence"]


def test_no_rate_is_predicted_of_functions_that_the_model_does_not_know() -> None:
    known = stated()["counted"]["at"]
    refuse_unknown(["dput", "lookup_fast", "dput"], known)
    with pytest.raises(InputError, match="access memory: fput, file_free"):
        refuse_unknown(["dput", "fput", "file_free", "fput"], known)
