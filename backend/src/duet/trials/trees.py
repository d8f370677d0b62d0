# SPDX-License-Identifier: GPL-2.0-or-later
"""Source trees of a trial: git work trees, dirty or not, plain folders, and tarballs.

What a folder holds is written as a tree of git into a repository of the trial's own: what its
.gitignore names (objects, a kernel's .config) is left out, nothing is written into the folder,
and the difference of two trees is a patch.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from duet.errors import InfraError, InputError
from duet.kernels.bases import find_base
from duet.kernels.source import kernel_version, makefile_version
from duet.trials.mails import MOST_BYTES, Patch
from duet.trials.spec import TrialBase, plain_name

GIT_S = 300.0
"""Reading a whole kernel for the first time takes some 20 s."""


class BadSource(InputError):
    """The source cannot be tried."""

    code = "bad-source"


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A folder as git sees it.

    Args:
        tree: id of its tree in the trial's repository.
        commit: `git describe --always --dirty`, "" outside a repository.
    """

    folder: Path
    tree: str
    version: str
    commit: str

    @property
    def about(self) -> str:
        """What it is, for a table."""
        return f"Linux {self.version}, {self.commit or 'no commit'} in {self.folder.name}"


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
            _git("init", "--quiet", "--bare", str(folder))

    def add(self, folder: Path) -> SourceTree:
        """Read a folder.

        Raises:
            BadSource: it is no folder with a kernel's source.
        """
        folder = source_folder(folder)
        index = self.folder / f"index-{path_name(folder)}"
        known = _out("-C", str(folder), "rev-parse", "--git-path", "index")
        if known and not index.exists() and (folder / known).is_file():
            shutil.copy(folder / known, index)  # so that git reads only what has changed since
        objects = _out("-C", str(folder), "rev-parse", "--git-path", "objects")
        if objects:
            self._alternate((folder / objects).resolve())
        where = ("--git-dir", str(self.folder), "--work-tree", str(folder))
        environment = {"GIT_INDEX_FILE": str(index)}
        _git(*where, "add", "--all", ".", cwd=folder, environment=environment)
        tree = _git(*where, "write-tree", cwd=folder, environment=environment).strip()
        commit = _out("-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12")
        return SourceTree(folder, tree, kernel_version(folder), commit)

    def base_of(self, tree: SourceTree) -> str:
        """The id of the tree that this one is a patch on: the first that was read, or its own.

        A tree of another version, or one that differs by more than a patch may, begins anew.
        """
        pin = self.folder / "base"
        words = pin.read_text().split() if pin.is_file() else []
        known = words[1] if len(words) == 2 and words[0] == tree.version else ""
        if known and len(self.diff(known, tree.tree)) <= MOST_BYTES:
            return known
        pin.write_text(f"{tree.version} {tree.tree}\n")
        return tree.tree

    def diff(self, first: str, second: str) -> str:
        """From one tree to another, by their ids; "" where they are equal."""
        return _git("--git-dir", str(self.folder), "diff", "--no-renames", first, second)

    def patch(self, first: SourceTree, second: SourceTree) -> Patch:
        """What turns the first tree into the second.

        Raises:
            BadSource: they are equal, or hardly the same kernel.
        """
        diff = self.diff(first.tree, second.tree)
        if not diff:
            raise BadSource(
                f"{first.folder} and {second.folder} hold the same source.",
                remedy="Change something in one of them, or name other trees.",
            )
        if len(diff) > MOST_BYTES:
            raise BadSource(
                f"{first.folder} and {second.folder} differ by {len(diff):,} bytes.",
                remedy="Name trees of the same release; others are compared as bases.",
            )
        return Patch(f"{second.folder.name}: {second.commit}".rstrip(": "), "", "", "", diff)

    def own_changes(self, tree: SourceTree) -> tuple[Patch, ...]:
        """The patch from the base to this tree; () where it is the base."""
        diff = self.diff(self.base_of(tree), tree.tree)
        subject = f"{tree.folder.name}: what changed since it was first tried"
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


def path_name(path: Path) -> str:
    """A name for a file's path: its last part, and some digits of a hash of the whole."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:6]
    return f"{plain_name(path.name)[:24]}-{digest}"


def tree_base(tree: SourceTree, store: TreeStore, patches_dir: Path) -> TrialBase:
    """The base of a tree, with the tree's own .config below what guests need."""
    own = tree.folder / ".config"
    config = [own] if own.is_file() else []
    series = ".".join(tree.version.split(".")[:2])
    config += nearest_fragments(series, patches_dir)
    source = {"git": str(store.folder), "ref": store.base_of(tree)}
    return TrialBase(path_name(tree.folder), tree.about, series, source, tuple(config))


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


def _out(*words: str) -> str:
    """What git says; "" where it fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _git(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            check=False,
            timeout=GIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(
            f"git could not read the source: {error}.", remedy="Install git, or call again."
        ) from None
    if done.returncode != 0:
        raise BadSource(
            f"git could not read the source (exit code {done.returncode}).",
            remedy="Run `git status` in the folder to see why.",
            detail=done.stderr.decode(errors="replace")[-2000:],
        )
    return done.stdout.decode(errors="replace")
