# SPDX-License-Identifier: GPL-2.0-or-later
"""Source trees of a trial: git work trees, dirty or not, plain folders, and tarballs.

What a folder holds is written as a tree of git into a repository of the trial's own: what its
.gitignore names (objects, a kernel's .config) is left out, nothing is written into the folder,
and the difference of two trees is a patch.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from duet.kernels.bases import find_base
from duet.kernels.recipe import patch_diff
from duet.kernels.source import kernel_version, makefile_version
from duet.measure.model import SourceFacts
from duet.trials.git import DIFF, GIT_S, BadSource, bad_source, git, git_bytes, git_or_nothing
from duet.trials.heads import Head, commit_of, has_repository, head_of
from duet.trials.mails import MOST_BYTES, Patch
from duet.trials.spec import MOST_NAME, TrialBase, plain_name


class NotComparable(BadSource):
    """Two trees that could each be tried, but not with each other."""

    code = "not-comparable"


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A folder as git sees it.

    Args:
        tree: id of its tree in the trial's repository.
        head: the commit that it stands on.
        ref: a commit of the folder's repository, which stands for the files; "": the files do.
        changes: sha256 of the diff from that commit to the files; "": none, or it is not known.
    """

    folder: Path
    tree: str
    version: str
    head: Head
    ref: str = ""
    changes: str = ""

    @property
    def series(self) -> str:
        """ "6.6" of 6.6.7."""
        return ".".join(self.version.split(".")[:2])

    @property
    def dirty(self) -> bool:
        """Whether the files are not those of the commit; what git does not know of counts."""
        return bool(self.head.commit) and self.tree != self.head.tree

    @property
    def commit(self) -> str:
        """The commit in words, with "-dirty"; "" outside a repository."""
        return f"{self.head.describe}-dirty" if self.dirty else self.head.describe

    @property
    def name(self) -> str:
        """Of its kernel."""
        return self.ref[:MOST_NAME] or self.folder.name

    @property
    def about(self) -> str:
        """What it is, for a table."""
        return f"Linux {self.version}, {self.commit or 'no commit'} in {self.folder.name}"

    def facts(self, patches: int) -> SourceFacts:
        """For reports.

        Args:
            patches: that make its files of those of the base.
        """
        head = self.head
        words = (self.version, head.commit, head.describe, self.tree)
        return SourceFacts(*words, self.dirty, self.changes, patches)


