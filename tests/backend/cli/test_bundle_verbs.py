# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet inspect` and `duet replay` on recordings: right numbers, and sentences for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from duet.base.settings import repo_root
from duet.bundle import Manifest, Record, open_bundle
from duet.cli.entry import main
from duet.lessons import load as lessons
from tests.backend.cli.bundles import SMALL, recording, rewritten

ALL = [p for slug in lessons.slugs() for p in lessons.load(slug).recordings()]
Printed = pytest.CaptureFixture[str]


def reported(capsys: Printed, *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def refused(capsys: Printed, words: str, *arguments: str) -> None:
    assert main(list(arguments)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.splitlines()[0].startswith("error: ") and "remedy: " in error


STORM = "02-grace-periods/recorded/1-hog.duet"
FEW_EVENTS = 1000
MOST_BYTES = 1_000_000


@pytest.mark.parametrize("path", ALL, ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_no_recording_takes_more_than_twelve_bytes_an_event(path: Path, capsys: Printed) -> None:
    tree = reported(capsys, "inspect", str(path))
    assert tree["bytes"] == path.stat().st_size
    assert tree["events"] == sum(lane["events"] for lane in tree["lanes"])
    if tree["events"] < FEW_EVENTS:
        # Accesses and samples of lenses are no events: such a recording is small as a whole.
        assert 0 < tree["bytes"] <= MOST_BYTES
        return
    assert 0 < tree["bytes_per_event"] <= 12
    for lane in tree["lanes"]:
        assert lane["events"] == sum(lane["events_by_type"].values()) + lane["events_unknown"]
        assert lane["status"] == 0 and lane["loss"]["events"] == 0


def test_inspect_counts_what_a_replay_reads(capsys: Printed) -> None:
    path = recording()
    tree = reported(capsys, "inspect", str(path))
    assert (tree["format"], tree["seed"], tree["window_ms"]) == (2, 1, 400)
    for lane in tree["lanes"]:
        assert lane["events"] == lane["figures"]["metrics"]["events_read"]
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert "format 2" in out and "6.1.192" in out and "ext4/ext4_es_" in out
    for lane in tree["lanes"]:
        assert f"{lane['name']}: kernel {lane['kernel_key']}, {lane['compiler']}\n" in out
        assert lane["patch_sha256"]
        assert all(f"  {p} {sha[:12]}\n" in out for p, sha in lane["patch_sha256"].items())


def test_samples_of_the_x_ray_are_counted_by_probe(capsys: Printed) -> None:
    path = recording("01-shrinker-bitmaps/recorded/56-containers.duet")
    lanes = reported(capsys, "inspect", str(path))["lanes"]
    assert all(lane["samples"]["shrinker-maps"] > 1 for lane in lanes)


def test_replay_finds_every_figure_again(capsys: Printed) -> None:
    path = recording()
    tree = reported(capsys, "replay", str(path))
    assert tree["same"] is True
    assert [lane["differences"] for lane in tree["lanes"]] == [[], [], []]
    assert main(["replay", str(path)]) == 0
    assert "stock: every figure equals the recorded one" in capsys.readouterr().out


def test_replay_of_a_recording_without_figures_says_so(capsys: Printed) -> None:
    path = str(repo_root() / "tests/fixtures/transcripts/storm-3-hogs-reclaim.duet")
    assert reported(capsys, "replay", path)["same"] is None
    assert main(["replay", path]) == 0
    assert "has no figures" in capsys.readouterr().out


def test_replay_names_a_figure_that_differs(capsys: Printed, tmp_path: Path) -> None:
    bundle = open_bundle(recording())

    def more(manifest: Manifest) -> Manifest:
        first, *others = manifest.arms
        assert first.figures is not None
        metrics = {**first.figures.metrics, "ops": 19}
        figures = first.figures.model_copy(update={"metrics": metrics})
        arms = (first.model_copy(update={"figures": figures}), *others)
        return manifest.model_copy(update={"arms": arms})

    path = rewritten(tmp_path / "other.duet", bundle, more)
    tree = reported(capsys, "replay", str(path), code=1)
    assert tree["same"] is False
    assert tree["lanes"][0]["differences"] == [{"figure": "metrics.ops", "recorded": 19, "now": 18}]
    assert main(["replay", str(path)]) == 1
    assert "metrics.ops was recorded as 19, and is 18 now" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["inspect", "replay"])
def test_bad_files_are_reported_in_sentences(verb: str, capsys: Printed, tmp_path: Path) -> None:
    refused(capsys, "there is no recording none.duet", verb, str(tmp_path / "none.duet"))
    (tmp_path / "text.duet").write_text("no zip")
    refused(capsys, "the file is not a zip file", verb, str(tmp_path / "text.duet"))
    refused(capsys, "the path is not a regular file", verb, str(tmp_path))
    (tmp_path / "cut.duet").write_bytes(recording().read_bytes()[:9000])
    refused(capsys, "the file is not a zip file", verb, str(tmp_path / "cut.duet"))


def changed_pages(records: list[Record]) -> list[Record]:
    at = next(n for n, record in enumerate(records) if record.stream == 0)
    page = bytearray(records[at].payload)
    page[8:10] = b"\xff\xff"
    return [*records[:at], records[at]._replace(payload=bytes(page)), *records[at + 1 :]]


@pytest.mark.parametrize("verb", ["inspect", "replay"])
def test_a_broken_page_is_named(verb: str, capsys: Printed, tmp_path: Path) -> None:
    bundle = open_bundle(recording())
    path = rewritten(tmp_path / "page.duet", bundle, records=changed_pages)
    refused(capsys, "page 0 of CPU 0 says 65535 bytes", verb, str(path))


@pytest.mark.parametrize("verb", ["inspect", "replay"])
def test_a_broken_control_port_is_named(verb: str, capsys: Printed, tmp_path: Path) -> None:
    def torn(records: list[Record]) -> list[Record]:
        return [records[0]._replace(payload=b"x" * 20), *records[1:]]

    path = rewritten(tmp_path / "frame.duet", open_bundle(recording()), records=torn)
    refused(capsys, "broken at byte 0", verb, str(path))


def test_a_recording_of_no_lesson_or_arm_here_is_refused(capsys: Printed, tmp_path: Path) -> None:
    bundle = open_bundle(recording())
    other = rewritten(
        tmp_path / "a.duet", bundle, lambda m: m.model_copy(update={"lesson": "77-nothing"})
    )
    assert reported(capsys, "inspect", str(other))["lesson"] == "77-nothing"
    refused(capsys, "there is no lesson '77-nothing'", "replay", str(other))
    many = rewritten(
        tmp_path / "b.duet",
        open_bundle(recording(STORM)),
        lambda m: m.model_copy(update={"params": {"hogs": 10**9}}),
    )
    refused(capsys, "has 1000000000 threads", "replay", str(many))
    assert SMALL.startswith(bundle.manifest.lesson)
