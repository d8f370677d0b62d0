# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit codes of calls that judge a kernel: git bisect takes no trouble for a bad commit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.base.settings import EXTRA_LESSONS
from duet.cli import check as check_verb
from duet.cli import entry, trial_run
from duet.cli.output import BAD, GOOD, STOP, UNKNOWN, judges
from duet.kernels.compiler import CompileFails, OptionLost
from duet.kernels.diffs import PatchFails
from duet.kernels.image import SameKernel
from duet.measure.compare import Judgement
from duet.trials.trees import NotComparable
from tests.backend.trials.commits import commits, git

TRY = ["try", "a.patch", "--run", "x", "--worse-than", "5"]


def raising(error: BaseException) -> Callable[..., int]:
    def work(*_: object) -> int:
        raise error

    return work


@pytest.mark.parametrize("words", [["check", "a.patch"], TRY, [*TRY[:-2], "--worse-than=5"]])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CompileFails("x.", remedy="y"), UNKNOWN),
        (PatchFails("x.", remedy="y"), UNKNOWN),
        (OptionLost("x.", remedy="y"), UNKNOWN),
        (NotComparable("x.", remedy="y"), UNKNOWN),
        (KernelError("x.", remedy="y"), UNKNOWN),
        (InfraError("x.", remedy="y"), UNKNOWN),
        (InputError("x.", remedy="y"), STOP),
        (DuetError("x.", remedy="y"), STOP),
        (ValueError("a mistake of ours"), STOP),
        (BrokenPipeError(), STOP),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_trouble_ends_as_a_bad_commit(
    words: list[str], error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in ((check_verb, "check_kernels"), (trial_run, "run_trial")):
        monkeypatch.setattr(place, name, raising(error))
    assert entry.main(words) == code


def test_a_kernel_that_is_the_good_one_is_good_and_cannot_be_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place, name in ((check_verb, "check_kernels"), (trial_run, "run_trial")):
        monkeypatch.setattr(place, name, raising(SameKernel("x.", remedy="y")))
    assert entry.main(TRY) == GOOD
    assert entry.main(["check", "a.patch"]) == UNKNOWN
    assert entry.main(TRY[:4]) == InputError.exit_code


def test_a_call_that_is_not_usable_stops_a_bisection(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["check", "--no-such"], ["check", "no.patch"], [*TRY, "--no-such"], TRY):
        assert entry.main(words) == STOP > 127, words
    assert "See ./duet try --help." in capsys.readouterr().err
    for words in (TRY[:4], [*TRY[:4], "--no-such"], ["bisect"], ["run", "--worse-than", "5"]):
        assert entry.main(words) == InputError.exit_code and not judges(words), words


def test_a_commit_with_the_good_ones_source_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path / "trials"))
    monkeypatch.setenv(EXTRA_LESSONS, "")
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep"}))
    repository = tmp_path / "linux"
    (first,) = commits(repository, [1])
    git(repository, "commit", "-qm", "nothing", "--allow-empty")
    trees = [f"{repository}@{first}", f"{repository}@main"]
    assert entry.main(["check", "--tree", trees[0], "--tree", trees[1]]) == UNKNOWN


def test_the_judgements_of_numbers_have_the_same_codes() -> None:
    assert [Judgement.GOOD, Judgement.WORSE, Judgement.UNKNOWN] == [GOOD, BAD, UNKNOWN]


CHECK = """
import sys
from pathlib import Path
from duet.cli import check as verb, entry
from duet.base.errors import InfraError, InputError
from duet.kernels.compiler import CompileFails

def check(what):
    value = Path("value").read_text().strip()
    if value in ("0", "1"):
        return int(value)
    errors = {"build": CompileFails, "disk": InfraError, "call": InputError}
    raise errors[value]("x.", remedy="y")

verb.check_kernels = check
sys.exit(entry.main(["check", "a.patch"]))
"""


@pytest.mark.parametrize(
    ("values", "culprit"),
    [
        ([0, 0, 0, "disk", 0, 1, 1, 1], 5),
        ([0, 0, "build", 0, 1, 1, 1, 1], 4),
        ([0, 0, "call", "call", "call", "call", 1, 1], None),
    ],
)
def test_git_bisect_run_finds_the_commit(
    values: list[float | str], culprit: int | None, tmp_path: Path
) -> None:
    repository = tmp_path / "linux"
    ids = commits(repository, values)
    script = tmp_path / "check.py"
    script.write_text(CHECK)
    git(repository, "bisect", "start", ids[-1], ids[0])
    done = subprocess.run(
        ["git", "bisect", "run", sys.executable, str(script)],
        cwd=repository, capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if culprit is None:
        assert done.returncode != 0 and "is the first bad commit" not in done.stdout
    else:
        assert f"{ids[culprit]} is the first bad commit" in done.stdout, done.stderr
