# SPDX-License-Identifier: GPL-2.0-or-later
"""One report of comparisons of several hosts: what is mixed, what is not, and what it says."""

from __future__ import annotations

import base64
import csv
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.lessons.load import LessonFolder
from duet.measure import Report
from duet.measure.model import HostFacts, differences, host_words
from duet.measure.reports import FORMATS, render
from duet.plugins.cluster.measuring.merge import merged
from duet.plugins.cluster.measuring.request import (
    MARK,
    BadResult,
    Part,
    Result,
    line_of,
    parts_of,
    read_result,
)
from duet.plugins.cluster.measuring.schedule import Job
from tests.plugins.cluster.test_schedule import swept
from tests.plugins.cluster.toy_pool import CPU, KERNEL, QEMU, ROOT, document

Run = Callable[..., Any]
USUAL = {CPU: "old CPU", QEMU: "7.2.22", KERNEL: "ab" * 32}


def usual(part: Part, other: dict[str, str] | None = None) -> str:
    """What a comparison gives on a host."""
    text = document(part)
    for word, given in (USUAL | (other or {})).items():
        text = text.replace(word, given)
    return text


def reported(folder: LessonFolder, clock: Clock, other: dict[str, str], **more: Any) -> Report:
    """A measurement whose first comparison ran on n1, and all others on n2, which is another."""
    plan = swept(folder, clock, **more)
    jobs = [Job(part) for part in parts_of(plan)]
    for number, job in enumerate(jobs):
        text = usual(job.part, other if number else {})
        job.host, job.result = f"n{bool(number) + 1}", Result.model_validate_json(text)
    return merged(plan, jobs, "./duet measure")


NEW_CPU, NEW_QEMU, NEW_ROOT = {CPU: "new CPU"}, {QEMU: "10.0.2"}, {ROOT: "ee" * 32}
LINKS: dict[str, Any] = {"sweep": None, "layouts": 5}


def test_alike_means_cpu_qemu_accelerator_and_kernels() -> None:
    one = HostFacts("hogs=1", 0, 0, "n1", "a", "7.2", "tcg", {"srcu": "1"}, waited_share=0.031)
    assert differences(one, one) == []
    other = HostFacts("hogs=2", 1, 0, "n2", "b", "8.1", "kvm", {"srcu": "2", "rwsem": "1"})
    assert differences(one, other) == [
        "CPU model", "QEMU version", "accelerator", "kernel of srcu",
    ]  # fmt: skip
    assert host_words(one) == (
        "hogs=1 on n1: a, QEMU 7.2 (tcg), guests waited at most 3 % for a CPU."
    )


def test_links_of_alike_hosts_are_one_verdict(lesson02: LessonFolder) -> None:
    report = reported(lesson02, "wall", {}, **LINKS)
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None and len(one.layouts) == 5 and one.n == 5
    assert report.remarks == [] and "relinked 5 times" in render(report, "mail")
    assert report.host["own_cpus"] == "those of an exclusive lease"


@pytest.mark.parametrize(
    ("other", "word"),
    [(NEW_CPU, "CPU model"), (NEW_QEMU, "QEMU version"), (NEW_ROOT, "guests' root")],
)
def test_wall_clock_times_of_unlike_hosts_are_not_mixed(
    lesson02: LessonFolder, other: dict[str, str], word: str
) -> None:
    report = reported(lesson02, "wall", other, **LINKS)
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None and one.layouts == {} and one.n == 5
    assert report.remarks == [
        f"link 1, link 2, link 3, link 4, link 5 ran on n2 and the usual link on n1, which differ"
        f" in {word}; figures of both are not mixed in a verdict, so these links are left out."
    ]
    text = render(report, "mail")
    assert "!! HOSTS: link 1, link 2," in text and "relinked" not in text
    assert report.tables[0].comparisons[0].verdict == "higher"  # wholly on n1


@pytest.mark.parametrize(
    ("other", "words"), [(NEW_QEMU, "QEMU (7.2.22 and"), (NEW_ROOT, "the guests' root (SHA-256")]
)
def test_counts_of_other_inputs_are_not_mixed(
    lesson02: LessonFolder, other: dict[str, str], words: str
) -> None:
    report = reported(lesson02, "count", other, **LINKS)
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None and one.layouts == {} and one.n == 5
    (remark,) = report.remarks
    assert f"differ in {words}" in remark and "are left out" in remark


