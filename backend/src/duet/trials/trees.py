# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a trial's source trees: git work trees (dirty or not), plain folders, and tarballs.

A folder's files are stored as a git tree in a repository of the trial. Files that match its
.gitignore (objects, the kernel's .config) are left out. Nothing is written into the folder. The
difference between two trees is a patch.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from duet.base.errors import InfraError, InputError
from duet.kernels.bases import OF_TOOLS, find_base
from duet.kernels.recipe import patch_diff, read_fragments, read_options
from duet.kernels.source import kernel_version, makefile_version
from duet.measure.model import SourceFacts
from duet.trials.mails import MOST_BYTES, NoPatch, Patch, parse
from duet.trials.spec import MOST_NAME, TrialBase, plain_name

# Call git. Our settings override the user's settings, which could change the format of diffs.

GIT_S = 300.0
"""Timeout of one call. Reading a whole kernel for the first time takes some 20 s."""
SETTINGS = (
    *("color.ui=false", "core.quotePath=true", "core.autocrlf=false"),
    *("core.attributesFile=/dev/null", "diff.suppressBlankEmpty=false", "diff.relative=false"),
    *("diff.indentHeuristic=true", "log.showSignature=false"),
    *("format.mboxrd=false", "format.noprefix=false"),
)
DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--unified=3", "--inter-hunk-context=0", "--diff-algorithm=default", "--submodule=short"),
    *("-O/dev/null",),
)
"""Options for git diff and git format-patch that override the user's and repository's settings."""
ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"),
    *("GIT_DIFF_OPTS",),
)
"""Environment variables that git hooks and `git rebase --exec` set to name a repository. Here they
would name the wrong one.
"""
_OWNER = re.compile(r"(?:dubious ownership in repository at|unsafe repository \() ?'([^']+)'")


class BadSource(InputError):
    """The source cannot be used in a trial."""

    code = "bad-source"


