# SPDX-License-Identifier: GPL-2.0-or-later
"""Run all rules on a lesson; return problems with file and line, and checks that were skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from duet.base import plugins
from duet.base.errors import DuetError
from duet.base.settings import repo_root
from duet.lessons import author, words
from duet.lessons import load as lessons
from duet.lessons.document import Found, LessonError
from duet.lessons.document import Problem as FileProblem
from duet.lessons.load import placing
from duet.lessons.schema import Lesson
from duet.lessons.schema.base import StringsFile
from duet.lessons.translations import STRINGS
from duet.lessons.view import read_views
from duet.lint import arms, languages, names, probes, recorded, story
from duet.lint.finding import Finding, NotChecked, Rule, Subject
from duet.lint.memory import REST, Memory
from duet.lint.result import Problem as Problem
from duet.lint.result import Result as Result
from duet.lint.result import Verdict

RULES: tuple[Rule, ...] = (
    story.template,
    arms.differ,
    arms.patches,
    arms.messages,
    arms.fair,
    arms.lit,
    arms.workloads,
    arms.values,
    arms.probes,
    arms.programs,
    arms.builds,
    names.patterns,
    probes.definitions,
    probes.kernels,
    probes.xray,
    names.view,
    names.steps,
    names.focus,
    names.hidden,
    recorded.spans,
    names.answers,
    names.points,
    names.knobs,
    names.curves,
    story.steps,
    story.prose,
    story.predictions,
    story.questions,
    story.claims,
    story.one_cpu,
    story.excerpts,
    story.plan,
    story.trials,
    story.terms,
    story.drawings,
    story.recap,
    languages.translations,
    story.challenges,
    story.stress,
    recorded.recordings,
    recorded.fresh,
    recorded.claims,
    recorded.table,
    recorded.grid,
    recorded.crossings,
    recorded.predictions,
    recorded.windows,
    recorded.native,
)
"""The rules, in the order in which an author meets them."""


def lint(slugs: Sequence[str], memory: Memory | None = None, *, schemas: bool = False) -> Result:
    """Check these lessons, and search generic code for names of these lessons.

    Args:
        memory: good verdicts of earlier runs, to which new ones are added; None checks everything.
        schemas: also check the schemas for editors.

    Raises:
        InputError: one of the lessons does not exist.
    """
    problems: list[Problem] = []
    left: dict[str, None] = {}
    rest: list[Problem] = []
    check_rest = memory is None or memory.recall(REST) is None
    for slug in slugs:
        known = None if memory is None else memory.recall(slug)
        verdict = rules_of(slug) if known is None else Verdict(not_checked=known)
        if memory is not None and known is None:
            memory.remember(slug, verdict)
        left |= dict.fromkeys(f"{slug}: {sentence}" for sentence in verdict.not_checked)
        own = of_plugins(slug) if check_rest and verdict.readable else []
        problems += [*verdict.problems, *own]
        rest += own
    if check_rest:
        others = words_in_generic_code(slugs)
        if set(slugs) == set(lessons.slugs()):
            others += of_plugins("")
        others += stale_schemas() if schemas else []
        problems += others
        rest += others
        if memory is not None:
            memory.remember(REST, Verdict(tuple(rest)))
    return Result(tuple(slugs), tuple(problems), tuple(left))


def lint_lesson(slug: str) -> tuple[list[Problem], list[str]]:
    """Return the problems of one lesson, and the checks that were skipped.

    Raises:
        InputError: there is no such lesson.
    """
    verdict = rules_of(slug)
    others = of_plugins(slug) if verdict.readable else []
    return [*verdict.problems, *others], list(verdict.not_checked)


def rules_of(slug: str) -> Verdict:
    """Apply all rules to one lesson, but not those of plug-ins.

    Raises:
        InputError: there is no such lesson.
    """
    if slug not in lessons.slugs():
        lessons.load(slug)
    try:
        folder = lessons.load(slug)
    except LessonError as error:
        return Verdict(tuple(_of_file(slug, one) for one in error.problems), readable=False)
    catalogue = read_views()
    view = catalogue.views.get(folder.lesson.view or "")
    subject = Subject(folder, repo_root(), catalogue, view)
    place = placing(folder.folder)
    problems: list[Problem] = []
    left: list[str] = []
    for rule in RULES:
        for found in _findings(rule, subject):
            if isinstance(found, NotChecked):
                left.append(found.sentence)
            elif found.file is not None:
                problems.append(_beside(slug, found, found.file))
            else:
                one = place(Found(found.place, found.sentence, found.remedy))
                problems.append(_of_file(slug, one, found.where))
    outside = subject.outside
    return Verdict(tuple(problems), tuple(left), outside.stamps, outside.lasting)


def of_plugins(slug: str) -> list[Problem]:
    """Return problems that plug-ins find in a lesson's folder.

    For an empty slug, return problems that plug-ins find outside the folders of lessons.
    """
    found = (one for module in plugins.offered("rules") for one in module.problems(slug))
    return [_of_file(name, problem) for name, problem in found]


def beside() -> dict[str, type[BaseModel]]:
    """Return the models of all other files in a lesson's folder for which editors need a schema."""
    models: dict[str, type[BaseModel]] = {STRINGS: StringsFile}
    for module in plugins.offered("rules"):
        models |= module.BESIDE
    return models


def _findings(rule: Rule, subject: Subject) -> Iterator[Finding | NotChecked]:
    """Yield a rule's findings. An error that the rule raises becomes a finding."""
    try:
        yield from rule(subject)
    except DuetError as error:
        yield Finding(error.sentence.removesuffix("."), error.remedy, where=rule.__name__)


def _of_file(slug: str, one: FileProblem, where: str = "") -> Problem:
    """Add the lesson to a problem in a YAML file. By default, `where` is like 'trace.yaml:41'."""
    name = one.file.rpartition("/")[2]
    place = where or f"{name}:{one.line}"
    return Problem(slug, place, one.sentence, one.remedy, one.file, one.line, one.key)


def _beside(slug: str, found: Finding, path: Path) -> Problem:
    """Make a problem from a finding in another file of the lesson."""
    root = repo_root()
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    where = found.where or path.name
    return Problem(slug, where, found.sentence, found.remedy, str(shown), found.line)


def stale_schemas() -> list[Problem]:
    """Return problems for editor schemas that differ from the models."""
    sentence = "it differs from the models of duet/lessons/schema"
    remedy = "Run ./duet lint --schemas and commit it."
    return [
        Problem(author.FOLDER, name, sentence, remedy, f"{author.FOLDER}/{name}", 1)
        for name in author.stale(repo_root(), beside())
    ]


def words_in_generic_code(slugs: Sequence[str]) -> list[Problem]:
    """Return problems for names of these lessons in generic code. Unreadable lessons are skipped.

    Lessons outside the checkout are also skipped, because their authors cannot change the
    checkout's code.
    """
    usable: dict[str, Lesson] = {}
    for slug in slugs:
        with suppress(DuetError):
            folder = lessons.load(slug)
            if folder.folder.is_relative_to(repo_root()):
                usable[slug] = folder.lesson
    remedy = (
        "If the word is plain English there, rename it in the lesson. Otherwise move the code "
        "into the "
        "lesson's folder or its view, or add a lesson key for it."
    )
    return [
        Problem(
            found.lesson,
            f"{found.path}:{found.line}",
            f"'{found.word}' is a word of this lesson, and the code is generic",
            remedy,
            found.path,
            found.line,
        )
        for found in words.search(repo_root(), usable)
    ]
