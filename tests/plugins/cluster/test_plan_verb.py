# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet plan`: its table, its document, where each constant is from, and what a bench writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from duet.cli import entry
from duet.plugins.cluster.capacity.constants import CONSTANTS, NAME
from duet.plugins.cluster.plan import PlanResult, short
from tests.backend.cli.test_results import same_as_help
from tools.bench.stored import store as stored

SLUG = "02-grace-periods"
SIZE = ["--host-cpus", "16", "--host-memory", "64"]
Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    monkeypatch.delenv("DUET_POOL", raising=False)
    return tmp_path


def run(*words: str, fails: int = 0) -> None:
    assert entry.main(["plan", *words]) == fails


def tree(capsys: Said, *words: str) -> dict[str, Any]:
    run(*words, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_class_of_300_with_20_live_runs(capsys: Said) -> None:
    run("--students", "300", "--live", "20", "--lesson", SLUG, *SIZE)
    text = capsys.readouterr().out
    for part in ("hosts (servers and guests)", "CPUs that are busy", "memory, GB",
                 "bandwidth while all come, Mbit/s", "bandwidth afterwards", "connections",
                 "Short first: ", "constants are shipped"):  # fmt: skip
        assert part in text, part
    found = tree(capsys, "--students", "300", "--live", "20", "--lesson", SLUG, *SIZE)
    same_as_help(found, PlanResult, "plan")
    assert found["lanes"] >= 2 and 0 < found["hosts"]["low"] <= found["hosts"]["high"] <= 20
    assert found["bottleneck"] in text and found["crowds"] == []
    assert {one["name"] for one in found["constants"]} == set(CONSTANTS)
    assert all(one["samples"] == 0 for one in found["constants"])


def test_measured_here_or_shipped_is_said_of_each_constant(capsys: Said, folder: Path) -> None:
    before = tree(capsys, *SIZE)
    stored({"open_server": 30.0, "run_time": 11.0, "no_constant": 1.0} | {"open_nginx": -1.0})
    assert f"stored 2 constants for ./duet plan in {folder / NAME}" in capsys.readouterr().err
    found = tree(capsys, *SIZE)
    samples = {one["name"]: one["samples"] for one in found["constants"] if one["samples"]}
    assert samples == {"open_server": 1, "run_time": 1}
    assert found["start_server_cores"]["low"] > 5 * before["start_server_cores"]["high"]
    run(*SIZE, "--constants")
    text = capsys.readouterr().out
    assert f"2 of {len(CONSTANTS)} constants were measured here; shipped are" in text
    assert text.count("here, 1 of 20") == 2
    assert text.count("shipped (make bench ARGS=segments)") > 5


def test_a_damaged_file_of_constants_is_one_sentence(capsys: Said, folder: Path) -> None:
    (folder / NAME).write_text('{"version": 7, "samples": []}')
    run(fails=2)
    said = capsys.readouterr().err
    assert "has format 7" in said and "remedy: Delete the file" in said
    stored({"run_time": 11.0})
    assert "not stored for ./duet plan" in capsys.readouterr().err


def test_a_crowd_is_simulated_up_to_the_number_that_was_given(capsys: Said) -> None:
    found = tree(capsys, "--viewers", "20000", "--lesson", SLUG)
    assert [one["viewers"] for one in found["crowds"]] == [100, 1000, 10_000, 20_000]
    few, many = found["crowds"][0], found["crowds"][-1]
    assert few["first_p50_s"] <= few["whole_p50_s"] <= many["whole_p99_s"]
    run("--viewers", "1000")
    assert "simulated: one recording" in capsys.readouterr().out


def test_the_crowd_is_drawn_for_dark_and_light(capsys: Said, tmp_path: Path) -> None:
    file = tmp_path / "crowd.svg"
    run("--viewers", "30000", "--picture", str(file))
    tree = ElementTree.parse(file).getroot()
    curves = [one for one in tree.iter() if str(one.get("class")).startswith("curve")]
    longest = max(str(one.get("points")).split() for one in curves)
    assert len(curves) == 6 and len(longest) >= 2
    numbers = [len(str(one.get("points")).split()) for one in curves]
    assert numbers.count(9) == 3, "three curves of 100, 200, 500 to 20,000 and 30,000"
    assert "prefers-color-scheme: dark" in file.read_text()
    for one in curves:
        for point in str(one.get("points")).split():
            x, y = (float(part) for part in point.split(","))
            assert 0 <= x <= 720 and 0 <= y <= 400
    run("--picture", str(file), fails=2)
    assert "--viewers is 0" in capsys.readouterr().err
    run("--viewers", "300", "--picture", str(tmp_path / "none" / "x.svg"), fails=2)
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--students", "-1"), "students: a plan needs 0 to 1e+06, but got -1"),
        (("--live", "99999"), "live runs"),
        (("--link", "nan"), "bits per second of the link"),
        (("--link", "0"), "bits per second of the link"),
        (("--host-memory", "nan"), "memory of a host"),
        (("--host-cpus", "-2"), "CPUs of a host"),
        (("--arrive", "0"), "seconds in which all students arrive"),
        (("--pool", "cloud"), "'cloud' is no pool"),
        (("--lesson", "99-none"), "99-none"),
        (("--viewers", "99999999"), "1 to 1000000 viewers"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_bad_input_is_one_sentence(capsys: Said, words: tuple[str, ...], said: str) -> None:
    run(*words, fails=2)
    error = capsys.readouterr().err
    assert said in error and "remedy: " in error and "Traceback" not in error


def test_figures_have_two_digits() -> None:
    assert [short(x) for x in (0, 3.0, 0.01337, 1.26, 27.6, 926.0, 12345.6)] == [
        "0", "3", "0.013", "1.3", "28", "926", "12,000",
    ]  # fmt: skip
