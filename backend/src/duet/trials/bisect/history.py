# SPDX-License-Identifier: GPL-2.0-or-later
"""`git bisect` in a work tree of its own.

The work tree has no files: commits are read from the repository (`git bisect --no-checkout`).
Its state and refs/bisect are the work tree's alone (git-worktree(1), "Refs"), so a bisection and
the files of the user's checkout are not touched.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from duet.errors import InputError
from duet.trials.git import git, git_call, git_or_nothing

Answer = Literal["good", "bad", "skip"]
LEFT = re.compile(r"roughly (\d+) step")
FOUND = re.compile(r"^([0-9a-f]{40,64}) is the first bad commit", re.MULTILINE)
ONLY_SKIPPED = re.compile(r"only 'skip'ped commits left to test")
HASH = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
ONLY_SKIPPED_CODE = 2
"""Of `git bisect`: nothing but skipped commits is left."""


class BisectFails(InputError):
    """git cannot search this range."""

    code = "bisect-fails"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as a report names it.

    Args:
        parents: their ids, the first parent first.
        date: of the author, ISO 8601.
    """

    id: str
    subject: str
    author: str
    date: str
    parents: tuple[str, ...]

    @property
    def short(self) -> str:
        """Twelve digits, as mails to the kernel's lists have them."""
        return self.id[:12]


@dataclass(frozen=True, slots=True)
class Next:
    """What git says after an answer.

    Args:
        commit: to be measured next; "" at the end.
        steps: about how many more follow it.
        culprit: the first bad commit; "" if there is none yet.
        candidates: at the end, if every one that is left was skipped: one of these.
    """

    commit: str = ""
    steps: int = 0
    culprit: str = ""
    candidates: tuple[str, ...] = ()


class History:
    """A bisection of a repository. Use as `with`: its work tree goes in the end.

    Args:
        folder: of the work tree; one that a killed search has left there is replaced.
    """

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository = repository
        self.folder = folder

    def __enter__(self) -> History:
        self.remove()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        words = ("worktree", "add", "--quiet", "--detach", "--no-checkout", str(self.folder))
        git("-C", str(self.repository), *words, "HEAD")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """End the bisection and remove the work tree; nothing happens where there is none."""
        if self.folder.exists():
            git_call("-C", str(self.folder), "bisect", "reset")
            shutil.rmtree(self.folder, ignore_errors=True)
        git_call("-C", str(self.repository), "worktree", "prune")

    def start(self, good: str, bad: str) -> Next:
        """The first commit to be measured.

        Raises:
            BisectFails: git cannot search between them.
        """
        return self._said("start", "--no-checkout", bad, good)

    def answer(self, word: Answer, commit: str) -> Next:
        """Say what a commit is.

        Raises:
            BisectFails: git cannot go on; for example, a merge base is bad.
        """
        return self._said(word, commit)

    def _said(self, *words: str) -> Next:
        done = git_call("-C", str(self.folder), "bisect", *words)
        if found := FOUND.search(done.stdout):
            return Next(culprit=found[1])
        if ONLY_SKIPPED.search(done.stdout) and done.returncode == ONLY_SKIPPED_CODE:
            return Next(candidates=tuple(HASH.findall(done.stdout)))
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise BisectFails(
                f"git bisect cannot search this range: {said[0] if said else 'no reason'}.",
                remedy="Name a good commit that the bad one descends from.",
                detail=done.stdout + done.stderr,
            )
        steps = LEFT.search(done.stdout)
        commit = git("-C", str(self.folder), "rev-parse", "--verify", "BISECT_HEAD").strip()
        return Next(commit, int(steps[1]) if steps else 0)


def find_commit(repository: Path, name: str) -> Commit:
    """A commit by any name that git knows.

    Raises:
        BisectFails: git does not know it.
    """
    where = ("-C", str(repository))
    known = git_or_nothing(
        *where, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    if not known:
        raise BisectFails(
            f"git knows no commit '{name:.60}' in {repository}.",
            remedy="Name a tag, a branch or a commit of that repository.",
        )
    form = "--format=%H%x00%s%x00%an%x00%aI%x00%P"
    text = git(*where, "show", "--no-patch", form, known).strip("\n")
    commit, subject, author, date, parents = text.split("\0")
    return Commit(commit, subject, author, date, tuple(parents.split()))


def tree_id(repository: Path, commit: str) -> str:
    """The id of a commit's files: equal where these are."""
    return git("-C", str(repository), "rev-parse", f"{commit}^{{tree}}").strip()
