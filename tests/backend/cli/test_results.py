# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys that a verb's help names are those that its `--json` prints, at every depth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from duet.cli import entry
from duet.cli.app import app
from duet.cli.arguments import read_request
from duet.cli.compare import CompareResult
from duet.cli.doctor.line import DoctorResult
from duet.cli.drgn import DrgnResult
from duet.cli.export import ExportResult
from duet.cli.inspect import InspectResult
from duet.cli.keys import from_tree, key, keys_text, shape_of
from duet.cli.lint import LintResult
from duet.cli.measure.published_page import Work, tree
from duet.cli.measure.results import MeasureResult, PublishedResult
from duet.cli.microscope.native import native_result
from duet.cli.microscope.results import MicroscopeResult, NativeResult, PredictResult
from duet.cli.new import NewResult
from duet.cli.record_all import RecordAllResult
from duet.cli.replay import ReplayResult
from duet.cli.run import RunResult, RunRow, result_of
from duet.cli.runs import RunsResult
from duet.cli.sinks import SampleSink
from duet.cli.token import TokenResult
from duet.cli.views import ViewsResult
from duet.cli.xray import XrayResult, result_tree
from duet.lenses import Sample
from duet.lenses.scope import model, native
from duet.lenses.scope.coherence import Stream
from duet.lessons.load import load
from duet.measure import Report
from duet.measure.replica import measure_replica
from duet.measure.reports import render
from tests.backend.cli.test_microscope_table import tree as microscope_tree
from tests.backend.measure import reports_made

SLUG = "02-grace-periods"
RECORDING = f"lessons/{SLUG}/recorded/9-hogs.duet"
ONE_HOG = f"lessons/{SLUG}/recorded/1-hog.duet"


@dataclass(frozen=True)
class Part:
    name: str
    size: int = key("bytes")


@dataclass(frozen=True)
class Whole:
    ok: bool = key("bool")
    parts: Sequence[Part] = key("some")
    links: Mapping[str, str] = key(shape="{role: url}")


def test_the_help_is_made_of_the_model() -> None:
    assert keys_text(Whole, "No more.", when="one line") == (
        "JSON keys (one line): ok (bool), parts: [{name, size (bytes)}] (some), "
        "links: {role: url}. No more."
    )


def test_a_tree_is_a_model_only_with_its_keys() -> None:
    part = {"name": "a", "size": 1}
    whole: dict[str, Any] = {"ok": True, "parts": [part], "links": {}}
    assert from_tree(Whole, whole) == Whole(True, [Part("a", 1)], {})
    for wrong in ({"name": "a"}, part | {"more": 1}):
        with pytest.raises(TypeError, match=r"size|more"):
            from_tree(Whole, whole | {"parts": [wrong]})


@dataclass(frozen=True)
class Deep:
    curves: Mapping[str, Sequence[Part]] = key(per="arm")
    best: Part | None = key("or null")
    marks: Sequence[str] | str = key()


def test_models_are_found_in_mappings_and_where_they_may_be_null() -> None:
    shape = "curves: {arm: [{name, size (bytes)}]}, best: {name, size (bytes)} (or null), marks"
    assert shape_of(Deep) == shape
    one = {"name": "x", "size": 1}
    tree: dict[str, Any] = {"curves": {"a": [one]}, "best": None, "marks": "all"}
    assert from_tree(Deep, tree) == Deep({"a": [Part("x", 1)]}, None, "all")


