# SPDX-License-Identifier: GPL-2.0-or-later
"""Source trees of a trial: git work trees, dirty or not, plain folders, and tarballs.

What a folder holds is written as a tree of git into a repository of the trial's own: what its
.gitignore names (objects, a kernel's .config) is left out, nothing is written into the folder,
and the difference of two trees is a patch.
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

# Calls of git, with settings of our own: those of a user change what a diff looks like.

GIT_S = 300.0
"""Reading a whole kernel for the first time takes some 20 s."""
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
"""Of git diff and git format-patch, over the settings of the user and of the repository."""
ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"),
    *("GIT_DIFF_OPTS",),
)
"""Variables that hooks of git and `git rebase --exec` set: they name another repository."""
_OWNER = re.compile(r"(?:dubious ownership in repository at|unsafe repository \() ?'([^']+)'")


class BadSource(InputError):
    """The source cannot be tried."""

    code = "bad-source"


def git(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """What git prints.

    Raises:
        BadSource: git ended with an error, or does not read a repository of another user.
        InfraError: it could not be started, or took longer than GIT_S.
    """
    done = git_call(*words, cwd=cwd, environment=environment)
    if done.returncode != 0:
        raise bad_source(done.returncode, done.stderr)
    return done.stdout


def bad_source(code: int, said: str) -> BadSource:
    """git ended with an error."""
    return BadSource(
        f"git could not read the source (exit code {code}).",
        remedy="Run `git status` in the folder to see why.",
        detail=said[-2000:],
    )


def git_or_nothing(*words: str) -> str:
    """What git prints, without the line's end; "" where it fails.

    Raises:
        BadSource: git does not read a repository of another user.
        InfraError: as git().
    """
    done = git_call(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def git_call(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """git with its exit code, in English.

    Raises:
        BadSource: git does not read a repository of another user.
        InfraError: it could not be started, or took longer than GIT_S.
    """
    done = git_bytes(*words, cwd=cwd, environment=environment)
    texts = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def git_bytes(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """As git_call, with what git prints to the byte."""
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
            f"git could not read the source: {error}.", remedy="Install git, or call again."
        ) from None
    owner = _OWNER.search(done.stderr.decode(errors="replace")) if done.returncode else None
    if owner is not None:
        raise BadSource(
            f"git does not read the repository {owner[1]}, which belongs to another user.",
            remedy=f"If you trust it: git config --global --add safe.directory {owner[1]}",
        )
    return done


# Which commit a source tree stands on, for reports.


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


# The configuration of a trial's kernels: options of --config, and two trees with a .config each.
#
# All kernels of a base have one configuration, so that they differ by a patch alone. Of two trees
# of one release it is that of the first, below what guests need; what the other has else is said.


CONFIG = ".config"
SHOWN = 3
"""Options that a sentence names."""

OPTION = re.compile(r"^(?:CONFIG_)?(?P<name>[A-Za-z0-9_]+)(?:=(?P<value>\S.*))?$")


def read_config(given: Sequence[str]) -> dict[str, str]:
    """Options of --config, by names with CONFIG_; each is OPTION=VALUE or a file of them.

    Raises:
        InputError: one is neither.
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
            raise _no_options(text, "that is no option, and no file")
        options[f"CONFIG_{match['name']}"] = match["value"] or "y"
    modules = [name for name, value in options.items() if value == "m"]
    if modules:
        raise _no_options(f"{modules[0]}=m", "guests have no modules")
    return options


def _no_options(text: str, why: str) -> InputError:
    return InputError(
        f"--config wants options of a kernel, but '{text:.60}' came: {why}.",
        remedy="Write for example: --config TRANSPARENT_HUGEPAGE=y, or name a file of such lines.",
    )


def config_words(first: SourceTree, other: SourceTree, fragments: Sequence[Path]) -> str:
    """A sentence about a configuration that is not used; "" where nothing of it is lost.

    Args:
        fragments: what guests need, which overrides both.
    """
    ours, theirs = (tree.folder / CONFIG for tree in (first, other))
    if ours == theirs or not theirs.is_file():
        return ""
    if not ours.is_file():
        return (
            f"the configuration of {other.name} is not used: both kernels have that of"
            f" {first.name}, which has no {CONFIG}"
        )
    apart = _apart(ours, theirs, fragments)
    if not apart:
        return ""
    more = " and others" if len(apart) > SHOWN else ""
    options = "1 option" if len(apart) == 1 else f"{len(apart)} options"
    return (
        f"the configurations of {first.name} and {other.name} differ in {options}"
        f" ({', '.join(apart[:SHOWN])}{more}), and both kernels have that of {first.name}"
    )


def _apart(ours: Path, theirs: Path, fragments: Sequence[Path]) -> list[str]:
    """Options that would be another thing in a guest's kernel, by name."""
    asked = read_fragments(fragments)
    one, two = ({**read_fragments([path]), **asked} for path in (ours, theirs))

    def built(options: Mapping[str, str], name: str) -> str:
        value = options.get(name, "n")
        return "n" if value == "m" else value  # modules are not built

    names = sorted(one.keys() | two.keys())
    apart = (name for name in names if built(one, name) != built(two, name))
    return [name for name in apart if OF_TOOLS.match(name) is None]


# The commits of a range, as patches.

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
