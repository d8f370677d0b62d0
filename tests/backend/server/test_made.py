# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recorded table says of its kernels, its machine and its start states."""

from __future__ import annotations

from duet import messages as m
from duet.kernels import MadeOf
from duet.server.recorded_items import made, made_of_table
from tests.backend.measure import reports_made


def test_a_table_says_of_what_it_was_made() -> None:
    report = reports_made.count()
    found = made(report, (2, 3, 4))
    assert [arm.arm for arm in found.arms] == [arm.name for arm in report.arms]
    assert found.host["qemu"] == "7.2.22" and found.host["cpu"]
    assert (found.shift, found.seeds) == (report.tables[0].condition.shift, [2, 3, 4])
    own = report.arms[-1]
    listed = {patch.path: patch.sha256 for patch in found.arms[-1].patches}
    assert listed == dict(own.both) | dict(own.patches)

    table = m.Measured(
        lesson="a", source="recorded", clock="count", params={}, workload="w", metric="x",
        title="x", better="higher", at="", verdict="", command="",
        rows=[m.MeasuredRow(arm=own.name, n=1, ops_per_s_median=1.0, ops_per_s=[1.0]),
              m.MeasuredRow(arm="other", n=1, ops_per_s_median=1.0, ops_per_s=[1.0])],
        made=found,
    )  # fmt: skip
    again = m.Measured.model_validate_json(table.model_dump_json())
    assert made_of_table(again) == {
        own.name: MadeOf(own.config_sha256, listed),
        "other": MadeOf("", {}),
    }