def git(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """Run git and return its output.

    Raises:
        BadSource: git failed, or refuses a repository that another user owns.
        InfraError: git could not be started, or took longer than GIT_S.
    """
    done = git_call(*words, cwd=cwd, environment=environment)
    if done.returncode != 0:
        raise bad_source(done.returncode, done.stderr)
    return done.stdout


def bad_source(code: int, said: str) -> BadSource:
    """Return the error to raise for a failed git call."""
    return BadSource(
        f"git could not read the source (exit code {code}).",
        remedy="Run `git status` in the folder to see why.",
        detail=said[-2000:],
    )


def git_or_nothing(*words: str) -> str:
    """Run git and return its stripped output, or "" if it fails.

    Raises:
        BadSource: git refuses a repository that another user owns.
        InfraError: see git().
    """
    done = git_call(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def git_call(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run git; return its exit code and decoded output, in English.

    Raises:
        BadSource: git refuses a repository that another user owns.
        InfraError: git could not be started, or took longer than GIT_S.
    """
    done = git_bytes(*words, cwd=cwd, environment=environment)
    texts = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def git_bytes(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git like git_call(), but return undecoded output."""
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    settings = (word for setting in SETTINGS for word in ("-c", setting))
    try:
        done = subprocess.run(
            ["git", *settings, *words],
            cwd=cwd,
            env={**inherited, "LC_ALL": "C", **(environment or {})},
            capture_output=True,
            check=False,
            timeout=GIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(
            f"wanted git to read the source, but {error}.",
            remedy="Install git, or try again.",
        ) from None
    owner = _OWNER.search(done.stderr.decode(errors="replace")) if done.returncode else None
    if owner is not None:
        raise BadSource(
            f"git refuses to read the repository {owner[1]}, because another user owns it.",
            remedy=f"If you trust the owner: git config --global --add safe.directory {owner[1]}",
        )
    return done


# The commit that a source tree is based on, for reports.


DIGITS = "--abbrev=12"


@dataclass(frozen=True, slots=True)
class Head:
    """A commit of a repository. All fields are "" if there is no commit.

    Args:
        commit: full hash.
        tree: id of its git tree.
        describe: output of `git describe`: a name based on a tag, or 12 digits of the hash.
    """

    commit: str = ""
    tree: str = ""
    describe: str = ""


def head_of(folder: Path) -> Head:
    """Return HEAD of a work tree, or an empty Head if the folder is not a work tree's top.

    A source tree that was unpacked inside another repository is not a commit of that repository.
    """
    if not has_repository(folder):
        return Head()
    if git_or_nothing("-C", str(folder), "rev-parse", "--show-prefix"):
        return Head()
    return commit_of(folder, "HEAD")


def has_repository(folder: Path) -> bool:
    """Whether a folder is the top of a work tree."""
    return (folder / ".git").exists()


def commit_of(folder: Path, ref: str) -> Head:
    """Return the commit with this name, or an empty Head if git does not know the name."""
    where = ("-C", str(folder))
    words = ("log", "-1", "--no-show-signature", "--format=%H %T", "--end-of-options", ref, "--")
    commit, _, tree = git_or_nothing(*where, *words).partition(" ")
    if not tree:
        return Head()
    return Head(commit, tree, git_or_nothing(*where, "describe", "--always", DIGITS, commit))


class NotComparable(BadSource):
    """Two trees that cannot be compared with each other."""

    code = "not-comparable"


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A source folder as git sees it.

    Args:
        tree: id of its git tree in the trial's repository.
        head: the commit that it is based on.
        ref: commit whose files are used; "" if the folder's files are used.
        changes: SHA-256 of the diff from `head` to the files; "" if the files are unchanged, or if
            the diff is unknown.
    """

    folder: Path
    tree: str
    version: str
    head: Head
    ref: str = ""
    changes: str = ""

    @property
    def series(self) -> str:
        return ".".join(self.version.split(".")[:2])

    @property
    def dirty(self) -> bool:
        """Whether the files differ from the commit. Untracked files count."""
        return bool(self.head.commit) and self.tree != self.head.tree

    @property
    def commit(self) -> str:
        """The commit's description, with "-dirty" if needed. It is "" outside a repository."""
        return f"{self.head.describe}-dirty" if self.dirty else self.head.describe

    @property
    def name(self) -> str:
        return self.ref[:MOST_NAME] or self.folder.name

    @property
    def about(self) -> str:
        """Description in one line, for tables."""
        return f"Linux {self.version}, {self.commit or 'no commit'} in {self.folder.name}"

    def facts(self, patches: int) -> SourceFacts:
        """Return this tree's data for reports.

        Args:
            patches: number of patches from the base to this tree.
        """
        head = self.head
        words = (self.version, head.commit, head.describe, self.tree)
        return SourceFacts(*words, self.dirty, self.changes, patches)


class TreeStore:
    """A git repository that stores the trees of a source folder and of the sources to compare.

    The first tree remains the base, and later trees become patches on it. So after a change to one
    file, only this file is compiled again.

    Args:
        folder: path of the repository, which is created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "HEAD").is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            git("init", "--quiet", "--bare", str(folder))

    def add(self, path: Path) -> SourceTree:
        """Store the files of a folder, or of a commit (`FOLDER@COMMIT`).

        Raises:
            BadSource: the path is not a folder or a commit with a kernel source.
        """
        folder, ref = folder_and_ref(path)
        if ref:
            return self._add_commit(folder, ref)
        folder = source_folder(folder)
        index = self.folder / f"index-{path_name(folder)}"
        own = has_repository(folder)
        known = git_or_nothing("-C", str(folder), "rev-parse", "--git-path", "index") if own else ""
        if known and not index.exists() and (folder / known).is_file():
            # With a copy of the folder's index, git reads only files that have changed since the
            # index was written. The copy keeps the mtime of the index. git needs this mtime to
            # detect files that changed in the same second as the index.
            shutil.copy2(folder / known, index)
        asked = ("-C", str(folder), "rev-parse", "--git-path", "objects")
        if own and (objects := git_or_nothing(*asked)):
            self._alternate((folder / objects).resolve())
        where = ("--git-dir", str(self.folder), "--work-tree", str(folder))
        environment = {"GIT_INDEX_FILE": str(index)}
        # The .gitignore of Debian's source packages excludes all folders except one.
        ignored = ("-C", str(folder), *where, "check-ignore", "--no-index", "Makefile")
        force = ("--force",) if git_or_nothing(*ignored) else ()
        git(*where, "add", "--all", *force, ".", cwd=folder, environment=environment)
        tree = git(*where, "write-tree", cwd=folder, environment=environment).strip()
        found = SourceTree(folder, tree, kernel_version(folder), head_of(folder))
        return replace(found, changes=self._changes(found)) if found.dirty else found

    def _add_commit(self, folder: Path, ref: str) -> SourceTree:
        """Store a commit of the folder's repository without checking it out."""
        where = ("-C", str(folder))
        version = commit_version(folder, ref)
        tree = git(*where, "rev-parse", "--verify", f"{ref}^{{tree}}").strip()
        objects = git_or_nothing(*where, "rev-parse", "--git-path", "objects")
        self._alternate((folder / objects).resolve())
        return SourceTree(folder, tree, version, commit_of(folder, ref), ref)

    def base_of(self, tree: SourceTree) -> str:
        """Return the id of a tree's base: the first stored tree, or the tree itself.

        A tree becomes its own base if its kernel version is different, or if the difference is too
        large for a patch.
        """
        pin = self.folder / "base"
        words = pin.read_text().split() if pin.is_file() else []
        known = words[1] if len(words) == 2 and words[0] == tree.version else ""
        if known and self._is_near(known, tree.tree):
            return known
        pin.write_text(f"{tree.version} {tree.tree}\n")
        return tree.tree

    def _is_near(self, first: str, second: str) -> bool:
        """Whether the difference between two trees is small enough for a patch."""
        try:
            return len(self.diff(first, second)) <= MOST_BYTES
        except NotComparable:
            return False

    def diff(self, first: str, second: str) -> str:
        """Return the diff between the trees with these ids, or "" if they are identical.

        Raises:
            NotComparable: a changed file is not UTF-8.
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
                f"the trees differ in {names[-1] if names else 'a file'}, which is not UTF-8.",
                remedy="Make the file identical in both trees, or convert it to UTF-8.",
            ) from None

    def _changes(self, tree: SourceTree) -> str:
        """Return a digest of the diff from the commit to the tree, or "" if git cannot make it."""
        try:
            diff = self.diff(tree.head.tree, tree.tree)
        except BadSource:  # a partial clone
            return ""
        return hashlib.sha256(patch_diff(diff).encode()).hexdigest()

    def patch(self, first: SourceTree, second: SourceTree) -> Patch:
        """Return the patch from the first tree to the second tree.

        Raises:
            NotComparable: the trees are identical, or differ too much.
        """
        diff = self.diff(first.tree, second.tree)
        if not diff:
            raise NotComparable(
                f"wanted two sources, but {_place(first)} and {_place(second)} are equal.",
                remedy="Change one source, or name other trees.",
            )
        if len(diff) > MOST_BYTES:
            raise NotComparable(
                f"{_place(first)} and {_place(second)} differ by {len(diff):,} bytes, which is"
                " too much for a patch.",
                remedy="Name trees of the same release. Different releases are compared as bases.",
            )
        return Patch(f"{second.name}: {second.commit}".rstrip(": "), "", "", "", diff)

    def own_changes(self, tree: SourceTree) -> tuple[Patch, ...]:
        """Return the patch from the base to this tree, or () if this tree is the base."""
        diff = self.diff(self.base_of(tree), tree.tree)
        subject = f"{tree.name}: what changed since it was first tried"
        return (Patch(subject, "", "", "", diff),) if diff else ()

    def _alternate(self, objects: Path) -> None:
        """Let this repository use another repository's objects without copying them."""
        path = self.folder / "objects" / "info" / "alternates"
        known = path.read_text().splitlines() if path.is_file() else []
        if str(objects) not in known:
            path.write_text("\n".join([*known, str(objects)]) + "\n")


def source_folder(path: Path) -> Path:
    """Return the absolute path of a kernel source folder.

    Raises:
        BadSource: the folder has no kernel source.
    """
    folder = path.expanduser().resolve()
    if not folder.is_dir() or not kernel_version(folder):
        raise BadSource(
            f"wanted a kernel source tree at {folder}, but there is none.",
            remedy="Name the top folder of a source tree, which has the Makefile.",
        )
    return folder


def check_source(path: Path) -> None:
    """Quickly check that a path is a folder or a commit with a kernel source.

    Raises:
        BadSource: the path is not such a folder or commit.
    """
    folder, ref = folder_and_ref(path)
    if ref:
        commit_version(folder, ref)
    else:
        source_folder(folder)


def folder_and_ref(path: Path) -> tuple[Path, str]:
    """Split a path such as `../linux@v6.1` into an absolute folder and a commit ("" if none)."""
    text = str(path.expanduser())
    if not Path(text).exists():
        for at in (at for at, sign in enumerate(text) if sign == "@"):
            if Path(text[:at] or ".").is_dir() and text[at + 1 :]:
                return Path(text[:at] or ".").resolve(), text[at + 1 :]
    return Path(text).resolve(), ""


def commit_version(folder: Path, ref: str) -> str:
    """Return the kernel version in a commit's Makefile.

    Raises:
        BadSource: git does not know the commit, or the commit has no kernel source.
    """
    words = ("-C", str(folder), "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    if not git_or_nothing(*words):
        raise BadSource(
            f"wanted the commit '{ref:.60}' of {folder}, but git cannot find it.",
            remedy="Name a tag, a branch or a commit of that repository: DIR@COMMIT.",
        )
    text = git_or_nothing("-C", str(folder), "show", f"{ref}:Makefile")
    version = makefile_version(text[:400])
    if not version:
        raise BadSource(
            f"the commit {ref:.60} of {folder} has no kernel Makefile.",
            remedy="Name a kernel repository and a commit in it.",
        )
    return version


def path_name(path: Path) -> str:
    """Return a name for a path: the path's last part, and six digits of the full path's hash."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:6]
    return f"{plain_name(path.name)[:24]}-{digest}"


def tree_base(tree: SourceTree, store: TreeStore, patches_dir: Path) -> TrialBase:
    """Return a base for a tree. Its config is the tree's .config, overridden by guest fragments."""
    own = tree.folder / ".config"
    config = [own] if own.is_file() else []
    config += nearest_fragments(tree.series, patches_dir)
    source = {"git": str(store.folder), "ref": store.base_of(tree)}
    return TrialBase(path_name(tree.folder), tree.about, tree.series, source, tuple(config))


def tarball_base(path: Path, patches_dir: Path) -> TrialBase:
    """Return a base for a tarball.

    Raises:
        BadSource: the file is not a kernel source tarball.
    """
    version = tarball_version(path)
    series = ".".join(version.split(".")[:2])
    config = tuple(nearest_fragments(series, patches_dir))
    source = {"tarball": str(path.expanduser().resolve())}
    name = path_name(path.expanduser().resolve())
    return TrialBase(name, f"Linux {version}, {path.name}", series, source, config)


def tarball_version(path: Path) -> str:
    """Return the kernel version in a tarball's Makefile."""
    what = ["--occurrence=1", "--wildcards", "--no-wildcards-match-slash", "*/Makefile"]
    command = ["tar", "--extract", "--to-stdout", "--file", str(path.expanduser()), *what]
    done = subprocess.run(command, capture_output=True, check=False, timeout=GIT_S)
    version = makefile_version(done.stdout.decode(errors="replace")[:400])
    if not version:
        raise BadSource(
            f"wanted a kernel source in {path}, but it has no kernel Makefile.",
            remedy="Name a linux-*.tar.xz, a source tree, or one of kernel-patches/bases.",
        )
    return version


def nearest_fragments(series: str, patches_dir: Path) -> list[Path]:
    """Return the fragments of the newest base in `patches_dir` that configures this series."""
    bases = [
        find_base(folder.name, patches_dir)
        for folder in sorted((patches_dir / "bases").iterdir())
        if (folder / "base.yaml").is_file()
    ]
    order = sorted(bases, key=lambda base: _numbers(base.series))
    fits = [base for base in order if _numbers(base.since) <= _numbers(series)]
    return [path.resolve() for path in (fits[-1] if fits else order[0]).fragments]


def _numbers(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))


def _place(tree: SourceTree) -> str:
    return f"{tree.folder}@{tree.ref}" if tree.ref else str(tree.folder)


# The configuration of a trial's kernels, from options of --config and the trees' .config files.
#
# All kernels of a base have the same configuration, so that they differ only by a patch. Two trees
# of the same release use the first tree's .config, overridden by the options that guests need. If
# the second tree's .config differs, the differences are reported.


CONFIG = ".config"
SHOWN = 3
"""Maximum number of options that a sentence lists."""

OPTION = re.compile(r"^(?:CONFIG_)?(?P<name>[A-Za-z0-9_]+)(?:=(?P<value>\S.*))?$")


def read_config(given: Sequence[str]) -> dict[str, str]:
    """Parse --config into options by names with CONFIG_.

    Each argument is OPTION=VALUE or a file of such lines.

    Raises:
        InputError: an argument is neither an option nor a file, or it requests a module.
    """
    options: dict[str, str] = {}
    for text in given:
        path = Path(text).expanduser()
        if path.is_file():
            found = read_options(path.read_text(encoding="utf-8", errors="replace"))
            if not found:
                raise _no_options(text, "the file has no line such as CONFIG_NAME=y")
            options |= found
            continue
        match = OPTION.match(text.strip())
        if match is None or "/" in text:
            raise _no_options(text, "it is neither an option nor a file")
        options[f"CONFIG_{match['name']}"] = match["value"] or "y"
    modules = [name for name, value in options.items() if value == "m"]
    if modules:
        raise _no_options(f"{modules[0]}=m", "guests load no modules")
    return options


def _no_options(text: str, why: str) -> InputError:
    return InputError(
        f"--config wants kernel options, but got '{text:.60}': {why}.",
        remedy="Write for example: --config TRANSPARENT_HUGEPAGE=y, or name a file of such lines.",
    )


def config_words(first: SourceTree, other: SourceTree, fragments: Sequence[Path]) -> str:
    """Return a sentence if options in the second tree's .config are not used, otherwise "".

    Args:
        fragments: config files that guests need, which override the .config of each tree.
    """
    ours, theirs = (tree.folder / CONFIG for tree in (first, other))
    if ours == theirs or not theirs.is_file():
        return ""
    if not ours.is_file():
        return (
            f"the .config of {other.name} is ignored: both kernels use the configuration of"
            f" {first.name}, which has no {CONFIG}"
        )
    apart = _apart(ours, theirs, fragments)
    if not apart:
        return ""
    more = " and others" if len(apart) > SHOWN else ""
    options = "1 option" if len(apart) == 1 else f"{len(apart)} options"
    return (
        f"the .config files of {first.name} and {other.name} differ in {options}"
        f" ({', '.join(apart[:SHOWN])}{more}); both kernels use that of {first.name}"
    )


def _apart(ours: Path, theirs: Path, fragments: Sequence[Path]) -> list[str]:
    """Return the names of the options in which kernels from the two .config files would differ."""
    asked = read_fragments(fragments)
    one, two = ({**read_fragments([path]), **asked} for path in (ours, theirs))

    def built(options: Mapping[str, str], name: str) -> str:
        value = options.get(name, "n")
        return "n" if value == "m" else value  # modules are not built

    names = sorted(one.keys() | two.keys())
    apart = (name for name in names if built(one, name) != built(two, name))
    return [name for name in apart if OF_TOOLS.match(name) is None]


# Read the commits of a git range as patches.

FORMAT = (
    *("--stdout", "--no-signature", "--find-renames", "--subject-prefix=PATCH", "--numbered"),
    *("--no-attach", "--no-cover-letter", "--no-signoff", "--no-notes", "--no-base"),
    *("--no-thread", "--encoding=UTF-8"),
)


def commits(repository: Path, span: str, say: Callable[[str], None]) -> tuple[Patch, ...]:
    """Return the commits of a git range, oldest first. A range with a merge becomes one patch.

    Args:
        say: called with a sentence about merges.

    Raises:
        NoPatch: git does not know the range, or the range is empty, or its start is not an ancestor
            of its end.
        BadSource: git refuses a repository that another user owns.
    """
    where = ("-C", str(repository))
    if _merges(where, span):
        return (_whole(repository, span, say),)
    done = git_bytes(*where, "format-patch", *FORMAT, *DIFF, "--end-of-options", span)
    if done.returncode != 0 or not done.stdout:
        why = "git cannot find them" if done.returncode else "the range is empty"
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but {why}.",
            remedy="Write for example: --commits HEAD~2..HEAD --repo DIR.",
            detail=done.stderr.decode(errors="replace")[-1000:],
        )
    return parse(done.stdout, span)


def _ends(where: tuple[str, ...], span: str) -> tuple[str, str]:
    """Return the start and the end of a git range, or ("", "") if they are not unique."""
    words = git_or_nothing(*where, "rev-parse", "--revs-only", span).split()
    # git format-patch takes HEAD as the end of a range that has only a start.
    if len(words) == 1 and not words[0].startswith("^"):
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
    """Return a range with a merge as one patch, because git format-patch omits merges' changes."""
    where = ("-C", str(repository))
    first, last = _ends(where, span)
    if git_or_nothing(*where, "merge-base", first, last) != first:
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but they contain a merge, and the"
            " range's start is not an ancestor of its end.",
            remedy="Begin the range at a merge base, or name two commits with --tree DIR@COMMIT.",
        )
    count = git_or_nothing(*where, "rev-list", "--count", f"{first}..{last}")
    done = git_bytes(*where, "diff", "--find-renames", *DIFF, first, last)
    found = parse(done.stdout, f"{span}: {count} commits") if done.returncode == 0 else ()
    if not found:
        raise NoPatch(
            f"wanted the commits {span:.60} of {repository}, but they change nothing.",
            remedy="Write for example: --commits HEAD~2..HEAD --repo DIR.",
        )
    say(f"{span:.60} contains a merge, so its {count} commits are tried as one patch")
    return found[0]
