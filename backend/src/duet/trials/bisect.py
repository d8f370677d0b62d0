# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the commit in a range that made a number worse.

`History` runs git bisect in a separate work tree without files. `Search` classifies commits with a
measurement that its caller provides. `StoredMeasurements` stores the measurements, so that an
interrupted search resumes. `markdown` writes the report.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from duet.base import files as durable
from duet.base.errors import DuetError, InputError, KernelError
from duet.measure.compare import format_value
from duet.trials.command import BadCommand, read_command
from duet.trials.trees import git, git_call, git_or_nothing

# `git bisect` in a separate work tree.
#
# The work tree contains no files, because commits are read from the repository (`git bisect
# --no-checkout`). The bisection state and refs/bisect are private to the work tree
# (git-worktree(1), "Refs"). So the user's checkout keeps its files and its own bisection.

Answer = Literal["good", "bad", "skip"]
LEFT = re.compile(r"roughly (\d+) step")
FOUND = re.compile(r"^([0-9a-f]{40,64}) is the first bad commit", re.MULTILINE)
ONLY_SKIPPED = re.compile(r"only 'skip'ped commits left to test")
HASH = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
ONLY_SKIPPED_CODE = 2
"""Exit code of `git bisect` when only skipped commits are left."""


class BisectFails(InputError):
    """git cannot bisect this range."""

    code = "bisect-fails"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as reports name it.

    Args:
        parents: hashes of the parents, beginning with the first parent.
        date: the author date in ISO 8601.
    """

    id: str
    subject: str
    author: str
    date: str
    parents: tuple[str, ...]

    @property
    def short(self) -> str:
        """The hash's first twelve digits, as is usual on kernel mailing lists."""
        return self.id[:12]


@dataclass(frozen=True, slots=True)
class BisectState:
    """State of git bisect after an answer.

    Args:
        commit: commit to measure next; "" at the end.
        steps: git's estimate of how many more commits have to be measured after this one.
        culprit: the first bad commit; "" if it was not found.
        candidates: the remaining commits, if all of them were skipped; otherwise (). The culprit is
            one of these commits.
    """

    commit: str = ""
    steps: int = 0
    culprit: str = ""
    candidates: tuple[str, ...] = ()


class History:
    """Context manager for `git bisect` in a work tree, which is removed at exit.

    Args:
        folder: the work tree. If a killed search left a work tree there, it is replaced.
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
        """End the bisection and remove the work tree, if any."""
        if self.folder.exists():
            git_call("-C", str(self.folder), "bisect", "reset")
            shutil.rmtree(self.folder, ignore_errors=True)
        git_call("-C", str(self.repository), "worktree", "prune")

    def start(self, good: str, bad: str) -> BisectState:
        """Start the bisection; return the first commit to measure.

        Raises:
            BisectFails: git cannot bisect between the two commits.
        """
        return self._said("start", "--no-checkout", bad, good)

    def answer(self, word: Answer, commit: str) -> BisectState:
        """Report whether a commit is good, bad or skipped.

        Raises:
            BisectFails: git cannot continue, for example because a merge base is bad.
        """
        return self._said(word, commit)

    def _said(self, *words: str) -> BisectState:
        done = git_call("-C", str(self.folder), "bisect", *words)
        if found := FOUND.search(done.stdout):
            return BisectState(culprit=found[1])
        if ONLY_SKIPPED.search(done.stdout) and done.returncode == ONLY_SKIPPED_CODE:
            return BisectState(candidates=tuple(HASH.findall(done.stdout)))
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise BisectFails(
                f"git bisect cannot search this range: {said[0] if said else 'no reason'}.",
                remedy="Name a good commit that is an ancestor of the bad commit.",
                detail=done.stdout + done.stderr,
            )
        steps = LEFT.search(done.stdout)
        commit = git("-C", str(self.folder), "rev-parse", "--verify", "BISECT_HEAD").strip()
        return BisectState(commit, int(steps[1]) if steps else 0)


def find_commit(repository: Path, name: str) -> Commit:
    """Look up a commit by any name that git knows.

    Raises:
        BisectFails: git does not know the name.
    """
    where = ("-C", str(repository))
    known = git_or_nothing(
        *where, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    if not known:
        raise BisectFails(
            f"wanted the commit '{name:.60}' of {repository}, but git cannot find it.",
            remedy="Name a tag, a branch or a commit of that repository.",
        )
    form = "--format=%H%x00%s%x00%an%x00%aI%x00%P"
    text = git(*where, "show", "--no-patch", form, known).strip("\n")
    commit, subject, author, date, parents = text.split("\0")
    return Commit(commit, subject, author, date, tuple(parents.split()))


def tree_id(repository: Path, commit: str) -> str:
    """Return the id of a commit's git tree. Commits with identical files have the same id."""
    return git("-C", str(repository), "rev-parse", f"{commit}^{{tree}}").strip()


# The loop of a bisection, and the classification of commits by measurements.
#
# This code needs no kernel, because the caller provides the measurements.