class TreeStore:
    """A repository of the trees of one folder and of what is compared with it.

    The first tree that was read stays the base: later ones are patches on it, so that a change of
    one file compiles one file.

    Args:
        folder: of the repository; is made when it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "HEAD").is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            git("init", "--quiet", "--bare", str(folder))

    def add(self, path: Path) -> SourceTree:
        """Read a folder, or a commit: `FOLDER@COMMIT`.

        Raises:
            BadSource: it is no folder, or no commit, with a kernel's source.
        """
        folder, ref = folder_and_ref(path)
        if ref:
            return self._add_commit(folder, ref)
        folder = source_folder(folder)
        index = self.folder / f"index-{path_name(folder)}"
        own = has_repository(folder)
        known = git_or_nothing("-C", str(folder), "rev-parse", "--git-path", "index") if own else ""
        if known and not index.exists() and (folder / known).is_file():
            # So git reads only what has changed since; by the index's time it knows which files
            # may have changed in the second in which it was written.
            shutil.copy2(folder / known, index)
        asked = ("-C", str(folder), "rev-parse", "--git-path", "objects")
        if own and (objects := git_or_nothing(*asked)):
            self._alternate((folder / objects).resolve())
        where = ("--git-dir", str(self.folder), "--work-tree", str(folder))
        environment = {"GIT_INDEX_FILE": str(index)}
        # The .gitignore of Debian's source packages names all but one folder.
        ignored = ("-C", str(folder), *where, "check-ignore", "--no-index", "Makefile")
        force = ("--force",) if git_or_nothing(*ignored) else ()
        git(*where, "add", "--all", *force, ".", cwd=folder, environment=environment)
        tree = git(*where, "write-tree", cwd=folder, environment=environment).strip()
        found = SourceTree(folder, tree, kernel_version(folder), head_of(folder))
        return replace(found, changes=self._changes(found)) if found.dirty else found

    def _add_commit(self, folder: Path, ref: str) -> SourceTree:
        """A commit as it is in its repository; nothing is checked out."""
        where = ("-C", str(folder))
        version = commit_version(folder, ref)
        tree = git(*where, "rev-parse", "--verify", f"{ref}^{{tree}}").strip()
        objects = git_or_nothing(*where, "rev-parse", "--git-path", "objects")
        self._alternate((folder / objects).resolve())
        return SourceTree(folder, tree, version, commit_of(folder, ref), ref)

    def base_of(self, tree: SourceTree) -> str:
        """The id of the tree that this one is a patch on: the first that was read, or its own.

        A tree of another version, or one that differs by more than a patch may, begins anew.
        """
        pin = self.folder / "base"
        words = pin.read_text().split() if pin.is_file() else []
        known = words[1] if len(words) == 2 and words[0] == tree.version else ""
        if known and self._is_near(known, tree.tree):
            return known
        pin.write_text(f"{tree.version} {tree.tree}\n")
        return tree.tree

    def _is_near(self, first: str, second: str) -> bool:
        """Whether the difference is one that a patch can say."""
        try:
            return len(self.diff(first, second)) <= MOST_BYTES
        except NotComparable:
            return False

    def diff(self, first: str, second: str) -> str:
        """From one tree to another, by their ids; "" where they are equal.

        Raises:
            NotComparable: a file that differs is not UTF-8.
        """
        where = ("--git-dir", str(self.folder))
        done = git_bytes(*where, "diff", "--no-renames", *DIFF, first, second)
        if done.returncode != 0:
            raise bad_source(done.returncode, done.stderr.decode(errors="replace"))
        try:
            return done.stdout.decode()
        except UnicodeDecodeError as error:
            before = done.stdout[: error.start].decode()
            names = re.findall(r"^diff --git a/(\S+) ", before, re.MULTILINE)
            raise NotComparable(
                f"the two trees differ in {names[-1] if names else 'a file'}, which is not UTF-8.",
                remedy="Make that file the same in both, or write it in UTF-8.",
            ) from None

    def _changes(self, tree: SourceTree) -> str:
        """Digest of what a tree has on top of its commit; "" where git lacks an older file."""
        try:
            diff = self.diff(tree.head.tree, tree.tree)
        except BadSource:  # a partial clone
            return ""
        return hashlib.sha256(patch_diff(diff).encode()).hexdigest()

    def patch(self, first: SourceTree, second: SourceTree) -> Patch:
        """What turns the first tree into the second.

        Raises:
            NotComparable: they are equal, or hardly the same kernel.
        """
        diff = self.diff(first.tree, second.tree)
        if not diff:
            raise NotComparable(
                f"{_place(first)} and {_place(second)} hold the same source.",
                remedy="Change something in one of them, or name other trees.",
            )
        if len(diff) > MOST_BYTES:
            raise NotComparable(
                f"{_place(first)} and {_place(second)} differ by {len(diff):,} bytes.",
                remedy="Name trees of the same release; others are compared as bases.",
            )
        return Patch(f"{second.name}: {second.commit}".rstrip(": "), "", "", "", diff)

    def own_changes(self, tree: SourceTree) -> tuple[Patch, ...]:
        """The patch from the base to this tree; () where it is the base."""
        diff = self.diff(self.base_of(tree), tree.tree)
        subject = f"{tree.name}: what changed since it was first tried"
        return (Patch(subject, "", "", "", diff),) if diff else ()

    def _alternate(self, objects: Path) -> None:
        """Let git read objects of another repository in place of copying them."""
        path = self.folder / "objects" / "info" / "alternates"
        known = path.read_text().splitlines() if path.is_file() else []
        if str(objects) not in known:
            path.write_text("\n".join([*known, str(objects)]) + "\n")


def source_folder(path: Path) -> Path:
    """The folder, absolute.

    Raises:
        BadSource: it holds no kernel's source.
    """
    folder = path.expanduser().resolve()
    if not folder.is_dir() or not kernel_version(folder):
        raise BadSource(
            f"wanted a kernel's source tree at {folder}, but there is none.",
            remedy="Name the top folder of a source tree, with its Makefile.",
        )
    return folder


def check_source(path: Path) -> None:
    """Before anything is read: is it a folder, or a commit, with a kernel's source?

    Raises:
        BadSource: it is not.
    """
    folder, ref = folder_and_ref(path)
    if ref:
        commit_version(folder, ref)
    else:
        source_folder(folder)


def folder_and_ref(path: Path) -> tuple[Path, str]:
    """`../linux@v6.1` as the folder, absolute, and the commit; "" where no commit is named."""
    text = str(path.expanduser())
    if not Path(text).exists():
        for at in (at for at, sign in enumerate(text) if sign == "@"):
            if Path(text[:at] or ".").is_dir() and text[at + 1 :]:
                return Path(text[:at] or ".").resolve(), text[at + 1 :]
    return Path(text).resolve(), ""


def commit_version(folder: Path, ref: str) -> str:
    """The version that the Makefile of a commit says.

    Raises:
        BadSource: git does not know the commit, or it holds no kernel.
    """
    words = ("-C", str(folder), "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    if not git_or_nothing(*words):
        raise BadSource(
            f"git knows no commit '{ref:.60}' in {folder}.",
            remedy="Name a tag, a branch or a commit of that repository: DIR@COMMIT.",
        )
    text = git_or_nothing("-C", str(folder), "show", f"{ref}:Makefile")
    version = makefile_version(text[:400])
    if not version:
        raise BadSource(
            f"the commit {ref:.60} of {folder} has no kernel Makefile.",
            remedy="Name the repository of a kernel, and a commit of it.",
        )
    return version


def path_name(path: Path) -> str:
    """A name for a file's path: its last part, and some digits of a hash of the whole."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:6]
    return f"{plain_name(path.name)[:24]}-{digest}"


