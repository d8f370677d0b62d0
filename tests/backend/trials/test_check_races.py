# SPDX-License-Identifier: GPL-2.0-or-later
"""Data races in a check: what KCSAN says, and which races count against a patch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from duet.base.settings import EXTRA_LESSONS
from duet.cli import trial_run
from duet.cli.check import CheckRequest, finish, read_check
from duet.cli.output import BAD
from duet.kernels.changed import changes
from duet.trials.ask import Asked
from duet.trials.check.races import functions_of, read, sort
from duet.trials.spec import Trial
from tests.backend.trials.made import PATCH
from tests.backend.trials.test_check import QUIET, SPLAT, images

RULE = "=" * 66


def report(one: str, two: str, *, caller: str = "vfs_read") -> str:
    """As kernel/kcsan/report.c prints it."""
    lines = [
        RULE,
        f"BUG: KCSAN: data-race in {one} / {two}",
        "",
        "write to 0xffff888003d5a4f0 of 4 bytes by task 77 on cpu 1:",
        f" {one}.isra.0+0x31/0x90",
        f" {caller}+0x1f2/0x4a0",
        " ksys_write+0x11/0x40",
        "",
        "read (marked) to 0xffff888003d5a4f0 of 4 bytes by task 78 on cpu 0:",
        f" {two}+0x14/0x30",
        " do_syscall_64+0x3a/0x90",
        "",
        "value changed: 0x00000001 -> 0x00000002",
        "",
        "Reported by Kernel Concurrency Sanitizer on:",
        "CPU: 0 PID: 78 Comm: sh Not tainted 6.1.176 #1",
        RULE,
    ]
    return "".join(f"[   12.345678] {line}\n" for line in lines)


OURS = report("pipe_count", "pipe_poll")
OTHER = report("shrink_lruvec", "folio_lruvec")


def test_a_race_has_a_title_and_the_innermost_functions_of_both_sides() -> None:
    race, other = read((OURS + OTHER).replace("\n", "\r\n"))
    assert race.title == "data-race in pipe_count / pipe_poll"
    assert race.functions == {"pipe_count", "vfs_read", "pipe_poll", "do_syscall_64"}
    assert "ksys_write" not in race.functions and "pipe_count" not in other.functions


def test_what_the_base_shows_and_what_lies_elsewhere_does_not_count() -> None:
    races = read(OURS + OURS + OTHER)
    assert sort(races, (), {"pipe_poll"}).new == ("data-race in pipe_count / pipe_poll",)
    assert sort(races, (), {"pipe_poll"}).elsewhere == (other_title := read(OTHER)[0].title,)
    again = sort(races, read(OURS), {"pipe_poll"})
    assert again.new == () and len(again.known) == 1 and again.elsewhere == (other_title,)
    helper = read(report("__list_add_valid", "memcpy", caller="pipe_write"))
    assert sort(helper, (), {"pipe_write"}).new, "a helper's caller is the place"


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path))
    monkeypatch.setenv(EXTRA_LESSONS, "")
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep", "sh"}))
    return read_check(Asked(run="", patches=(PATCH,)))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    source = tmp_path / "src/fs/pipe.c"
    source.parent.mkdir(parents=True)
    source.write_text("static __poll_t\npipe_poll(struct file *f, poll_table *wait)\n{\n}\n")
    return tmp_path / "src"


def test_functions_are_those_of_the_files_and_of_the_patch(trial: Trial, tree: Path) -> None:
    patches = trial.arms[1].patches
    named = functions_of(patches, tree / "nowhere")
    assert named == {change.function for change in changes(patches[0].diff)} != set()
    assert functions_of(patches, tree) == named | {"pipe_poll"}


def test_the_base_runs_only_if_a_race_may_count(
    trial: Trial, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = CheckRequest(Asked(run=""), 60, True, races=True)
    ran: list[str] = []

    def run(consoles: dict[str, str]) -> int:
        ran.clear()

        def boot(arm: str, program: str) -> str:
            ran.append(arm)
            return consoles[arm]

        return finish(what, trial, tmp_path, images(trial), boot, tree)

    assert run({"wake-all": OTHER + QUIET}) == 0 and ran == ["wake-all"]
    arm = json.loads(capsys.readouterr().out)["arms"][0]
    assert arm["races_elsewhere"] and not arm["complaints"]

    assert run({"wake-all": OURS + OTHER + QUIET, "stock": QUIET}) == BAD
    assert ran == ["wake-all", "stock"]
    arm = json.loads(capsys.readouterr().out)["arms"][0]
    assert len(arm["complaints"]) == 1 and "pipe_count / pipe_poll" in arm["complaints"][0]
    text = (tmp_path / "check.md").read_text()
    assert "write to 0xffff888003d5a4f0" in text and "other files: data-race in shrink" in text

    assert run({"wake-all": OURS + QUIET, "stock": OURS + QUIET}) == 0
    assert "the base has it too: data-race in pipe" in (tmp_path / "check.md").read_text()
    assert run({"wake-all": OTHER + SPLAT + QUIET}) == BAD, "other complaints count as ever"
