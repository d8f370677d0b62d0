# SPDX-License-Identifier: GPL-2.0-or-later
"""Of what a recorded table was made: written into it, and compared with the tree. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from duet.kernels import MadeOf
from duet.measure import Report
from duet.measure.model import ArmFacts
from duet.stream import messages as m


def made(report: Report, seeds: Iterable[int]) -> m.Made:
    """Kernels, machine and start states of a measurement with one table.

    Args:
        seeds: of its perturbed starts.
    """
    return m.Made(
        arms=[_arm(arm) for arm in report.arms],
        host=dict(report.host),
        shift=report.tables[0].condition.shift,
        seeds=list(seeds),
    )


def _arm(arm: ArmFacts) -> m.MadeArm:
    patches = [m.MadePatch(path=path, sha256=sha) for path, sha in (*arm.both, *arm.patches)]
    return m.MadeArm(
        arm=arm.name,
        key=arm.key,
        kernel=arm.kernel,
        config_sha256=arm.config_sha256,
        compiler=arm.compiler,
        patches=patches,
    )


def made_of_table(table: m.MeasuredTable) -> dict[str, MadeOf]:
    """Arm -> what its kernel was asked to be; an empty one where the table does not say."""
    arms = {arm.arm: arm for arm in table.made.arms} if table.made else {}
    return {
        row.arm: MadeOf(
            arms[row.arm].config_sha256,
            {patch.path: patch.sha256 for patch in arms[row.arm].patches},
        )
        if row.arm in arms
        else MadeOf("", {})
        for row in table.rows
    }