SKIPPED = frozenset({"compile-fails", "patch-fails", "patch-refused", "option-lost"})
"""Codes of errors that concern only one commit, for example because it does not build."""
USUAL_LIMIT = 0.5
"""Default limit, as a share of the bad commit's `worse`. A commit above the limit is bad.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A commit's measurement, compared with the good commit.

    Args:
        worse: per cent by which the commit is worse; negative if it is better, None if not
            measured.
        why: a sentence with the result of the comparison, or with the reason for a missing number.
        good, value: values of the metric for the good commit and for this commit.
    """

    worse: float | None
    why: str
    good: float | None = None
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One measured commit of a bisection.

    Args:
        number: counts from 1. Number 0 is the bad commit itself, which is measured first.
        again: whether the measurement is from an earlier call.
    """

    number: int
    commit: Commit
    answer: Answer
    measured: Measured
    again: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a bisection.

    Args:
        limit: in per cent. A commit is bad if it is worse than the good commit by more than this.
        culprit: the first bad commit. If only skipped commits are left, it is None, and one of
            `candidates` is the culprit.
    """

    limit: float
    steps: tuple[Step, ...]
    culprit: Commit | None
    candidates: tuple[Commit, ...] = ()


class Search:
    """The loop of a bisection.

    Args:
        measure: compares a commit with the good commit; raises DuetError.
        known: commit hash -> measurement of an earlier call.
        store: called with a commit's hash and measurement, before the next measurement begins.
        progress: called with a sentence.
    """

    def __init__(
        self,
        history: History,
        measure: Callable[[Commit], Measured],
        known: dict[str, Measured],
        store: Callable[[str, Measured], None],
        progress: Callable[[str], None],
    ) -> None:
        self._history = history
        self._measure = measure
        self._known = dict(known)
        self._store = store
        self._progress = progress
        self._steps: list[Step] = []
        self._good = ""

    def run(self, good: Commit, bad: Commit, worse_than: float | None) -> Found:
        """Run the bisection to its end.

        Args:
            worse_than: limit in per cent. None means half the bad commit's `worse`.

        Raises:
            BisectFails: the bad commit is not worse than the good commit, or git cannot bisect.
            DuetError: `measure` raised an error that every commit would cause.
        """
        self._good = tree_id(self._history.repository, good.id)
        self._progress(f"the bad commit, {bad.short} ({bad.subject})")
        first, again = self._look(bad)
        limit = _limit(first, worse_than)
        self._add(bad, "bad", first, again)
        ahead = self._history.start(good.id, bad.id)
        number = 0
        while ahead.commit:
            number += 1
            commit = find_commit(self._history.repository, ahead.commit)
            total = number + ahead.steps
            self._progress(f"step {number} of about {total}: {commit.short} ({commit.subject})")
            measured, again = self._look(commit)
            answer = answer_of(measured, limit)
            self._add(commit, answer, measured, again, number)
            ahead = self._history.answer(answer, commit.id)
        named = [find_commit(self._history.repository, name) for name in ahead.candidates]
        culprit = None
        if ahead.culprit:
            culprit = find_commit(self._history.repository, ahead.culprit)
        return Found(limit, tuple(self._steps), culprit, tuple(named))

    def _look(self, commit: Commit) -> tuple[Measured, bool]:
        """Return a commit's measurement, and whether an earlier call had stored it."""
        if commit.id in self._known:
            return self._known[commit.id], True
        if tree_id(self._history.repository, commit.id) == self._good:
            measured = Measured(0.0, "it has the same source as the good commit")
        else:
            try:
                measured = self._measure(commit)
            except DuetError as error:
                if (why := reason_to_skip(error)) is None:
                    raise
                measured = Measured(None, why)
        self._known[commit.id] = measured
        self._store(commit.id, measured)
        return measured, False

    def _add(
        self, commit: Commit, answer: Answer, measured: Measured, again: bool, number: int = 0
    ) -> None:
        self._steps.append(Step(number, commit, answer, measured, again))
        known = ", measured before" if again else ""
        self._progress(f"{commit.short} is {WORDS[answer]}: {measured.why}{known}")


WORDS: dict[Answer, str] = {"good": "good", "bad": "bad", "skip": "skipped"}


def answer_of(measured: Measured, limit: float) -> Answer:
    """Return a commit's answer for git bisect."""
    if measured.worse is None:
        return "skip"
    return "bad" if measured.worse > limit else "good"


def reason_to_skip(error: DuetError) -> str | None:
    """Return why the commit cannot be measured, or None if every commit would cause the error."""
    if error.code in SKIPPED:
        return f"it does not build: {error.sentence}"
    if isinstance(error, KernelError):
        return f"its kernel does not run: {error.sentence}"
    return None


