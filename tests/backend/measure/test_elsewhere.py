# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of another host: what a run wrote is read, and nothing else is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.cli import main
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec, made_of
from duet.lessons.load import LessonFolder, load
from duet.measure.curves import curve_plans
from duet.measure.elsewhere import (
    BadHostResult,
    EndLine,
    HostLine,
    Line,
    PackedArm,
    PackedJob,
    PackRecord,
    ResultWriter,
    SkippedLine,
    TableLine,
    hashed,
    read_result,
    stored_elsewhere,
)
from duet.measure.model import ArmFacts
from duet.measure.plan import MeasurePlan, conditions
from duet.measure.published import (
    Place,
    Stored,
    StoredTable,
    published_plans,
    rows_of,
    stored_table,
)
from duet.measure.run import Collector
from duet.server.recordings import read_own_tables, read_tables

HOST = {"cpu": "Example CPU", "cpus": "16", "qemu": "7.2.22", "accel": "tcg", "os": "Example OS"}
AT = "2026-11-29T08:00:00+00:00"


def facts(folder: LessonFolder, arm: str) -> ArmFacts:
    made = made_of(arm_spec(folder, arm), KernelSettings.default())
    patches = tuple(made.patches.items())
    return ArmFacts(arm, arm, "before", "6.1.192", f"key-{arm}", made.config_sha256, patches, ())


def job_of(plan: MeasurePlan, **more: Any) -> PackedJob:
    fields = {**PackedJob.fields_of(plan), "published": True, "needs_cpus": 1}
    return PackedJob.model_validate(fields | more)


def table_of(job: PackedJob, arms: Sequence[ArmFacts]) -> StoredTable:
    plan = job.plan()
    (condition,) = conditions(plan)
    table = Collector(plan, condition, {}).table
    for number, one in enumerate(table.series):
        one.samples = [1000.0 - 100 * number] * job.repeats
        one.perturbed = [1000.0 - 100 * number] * job.perturbed
    return stored_table(job.lesson, table, arms, HOST, AT)


class Made:
    """The lines of a result of one measurement: a lesson's first published one, or a plan."""

    def __init__(self, folder: LessonFolder, plan: MeasurePlan | None = None) -> None:
        self.plan = plan or next(iter(published_plans(folder, every=True).values()))
        self.job = job_of(self.plan, published=plan is None)
        arms = [facts(folder, arm) for arm in self.plan.arms]
        packed = {arm.name: PackedArm(facts=arm, bzimage_sha256="b" * 64) for arm in arms}
        record = PackRecord(
            by="0.1.0", at=AT, jobs=(self.job,), arms={folder.slug: packed}, statics={},
            root_sha256="c" * 64, qemu="7.2.22",
        )  # fmt: skip
        self.host = HostLine(
            pack=record.digest(), record=record, name="16 x Example", host=HOST, at=AT
        )
        self.table = TableLine(job=0, table=table_of(self.job, arms), seconds=1.0)
        self.end = EndLine(at=AT, seconds=2.0)

    def lines(self) -> list[Line]:
        return [self.host, self.table, self.end]


@pytest.fixture
def made(lesson02: LessonFolder) -> Made:
    return Made(lesson02)


def written(path: Path, lines: Sequence[Line]) -> Path:
    before, whole = "", b""
    for line in lines:
        text, before = hashed(line, before)
        whole += text
    path.write_bytes(whole)
    return path


def test_a_result_is_read_with_its_host(made: Made, tmp_path: Path) -> None:
    result = read_result(written(tmp_path / "r.jsonl", made.lines()))
    (table,) = stored_elsewhere([result])
    assert (table.on, table.host["cpus"]) == ("16 x Example", "16")
    (report,) = result.reports("02-grace-periods")
    assert report.tables[0].comparisons
    assert report.remarks == ["Measured on another host: 16 x Example."]


