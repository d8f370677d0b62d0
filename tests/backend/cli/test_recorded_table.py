# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded table says of what it was made, and takes the place of the former one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import KernelError
from duet.cli import recorded_table
from duet.cli.arguments import read_request
from duet.cli.recorded_table import record_table
from duet.kernels import KernelSettings
from duet.measure import MeasurePlan, Report
from duet.server.recordings import read_tables
from duet.session import RunSpec
from tests.backend.measure import reports_made

SLUG = "02-grace-periods"


class Made:
    """In place of Measuring: a report that was made by hand."""

    def __init__(self, plan: MeasurePlan, report: Report) -> None:
        self.plan, self.report = plan, report

    async def run(self) -> Report:
        return self.report


def counted() -> Report:
    """A report of the lesson's headline."""
    report = reports_made.count()
    for one in report.tables[0].series[::2]:
        one.metric = "ops_per_s"
    return report


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunSpec:
    """Of lesson 02 on the count clock, beside two tables that are there already."""
    spec = read_request(SLUG, "rwsem,srcu,srcu-expedited", "", "count", ["hogs=9"])
    folder = replace(spec.folder, folder=tmp_path)
    row = {"arm": "rwsem", "n": 5, "ops_per_s": [1.0], "ops_per_s_median": 1.0}
    older = {name: v for name, v in spec.params.items() if name != "exp_holdoff"}
    tables = [
        {"lesson": SLUG, "source": "recorded", "clock": "count", "workload": "storm",
         "metric": "ops_per_s", "title": "umounts", "better": "higher", "command": "",
         "params": params, "at": "2026-01-01", "verdict": "", "rows": [row]}
        for params in (older, older | {"hogs": 3})
    ]  # fmt: skip
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded/measured.json").write_text(json.dumps({"tables": tables}))

    async def prepare(plan: MeasurePlan, *_: object) -> Made:
        return Made(plan, counted())

    monkeypatch.setattr(recorded_table, "prepare_measurement", prepare)
    return replace(spec, folder=folder)


def test_it_replaces_the_one_of_the_same_run(asked_for: RunSpec) -> None:
    """An older table that lacks a new knob was measured at the knob's default."""
    path = asyncio.run(record_table(asked_for, KernelSettings.default()))
    new, other = read_tables(path)
    assert other.params["hogs"] == 3 and other.made is None
    assert new.params == asked_for.params and new.made is not None
    assert new.made.seeds == [2, 3, 4] and new.made.host["cpu"]
    assert all(arm.key and arm.patches for arm in new.made.arms)
    assert new.command.endswith("--repeats 2 --shift 0")
    assert [len(row.perturbed) for row in new.rows] == [3, 3]


def test_an_arm_that_failed_leaves_the_former_table(
    asked_for: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = asked_for.folder.folder / "recorded/measured.json"
    before = path.read_bytes()
    report = counted()
    report.tables[0].errors["srcu"] = KernelError("srcu died.", remedy="Look.")

    async def prepare(plan: MeasurePlan, *_: object) -> Made:
        return Made(plan, report)

    monkeypatch.setattr(recorded_table, "prepare_measurement", prepare)
    with pytest.raises(KernelError, match="srcu died"):
        asyncio.run(record_table(asked_for, KernelSettings.default()))
    assert path.read_bytes() == before
