# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bisect` on small repositories; the trials' reports are made by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.cli import entry
from duet.cli.bisect import FOLDER, Bisect, find_culprit, forget, measured_of
from duet.cli.trial import TryResult
from duet.cli.trial_run import TrialOptions, TrialOutcome
from duet.kernels.image import SameKernel
from duet.measure.model import Condition, Series, Table
from duet.trials.ask import Asked
from duet.trials.spec import Trial
from tests.backend.trials.commits import commits, value_of


def tried(good: float, value: float, errors: dict[str, DuetError] | None = None) -> TrialOutcome:
    """A trial of the arms a and b on the count clock."""
    table = Table(Condition("count", 0, "command", {}), errors=errors or {})
    for arm, sample in (("a", good), ("b", value)):
        if arm in table.errors:
            continue
        more = {"title": "time of the command", "unit": "ms", "evidence": "counted", "arm": arm}
        for metric, better in (("elapsed_ms", "lower"), ("calls", "neither")):
            table.series.append(
                Series(metric=metric, better=better, samples=[sample] * 2, **more)  # type: ignore[arg-type]
            )
    report = SimpleNamespace(tables=[table])
    trial = SimpleNamespace(arms=[SimpleNamespace(name="a"), SimpleNamespace(name="b")])
    result = cast(TryResult, SimpleNamespace(folder="/trials/x-two"))
    return TrialOutcome(cast(Trial, trial), result, report)  # type: ignore[arg-type]


@dataclass
class Runs:
    """Runs no trial, and answers with numbers of the commits."""

    repository: Path
    asked: list[tuple[Asked, TrialOptions]]

    def __call__(self, asked: Asked, how: TrialOptions) -> TrialOutcome:
        self.asked.append((asked, how))
        names = [str(tree).rpartition("@")[2] for tree in asked.trees]
        values = [value_of(self.repository, name) for name in names]
        if values[1] == "hangs":
            return tried(float(values[0]), 0, {"b": KernelError("no boot.", remedy="x")})
        return tried(float(values[0]), float(values[1]))


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path / "trials"))
    return tmp_path / "trials"


def question(repository: Path, ids: list[str], **more: object) -> Bisect:
    asked = Asked(run="sh -c true", clock="count", times=3)
    return Bisect(repository, ids[0], ids[-1], asked, **more)  # type: ignore[arg-type]


def test_a_culprit_a_report_and_two_lanes(
    tmp_path: Path, trials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = tmp_path / "linux"
    ids = commits(repository, [10, 10, "hangs", 10, 20, 20])
    runs = Runs(repository, [])
    assert find_culprit(question(repository, ids, as_json=True), runs) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["culprit"]["commit"] == ids[4] and result["parent"] == ids[3]
    assert result["metric"] == "time of the command" and result["worse_than"] == 50
    assert [step["answer"] for step in result["steps"]].count("skip") == 1
    assert all(how.measure and not how.record for _, how in runs.asked[:-1])
    lanes, how = runs.asked[-1]
    assert [str(tree) for tree in lanes.trees] == [f"{repository}@{ids[n][:12]}" for n in (3, 4)]
    assert how.record and how.measure
    line = f"--tree {repository}@{ids[3][:12]} --tree {repository}@{ids[4][:12]} --run 'sh -c true'"
    assert line in result["trial"] and "--clock count --times 3 --name" in result["trial"]
    assert result["trial_folder"] == "/trials/x-two"
    folder = trials / FOLDER / "bisect-linux"
    assert json.loads((folder / "report.json").read_text()) == result
    text = Path(result["report"]).read_text()
    assert result["trial"] in text and "no boot" in text
    assert not (folder / "tree").exists()
    # The same call again measures nothing anew, and another question everything.
    runs.asked.clear()
    assert find_culprit(question(repository, ids, trial=False), runs) == 0 and runs.asked == []
    assert (
        find_culprit(question(repository, ids, trial=False, repeats="3"), runs) == 0 and runs.asked
    )
    assert forget(question(repository, ids)) == 0 and not folder.exists()


def test_only_skipped_commits_are_no_verdict(tmp_path: Path, trials: Path) -> None:
    repository = tmp_path / "linux"
    ids = commits(repository, [10, "hangs", 20])
    assert find_culprit(question(repository, ids), Runs(repository, [])) == 125
    report = json.loads((trials / FOLDER / "bisect-linux" / "report.json").read_text())
    assert report["culprit"] is None and set(report["candidates"]) == set(ids[1:])


def test_trouble_of_the_good_commit_is_none_of_the_measured_one() -> None:
    hung = {"a": KernelError("no boot.", remedy="x")}
    with pytest.raises(InputError, match="the good commit does not run: no boot"):
        measured_of(tried(1, 2, hung), "")
    with pytest.raises(KernelError):
        measured_of(tried(1, 2, {"b": KernelError("no boot.", remedy="x")}), "")
    with pytest.raises(InfraError):
        measured_of(tried(1, 2, {"b": InfraError("disk.", remedy="x")}), "")
    measured, title = measured_of(tried(10, 12), "")
    assert measured.worse == pytest.approx(20) and title == "time of the command"
    assert (measured.good, measured.value, measured.unit) == (10, 12, "ms")
    assert measured_of(tried(10, 12), "calls")[0].worse is None, "neither direction is better"
    with pytest.raises(InputError, match=r"wanted user_ms of both kernels.*elapsed_ms, calls"):
        measured_of(tried(10, 12), "user_ms")


def test_a_metric_that_nothing_measures_is_refused_first(
    tmp_path: Path, trials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bisect", "--tree", str(tmp_path), "--good", "a", "--bad", "b", "--run", "sh"]
    assert entry.main([*words, "--metric", "speed"]) == 2
    assert "got 'speed'" in capsys.readouterr().err
    assert entry.main(words) == 2
    assert "wanted the commit 'a'" in capsys.readouterr().err


def test_a_commit_that_makes_the_same_kernel_is_as_good_as_the_good_one(
    tmp_path: Path, trials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = tmp_path / "linux"
    ids = commits(repository, [10, "same", "same", 20, 20])

    def run(asked: Asked, how: TrialOptions) -> TrialOutcome:
        values = [value_of(repository, str(tree).rpartition("@")[2]) for tree in asked.trees]
        if "same" in values:
            raise SameKernel("both kernels are the same build, because a.c is not.", remedy="x")
        return tried(float(values[0]), float(values[1]))

    assert find_culprit(question(repository, ids, as_json=True, trial=False), run) == 0
    assert json.loads(capsys.readouterr().out)["culprit"]["commit"] == ids[3]


@pytest.mark.parametrize("metric", ["user_ms", "system_ms"])
def test_what_the_tick_samples_is_nothing_to_bisect_by_on_the_count_clock(
    metric: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bisect", "--tree", str(tmp_path), "--good", "a", "--bad", "b", "--run", "sleep 1"]
    assert entry.main([*words, "--metric", metric]) == 2
    said = capsys.readouterr().err
    assert f"{metric} is sampled at the kernel's tick" in said and "elapsed_ms" in said
    assert entry.main([*words, "--metric", metric, "--clock", "wall"]) == 2
    assert "sampled" not in capsys.readouterr().err, "another reason: there is no such tree"
