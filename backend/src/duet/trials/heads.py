# SPDX-License-Identifier: GPL-2.0-or-later
"""Which commit a source tree stands on, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duet.trials.git import git_or_nothing

DIGITS = "--abbrev=12"


@dataclass(frozen=True, slots=True)
class Head:
    """A commit of a repository; all "" where there is none.

    Args:
        commit: full hash.
        tree: of its files.
        describe: as `git describe` names it: by a tag, or 12 digits.
    """

    commit: str = ""
    tree: str = ""
    describe: str = ""


def head_of(folder: Path) -> Head:
    """HEAD of a work tree; of a folder within one, or in none, nothing.

    A source tree that was unpacked inside another repository is none of its commits.
    """
    if not has_repository(folder):
        return Head()
    if git_or_nothing("-C", str(folder), "rev-parse", "--show-prefix"):
        return Head()
    return commit_of(folder, "HEAD")


def has_repository(folder: Path) -> bool:
    """Whether a folder is a work tree of its own, not one within another."""
    return (folder / ".git").exists()


def commit_of(folder: Path, ref: str) -> Head:
    """A commit by any of its names."""
    where = ("-C", str(folder))
    words = ("log", "-1", "--no-show-signature", "--format=%H %T", "--end-of-options", ref, "--")
    commit, _, tree = git_or_nothing(*where, *words).partition(" ")
    if not tree:
        return Head()
    return Head(commit, tree, git_or_nothing(*where, "describe", "--always", DIGITS, commit))
