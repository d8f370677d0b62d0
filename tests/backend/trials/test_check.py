# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check runs for a patch, and what it makes of the console. Its guest is a function."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from duet.base.settings import EXTRA_LESSONS
from duet.cli import entry, trial_run
from duet.cli.check import CheckRequest, finish, plan_of, read_check
from duet.cli.output import BAD, STOP, UNKNOWN
from duet.kernels import KernelImage
from duet.kernels.compiler import CompileFails
from duet.trials.ask import Asked
from duet.trials.check.chosen import ROWS, SCRIPTS, plan, script
from duet.trials.check.console import first_complaint, judge
from duet.trials.check.machine import first_program
from duet.trials.spec import Trial
from tests.backend.trials.commits import commits
from tests.backend.trials.made import PATCH

QUIET = """\
[    0.000000] Linux version 6.1
[    0.012000] ... MAX_LOCKDEP_SUBCLASSES:  8
[    0.088281] kcsan: non-strict mode configured - use CONFIG_KCSAN_STRICT=y to see all data races
stress: begin Slab: 1 kB
stress: beside=3
stress: beside=4
stress: end rounds=2
"""
SPLAT = """\
[    9.100000] ==================================================================
[    9.200000] BUG: KASAN: use-after-free in pipe_read+0x1/0x2
[    9.300000] Read of size 8 at addr ffff888000000000 by task sh/77
[    9.400000] Call Trace:
"""


@pytest.mark.parametrize(
    ("files", "prefixes"),
    [
        (["fs/xfs/xfs_icache.c", "fs/xfs/xfs_inode.h"], ("fs/xfs/",)),
        (["fs/ext4/extents_status.c"], ("fs/ext4/",)),
        (["fs/exec.c"], ("fs/",)),
        (["mm/vmscan.c", "mm/slub.c"], ("mm/", "mm/slub.c")),
        (["kernel/rcu/srcutree.c"], ("kernel/rcu/",)),
        (["kernel/cpu.c", "include/linux/cpu.h"], ("kernel/", "include/")),
    ],
)
def test_a_file_is_exercised_by_the_row_of_its_longest_prefix(
    files: list[str], prefixes: tuple[str, ...]
) -> None:
    found = plan(files)
    assert found.prefixes == prefixes and found.unmatched == ()
    assert found.stressors or found.scripts


def test_files_that_nothing_exercises_are_named_and_texts_are_left_out() -> None:
    found = plan(["drivers/gpu/drm/drm_drv.c", "Documentation/mm/index.rst", "mm/Makefile"])
    assert found.unmatched == ("drivers/gpu/drm/drm_drv.c",)
    assert found.stressors == () == found.scripts


def test_nothing_runs_twice() -> None:
    found = plan(["mm/vmscan.c", "mm/slub.c", "lib/lockref.c", "include/linux/mm.h", "fs/stat.c"])
    assert len(set(found.stressors)) == len(found.stressors)
    assert len(set(found.scripts)) == len(found.scripts)


def test_every_row_names_scripts_and_stressors_that_exist() -> None:
    assert len({row.prefix for row in ROWS}) == len(ROWS)
    named = {name for row in ROWS for name in row.scripts}
    assert named == {path.stem for path in SCRIPTS.glob("*.sh")}
    program = shutil.which("stress-ng")
    if program is None:
        pytest.skip("there is no stress-ng")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    options = {w for row in ROWS for text in row.stressors for w in text.split() if w[0] == "-"}
    assert [option for option in sorted(options) if f"{option} N" not in done.stdout] == []


def test_the_first_program_is_a_shell_script_with_everything_in_it() -> None:
    beside = {path.stem: script(path.stem) for path in SCRIPTS.glob("*.sh")}
    text = first_program(["stressors --vm 2", "try mine"], beside, 60)
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "over || stressors --vm 2\n" in text and "uptime_s) + 60" in text
    assert all(f"loop_beside {name}\n) &" in text for name in beside)
    assert "over || sleep 1" in first_program([], {}, 60)