def changed_number(text: bytes) -> bytes:
    assert b"1000.0" in text
    return text.replace(b"1000.0", b"2000.0", 1)


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (changed_number, "was changed after its run: line 2 does not match its hash"),
        (lambda text: text[: text.rindex(b'{"kind"')], "has no end line after its 2 lines"),
        (lambda text: text[:-40], "is not a result of ./measure"),
        (lambda text: b"".join(text.splitlines(True)[::2]), "line 2 does not match its hash"),
        (lambda text: b"hello\n", "is not a result of ./measure"),
        (lambda text: b"", "its first line names no host"),
        (lambda text: b'{"a": 1}\n', "a line does not have the form of a result line"),
        (lambda text: b"5\n", "a line does not have the form of a result line"),
    ],
    ids=["number", "cut after a line", "cut in a line", "a line is gone", "text", "empty",
         "another object", "no object"],
)  # fmt: skip
def test_a_damaged_file_is_refused(
    made: Made, tmp_path: Path, harm: Callable[[bytes], bytes], sentence: str
) -> None:
    path = written(tmp_path / "r.jsonl", made.lines())
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(BadHostResult) as refused:
        read_result(path)
    assert sentence in refused.value.sentence
    assert refused.value.remedy


def test_another_kernel_is_refused_even_with_hashes_that_fit(made: Made, tmp_path: Path) -> None:
    slug, arm = made.job.lesson, made.plan.arms[1]
    packed = made.host.record.arms[slug][arm]
    other = replace(packed.facts, patches=(("02-grace-periods/srcu.patch", "f" * 64),))
    arms = {**made.host.record.arms[slug], arm: packed.model_copy(update={"facts": other})}
    record = made.host.record.model_copy(update={"arms": {slug: arms}})
    made.host = made.host.model_copy(update={"record": record})
    with pytest.raises(BadHostResult, match=f"a kernel of {arm} that differs from this tree"):
        read_result(written(tmp_path / "r.jsonl", made.lines()))
    keys = [replace(one, key="0" * 64) for one in made.table.table.arms]
    made = Made(made.plan.folder)
    made.table.table.arms = keys
    with pytest.raises(
        BadHostResult, match=r"figures of .* are for a kernel that is not in the file's pack"
    ):
        read_result(written(tmp_path / "r.jsonl", made.lines()))


def test_another_plan_is_refused_even_with_hashes_that_fit(made: Made, tmp_path: Path) -> None:
    for other in ({"repeats": 1}, {"workload": "no-such"}):
        job = made.job.model_copy(update=other)
        record = made.host.record.model_copy(update={"jobs": (job,)})
        host = made.host.model_copy(update={"record": record})
        with pytest.raises(
            BadHostResult, match=r"was measured with (another plan|a plan that is not)"
        ):
            read_result(written(tmp_path / "r.jsonl", [host, made.table, made.end]))


def test_a_job_is_the_same_text_in_every_process(made: Made) -> None:
    names = [f"metric_{number}" for number in range(20)]
    job = made.job.model_copy(update={"metrics": frozenset(names)})
    assert json.loads(job.model_dump_json())["metrics"] == sorted(names)
    assert PackedJob.model_validate_json(job.model_dump_json()) == job


def test_a_table_of_another_condition_is_refused(made: Made, tmp_path: Path) -> None:
    made.table.table.params = {**made.table.table.params, "hogs": 1}
    with pytest.raises(BadHostResult, match="a table does not have what its job measures"):
        read_result(written(tmp_path / "r.jsonl", made.lines()))