def _limit(bad: Measured, worse_than: float | None) -> float:
    """Return the limit between good and bad, in per cent.

    Raises:
        BisectFails: the bad commit was not measured, or is not worse than the good commit by more
            than the limit.
    """
    if bad.worse is None:
        raise BisectFails(
            f"the bad commit cannot be measured: {bad.why}.".replace("..", "."),
            remedy="Name another bad commit, command or metric.",
        )
    limit = bad.worse * USUAL_LIMIT if worse_than is None else worse_than
    if bad.worse <= max(limit, 0.0):
        raise BisectFails(
            f"the bad commit is not worse than the good one by more than {max(limit, 0):g} %"
            f" ({bad.why}).",
            remedy="Name other commits, another --metric, or a smaller --worse-than.",
        )
    return limit


# Store a bisection's measurements, so that a repeated call resumes the bisection.

FILE = "measured.json"


class StoredMeasurements:
    """The file FOLDER/measured.json. It stores the bisection's inputs, and each measurement.

    Args:
        question: all inputs that affect the measurements. If an input has changed, stored
            measurements are discarded.
    """

    def __init__(self, folder: Path, question: Mapping[str, object]) -> None:
        self._path = folder / FILE
        self._question = json.loads(json.dumps(question))
        self.known = self._read()

    def store(self, commit: str, measured: Measured) -> None:
        self.known[commit] = measured
        tree = {name: asdict(one) for name, one in self.known.items()}
        text = json.dumps({"question": self._question, "measured": tree}, indent=2)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        durable.write(self._path, (text + "\n").encode())

    def _read(self) -> dict[str, Measured]:
        try:
            tree = json.loads(self._path.read_text(encoding="utf-8"))
            if tree["question"] != self._question:
                return {}
            return {name: Measured(**one) for name, one in tree["measured"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # missing, or written by another version: measure again


def files_digest(run: str) -> str:
    """Return a digest of the host's files that the command needs in a guest."""
    digest = hashlib.sha256()
    try:
        files = read_command(run, frozenset()).files
    except BadCommand:  # the error is reported when the trial reads the command
        files = {}
    for place, path in sorted(files.items()):
        digest.update(f"{place}\0".encode() + path.read_bytes())
    return digest.hexdigest()


# Write a bisection's report in Markdown.


@dataclass(frozen=True, slots=True)
class Question:
    """A bisection's inputs, for its report.

    Args:
        metric: title of the metric.
        trial: command line of a trial that compares the culprit with its parent; "" if no culprit
            was found.
    """

    name: str
    good: Commit
    bad: Commit
    command: str
    metric: str
    clock: str
    trial: str = ""


def markdown(question: Question, found: Found) -> str:
    good, bad = question.good, question.bad
    lines = [
        f"# Bisect of {_plain(question.metric)}: {_headline(found)}",
        "",
        f"- good: `{good.short}` {_plain(good.subject)}",
        f"- bad: `{bad.short}` {_plain(bad.subject)}",
        f"- command: `{question.command}`",
        f"- limit: a commit is bad if it is worse than good by more than {found.limit:.3g} %"
        f" ({question.clock} clock)",
        *_culprit(found),
        "",
        "| step | commit | subject | good | this commit | worse by | result |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(step) for step in found.steps),
    ]
    if skipped := [step for step in found.steps if step.answer == "skip"]:
        lines += ["", "Skipped:", ""]
        lines += [f"- `{step.commit.short}`: {_plain(step.measured.why)}" for step in skipped]
    if question.trial:
        lines += ["", "To compare the culprit with its parent:", "", "```", question.trial, "```"]
    return "\n".join(lines) + "\n"


def _headline(found: Found) -> str:
    if found.culprit is not None:
        return f"{found.culprit.short} ({_plain(found.culprit.subject)})"
    return f"one of {len(found.candidates)} commits"


def _culprit(found: Found) -> Sequence[str]:
    if (culprit := found.culprit) is None:
        named = (f"  - `{one.short}` {_plain(one.subject)}" for one in found.candidates)
        return ["- the first bad commit is one of these; all but the last were skipped:",
                *named]  # fmt: skip
    parents = ", ".join(f"`{parent[:12]}`" for parent in culprit.parents)
    merge = "; the commit is a merge, compared with the first" if len(culprit.parents) > 1 else ""
    return [
        f"- first bad commit: `{culprit.id}`, {_plain(culprit.author)}, {culprit.date}",
        f"- its parent: {parents or 'none'}{merge}",
    ]


def _row(step: Step) -> str:
    one = step.measured
    cells = (
        str(step.number) if step.number else "bad",
        f"`{step.commit.short}`",
        _plain(step.commit.subject).replace("|", "\\|"),
        _number(one.good, one),
        _number(one.value, one),
        "" if one.worse is None else f"{one.worse:+.1f} %",
        WORDS[step.answer],
    )
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, one: Measured) -> str:
    return "" if value is None else f"{format_value(value)} {one.unit}".strip()


def _plain(text: str) -> str:
    """Escape Markdown in a commit's text, and join its lines."""
    for sign in "\\`*_[]<>#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
