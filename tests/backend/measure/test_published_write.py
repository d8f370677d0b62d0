# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of published figures that stay: measured once for a kernel, shown without guests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.cli import main
from duet.cli.measure import published as against
from duet.kernels.recipe import read_patch
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.schema import PublishedFigure
from duet.measure import MeasurePlan, Measuring
from duet.measure.model import ArmFacts
from duet.session import Limits
from tests.support.fakes import Fleet

LIMITS = Limits(tick_s=0.005, missing_s=1.0)


def facts(arm: str, key: str) -> ArmFacts:
    patches = ((f"02/{arm}.patch", "a" * 64),)
    return ArmFacts(arm, arm, "baseline", "6.1.192", key, "c" * 64, patches, ())


class Bench:
    """One lesson with one figure, scripted guests, and kernels whose keys a test sets."""

    def __init__(self, folder: LessonFolder) -> None:
        self.fleet, self.key = Fleet(), "k" * 64
        given = {"claim": "a claim", "mail": "4 to 1", "value": 1, "base": 4, "unit": "ops/s",
                 "context": "a *machine*", "metric": "ops_per_s", "arm": "srcu", "to": "rwsem",
                 "clock": "wall", "params": {"hogs": 1, "seconds": 1}}  # fmt: skip
        figures = (PublishedFigure.model_validate(given),)
        lesson = folder.lesson.model_copy(update={"published": figures})
        self.folder = replace(folder, lesson=lesson)
        self.began = 0

    async def prepare(self, plan: MeasurePlan, _: Any, command: str, progress: Any) -> Measuring:
        self.began += 1
        return Measuring(
            plan, self.fleet.sources(*plan.arms), command=command, progress=progress,
            limits=LIMITS, facts=[facts(arm, self.key) for arm in plan.arms],
        )  # fmt: skip


@pytest.fixture
def bench(lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(lesson02)
    monkeypatch.setattr(against, "prepare_measurement", made.prepare)
    monkeypatch.setattr(against, "arm_facts", lambda _, arm, __: facts(arm, made.key))
    monkeypatch.setattr("duet.measure.run.HostWatch.waited_share", 0.0)
    monkeypatch.setattr(lessons, "load", lambda *_: made.folder)
    monkeypatch.setattr(lessons, "slugs", lambda *_: [made.folder.slug])
    return made


def test_results_stay_and_are_measured_again_for_other_kernels_alone(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "PAGE.md"
    words = ["measure", "--published", "--write", str(page), "--json"]
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)["rows"]
    assert (bench.began, first[0]["ratio"], first[0]["words"]) == (1, 1.0, "no difference")
    assert main(words) == 0
    assert bench.began == 1
    assert json.loads(capsys.readouterr().out)["rows"] == first
    bench.key = "n" * 64
    assert main(words) == 0
    assert bench.began == 2
    stored = json.loads(page.with_suffix(".json").read_text())
    assert [arm["key"] for arm in stored["tables"][0]["arms"]] == ["n" * 64] * 2


def test_stored_results_are_shown_without_a_guest(bench: Bench, tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    assert main(["measure", "--published", "--write", str(page)]) == 0
    first = page.read_text()
    page.unlink()
    assert main(["measure", "--published", "--stored", "--write", str(page)]) == 0
    assert bench.began == 1
    assert page.read_text() == first
    assert "| a claim | 1a | 4 to 1 | 0.25 | 1 | 1..1 | 5 | wall | **no difference**" in first
    assert "- *a*: a \\*machine\\*" in first
    assert "| srcu | 6.1.192 | `kkkkkkkkkkkk` | `cccccccccccc` | srcu.patch aaaaaaaaaaaa |" in first
    assert "| 548 times, and it is 23 times | same direction, 24.9 times smaller |" in first


def test_results_of_an_earlier_patch_are_marked(bench: Bench, tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    assert main(["measure", "--published", "--write", str(page)]) == 0
    mark = "**no difference** (measured before a patch changed)"
    assert mark in page.read_text()  # its hash is none of this tree's
    results = page.with_suffix(".json")
    tree = json.loads(results.read_text())
    file = bench.folder.patch_files("srcu")[0]
    for arm in tree["tables"][0]["arms"]:
        sha = read_patch(file, file.parents[1]).sha256
        arm["patches"] = [["srcu.patch", sha]] if arm["name"] == "srcu" else []
    results.write_text(json.dumps(tree))
    assert main(["measure", "--published", "--stored", "--write", str(page)]) == 0
    assert "| **no difference** |" in page.read_text()


def test_what_was_not_measured_says_so(bench: Bench, tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    assert main(["measure", "--published", "--stored", "--write", str(page)]) == 0
    assert "1 figures: 1 not measured. Nothing was measured yet." in page.read_text()


def test_a_cut_measurement_is_not_stored(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.fleet = Fleet(srcu=("bad plan",), rwsem=("bad plan",))
    page = tmp_path / "PAGE.md"
    main(["measure", "--published", "--write", str(page)])
    assert not page.with_suffix(".json").exists()
    assert "1 not measured" in page.read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--stored"], "--write and --stored need --published"),
        (["--published", "--write", "page.txt"], "--write needs a .md file in an existing"),
        (
            ["--published", "--write", "/nowhere/page.md"],
            "--write needs a .md file in an existing",
        ),
    ],
)
def test_where_a_page_cannot_be_is_one_sentence(
    bench: Bench, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_results_that_are_something_else_are_refused(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "PAGE.json").write_text('{"tables": 3}')
    assert main(["measure", "--published", "--write", str(tmp_path / "PAGE.md")]) == 2
    error = capsys.readouterr().err
    assert "published figures in PAGE.json, but the file has other contents" in error


def test_a_knob_that_a_lesson_has_got_since_is_at_its_usual_value(
    bench: Bench, tmp_path: Path
) -> None:
    page = tmp_path / "PAGE.md"
    results = page.with_suffix(".json")
    words = ["measure", "--published", "--write", str(page)]
    assert main(words) == 0
    stored = json.loads(results.read_text())
    params = stored["tables"][0]["params"]
    assert params.pop("reclaim_ms") == 0
    stored["tables"][0]["params"] = dict(reversed(params.items()))
    results.write_text(json.dumps(stored))
    assert main(words) == 0
    assert bench.began == 1
    params["hogs"] = 2
    stored["tables"][0]["params"] = params
    results.write_text(json.dumps(stored))
    assert main(words) == 0
    assert bench.began == 2