def test_a_run_is_continued_where_it_stopped(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultWriter(path, made.host) as writer:
        writer.add(SkippedLine(job=0, why="the time was over"))
        writer.add(made.end)
    assert [why for _, why in read_result(path).skipped] == ["the time was over"]
    with ResultWriter(path, made.host) as writer:
        assert writer.done == set()
        writer.add(made.table)
    with pytest.raises(BadHostResult, match="no end line"):
        read_result(path)
    with ResultWriter(path, made.host) as writer:
        assert writer.done == {0}
        assert b'"table"' in path.read_bytes(), "an earlier run's tables are never gone"
        writer.add(made.end)
    assert len(read_result(path).tables) == 1
    other = made.host.model_copy(update={"pack": "e" * 64})
    sentence = "a result of another pack"
    with pytest.raises(BadHostResult, match=sentence), ResultWriter(path, other):
        pass


def test_a_figure_that_needs_more_cpus_says_so_here_and_is_judged_there(
    lesson02: LessonFolder, made: Made
) -> None:
    needy = [one.model_copy(update={"needs_cpus": 12}) for one in lesson02.lesson.published]
    lesson = lesson02.lesson.model_copy(update={"published": tuple(needy)})
    folder = replace(lesson02, lesson=lesson)
    (here, *_) = rows_of(folder, {}, None, Place(2))
    assert here.judged.words == "not testable here"
    assert here.because == "needs 12 CPUs, and this host has 2"
    tables = {table.key: table.table() for table in [made.table.table]}
    measured = [r for r in rows_of(folder, tables, None, Place(16, "big")) if r.ratio is not None]
    assert measured
    assert {row.on for row in measured} == {"big"}
    assert "not testable here" not in {row.judged.words for row in measured}


def test_hosts_are_kept_apart(made: Made) -> None:
    stored = Stored()
    stored.put(made.table.table)
    stored.put(made.table.table.model_copy(update={"on": "16 x Example"}))
    stored.put(made.table.table.model_copy(update={"on": "16 x Example"}))
    assert [table.on for table in stored.tables] == ["", "16 x Example"]
    assert len(stored.of(made.job.lesson)) == len(stored.of(made.job.lesson, "16 x Example")) == 1
    assert [place.on for place in stored.places()] == ["", "16 x Example"]


def test_the_table_and_the_page_have_a_column_for_each_host(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = written(tmp_path / "r.jsonl", made.lines()), tmp_path / "PAGE.md"
    words = ["measure", "--published", "02-grace-periods", "--from", str(path)]
    assert main([*words, "--write", str(page)]) == 0
    assert "16 x Example: 0.9" in " ".join(capsys.readouterr().out.split())
    text = page.read_text()
    assert "| on 16 x Example |" in text
    assert "On 16 x Example: " in text
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["on"] for row in rows} == {"", "16 x Example"}


def test_a_report_of_a_result(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path / "r.jsonl", made.lines()))
    assert main(["measure", "02-grace-periods", "--from", path]) == 0
    assert "Measured on another host: 16 x Example." in capsys.readouterr().out
    assert main(["measure", "02-grace-periods", "--from", path, "--set", "hogs=1"]) == 2
    assert "the results have none" in " ".join(capsys.readouterr().err.split())
    assert main(["measure", "02-grace-periods", "--from", path, "--repeats", "3"]) == 2
    assert "takes no measurement options" in capsys.readouterr().err


def test_a_point_of_a_curve_is_recorded_for_the_page_under_its_host(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slug, mine = "03-inode-recycling", "06-mine"
    without = shutil.ignore_patterns("recorded")
    for top in ("lessons", "kernel-patches"):
        shutil.copytree(root / top / slug, tmp_path / top / mine, ignore=without)
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path))
    folder = load(mine)
    (four,) = (plan for plan in curve_plans(folder) if plan.params["removers"] == 4)
    path = written(tmp_path / "r.jsonl", Made(folder, four).lines())
    tables = folder.folder / "recorded/measured.json"
    for _ in range(2):  # a table replaces that of the same condition and host
        assert main(["measure", mine, "--from", str(path), "--record"]) == 0
    (table,) = read_tables(tables)
    assert (table.on, table.params["removers"], table.params["vcpus"]) == ("16 x Example", 4, 4)
    assert [row.arm for row in table.rows] == ["stock", "wait-in-worker", "call-rcu"]
    assert table.host == "Example CPU, 16 CPUs, Linux ?"
    assert read_own_tables(tables) == []
    assert main(["measure", mine, "--record"]) == 2
    assert "it needs --from" in capsys.readouterr().err


def test_a_curve_of_another_metric_is_recorded_apart_from_the_headline(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug, mine = "05-cacheline-pingpong", "06-mine"
    without = shutil.ignore_patterns("recorded")
    for top in ("lessons", "kernel-patches"):
        shutil.copytree(root / top / slug, tmp_path / top / mine, ignore=without)
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path))
    folder = load(mine)
    (four,) = (plan for plan in curve_plans(folder) if plan.params["tasks"] == 4)
    assert four.metrics == {"retries_per_op"}
    path = written(tmp_path / "r.jsonl", Made(folder, four).lines())
    tables = folder.folder / "recorded/measured.json"
    assert main(["measure", mine, "--from", str(path), "--record"]) == 0
    (table,) = read_tables(tables)
    assert (table.curve, table.metric, table.on) == ("retries", "retries_per_op", "16 x Example")
    assert table.rows[0].unit == "per stat"
    own = table.model_copy(update={"on": ""})
    tables.write_text(json.dumps({"tables": [own.model_dump(mode="json")]}))
    assert read_own_tables(tables) == []
