# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson that was started is whole: the lint finds only what is to be replaced."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels.recipe import patched_files
from duet.lessons import load
from duet.lessons.author import next_steps, start
from duet.lint.lessons import lint

SLUG = "06-of-a-test"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that DUET_LESSONS names."""
    (tmp_path / "lessons").mkdir()
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path))
    return tmp_path


def test_the_lint_finds_nothing_but_what_is_to_be_replaced(mine: Path) -> None:
    made = start(SLUG, mine)
    assert made.known and made.place.folder == mine / "lessons" / SLUG
    found = lint([SLUG])
    assert {one.sentence for one in found.problems} == {
        "this is still the template's title",
        "this is still the template's question",
        "this is still the template's summary",
        "this is still the template's text",
        "this is still the template's caveat",
    }
    texts = [one for one in found.problems if one.sentence.endswith("text")]
    assert [one.file.endswith("content.md") for one in texts] == [True] * 5


def test_it_has_two_kernels_and_programs_with_names_of_their_own(mine: Path) -> None:
    made = start(SLUG, mine)
    folder = load.load(SLUG)
    own = [folder.patch_files(arm.name) for arm in folder.lesson.arms]
    assert [len(patches) for patches in own] == [0, 1]
    assert patched_files(own[1][0].read_text()) == ["kernel/time/hrtimer.c"]
    assert made.program == "nap06"
    programs = {path.name for path in (folder.folder / "workload").iterdir()}
    assert programs == {"nap06.c", "nap06-sh.sh"}
    assert {one.run.split()[0] for one in folder.lesson.workloads.values()} == {"nap06", "nap06-sh"}


def test_its_programs_print_what_its_metrics_read(mine: Path, tmp_path: Path) -> None:
    folder = load.load(start(SLUG, mine).slug)
    source, program = folder.folder / "workload", tmp_path / "nap06"
    subprocess.run(["gcc", "-O2", "-o", program, source / "nap06.c"], check=True, timeout=60)
    for words in ([program, "--sleepers", "2", "--naps", "3"], ["sh", source / "nap06-sh.sh", "2"]):
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        (line,) = done.stdout.splitlines()
        lines = {"metric": folder.lesson.metrics["ops_per_s"].line}
        lines |= {name: one.ops_line for name, one in folder.lesson.workloads.items()}
        assert re.search(lines["metric"] or "", line)
        assert sum(re.search(one or "", line) is not None for one in lines.values()) == 2


def test_commands_that_follow_are_said_with_the_folder_that_they_need(tmp_path: Path) -> None:
    made = start(SLUG, tmp_path / "new")
    assert not made.known
    assert f"export DUET_LESSONS={tmp_path / 'new'}" in next_steps(made)
    assert f"./duet build {SLUG}" in next_steps(made)


def test_a_name_that_is_taken_or_none_is_refused(mine: Path) -> None:
    start(SLUG, mine)
    with pytest.raises(InputError, match=f"{SLUG} exists already: "):
        start(SLUG, mine)
    with pytest.raises(InputError, match="02-grace-periods exists already: "):
        start("02-grace-periods", mine)
    with pytest.raises(InputError, match="must have the form 06-my-question, not 'open files'"):
        start("open files", mine)
