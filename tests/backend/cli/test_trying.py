# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet try` says of a trial: the call that makes it again, and of what its kernels are."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from duet.base.errors import KernelError
from duet.base.settings import EXTRA_LESSONS
from duet.cli import entry, trial_run, try_
from duet.cli.options import typed_line
from duet.cli.trial import TryResult
from duet.cli.trial_run import TrialOptions, measured, refuse_over_limit, tried_arm
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.compiler import CompileFails
from duet.kernels.diffs import PatchFails
from duet.kernels.recipe import patch_diff
from duet.lenses import LensState
from duet.measure.reports import render
from duet.session import LaneResult, RunSpec
from duet.trials.ask import Asked
from duet.trials.command import OVER_LIMIT
from duet.trials.tracing import Tracing, Variable
from tests.backend.measure.reports_made import trial as report
from tests.backend.trials.made import PATCH, trial


def test_the_words_of_the_command_line_go_into_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Asked] = []

    def take(asked: Asked, how: TrialOptions) -> int:
        seen.append(asked)
        return 0

    monkeypatch.setattr(try_, "try_kernels", take)
    words = ["try", "my x.patch", "--run", "sh -c 'a  b'", "--no-trace", "--tree", "../linux"]
    assert entry.main(words) == 0
    assert shlex.split(seen[0].given) == ["./duet", *words]
    assert typed_line() == "", "outside a call nothing was typed"


def test_the_report_of_a_trial_says_the_call_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    async def prepare(_plan: object, _kernels: object, command: str, _tell: object) -> Any:
        commands.append(command)

        async def run() -> None: ...

        return SimpleNamespace(run=run, report=report())

    monkeypatch.setattr(trial_run, "prepare_measurement", prepare)
    monkeypatch.setattr(trial_run, "read_plan", lambda given: None)
    request = SimpleNamespace(folder=SimpleNamespace(slug="90-x"), clock="count")
    made = trial(tmp_path, given="./duet try 'my x.patch'")
    settings = cast(KernelSettings, None)
    asyncio.run(measured(cast(RunSpec, request), "2", settings, made))
    assert commands == ["./duet try 'my x.patch'"]


def test_a_kernel_of_a_trial_names_its_patches_by_commit_and_hash(tmp_path: Path) -> None:
    made = trial(tmp_path)
    image = SimpleNamespace(key="k" * 24, manifest=SimpleNamespace(kernel_version="6.1.1"))
    stock, tried = (tried_arm(made, arm.name, cast(KernelImage, image)) for arm in made.arms)
    assert stock.made_of == [] and stock.source is None
    (patch,) = tried.made_of
    assert patch.subject == made.arms[1].patches[0].subject and patch.commit is None
    assert patch.sha256 == hashlib.sha256(patch_diff(PATCH.read_text()).encode()).hexdigest()


def test_the_check_of_the_same_kernels_is_offered_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = TryResult(
        *(
            "x",
            "90-x",
            "f",
            "c",
            "wall",
            (),
            (),
            (),
            (),
            None,
            {},
            None,
            None,
            None,
            (),
            (),
            (),
            {},
            (),
        ),
        given="./duet try a.patch",
        check="./duet check 'a b.patch'",
        said=(),
    )
    try_.print_result(result, None, "mail")
    assert "\n  ./duet check 'a b.patch'\n" in capsys.readouterr().out
    try_.print_result(replace(result, check=None), None, "mail")
    said = capsys.readouterr().out
    assert "duet check" not in said and "give their source with --tree" in said


@pytest.mark.parametrize("verb", ["try", "check"])
def test_what_was_found_in_a_thread_is_printed(
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: object) -> None:
        raise CompileFails("fs/pipe.c does not compile.", remedy="Correct it.")

    monkeypatch.setenv("DUET_TRIALS", str(tmp_path / "trials"))
    monkeypatch.setenv(EXTRA_LESSONS, "")
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep"}))
    monkeypatch.setattr(trial_run, "prepare", lambda *_: None)
    monkeypatch.setattr(trial_run, "build_missing", refuse)
    thread = tmp_path / "t.mbox"
    thread.write_text(PATCH.read_text().replace("[PATCH]", "[PATCH v2 2/2]"))
    assert entry.main([verb, str(thread), "--run", "sleep 0"]) in (2, 125)
    said = capsys.readouterr().err
    assert "t lacks 1/2 of v2; the series is tried without.\n" in said
    assert "does not compile" in said


