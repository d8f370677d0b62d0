# SPDX-License-Identifier: GPL-2.0-or-later
"""How `duet run` ends when an arm has failed. The measuring is the reports' own, made by hand."""

from __future__ import annotations

import json

import pytest

from duet.cli import run as command
from duet.cli.run import RunRow
from duet.measure import Report
from tests.backend.measure import reports_made

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize(("report", "code"), [(reports_made.wall(), 0), (reports_made.broken(), 4)])
def test_an_arm_that_failed_is_named_and_gives_the_exit_code(
    report: Report, code: int, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    async def measured(*_: object) -> tuple[Report, dict[str, RunRow]]:
        return report, {arm.name: RunRow(arm.name) for arm in report.arms}

    monkeypatch.setattr(command, "measure_request", measured)
    ended = command.run("02-grace-periods", "rwsem,srcu", "", "", [], 1, True, True)
    out, err = capsys.readouterr()
    assert ended == code
    assert len(json.loads(out)["arms"]) == 3, "the others' numbers are there"
    error = "error: srcu: The guest of srcu ran out of memory.\nremedy: Give it more"
    assert (error in err) == bool(code)
