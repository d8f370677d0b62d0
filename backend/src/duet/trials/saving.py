# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial becomes a lesson of somebody's own: the same files under another name."""

from __future__ import annotations

import shutil
from pathlib import Path

from duet.errors import InputError
from duet.lessons.folders import SLUG
from duet.trials.spec import Trial


def save_lesson(folder: Path, trial: Trial, target: Path) -> tuple[Path, Path]:
    """Copy the files of a trial; its recording stays, for it is of the trial.

    Args:
        folder: of the trial.
        target: TOP/lessons/NN-name; the patches go to TOP/kernel-patches/NN-name.

    Returns:
        The folders of the lesson and of its patches.

    Raises:
        InputError: the name cannot be one, or something is there already.
    """
    target = target.expanduser().resolve()
    patches = target.parents[1] / "kernel-patches" / target.name
    check_target(target)
    shutil.copytree(
        folder / "lessons" / trial.slug, target, ignore=shutil.ignore_patterns("recorded")
    )
    shutil.copytree(folder / "kernel-patches" / trial.slug, patches)
    for base in trial.bases:
        place = Path("kernel-patches", "bases", base.name)
        shutil.copytree(folder / place, target.parents[1] / place, dirs_exist_ok=True)
    return target, patches


def check_target(target: Path) -> None:
    """Before anything is built: can a lesson be saved there?

    Raises:
        InputError: see save_lesson.
    """
    target = target.expanduser().resolve()
    if not SLUG.match(target.name) or target.parent.name != "lessons":
        raise InputError(
            f"--save-lesson wants a folder such as lessons/06-my-question, but {target} came.",
            remedy="Use two digits, a dash, and small letters, in a folder called lessons.",
        )
    patches = target.parents[1] / "kernel-patches" / target.name
    if taken := next((path for path in (target, patches) if path.exists()), None):
        raise InputError(
            f"{taken} exists already.", remedy="Choose another name, or remove it first."
        )
