# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope --native`: what it saves is what the page is sent; a small host is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.cli.entry import main
from duet.cli.microscope import native as microscope_native
from duet.cli.microscope.native import native_result, save
from duet.lenses.scope import native
from duet.lessons.load import LessonFolder, load
from duet.measure.replica import measure_replica
from duet.server.recorded_items import NATIVE, read_native

SLUG = "05-cacheline-pingpong"


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> microscope_native.Tree:
    """Of a host of eight cores that is made up: moved has one and a half times the rate."""

    def run(
        operation: object, layout: native.Layout, cpus: list[int], ms: int, *_: object
    ) -> tuple[native.Run, str]:
        ops = (1500 if layout.arm == "moved" else 1000) * len(cpus)
        return native.Run(len(cpus), 1_000_000, ops, 0, 0), ""

    monkeypatch.setattr(native, "run_once", run)
    monkeypatch.setattr(native, "count_events", lambda *_: ({}, "no perf"))
    layouts = [native.Layout(arm, 192, {"d_lockref": 88}) for arm in ("stock", "moved")]
    operation = native.Operation(Path("x.c"), "dentry", (), "its kernel", ("s{folder}/a",))
    cpus = list(range(8))
    return native_result(measure_replica(SLUG, operation, layouts, cpus, cpus, lambda _: None))


def copy(folder: Path) -> LessonFolder:
    """The lesson, in a folder to write to."""
    (folder / SLUG).mkdir()
    return replace(load(SLUG), folder=folder / SLUG)


def test_what_is_saved_is_what_the_page_gets(tree: microscope_native.Tree, tmp_path: Path) -> None:
    folder = copy(tmp_path)
    assert read_native(folder.folder) is None
    assert save(folder, tree) == folder.folder / NATIVE
    found = read_native(folder.folder)
    assert found is not None
    assert [point.threads for point in found.arms[0].curve] == [1, 2, 4, 8]
    assert found.ratio.median == pytest.approx(1.5)
    assert found.made.cpu and found.made.kernel and found.made.at.endswith("+00:00")
    assert found.host is not None and found.host.what == "its kernel"
    assert "no perf" in found.remarks


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"lesson": "02-grace-periods"}, "was measured for lesson 02-grace-periods"),
        ({"cores": 2}, r"is not a result of \./duet microscope --native"),
        ({"evidence": "modelled"}, r"is not a result of \./duet microscope --native"),
        ({"made": {}}, r"is not a result of \./duet microscope --native"),
        ({"format": 2}, r"is not a result of \./duet microscope --native"),
    ],
)
def test_another_file_is_refused(
    tree: microscope_native.Tree, tmp_path: Path, change: dict[str, object], why: str
) -> None:
    folder = copy(tmp_path)
    path = save(folder, tree)
    path.write_text(json.dumps({**tree, **change}))
    with pytest.raises(InputError, match=why):
        read_native(folder.folder)
    path.write_text("{")
    with pytest.raises(InputError, match=r"is not a result of \./duet microscope --native"):
        read_native(folder.folder)


def test_a_folder_that_cannot_be_written_to_is_reported(
    tree: microscope_native.Tree, tmp_path: Path
) -> None:
    folder = copy(tmp_path)
    (folder.folder / "recorded").write_text("no folder")
    with pytest.raises(InfraError, match=r"cannot be saved in 05-cacheline-pingpong/recorded/nat"):
        save(folder, tree)


def test_fewer_than_four_cores_are_refused_in_one_sentence_and_nothing_is_saved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "one_cpu_a_core", lambda _: [0, 1])
    monkeypatch.setattr(microscope_native, "save", lambda *_: pytest.fail("saved"))
    assert main(["microscope", SLUG, "--native"]) == InfraError.exit_code
    assert "needs 4 cores on one socket, but this host has 2." in capsys.readouterr().err


def test_curves_double_threads_up_to_the_most() -> None:
    assert native.thread_counts(1) == [1]
    assert native.thread_counts(6) == [1, 2, 4, 6]
    assert native.thread_counts(20) == [1, 2, 4, 8, 16, 20]


def test_cpu_model_is_named_or_said_to_be_unknown(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor : 0\nmodel name\t: A Processor\nmodel name\t: Another\n")
    assert native.cpu_model(file) == "A Processor"
    file.write_text("processor : 0\n")
    assert native.cpu_model(file) == "unknown CPU"


def test_the_hosts_own_kernel_is_asked_too() -> None:
    operation = native.read_operation(load(SLUG))
    assert operation.host_steps
    layout = native.Layout("any", 192, {})
    points, why = native.host_curve(operation, layout, native.allowed_cpus()[:1], 30)
    assert why or points[0].median > 100
