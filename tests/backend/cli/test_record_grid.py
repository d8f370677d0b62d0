# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record --grid`: which cells are recorded, and what the lesson's list says of them.

No guest runs: the recordings are copies of real cells, and the lanes are made by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duet import runs, session
from duet.base.errors import InfraError, KernelError
from duet.bundle import Manifest, Record, open_bundle
from duet.cli import building, entry, recording
from duet.cli.record_grid import curve_value
from duet.kernels import KernelSettings
from duet.lessons.grid import cells_of
from duet.lessons.load import load
from duet.session import Contention, LaneResult, Loss, RunSpec, lesson_shift
from tests.backend.cli.bundles import rewritten
from tests.backend.measure.test_collect import lane
from tests.support.gridded import (
    CELLS,
    ENTRIES,
    METRIC,
    SLUG,
    cell_file,
    declare,
    facts_of,
    gridded,
    read_list,
    write_list,
)

Printed = pytest.CaptureFixture[str]
SAID = "scans: first_freed=9 freed=32"
"""A line of the workload."""
NOW = "2026-12-31T08:00:00+00:00"


@dataclass
class Recorder:
    """In place of `record_run`: writes a copy of a real cell, whose lanes said a line.

    Args:
        template: the file that is copied.
        broken: values of `delayed` whose runs fail.
        silent: whether the workload prints no number.
        loss, contention: those of each lane.
    """

    template: Path
    broken: set[int] = field(default_factory=set)
    silent: bool = False
    loss: tuple[Loss, ...] = ()
    contention: Contention | None = None
    asked: list[tuple[RunSpec, Path, int | None, int]] = field(default_factory=list)

    async def __call__(
        self,
        spec: RunSpec,
        path: Path,
        window_ms: int | None,
        kernels: KernelSettings,
        *,
        seed: int = 1,
        shift: int = 0,
        refuse: Callable[[LaneResult], None] = lambda lane: None,
    ) -> tuple[dict[str, LaneResult], int]:
        if spec.params["delayed"] in self.broken:
            raise KernelError("the lane died.", remedy="Look.")
        more = {"loss": self.loss, "contention": self.contention}
        lanes = {arm: lane(arm, "" if self.silent else SAID, **more) for arm in spec.arms}
        for one in lanes.values():
            refuse(one)
        self.asked.append((spec, path, window_ms, shift))

        def manifest(old: Manifest) -> Manifest:
            return old.model_copy(update={"params": dict(spec.params), "created": NOW})

        path.parent.mkdir(parents=True, exist_ok=True)
        rewritten(path, open_bundle(self.template), manifest)
        return lanes, facts_of(path)["bytes"]

    def names(self) -> list[str]:
        return [path.stem for _, path, _, _ in self.asked]


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lesson with one recording and two cells."""
    return gridded(root, tmp_path, monkeypatch)


@pytest.fixture
def recorder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    template = tmp_path / "template.duet"
    template.write_bytes(cell_file(folder, CELLS[0]).read_bytes())
    made = Recorder(template)
    monkeypatch.setattr(recording, "record_run", made)
    monkeypatch.setattr(building, "build_missing", lambda *_: None)
    monkeypatch.setenv("DUET_CACHE", str(tmp_path / "cache"))
    return made


def run(*words: str) -> int:
    return entry.main(["record", SLUG, *words])


def result(capsys: Printed) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(capsys.readouterr().out)
    return tree


# Options.


@pytest.mark.parametrize(
    "words",
    [
        ["--arms", "stock"],
        ["--workload", "one-file"],
        ["--clock", "count"],
        ["--set", "nr=64"],
        ["--name", "mine"],
        ["--out", "mine.duet"],
        ["--window-ms", "50"],
        ["--whole"],
        ["--measured"],
        ["--only-measured"],
    ],
    ids=lambda words: words[0],
)
def test_options_of_a_single_recording_are_refused(
    recorder: Recorder, capsys: Printed, words: list[str]
) -> None:
    assert run("--grid", "all", "--again", *words) == 2
    error = capsys.readouterr().err
    assert "--grid takes no arms, workload, clock, knobs, name, file, window or table." in error
    assert "remedy: The lesson's `grids:` says what is recorded" in error
    assert recorder.asked == []


@pytest.mark.parametrize("words", [[], ["--name", "mine"]], ids=["alone", "name"])
def test_again_needs_a_grid(recorder: Recorder, capsys: Printed, words: list[str]) -> None:
    assert run("--again", *words) == 2
    error = capsys.readouterr().err
    assert "--again needs --grid." in error and "remedy: Leave --again out" in error
    assert recorder.asked == []


@pytest.mark.parametrize("name", ["grid-x", "grid-", CELLS[0]])
def test_a_recording_is_not_called_like_a_cell(
    recorder: Recorder, capsys: Printed, name: str
) -> None:
    assert run("--name", name) == 2
    error = capsys.readouterr().err
    assert f"'{name}' is not a valid name for a recording." in error
    assert "Only the names of grids' cells may begin with grid-." in error
    assert recorder.asked == []


def test_a_recording_may_be_called_grid(folder: Path, recorder: Recorder) -> None:
    assert run("--name", "grid", "--set", "delayed=32") == 0
    assert [path for _, path, _, _ in recorder.asked] == [folder / "recorded/grid.duet"]


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ("written=256", "no grid of lesson 04-extent-shrinker varies 'written'."),
        ("delayed=7", "the grids of lesson 04-extent-shrinker have no delayed=7."),
        ("everything", "--grid needs `all` or values of knobs, but got 'everything'."),
    ],
)
def test_what_the_grids_do_not_have_is_one_sentence(
    recorder: Recorder, capsys: Printed, selection: str, said: str
) -> None:
    assert run("--grid", selection) == 2
    error = capsys.readouterr().err
    assert said in error and "remedy:" in error and recorder.asked == []


def test_a_lesson_without_a_grid(folder: Path, recorder: Recorder, capsys: Printed) -> None:
    declare(folder)
    assert run("--grid", "all") == 2
    assert f"lesson {SLUG} has no grid." in capsys.readouterr().err


# Which cells are recorded.


def test_cells_that_are_up_to_date_are_kept(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    before = read_list(folder)
    assert run("--grid", "all") == 0
    size = sum(cell_file(folder, name).stat().st_size for name in CELLS)
    assert capsys.readouterr().out == (
        f"Recorded 0 of 2 cells; 2 were up to date. All cells of {SLUG} have {size:,} bytes.\n"
    )
    assert recorder.asked == [] and read_list(folder) == before


def test_again_records_what_is_up_to_date(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    assert run("--grid", "delayed=32", "--again", "--json") == 0
    assert result(capsys) == {
        "lesson": SLUG, "cells": 1, "recorded": ["grid-delayed-32"], "failed": {},
        "bytes": sum(cell_file(folder, name).stat().st_size for name in CELLS),
    }  # fmt: skip
    assert recorder.names() == ["grid-delayed-32"]


def test_a_cell_is_the_run_that_the_grid_says(folder: Path, recorder: Recorder) -> None:
    declare(folder, entries=ENTRIES | {"window_ms": 80})
    assert run("--grid", "all", "--again") == 0
    assert recorder.names() == list(CELLS)
    lesson = load(SLUG)
    for (spec, path, window, shift), delayed in zip(recorder.asked, (0, 32), strict=True):
        assert (spec.arms, spec.workload, spec.clock) == (
            tuple(ENTRIES["arms"]), "one-file", lesson.lesson.clock,
        )  # fmt: skip
        asked = ENTRIES["params"] | {"delayed": delayed}
        assert spec.params == lesson.check_params(asked, lesson.lesson.clock)
        assert (path, window) == (cell_file(folder, f"grid-delayed-{delayed}"), 80)
        assert shift == lesson_shift(lesson, lesson.lesson.clock)


def spoil(folder: Path, how: str) -> None:
    if how == "file":
        cell_file(folder, CELLS[0]).unlink()
    elif how == "entry":
        write_list(folder, read_list(folder)[1:])
    elif how == "content":
        other = cell_file(folder, CELLS[1])
        cell_file(folder, CELLS[0]).write_bytes(other.read_bytes())
    elif how == "params":
        entries = read_list(folder)
        entries[0]["params"]["nr"] = 64
        write_list(folder, entries)
    elif how == "window":
        entries = read_list(folder)
        entries[0]["window_ms"] = 80
        write_list(folder, entries)
    elif how == "metric":
        entries = read_list(folder)
        entries[0]["values"] = {"freed": entries[0]["values"][METRIC]}
        write_list(folder, entries)
    elif how == "arm":
        entries = read_list(folder)
        del entries[0]["values"][METRIC]["stock"]
        write_list(folder, entries)
    elif how == "lesson":
        entries = read_list(folder)
        entries[0]["lesson"] = "01-shrinker-bitmaps"
        write_list(folder, entries)


HOW = ["file", "entry", "content", "params", "window", "metric", "arm", "lesson"]


@pytest.mark.parametrize("how", HOW)
def test_only_a_cell_that_lint_would_refuse_is_recorded(
    folder: Path, recorder: Recorder, capsys: Printed, how: str
) -> None:
    spoil(folder, how)
    assert run("--grid", "all") == 0
    assert "Recorded 1 of 2 cells; 1 were up to date." in capsys.readouterr().out
    assert recorder.names() == [CELLS[0]]
    assert run("--grid", "all") == 0
    assert recorder.names() == [CELLS[0]], "now it is up to date"


def test_a_stale_kernel_makes_all_its_cells_stale(
    folder: Path, recorder: Recorder, tmp_path: Path
) -> None:
    with (tmp_path / "kernel-patches/bases/6.1/base.config").open("a") as config:
        config.write("CONFIG_TEST_ONLY=y\n")
    assert run("--grid", "delayed=0") == 0
    assert recorder.names() == [CELLS[0]]


# What the list says.


def test_the_entry_is_what_lint_and_page_need(folder: Path, recorder: Recorder) -> None:
    cell_file(folder, CELLS[0]).unlink()
    assert run("--grid", "all") == 0
    first, second = read_list(folder)
    path = cell_file(folder, CELLS[0])
    manifest = open_bundle(path).manifest
    asked = load(SLUG).check_params(ENTRIES["params"] | {"delayed": 0}, "count")
    host = first.pop("host")
    assert first == {
        "name": "grid-delayed-0", "lesson": SLUG, "grid": "entries", "params": asked,
        "arms": ENTRIES["arms"], "clock": "count", "workload": "one-file", "seconds": None,
        "recorded_at": NOW, **facts_of(path), "window_ms": None,
        "values": {METRIC: dict.fromkeys(ENTRIES["arms"], 9.0)},
    }  # fmt: skip
    assert f"{manifest.host['cpus']} CPUs, QEMU {manifest.host.get('accel', '')}".strip() in host
    assert second["name"] == "grid-delayed-32"


def test_the_list_has_a_number_of_each_metric(folder: Path, recorder: Recorder) -> None:
    curve = ENTRIES["curves"]["first"]
    curves = {"first": curve, "again": curve, "all": curve | {"metric": "freed"}}
    declare(folder, entries=ENTRIES | {"curves": curves, "window_ms": 80})
    assert run("--grid", "delayed=0") == 0
    first, second = read_list(folder)
    arms = ENTRIES["arms"]
    assert first["values"] == {METRIC: dict.fromkeys(arms, 9.0), "freed": dict.fromkeys(arms, 32.0)}
    assert (first["window_ms"], second["window_ms"]) == (80, None)
    assert run("--grid", "delayed=0") == 0
    assert recorder.names() == [CELLS[0]], "it is up to date"


def test_a_grid_without_curves_has_no_numbers(folder: Path, recorder: Recorder) -> None:
    declare(folder, entries=ENTRIES | {"curves": {}})
    recorder.silent = True
    assert run("--grid", "all") == 0
    assert [one["values"] for one in read_list(folder)] == [{}, {}]


def test_entries_are_in_the_order_of_the_grids(folder: Path, recorder: Recorder) -> None:
    declare(folder, entries=ENTRIES | {"over": {"delayed": [0, 16, 32, 64]}})
    assert run("--grid", "delayed=64") == 0
    assert run("--grid", "all") == 0
    assert [one["name"] for one in read_list(folder)] == [
        "grid-delayed-0", "grid-delayed-16", "grid-delayed-32", "grid-delayed-64",
    ]  # fmt: skip
    assert recorder.names() == ["grid-delayed-64", "grid-delayed-16"]


def test_cells_that_the_lesson_no_longer_has_are_deleted(folder: Path, recorder: Recorder) -> None:
    declare(folder, entries=ENTRIES | {"over": {"delayed": [32, 64]}})
    assert run("--grid", "all") == 0
    assert [one["name"] for one in read_list(folder)] == ["grid-delayed-32", "grid-delayed-64"]
    assert sorted(path.stem for path in (folder / "recorded/grid").iterdir()) == [
        "grid-delayed-32", "grid-delayed-64",
    ]  # fmt: skip


def test_a_first_grid_needs_no_folder(folder: Path, recorder: Recorder) -> None:
    for name in CELLS:
        cell_file(folder, name).unlink()
    (folder / "recorded/grid").rmdir()
    (folder / "recorded/grid.json").unlink()
    assert run("--grid", "all") == 0
    assert [one["name"] for one in read_list(folder)] == list(CELLS)


def test_a_damaged_list_is_not_overwritten(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    (folder / "recorded/grid.json").write_text("{")
    assert run("--grid", "all", "--again") == 2
    error = capsys.readouterr().err
    assert "grid.json is not a list of recorded cells" in error and "remedy: Delete " in error
    assert recorder.asked == [] and (folder / "recorded/grid.json").read_text() == "{"


# Failures.


def test_a_cell_that_fails_is_named_and_the_others_are_recorded(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    before = read_list(folder)[0]
    recorder.broken = {0}
    assert run("--grid", "all", "--again", "--json") == KernelError.exit_code
    out, error = capsys.readouterr()
    tree = json.loads(out)
    assert tree["recorded"] == ["grid-delayed-32"]
    assert tree["failed"] == {"grid-delayed-0": "the lane died."}
    assert "error: grid-delayed-0: the lane died.\nremedy: Look." in error
    assert read_list(folder)[0] == before, "the old cell is kept"
    assert run("--grid", "all", "--again") == KernelError.exit_code
    said = "Recorded 1 of 2 cells, 1 failed; 0 were up to date."
    assert said in capsys.readouterr().out


def test_a_run_without_the_number_is_no_cell(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    before = read_list(folder)
    recorder.silent = True
    assert run("--grid", "delayed=0", "--again") == InfraError.exit_code
    assert "the run of scan-2013 has no first_freed." in capsys.readouterr().err
    assert read_list(folder) == before


def test_a_run_without_the_number_leaves_the_old_file(folder: Path, recorder: Recorder) -> None:
    before = cell_file(folder, CELLS[0]).read_bytes()
    recorder.silent = True
    run("--grid", "delayed=0", "--again")
    assert cell_file(folder, CELLS[0]).read_bytes() == before


def test_a_run_that_lost_events_is_no_cell(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    before = read_list(folder)
    recorder.loss = (Loss(0.0, 1.0, 3, "ring buffer"), Loss(2.0, 3.0, 4, "kprobe"))
    assert run("--grid", "delayed=0", "--again") == InfraError.exit_code
    assert "lane scan-2013 lost 7 events." in capsys.readouterr().err
    assert recorder.asked == [] and read_list(folder) == before


@pytest.mark.parametrize("known", [(), (3,)], ids=["alone", "with-others"])
def test_a_loss_of_unknown_size_is_refused(
    folder: Path, recorder: Recorder, capsys: Printed, known: tuple[int, ...]
) -> None:
    before = cell_file(folder, CELLS[0]).read_bytes()
    recorder.loss = tuple(Loss(0.0, 1.0, n, "ring buffer") for n in (*known, None))
    assert run("--grid", "delayed=0", "--again") == InfraError.exit_code
    assert "lane scan-2013 lost an unknown number of events." in capsys.readouterr().err
    assert recorder.asked == [] and cell_file(folder, CELLS[0]).read_bytes() == before


def test_a_run_on_a_busy_host_is_no_cell(folder: Path, recorder: Recorder, capsys: Printed) -> None:
    before = read_list(folder)
    recorder.contention = Contention(ran_s=1.0, waited_s=9.0)
    assert run("--grid", "delayed=0", "--again") == InfraError.exit_code
    error = capsys.readouterr().err
    assert "the host was busy: the vCPUs of lane scan-2013 waited 90% of their time" in error
    assert recorder.asked == [] and read_list(folder) == before


def test_a_lane_that_lost_nothing_and_did_not_wait_is_accepted(recorder: Recorder) -> None:
    recorder.contention = Contention(ran_s=9.0, waited_s=0.0)
    assert run("--grid", "delayed=0", "--again") == 0


@dataclass
class Transcribed:
    """A transcript without records."""

    truncated: bool = False

    def records(self) -> list[Record]:
        return []


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> dict[str, LaneResult]:
    """The lanes that the real `record_run` gets instead of guests', by arm."""
    lanes: dict[str, LaneResult] = {}

    class Session:
        def __init__(self, _: object, spec: RunSpec, *more: object) -> None:
            self.arms = spec.arms

        async def execute(self) -> SimpleNamespace:
            return SimpleNamespace(lanes={arm: lanes[arm] for arm in self.arms})

    async def sources(_: object, arms: Sequence[str], *more: object) -> dict[str, None]:
        return dict.fromkeys(arms)

    def write(path: Path, spec: RunSpec, lanes: dict[str, LaneResult], *more: object) -> int:
        return path.write_bytes(b"written")

    monkeypatch.setattr(session, "RunSession", Session)
    monkeypatch.setattr(runs.sources, "kernel_sources", sources)
    monkeypatch.setattr(runs.pack, "write_run", write)
    return lanes