def same_as_help(printed: Any, kind: type, verb: str, more: int = 0) -> None:
    """The keys, at every depth, are those of the model, which the verb's help names.

    Args:
        more: keys that stand before the model's own.
    """
    names = [one.name for one in fields(kind)]
    assert list(printed)[more:] == names
    own = {name: printed[name] for name in names}
    assert json.loads(json.dumps(asdict(from_tree(kind, own)))) == own
    assert shape_of(kind) in str(app.commands[verb].epilog)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["doctor"], DoctorResult),
        (["runs"], RunsResult),
        (["drgn"], DrgnResult),
        (["token"], TokenResult),
        (["inspect", RECORDING], InspectResult),
        (["compare", RECORDING, ONE_HOG], CompareResult),
        (["replay", RECORDING], ReplayResult),
        (["export", RECORDING, "OUT", "--to", "csv"], ExportResult),
        (["new", "61-keys", "--in", "OUT"], NewResult),
        (["record-all", SLUG, "--list"], RecordAllResult),
        (["lint", SLUG], LintResult),
        (["views"], ViewsResult),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_a_verb_prints_the_keys_of_its_help(
    words: list[str],
    kind: type,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("DUET_ACCESS", str(tmp_path / "access.json"))
    entry.main([word.replace("OUT", str(tmp_path / "out")) for word in words] + ["--json"])
    same_as_help(json.loads(capsys.readouterr().out), kind, words[0])


# Verbs that boot guests: what they print of a result that was made by hand.

REPORTS = [reports_made.wall(), reports_made.count(), reports_made.broken(), reports_made.trial()]


@pytest.mark.parametrize("report", REPORTS, ids=["wall", "count", "broken", "trial"])
def test_measure_prints_the_keys_of_its_help(report: Report) -> None:
    same_as_help(json.loads(render(report, "json")), MeasureResult, "measure")


def test_measure_published_prints_the_keys_of_its_help() -> None:
    work = Work(folders=[load(SLUG)])
    work.learn(reports_made.wall())
    printed = json.loads(tree(work, 1.0))
    assert printed["rows"] and printed["kernels"][SLUG]
    same_as_help(printed, PublishedResult, "measure")


def test_run_prints_the_keys_of_its_help() -> None:
    rows = {"rwsem": RunRow("rwsem", [1], [2.0], "umounts/s"), "srcu": RunRow("srcu")}
    printed = asdict(result_of(reports_made.wall(), rows))
    same_as_help(printed, RunResult, "run")


def test_the_microscope_prints_the_keys_of_its_help() -> None:
    printed = microscope_tree()
    assert printed["lines"][0]["fields"] and printed["lines"][0]["by_function"]
    same_as_help(printed, MicroscopeResult, "microscope")


def test_the_model_prints_the_keys_of_its_help() -> None:
    stream = Stream([0, 1], [0, 2], [1, 1], [0.5, 0.5], [0, 1])
    arms = {"stock": [stream], "moved": [stream]}
    found = model.predict(arms, cpus=(2,), seeds=(1,), ops=20, compare_at=2)
    same_as_help({"lesson": "a", **found}, PredictResult, "microscope")


def test_the_replica_prints_the_keys_of_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "run_once", lambda *_: (native.Run(2, 10, 5, 1, 0), ""))
    monkeypatch.setattr(native, "count_events", lambda *_: ({"cycles": 2.5}, ""))
    monkeypatch.setattr(native, "sample_transfers", lambda *_: ({"hitm": 3}, ""))
    layouts = [native.Layout(arm, 192, {"d_lockref": 88}) for arm in ("stock", "moved")]
    operation = native.Operation(Path("x.c"), "dentry", ())
    runs = measure_replica("a", operation, layouts, [0, 1], [0, 1], lambda _: None)
    printed = native_result(runs)
    same_as_help(printed, NativeResult, "microscope")


def test_the_x_ray_prints_the_keys_of_its_help_after_its_facts() -> None:
    sample = Sample("gnomes", 1, 5, 2, "host", 7, 0, 0, 0, {}, {}, {"gnomes": 3.0})
    spec = read_request(SLUG, "srcu", "", "", [])
    printed = result_tree(spec, SampleSink(samples=[(sample, 4.0)]))
    assert printed["gnomes"] == 3
    same_as_help(printed, XrayResult, "xray", more=1)
