# SPDX-License-Identifier: GPL-2.0-or-later
"""The commits of a range, as patches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from duet.trials.git import DIFF, git_bytes, git_or_nothing
from duet.trials.mails import NoPatch, Patch, parse

FORMAT = (
    *("--stdout", "--no-signature", "--find-renames", "--subject-prefix=PATCH", "--numbered"),
    *("--no-attach", "--no-cover-letter", "--no-signoff", "--no-notes", "--no-base"),
    *("--no-thread", "--encoding=UTF-8"),
)


def commits(repository: Path, span: str, say: Callable[[str], None]) -> tuple[Patch, ...]:
    """The commits of a range, oldest first; a range with a merge is one patch.

    Args:
        say: gets a sentence about merges.

    Raises:
        NoPatch: git does not know the range, or it is empty, or is no way from a commit to another.
        BadSource: git does not read a repository of another user.
    """
    where = ("-C", str(repository))
    if _merges(where, span):
        return (_whole(repository, span, say),)
    done = git_bytes(*where, "format-patch", *FORMAT, *DIFF, "--end-of-options", span)
    if done.returncode != 0 or not done.stdout:
        why = "git does not know it" if done.returncode else "it is empty"
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but {why}.",
            remedy="Write for example: --commits HEAD~2..HEAD --repo DIR.",
            detail=done.stderr.decode(errors="replace")[-1000:],
        )
    return parse(done.stdout, span)


def _ends(where: tuple[str, ...], span: str) -> tuple[str, str]:
    """First and last commit of a range; "", "" where it has not two ends."""
    words = git_or_nothing(*where, "rev-parse", "--revs-only", span).split()
    if len(words) == 1 and not words[0].startswith("^"):  # as git format-patch takes it
        words = git_or_nothing(*where, "rev-parse", "--revs-only", f"{span}..HEAD").split()
    ends = [word for word in words if not word.startswith("^")]
    starts = [word[1:] for word in words if word.startswith("^")]
    return (starts[0], ends[0]) if len(starts) == len(ends) == 1 else ("", "")


def _merges(where: tuple[str, ...], span: str) -> int:
    first, last = _ends(where, span)
    if not last:
        return 0
    return int(git_or_nothing(*where, "rev-list", "--merges", "--count", f"{first}..{last}") or 0)


def _whole(repository: Path, span: str, say: Callable[[str], None]) -> Patch:
    """A range with a merge: git format-patch leaves out what the merge itself has changed."""
    where = ("-C", str(repository))
    first, last = _ends(where, span)
    if git_or_nothing(*where, "merge-base", first, last) != first:
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but there is a merge among them, and"
            " the range does not begin at a commit that its end stands on.",
            remedy="Name a range from a merge base on, or two commits with --tree DIR@COMMIT.",
        )
    count = git_or_nothing(*where, "rev-list", "--count", f"{first}..{last}")
    done = git_bytes(*where, "diff", "--find-renames", *DIFF, first, last)
    found = parse(done.stdout, f"{span}: {count} commits") if done.returncode == 0 else ()
    if not found:
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but they change nothing.",
            remedy="Write for example: --commits HEAD~2..HEAD --repo DIR.",
        )
    say(f"there is a merge in {span:.60}, so its {count} commits are taken as one patch")
    return found[0]