@pytest.mark.parametrize("wrong", [None, "scan-2013", "evictable-list"])
def test_a_lane_is_refused_before_a_file_is_written(
    folder: Path, guests: dict[str, LaneResult], run_async: Any, wrong: str | None
) -> None:
    (cell, *_) = cells_of(load(SLUG))
    path, before = cell_file(folder, cell.name), cell_file(folder, cell.name).read_bytes()
    spec = RunSpec(load(SLUG), cell.arms, cell.workload, dict(cell.params), cell.clock)
    seen: list[str] = []

    def refuse(one: LaneResult) -> None:
        assert path.read_bytes() == before
        seen.append(one.arm)
        if one.arm == wrong:
            raise InfraError("no.", remedy="Look.")

    for arm in cell.arms:
        guests[arm] = lane(arm, SAID, transcript=Transcribed())
    made = recording.record_run(spec, path, None, KernelSettings.default(), refuse=refuse)
    if wrong is None:
        assert list(run_async(made)[0]) == seen == list(cell.arms)
        assert path.read_bytes() == b"written"
        return
    with pytest.raises(InfraError, match="no"):
        run_async(made)
    assert seen == list(cell.arms)[: cell.arms.index(wrong) + 1]
    assert path.read_bytes() == before


# Numbers of a curve.


