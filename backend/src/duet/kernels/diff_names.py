# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in a diff, and how one is refused."""

from __future__ import annotations

import re

from duet.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9_+,.@#=~-]+(?:/[A-Za-z0-9_+,.@#=~-]+)*")

GIT_REMEDY = "Make it with `git format-patch`, without files that are not text."


class PatchRefused(InputError):
    """A patch that is not in the strict form, or that changes what patches may not."""

    code = "patch-refused"


def check_name(name: str) -> None:
    """Refuse a path that could lie outside of the tree.

    Raises:
        PatchRefused: it is absolute, has '..', '.git', or letters that no file of a kernel has.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "." in parts or "" in parts:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, which does not lie in the kernel's tree.",
            remedy="Name files by their path from the top of the tree, without '..'.",
        )
    if ".git" in parts or not _NAME.fullmatch(name) or len(name) > 255:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, and no file of a kernel has such a name.",
            remedy="Use letters, digits and the signs _ + , . @ # = ~ - in names.",
        )


def other_names(name: str, line: str) -> PatchRefused:
    """A line that speaks of another file than the 'diff --git' line above it."""
    return PatchRefused(
        f"the patch names {name} in its 'diff --git' line and another file after it:"
        f" {line[:80]!r}.",
        remedy=GIT_REMEDY,
    )


def cut(name: str) -> PatchRefused:
    """Hunks that are shorter or longer than they say."""
    return PatchRefused(
        f"the patch's part about {name} is cut off or damaged: a hunk has not the lines it says.",
        remedy="Save the patch again, as the mail or `git format-patch` has it.",
    )