def test_loops_beside_do_not_see_each_others_functions(tmp_path: Path) -> None:
    text = first_program(
        ["sleep 0.2"], {"a": "beside() { echo in-a; sleep 0.1; }", "b": "beside() { false; }"}, 1
    )
    one, two = (first_program([], {name: "beside() { : >/run/x; }"}, 1) for name in ("a", "b"))
    assert ": >/run/a/x" in one and ": >/run/b/x" in two and "mkdir -p /run/a\n" in one
    assert "[ ! -e /run/over ]" in one, "what ends the loops is common"
    # The same script on this machine, without what needs to be the first program of a guest.
    text = text.replace("/run/", f"{tmp_path}/").replace("echo 2 >/proc/sys/vm/drop_caches", ":")
    body = text[text.index("uptime_s()") : text.index("echo 3 >")].replace("wait\n", "sleep 1\n")
    done = subprocess.run(
        ["timeout", "20", "sh"], input=body, text=True, capture_output=True, check=False
    )
    assert "in-a" in done.stdout and "stress: failed: b" in done.stdout
    assert "stress: failed: a" not in done.stdout


def test_a_console_is_judged_by_what_the_kernel_says() -> None:
    assert judge(QUIET).clean and judge(QUIET).work == {"rounds beside": 7}
    bad = judge(QUIET.replace("stress: beside=3\n", SPLAT))
    assert bad.complaints == (SPLAT.splitlines()[1],) and not bad.clean
    trace = "[    9.500000]  ? lockdep_hardirqs_on_prepare+0x273/0x3e0\n"
    assert judge(QUIET.replace("stress: beside=3\n", trace)).clean, "a function, no complaint"
    hung = judge(QUIET.partition("stress: end")[0])
    assert hung.rounds is None and not hung.clean
    assert first_complaint(QUIET + SPLAT).splitlines()[2] == SPLAT.splitlines()[3]


@pytest.mark.parametrize("noise", ["possible " * 20_000, "ok 1 " + " " * 200_000, "9" * 200_000])
def test_a_console_that_was_made_to_be_slow_is_judged_soon(noise: str) -> None:
    began = time.process_time()
    found = judge(f"[    1.000000] {noise}\nstress: end rounds={noise}\n{QUIET}")
    assert found.rounds == 2 and time.process_time() - began < 20


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path))
    monkeypatch.setenv(EXTRA_LESSONS, "")  # check() adds its own, and that ends with the test
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep", "sh"}))
    return read_check(Asked(run="", patches=(PATCH,)))


def images(trial: Trial) -> dict[str, KernelImage]:
    """A kernel that is none, for each arm."""
    image = SimpleNamespace(key="k" * 24, manifest=SimpleNamespace(kernel_version="6.1.1"))
    return {arm.name: cast(KernelImage, image) for arm in trial.arms}


def test_a_patch_gets_the_stress_of_its_files(
    trial: Trial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, str]] = []

    def run(arm: str, program: str) -> str:
        seen.append((arm, program))
        return QUIET

    assert plan_of(trial.arms[1]).prefixes == ("fs/pipe.c",)
    assert finish(CheckRequest(Asked(run=""), 60, True), trial, tmp_path, images(trial), run) == 0
    assert [arm for arm, _ in seen] == ["wake-all"], "the base is not the question"
    assert "stressors --pipe 2" in seen[0][1] and "sleep 0\n" not in seen[0][1]
    result = json.loads(capsys.readouterr().out)
    assert result["clean"] and result["command"] is None
    assert result["arms"][0]["exercised"] == ["fs/pipe.c"] and result["arms"][0]["rounds"] == 2
    assert json.loads((tmp_path / "check.json").read_text()) == result
    assert "wake-all: clean" in (tmp_path / "check.md").read_text()
    assert (tmp_path / "wake-all.console").read_text() == QUIET


@pytest.mark.parametrize(
    ("console", "words"),
    [
        (QUIET + SPLAT, "1 complaint of the kernel"),
        (QUIET + "stress: failed (1): mine\n", "1 failed program"),
        (QUIET.partition("stress: end")[0], "the guest did not finish"),
    ],
)
def test_what_is_found_is_reported_and_ends_with_1(
    trial: Trial, tmp_path: Path, console: str, words: str
) -> None:
    what = CheckRequest(Asked(run=""), 60)
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: console) == BAD
    report = (tmp_path / "check.md").read_text()
    assert words in report
    assert ("KASAN: use-after-free" in report) == (SPLAT in console)
    assert ("Read of size 8" in report) == (SPLAT in console), "the lines after it belong to it"


