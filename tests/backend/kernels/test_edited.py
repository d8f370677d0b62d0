# SPDX-License-Identifier: GPL-2.0-or-later
"""What two arms differ in: whole files, before and after."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings
from duet.kernels.changed import (
    Change,
    EditedFile,
    FieldChange,
    changes,
    edited_files,
    field_changes,
)
from duet.kernels.rehearsal import rehearse
from tests.support.miniature import make_settings, patch, replace

BEFORE = """\
struct toy {
\tint old;
};

static int first(struct toy *toy)
{
\treturn toy->old;
}

/*
 * what (does) it do
 */
static ssize_t
second(struct toy *toy)
{
\tint a = 1;

\tif (toy)
\t\ta = 2;
\ta += 3;
\ta += 4;
\treturn a;
}
"""
STOCK = ArmSpec("02-toy", "stock", instrumented=False)


def test_a_function_is_found_without_words_behind_the_hunk() -> None:
    after = BEFORE.replace("\ta += 4;\n", "\ta += 5;\n").replace("\tint old;", "\tint old, new;")
    diff = EditedFile("fs/toy.c", BEFORE, after.replace(", new;", ";\n\tint new;")).diff()
    assert changes(diff) == [Change("fs/toy.c", "second")]
    assert field_changes(diff) == [FieldChange("toy", "new")]
    assert diff.count("@@ -1,23 +1,24 @@\n") == 1, "nothing stands behind it"


def test_a_function_that_is_gone_or_new_is_found() -> None:
    without = BEFORE[: BEFORE.index("static int first")] + BEFORE[BEFORE.index("/*") :]
    assert changes(EditedFile("fs/toy.c", BEFORE, without).diff()) == [Change("fs/toy.c", "first")]
    assert changes(EditedFile("fs/toy.c", without, BEFORE).diff()) == [Change("fs/toy.c", "first")]
    fresh = EditedFile("fs/new.c", None, BEFORE)
    assert [one.function for one in changes(fresh.diff())] == ["first", "second"]
    assert "--- /dev/null\n+++ b/fs/new.c" in fresh.diff()


def test_comments_and_blank_lines_are_no_change() -> None:
    one = EditedFile("fs/toy.c", BEFORE, BEFORE.replace("what (does)", "what (did)\n *\n *"))
    assert one.same_code and not one.same_text and one.changed_lines() == ([], [])
    other = EditedFile("fs/toy.c", BEFORE, BEFORE.replace("\tint a = 1;\n", "\tint a = 1;\n\n"))
    assert other.same_code and other.changed_lines() == ([], [])
    assert changes(other.diff()) == []
    both = EditedFile("fs/toy.c", BEFORE, BEFORE.replace("a += 3", "a += 7"))
    assert not both.same_code and both.changed_lines() == ([19], [19])


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    return make_settings(tmp_path, {**FILES, "fs/toy.c": BEFORE})


FILES = {"Makefile": "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\n", "mm/vmscan.c": "x\n" * 40}


def arm(settings: KernelSettings, name: str, *lines: int) -> ArmSpec:
    """An arm that changes these lines, each by a patch."""
    made = []
    for line in lines:
        path = settings.patches / "02-toy" / f"{line}.patch"
        path.write_text(patch("t", replace("fs/toy.c", BEFORE, line, f"\tline{line}();")))
        made.append(path)
    return ArmSpec("02-toy", name, tuple(made), instrumented=False)


def test_what_two_arms_share_is_no_difference(settings: KernelSettings) -> None:
    one, both = arm(settings, "one", 7), arm(settings, "both", 7, 19)
    assert edited_files(one, STOCK, settings) == (), "the source is not unpacked"
    rehearse([one], settings, lambda sentence: None)
    (edited,) = edited_files(both, one, settings)
    assert [c.function for c in changes(edited.diff())] == ["second"]
    (edited,) = edited_files(both, STOCK, settings)
    assert [c.function for c in changes(edited.diff())] == ["first", "second"]
    (edited,) = edited_files(both, changed(one, base="6.2"), settings)
    assert [c.function for c in changes(edited.diff())] == ["first", "second"], "another base"
    assert edited_files(one, one, settings) == ()