@pytest.fixture
def no_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where trials go; nothing is built, and every patch fits."""

    def build(*_: object) -> None:
        raise AssertionError("nothing is to be built")

    monkeypatch.setenv("DUET_TRIALS", str(tmp_path / "trials"))
    monkeypatch.setenv(EXTRA_LESSONS, "")
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep"}))
    monkeypatch.setattr(trial_run, "install_sources", lambda *_: None)
    monkeypatch.setattr(trial_run, "rehearse", lambda *_: ["toy lacks FOO"])
    monkeypatch.setattr(trial_run, "build_missing", build)
    return tmp_path / "trials"


def test_a_trial_of_one_kernel_is_one_sentence(
    no_builds: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = lambda *_: (True, "mm/x.c is not compiled", "CONFIG_X")  # noqa: E731
    monkeypatch.setattr(trial_run, "by_source", lambda *_: find)
    words = ["try", str(PATCH), "--run", "sleep 0"]
    assert entry.main(words) == 2
    said = capsys.readouterr().err
    assert "toy lacks FOO.\n" in said, "before anything is built"
    assert "both kernels (stock, wake-all) are the same build, because mm/x.c is not" in said
    assert "--config X=y" in said
    assert not (no_builds / "wake-all").exists(), "no verb compares a kernel with itself"
    assert entry.main([*words, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "same-kernel"
    assert entry.main([*words, "--worse-than", "5"]) == 0
    assert "good: a kernel is not worse than itself" in capsys.readouterr().err


def test_a_patch_that_does_not_fit_ends_the_call_before_a_build(
    no_builds: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> list[str]:
        raise PatchFails("wanted to apply it, but hunk 1 does not fit.", remedy="Give --with.")

    monkeypatch.setattr(trial_run, "rehearse", fails)
    assert entry.main(["try", str(PATCH), "--run", "sleep 0"]) == 2
    assert "hunk 1 does not fit" in capsys.readouterr().err


def test_an_xray_that_saw_nothing_is_a_sentence() -> None:
    seen = LensState(state="on", samples=3)
    failed = LensState(state="failed", message="This kernel keeps its time elsewhere.")
    states = {"a": seen, "b": failed, "c": LensState(state="on")}
    lanes = {arm: cast(LaneResult, SimpleNamespace(xray=one)) for arm, one in states.items()}
    both = Tracing(variables=(Variable("nr_files"), Variable("only_c", ("c",))))
    assert trial_run.blind_lenses(both, lanes) == [
        "the x-ray of b did not read nr_files: This kernel keeps its time elsewhere",
        "the x-ray of c did not read nr_files, only_c: the command ended before the first sample",
    ]
    assert trial_run.blind_lenses(Tracing(), lanes) == []


@pytest.mark.parametrize(
    ("diffs", "why"),
    [
        ([], "the kernels have no patches between them"),
        (["diff --git a/mm/Makefile b/mm/Makefile\n"], "mm/Makefile is not C"),
        (["diff --git a/mm/x.c b/mm/x.c\n"], "the changes in mm/x.c are outside of functions"),
    ],
)
def test_why_no_function_is_drawn(diffs: list[str], why: str) -> None:
    said = trial_run.why_no_function(diffs)
    assert said.startswith(why) and "--fn" in said


def test_what_is_left_out_stands_in_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    names = [one.name for one in fields(TryResult)]
    tree = {**dict.fromkeys(names, ""), "arms": (), "functions": (), "proposed": (), "saved": None}
    result = TryResult(**{**tree, "left_out": ["the x-ray saw nothing"], "recording": None})
    try_.print_result(result, None, "mail")
    assert "left out: the x-ray saw nothing\n" in capsys.readouterr().out


def test_what_a_kernel_lacks_stands_in_the_report() -> None:
    made = report()
    made.remarks.append("Linux 7.3 is built without 1 option of its configuration.")
    assert "!! NOTE: Linux 7.3 is built without" in render(made, "mail")


def test_the_first_run_over_its_limit_ends_the_call() -> None:
    said = "run-x: the command did not end within 3 s; --timeout sets another limit"
    late = KernelError(f"the workload on a ended with status 124: {said}.", remedy="Mend it.")
    with pytest.raises(KernelError, match="did not end within 3 s") as raised:
        refuse_over_limit(late)
    assert "--timeout SECONDS" in raised.value.remedy
    refuse_over_limit(KernelError("the workload on a ended with status 124: timeout.", remedy="-"))


def test_no_run_follows_the_one_over_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    async def prepare(_plan: object, _kernels: object, _command: str, progress: Any) -> Any:
        async def run() -> None:
            found = report()
            progress(SimpleNamespace(report=found))
            begun.append("first")
            found.tables[0].errors["a"] = KernelError(f"it ended: {OVER_LIMIT}.", remedy="-")
            progress(SimpleNamespace(report=found))
            begun.append("second")

        return SimpleNamespace(run=run, report=report())

    monkeypatch.setattr(trial_run, "prepare_measurement", prepare)
    monkeypatch.setattr(trial_run, "read_plan", lambda given: None)
    monkeypatch.setattr(trial_run.ProgressBar, "tell", lambda self, step: None)
    request = cast(RunSpec, SimpleNamespace(folder=SimpleNamespace(slug="90-x"), clock="count"))
    with pytest.raises(KernelError, match="--timeout"):
        asyncio.run(measured(request, "2", cast(KernelSettings, None), trial(tmp_path)))
    assert begun == ["first"]