def test_a_kernel_that_does_not_boot_is_not_judged_unless_it_says_why(
    trial: Trial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent, loud = QUIET.splitlines()[0] + "\n", SPLAT
    what = CheckRequest(Asked(run=""), 60, True)
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: silent) == UNKNOWN
    result = json.loads(capsys.readouterr().out)
    assert not result["clean"] and not result["arms"][0]["judged"]
    assert "wake-all: not judged: the guest did not boot" in (tmp_path / "check.md").read_text()
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: loud) == BAD
    assert json.loads(capsys.readouterr().out)["arms"][0]["judged"]


ENDED_127 = """\
run-check-wake-all: the command ended with status 127
stress: failed (127): timeout 600 run-check-wake-all 1
"""


@pytest.mark.parametrize(
    "said",
    [
        f"sh: ./repro: not found\n{ENDED_127}",
        "sh: ./repro: not found\n",  # with `; true` behind it
        "sh: ./repro: Permission denied\n",
        f"sh: can't open 'x.sh': No such file or directory\n{ENDED_127.replace('127', '2')}",
        f"timeout: can't execute './repro': No such file or directory\n{ENDED_127}",
        f"taskset: failed to execute ./repro: No such file or directory\n{ENDED_127}",
        ENDED_127,
    ],
)
def test_a_command_that_never_ran_is_no_judgement(
    trial: Trial, tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    what = CheckRequest(Asked(run=""), 60, True)
    console = QUIET.replace("stress: beside=3\n", said)
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: console) == UNKNOWN
    (arm,) = json.loads(capsys.readouterr().out)["arms"]
    assert not arm["clean"] and not arm["judged"]
    assert arm["found"].startswith(f"not judged: the command never ran ({said.splitlines()[0]}")
    loud = console + SPLAT
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: loud) == BAD


def test_a_program_that_misses_another_has_run(trial: Trial, tmp_path: Path) -> None:
    console = QUIET.replace("stress: beside=3\n", "./run.sh: line 3: modprobe: not found\n")
    what = CheckRequest(Asked(run=""), 60)
    assert finish(what, trial, tmp_path, images(trial), lambda arm, text: console) == 0


def test_the_shell_of_a_guest_says_of_a_missing_program_what_the_check_reads() -> None:
    for line in ("./missing; true", "timeout 5 ./missing", "/etc/passwd", "sh ./missing.sh"):
        done = subprocess.run(["busybox", "sh", "-c", line], capture_output=True, text=True)
        assert judge(QUIET + done.stderr).never_ran, done.stderr


def test_a_kernel_that_does_not_build_is_neither(
    trial: Trial, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise CompileFails("fs/pipe.c does not compile.", remedy="Correct it.")

    monkeypatch.setattr(trial_run, "install_sources", lambda *_: None)
    monkeypatch.setattr(trial_run, "build_missing", refuse)
    assert entry.main(["check", str(PATCH), "--run", "sh -c true"]) == UNKNOWN
    assert "does not compile" in capsys.readouterr().err


def test_a_check_without_a_patch_is_refused(
    trial: Trial, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(["check"]) == STOP
    assert "error: " in capsys.readouterr().err
    assert replace(trial, name="x").name == "x" and trial.name == "check-wake-all"


def test_its_report_names_commits_and_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path / "trials"))
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep"}))
    repository = tmp_path / "linux"
    first, second, third = commits(repository, [1, 2, 3])
    tree = Path(f"{repository}@{first}")
    asked = Asked(run="", trees=(tree,), commits=("main~1..main",), repository=repository)
    made = read_check(asked)
    what = CheckRequest(asked, 60, True)
    assert finish(what, made, tmp_path, images(made), lambda arm, text: QUIET) == 0
    (arm,) = json.loads(capsys.readouterr().out)["arms"]
    (patch,) = arm["made_of"]
    assert (arm["source"]["commit"], patch["commit"]) == (first, third) != second
    report = (tmp_path / "check.md").read_text()
    assert f"made of source 6.6.7 at commit {first[:12]}, clean" in report
    assert f"commit {third[:12]}, sha256 of the diff {patch['sha256'][:12]}" in report
    assert "of \\`all\\` | some" in report
