# SPDX-License-Identifier: GPL-2.0-or-later
"""Which debug kernels a check builds, and what fits the files of its patches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from duet.base import files as durable
from duet.kernels import KernelSettings
from duet.kernels.recipe import patched_files
from duet.trials.check.chosen import Plan, fitting, fragment, plan
from duet.trials.spec import Trial, TrialArm


def settings_of(trial: Trial, folder: Path, *, races: bool = False) -> KernelSettings:
    """Where the debug kernels come from, with the KUnit suites that fit all patches.

    Args:
        folder: of the trial; the options of the suites are written there.
        races: KCSAN in place of KASAN and lockdep.
    """
    settings = replace(KernelSettings.default(debug=True), races=races)
    suites = fitting(touched_files(trial.arms[1:]))
    if not suites:
        return settings
    options = folder / "kunit.config"
    durable.write(options, fragment(suites).encode())
    return replace(settings, more=(options,))


def plan_of(arm: TrialArm) -> Plan:
    """What fits the files that the patches of an arm touch."""
    return plan(touched_files([arm]))


def touched_files(arms: Iterable[TrialArm]) -> list[str]:
    """Files that their patches touch, each once."""
    patches = (patch for arm in arms for patch in arm.patches)
    return list(dict.fromkeys(name for one in patches for name in patched_files(one.diff)))
