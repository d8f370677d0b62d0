# SPDX-License-Identifier: GPL-2.0-or-later
"""A change of an arm: a diff on top of the arm's own patches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from duet.errors import InputError
from duet.kernels.allowed import check_patch
from duet.kernels.diff_form import FileDiff, strict
from duet.kernels.functions import changes
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm, own_name

MOST_NAMED = 3
"""Functions in the line under the arm's name."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was read and may be built.

    Args:
        arm: of the lesson, which was changed.
        diff: in the strict form, all that is applied.
        files: that it changes, in its order.
    """

    lesson: str
    arm: str
    diff: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the arm that it makes; equal changes of an arm have equal names."""
        text = "\n".join((self.lesson, self.arm, self.diff))
        return own_name(self.arm, hashlib.sha256(text.encode()).hexdigest())

    @property
    def summary(self) -> str:
        """Which functions were changed, and by how many lines."""
        lines = self.diff.splitlines()
        added = sum(line[:1] == "+" and not line.startswith("+++ ") for line in lines)
        taken = sum(line[:1] == "-" and not line.startswith("--- ") for line in lines)
        named = [f"{one.function}()" for one in changes(self.diff)] or list(self.files)
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        return f"{', '.join(named[:MOST_NAMED])}{more}: +{added} -{taken} lines"

    def patch(self, title: str) -> str:
        """The change in the form of git format-patch.

        Args:
            title: of the arm that was changed.
        """
        return (
            "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
            "From: a visitor <visitor@localhost>\n"
            "Date: Thu, 1 Jan 1970 00:00:00 +0000\n"
            f"Subject: [PATCH] a change of {title}\n\n"
            f"Of {self.summary}.\n---\n{self.diff}"
        )


def read_change(folder: LessonFolder, arm: str, text: str, more: tuple[str, ...] = ()) -> Change:
    """Read the diff of somebody who need not be trusted.

    Args:
        arm: which is changed. A change of a changed arm is not stacked: send both as one diff.
        more: files that the operator allows beyond sources and headers (settings.patch_files).

    Raises:
        PatchRefused: it is not in the strict form, or changes what it may not.
        InputError: there is no such arm, or it is a changed one.
    """
    if changed_arm(arm) is not None:
        raise InputError(
            f"'{arm:.60}' is a changed arm, and a change is made to an arm of the lesson.",
            remedy=f"Send both changes as one diff of {changed_arm(arm)}.",
        )
    folder.arm(arm)
    files: tuple[FileDiff, ...] = check_patch(text, more)
    names = tuple(name for one in files for name in one.names)
    return Change(folder.slug, arm, strict(files), names)