@pytest.fixture
def spec() -> RunSpec:
    lesson = load(SLUG)
    return RunSpec(lesson, ("stock",), "one-file", lesson.check_params({}, "count"), "count")


def test_a_number_of_the_workloads_lines(spec: RunSpec) -> None:
    said = lane("stock", "scans: first_freed=3", "scans: first_freed=12 freed=7")
    assert curve_value(spec, "first_freed", said) == 12
    assert curve_value(spec, "freed", said) == 7


def test_a_number_of_the_events_is_scaled(spec: RunSpec) -> None:
    counted = lane("stock", tallies={"freed_by_events": 32.0, "locked_mean_us": 1500.0})
    assert curve_value(spec, "freed_by_events", counted) == 32
    assert curve_value(spec, "locked_mean_us", counted) == pytest.approx(1.5)


def test_zero_is_a_number(spec: RunSpec) -> None:
    assert curve_value(spec, "first_freed", lane("stock", "first_freed=0")) == 0
    assert curve_value(spec, "freed_by_events", lane("stock", tallies={"freed_by_events": 0})) == 0


@pytest.mark.parametrize("metric", ["first_freed", "freed_by_events"])
def test_a_missing_number_is_one_sentence(spec: RunSpec, metric: str) -> None:
    with pytest.raises(InfraError) as caught:
        curve_value(spec, metric, lane("stock", "nothing", tallies={"other": 1.0}))
    assert caught.value.sentence == f"the run of stock has no {metric}."
    assert caught.value.remedy == "Choose a metric of this workload for the grid's curve."