def test_counts_of_unlike_hosts_are_mixed(lesson02: LessonFolder) -> None:
    report = reported(lesson02, "count", NEW_CPU, **LINKS)
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None and len(one.layouts) == 5 and report.remarks == []
    assert report.host["cpu"] == "old CPU or new CPU"


def test_a_sweep_over_unlike_hosts_says_so_and_draws_no_line(lesson02: LessonFolder) -> None:
    alike = render(reported(lesson02, "wall", {}), "will-it-scale")
    report = reported(lesson02, "wall", NEW_CPU)
    assert report.remarks == [
        "hogs=1 ran on n1, and hogs=2, hogs=3 on n2, which differ in CPU model. Each verdict is"
        " from one host alone. Do not compare figures between the hosts."
    ]
    assert "linear" in alike and "linear" not in render(report, "will-it-scale")
    (sentence,) = reported(lesson02, "count", NEW_CPU | NEW_QEMU).remarks
    assert "which differ in QEMU (7.2.22 and 10.0.2)." in sentence


@pytest.mark.parametrize("clock", ["wall", "count"])
def test_other_kernels_are_another_measurement(lesson02: LessonFolder, clock: Clock) -> None:
    report = reported(lesson02, clock, {KERNEL: "ef" * 32})
    assert report.partial == "hogs=2, hogs=3 failed"
    error = report.tables[1].errors["srcu"]
    assert error.sentence == (
        "n2 has another kernel for rwsem, srcu than n1 (SHA-256 efefefefefef and abababababab),"
        " so its figures are left out."
    )
    assert [table.comparisons[0].verdict == "refused" for table in report.tables] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("how", FORMATS)
def test_each_report_says_on_which_host_a_comparison_ran(lesson02: LessonFolder, how: str) -> None:
    text = render(reported(lesson02, "count", NEW_CPU), how)
    if how in ("json", "kcidb"):
        tree = json.loads(text)
        found = tree["hosts"] if how == "json" else [
            one for test in tree["tests"] for one in test["environment"]["misc"]["hosts"]
        ]  # fmt: skip
        assert {(one["comparison"], one["node"], one["cpu"]) for one in found} == {
            ("hogs=1", "n1", "old CPU"), ("hogs=2", "n2", "new CPU"), ("hogs=3", "n2", "new CPU"),
        }  # fmt: skip
    elif how == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["host"] for row in rows if row["run"] == "1"] == ["n1"] * 2 + ["n2"] * 4
    else:
        assert "Hosts:\n  hogs=1 on n1: old CPU, QEMU 7.2.22 (tcg), guests waited" in text


def test_what_is_no_result_of_the_comparison_is_refused(lesson02: LessonFolder) -> None:
    one, other, _ = parts_of(swept(lesson02))
    good = line_of(Result.model_validate_json(usual(one)))
    assert read_result(b"run 1\n" + good + b"end\n", one).counts is not None
    fewer = Result.model_validate_json(usual(one))
    assert fewer.counts is not None
    fewer.counts.series.pop()
    text, first = usual(one), '"samples":[124.25'
    for old, new, why in (
        (f'"rwsem":"{USUAL[KERNEL]}",', "", "which kernels ran"),
        ('"qemu":"7.2.22"', '"qemu":""', "what its host is"),
        (first, '"samples":[1e999', "no usable figures"),
        ('"layouts":{}', '"layouts":{"4":[1.0]}', "figures for other link orders"),
        (first, f'"samples":[{"1.0," * 200}1.0', "no usable figures"),
    ):
        changed = text.replace(old, new)
        assert changed != text, old
        packed = MARK + base64.b64encode(zlib.compress(changed.encode()))
        with pytest.raises(BadResult, match=why):
            read_result(packed, one)
    for output, part, why in (
        (b"run 1\n", one, "no result arrived"),
        (good, other, "to another condition"),
        (line_of(fewer), one, "other metrics or arms"),
        (good[:-40], one, "cannot be read|cut off"),
        (MARK + b"eJw=\n", one, "cut off"),
        (MARK + b"?\n", one, "cannot be read"),
    ):
        with pytest.raises(BadResult, match=why):
            read_result(output, part)