def tree_base(tree: SourceTree, store: TreeStore, patches_dir: Path) -> TrialBase:
    """The base of a tree, with the tree's own .config below what guests need."""
    own = tree.folder / ".config"
    config = [own] if own.is_file() else []
    config += nearest_fragments(tree.series, patches_dir)
    source = {"git": str(store.folder), "ref": store.base_of(tree)}
    return TrialBase(path_name(tree.folder), tree.about, tree.series, source, tuple(config))


def tarball_base(path: Path, patches_dir: Path) -> TrialBase:
    """A base from a tarball.

    Raises:
        BadSource: it is no tarball of a kernel's source.
    """
    version = tarball_version(path)
    series = ".".join(version.split(".")[:2])
    config = tuple(nearest_fragments(series, patches_dir))
    source = {"tarball": str(path.expanduser().resolve())}
    name = path_name(path.expanduser().resolve())
    return TrialBase(name, f"Linux {version}, {path.name}", series, source, config)


def tarball_version(path: Path) -> str:
    """The version that the Makefile of a tarball says."""
    what = ["--occurrence=1", "--wildcards", "--no-wildcards-match-slash", "*/Makefile"]
    command = ["tar", "--extract", "--to-stdout", "--file", str(path.expanduser()), *what]
    done = subprocess.run(command, capture_output=True, check=False, timeout=GIT_S)
    version = makefile_version(done.stdout.decode(errors="replace")[:400])
    if not version:
        raise BadSource(
            f"wanted a kernel's source in {path}, but it has no kernel Makefile.",
            remedy="Name a linux-*.tar.xz, a source tree, or one of kernel-patches/bases.",
        )
    return version


def nearest_fragments(series: str, patches_dir: Path) -> list[Path]:
    """The configuration of the newest base of ours that is not newer than this series."""
    bases = [
        find_base(folder.name, patches_dir)
        for folder in sorted((patches_dir / "bases").iterdir())
        if (folder / "base.yaml").is_file()
    ]
    order = sorted(bases, key=lambda base: _numbers(base.series))
    older = [base for base in order if _numbers(base.series) <= _numbers(series)]
    return [path.resolve() for path in (older[-1] if older else order[0]).fragments]


def _numbers(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))


def _place(tree: SourceTree) -> str:
    return f"{tree.folder}@{tree.ref}" if tree.ref else str(tree.folder)