def test_accesses_need_a_microscope(spec: RunSpec) -> None:
    lesson = load("05-cacheline-pingpong")
    watched = RunSpec(lesson, ("stock",), "watched", lesson.check_params({}), lesson.lesson.clock)
    for one in (watched, replace(watched, traced=False)):
        with pytest.raises(InfraError, match="microscope"):
            curve_value(one, "lock_line_reads", lane("stock"))


# `duet record-all` records cells by their grid.


def test_record_all_records_a_cell_and_lists_it(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    assert entry.main(["record-all", f"{SLUG}/{CELLS[0]}", "--all", "--json"]) == 0
    (item,) = result(capsys)["items"]
    assert (item["name"], item["state"], item["kind"]) == (CELLS[0], "made", "recording")
    assert recorder.names() == [CELLS[0]]
    assert read_list(folder)[0]["values"] == {METRIC: dict.fromkeys(ENTRIES["arms"], 9.0)}
    assert read_list(folder)[0]["sha256"] == facts_of(cell_file(folder, CELLS[0]))["sha256"]


def test_record_all_refuses_a_cell_that_no_grid_has(
    folder: Path, recorder: Recorder, capsys: Printed
) -> None:
    declare(folder, entries=ENTRIES | {"over": {"delayed": [32, 64]}})
    assert entry.main(["record-all", f"{SLUG}/{CELLS[0]}", "--all"]) == 2
    error = capsys.readouterr().err
    assert f"the grids of lesson {SLUG} no longer have the cell grid-delayed-0." in error
    assert f"remedy: Delete {cell_file(folder, CELLS[0])}." in error
    assert recorder.asked == []


def test_record_all_takes_a_cell_off_the_list_of_stale_ones(
    folder: Path, recorder: Recorder
) -> None:
    stale = folder / "recorded/stale.txt"
    stale.write_text(f"{CELLS[0]}\n{CELLS[1]}\n")
    assert entry.main(["record-all", f"{SLUG}/{CELLS[0]}", "--all"]) == 0
    assert stale.read_text() == f"{CELLS[1]}\n"


def test_other_verbs_find_a_cell_by_its_name(folder: Path, capsys: Printed) -> None:
    assert entry.main(["inspect", f"{SLUG}/{CELLS[1]}", "--json"]) == 0
    assert str(result(capsys)).count(CELLS[1]) and entry.main(["inspect", f"{SLUG}/nope"]) == 2
    assert f"Choose from: one-file, {', '.join(CELLS)}." in capsys.readouterr().err
