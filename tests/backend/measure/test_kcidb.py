# SPDX-License-Identifier: GPL-2.0-or-later
"""The result file for KernelCI: every document has the form of the KCIDB schema, version 5.0.

The schema itself is in the repository kernelci/kcidb-io; here stand its keys, those that are
required, its patterns and its statuses.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError, KernelError
from duet.cli import trial_run
from duet.cli.trial import TryResult
from duet.cli.trial_run import TrialOptions, TrialOutcome
from duet.cli.try_ import try_kernels
from duet.measure.model import Report
from duet.measure.reports import kcidb
from duet.trials.ask import Asked
from tests.backend.measure.reports_made import FIRST, REPORTS, SECOND, trial, wall

ID = r"[a-z0-9_]+:.*"
STATUSES = {"FAIL", "ERROR", "MISS", "PASS", "DONE", "SKIP"}
SHARED = {"id", "origin", "comment", "start_time", "log_url", "log_excerpt", "misc"}
KEYS = {
    "checkouts": SHARED | {"tree_name", "git_repository_url", "git_commit_hash", "git_commit_name",
                           "patchset_files", "patchset_hash", "message_id", "valid"},
    "builds": SHARED | {"checkout_id", "duration", "architecture", "command", "compiler",
                        "config_name", "config_url", "status"},
    "tests": SHARED | {"build_id", "environment", "path", "status", "number", "waived",
                       "duration", "output_files"},
}  # fmt: skip
REQUIRED = {
    "checkouts": {"id", "origin"},
    "builds": {"id", "origin", "checkout_id"},
    "tests": {"id", "origin", "build_id"},
}
PATTERNS = {
    "id": ID,
    "build_id": ID,
    "checkout_id": ID,
    "origin": r"[a-z0-9_]+",
    "patchset_hash": r"|[0-9a-f]{64}",
    "git_commit_hash": r"[0-9a-f]{40}",
    "path": r"([a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*)?",
    "architecture": r"[a-z0-9_]*",
    "start_time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
}


def check_form(document: dict[str, Any]) -> None:
    """Fails where the schema would."""
    assert set(document) == {"version", *KEYS}
    assert document["version"] == {"major": 5, "minor": 0}
    assert "null" not in json.dumps(document), "no property can be null"
    for kind, keys in KEYS.items():
        rows = document[kind]
        assert len({row["id"] for row in rows}) == len(rows), f"two {kind} of one id"
        for row in rows:
            assert set(row) <= keys and set(row) >= REQUIRED[kind], kind
            for name in row.keys() & PATTERNS.keys():
                assert re.fullmatch(PATTERNS[name], row[name]), (name, row[name])
            assert row.get("status", "DONE") in STATUSES
            assert set(row.get("number", {"value": 0})) <= {"value", "unit", "prefix"}
            assert set(row.get("environment", {})) <= {"compatible", "comment", "misc"}
    assert {one["checkout_id"] for one in document["builds"]} == ids(document, "checkouts")
    assert {one["build_id"] for one in document["tests"]} <= ids(document, "builds")


def ids(document: dict[str, Any], kind: str) -> set[str]:
    return {row["id"] for row in document[kind]}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_the_form_of_the_schema(name: str) -> None:
    document = json.loads(kcidb.render(REPORTS[name]()))
    check_form(document)
    assert document["tests"] and "PASS" not in {one["status"] for one in document["tests"]}


def test_a_number_is_the_median_with_its_unit_and_every_sample() -> None:
    tests = kcidb.document(wall())["tests"]
    rates = [one for one in tests if one["path"].endswith(".stress-ng.ops_per_s")]
    assert [one["number"] for one in rates[:2]] == [
        {"value": 1295.5, "unit": "umounts/s"},
        {"value": 281.5, "unit": "umounts/s"},
    ]
    assert len(rates[0]["misc"]["samples"]) == 5 and rates[0]["misc"]["better"] == "higher"


def test_a_limit_judges_the_headline_of_all_kernels_but_the_first() -> None:
    tests = kcidb.document(wall(), worse_than=5)["tests"]
    judged = [one["status"] for one in tests if one["path"].endswith(".ops_per_s")]
    assert judged == ["DONE", "FAIL", "PASS"]
    assert {one["status"] for one in tests if one["path"].endswith(".srcu_calls")} == {"DONE"}
    lenient = kcidb.document(wall(), worse_than=90)["tests"]
    assert [one["status"] for one in lenient if one["path"].endswith(".ops_per_s")][1] == "PASS"


def test_a_kernel_that_did_not_run_has_failed_and_a_full_disk_is_no_fault_of_it() -> None:
    report = wall()
    report.tables[0].errors = {
        "srcu": KernelError("the guest panicked.", remedy="x"),
        "srcu-expedited": InfraError("the disk is full.", remedy="x"),
    }
    document = kcidb.document(report)
    check_form(document)
    runs = {
        one["comment"]: one["status"] for one in document["tests"] if one["path"][-4:] == ".run"
    }
    assert runs == {"the guest panicked.": "FAIL", "the disk is full.": "MISS"}


def test_the_same_kernels_are_the_same_checkouts_and_builds_another_day() -> None:
    first, later = wall(), wall()
    later.at = "2027-01-01T00:00:00+00:00"
    one, two = kcidb.document(first), kcidb.document(later)
    assert ids(one, "builds") == ids(two, "builds")
    assert ids(one, "checkouts") == ids(two, "checkouts")
    tree = replace(trial().arms[0].source, tree="33" * 20)  # type: ignore[type-var]
    other = replace(trial(), arms=(replace(trial().arms[0], source=tree), *trial().arms[1:]))
    first, second = (
        ids(kcidb.document(trial()), "checkouts"),
        ids(kcidb.document(other), "checkouts"),
    )
    assert len(first - second) == 1, "the same folder with other files is another checkout"
    assert not ids(one, "tests") & ids(two, "tests")


def test_a_checkout_of_a_tree_is_its_commit_and_what_is_not_committed() -> None:
    report = trial()
    stock, mine, third = kcidb.document(report)["checkouts"]
    assert [one["git_commit_hash"] for one in (stock, mine, third)] == [FIRST, SECOND, FIRST]
    assert (stock["git_commit_name"], stock["patchset_hash"]) == ("v6.6.7", "")
    of = lambda sha: hashlib.sha256(f"{sha}\n".encode()).hexdigest()  # noqa: E731
    assert mine["patchset_hash"] == of("56" * 32), "its patch on the first tree is no patch on it"
    assert mine["misc"]["source"]["dirty"] is True
    assert third["patchset_hash"] == of("34" * 32)
    assert third["misc"]["own_patches"] == [
        {
            "subject": "fs/pipe: wake every reader",
            "sha256": "34" * 32,
            "commit": "abcdef12" * 5,
        }
    ]
    assert third["misc"]["command"] == report.command
    dirty = replace(report.arms[1].source, changes="")  # type: ignore[type-var]
    report.arms = (report.arms[0], replace(report.arms[1], source=dirty), report.arms[2])
    assert "patchset_hash" not in kcidb.document(report)["checkouts"][1], "it is not known"


def test_try_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_trial(asked: Asked, how: TrialOptions) -> TrialOutcome:
        report: Report = wall()
        return TrialOutcome(None, TryResult("x", "90-x", "f", "c", "wall", (), (), (), (), None, {},
                                     None, None, None, (), (), (), {}, (), "", None, ()), report)  # type: ignore[arg-type]  # fmt: skip

    monkeypatch.setattr(trial_run, "run_trial", run_trial)
    path = tmp_path / "result.json"
    how = TrialOptions(worse_than=5, as_json=True, result=path)
    assert try_kernels(Asked("sh"), how) == 1
    document = json.loads(path.read_text())
    check_form(document)
    assert "FAIL" in {one["status"] for one in document["tests"]}
    with pytest.raises(InputError, match="--result needs numbers"):
        try_kernels(Asked("sh"), TrialOptions(measure=False, result=path))
    with pytest.raises(InputError, match="cannot be written"):
        try_kernels(Asked("sh"), TrialOptions(result=tmp_path / "no" / "folder.json"))
