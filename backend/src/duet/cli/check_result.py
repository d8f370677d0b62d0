# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of `duet check` as a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.cli.results.checking import CheckedArm, CheckedSuite, CheckResult
from duet.cli.tried_arm import tried_patch, tried_source
from duet.trials.check.report import Checked, headline, silent
from duet.trials.spec import Trial, TrialArm


def check_result(
    trial: Trial, command: str, seconds: int, report: Path, arms: Sequence[Checked]
) -> CheckResult:
    """All kernels of a check.

    Args:
        command: what ran besides the table's stress; "": nothing.
    """
    known = {arm.name: arm for arm in trial.arms}
    rows = [_row(one, known[one.arm]) for one in arms]
    clean = all(one.clean for one in rows)
    return CheckResult(trial.name, clean, command or None, seconds, rows, str(report))


def _row(one: Checked, arm: TrialArm) -> CheckedArm:
    suites = [
        CheckedSuite(suite.name, suite.passed, suite.skipped, list(suite.failed), suite.ended)
        for suite in one.verdict.suites
    ]
    return CheckedArm(
        arm=one.arm,
        clean=one.verdict.clean,
        judged=one.judged,
        found=headline(one),
        patches=[patch.subject for patch in arm.patches],
        kernel=one.kernel,
        image=one.key,
        exercised=list(one.plan.prefixes),
        not_exercised=list(one.plan.unmatched),
        stressors=list(one.plan.stressors),
        scripts=list(one.plan.scripts),
        kunit=suites,
        selftests_not_run=list(one.selftests),
        kunit_silent=silent(one),
        rounds=one.verdict.rounds,
        work=one.verdict.work,
        complaints=list(one.verdict.complaints),
        failures=list(one.verdict.failures),
        races_of_base=list(one.races.known),
        races_elsewhere=list(one.races.elsewhere),
        console=str(one.console),
        source=tried_source(arm.source),
        made_of=[tried_patch(patch) for patch in arm.patches],
    )
