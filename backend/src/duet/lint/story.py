# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on the story: each step's text, predictions, questions, caveats, slides and terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from duet.base.errors import InputError
from duet.lessons.document import read
from duet.lessons.drawings import FOLDER, flaws
from duet.lessons.load import knob
from duet.lessons.schema import Param, Place, Trial
from duet.lessons.view import COMMENT, HEADING, explained, pattern, sections
from duet.lint.arms import patch_lines
from duet.lint.finding import Finding, NotChecked, Subject, unknown
from duet.measure.claims import plan_of_claim
from duet.measure.plan import metrics_of
from duet.trials.challenge import limits
from duet.trials.check.chosen import SCRIPTS

Found = Iterator[Finding | NotChecked]
STEPS = 5
QUESTIONS = 5
CAVEATS = 3
PROSE = "content.md"
TEMPLATE = "lessons/_template/lesson.yaml"
REPLACE = "Replace this"
"""Prefix of texts in the template that a lesson must replace."""
WRITE = "Write your own."


def steps(subject: Subject) -> Found:
    """Check that a lesson with a view has enough steps. The lesson runs and builds without them."""
    count = len(subject.folder.lesson.scenes)
    if 0 < count < STEPS:
        sentence = f"a lesson with a view needs at least {STEPS} steps, not {count}"
        yield Finding(sentence, "Add scenes to story.yaml.", ("scenes",))


def prose(subject: Subject) -> Found:
    """Check that content.md has a section for each step, and no other section."""
    folder = subject.folder
    path = folder.folder / PROSE
    texts = sections(folder.content())
    scenes = [scene.id for scene in folder.lesson.scenes]
    for ident in scenes:
        if not texts.get(ident):
            sentence = f"there is no text for the step '{ident}'"
            yield Finding(sentence, f"Add a section '## {ident}'.", file=path)
    lines = folder.content().splitlines()
    for ident in texts:
        if ident not in scenes:
            line = next(n for n, text in enumerate(lines, 1) if _heads(text, ident))
            remedy = "Name the section after a step, or remove it."
            yield Finding(f"there is no step '{ident}'", remedy, file=path, line=line)


def _heads(line: str, ident: str) -> bool:
    found = HEADING.match(line)
    return found is not None and found.group(1) == ident


def predictions(subject: Subject) -> Found:
    """Check that a lesson with a view has predictions, and each bound separates two choices."""
    lesson = subject.folder.lesson
    if lesson.view is not None and not lesson.predictions:
        sentence = "a lesson with a view needs a prediction"
        yield Finding(sentence, "Add `predictions:`, and `predict:` to a step.", ("scenes",))
    used = {scene.predict for scene in lesson.scenes}
    for key, one in lesson.predictions.items():
        if len(one.choices) != len(one.bounds) + 1:
            choices, bounds = len(one.choices), len(one.bounds)
            sentence = f"{choices} choices need {choices - 1} bounds between them, not {bounds}"
            remedy = "Give the values that separate the choices, in rising order."
            yield Finding(sentence, remedy, ("predictions", key, "bounds"))
        if list(one.bounds) != sorted(one.bounds):
            place = ("predictions", key, "bounds")
            yield Finding("the bounds are not in rising order", "Sort bounds and choices.", place)
        if key not in used:
            sentence = f"no step asks for the prediction '{key}'"
            yield Finding(sentence, f"Add `predict: {key}` to a step.", ("predictions", key))


def questions(subject: Subject) -> Found:
    """Check that a lesson with a view has five questions and at least three caveats."""
    lesson = subject.folder.lesson
    if lesson.view is None:
        return
    if (count := len(lesson.questions)) != QUESTIONS:
        place = ("questions",) if count else ("scenes",)
        sentence = f"a lesson with a view needs {QUESTIONS} questions, not {count}"
        yield Finding(
            sentence, "Write more questions about something that the picture shows.", place
        )
    if (count := len(lesson.caveats)) < CAVEATS:
        place = ("caveats",) if count else ("claims",)
        sentence = f"a lesson with a view needs at least {CAVEATS} caveats, not {count}"
        yield Finding(sentence, "Write more caveats: name wrong conclusions to avoid.", place)


def template(subject: Subject) -> Found:
    """Check that title, question, summary, prose and caveats differ from the template's."""
    folder = subject.folder
    for line, text in enumerate(folder.content().splitlines(), 1):
        if text.startswith(REPLACE):
            path = folder.folder / PROSE
            yield Finding("this is still the template's text", WRITE, file=path, line=line)
    for number, text in enumerate(folder.lesson.caveats):
        if text.startswith(REPLACE):
            yield Finding("this is still the template's caveat", WRITE, ("caveats", number))
    path = subject.root / TEMPLATE
    if not path.is_file():
        return
    was = read(path, path.name).values
    for key in ("title", "question", "summary"):
        if was.get(key) == getattr(subject.folder.lesson, key):
            yield Finding(f"this is still the template's {key}", WRITE, (key,))


# Rules on the steps as slides for a class: each step has one claim, existing patch lines, and a
# planned time.
CLAIM_CHARS = 110
"""Maximum length of a claim: at most two lines at the size of a slide's claim."""
LEAST_MINUTES, MOST_MINUTES = 35, 45
"""Minutes of a class, including the introduction and the final questions."""


def claims(subject: Subject) -> Found:
    """Check that a claim is one sentence, short enough to be read from the last row of a class."""
    for index, scene in enumerate(subject.folder.lesson.scenes):
        place = ("scenes", index, "claim")
        if scene.claim and scene.claim[-1] not in ".?!":
            remedy = "Write a whole sentence, with its full stop."
            yield Finding("a claim must be a sentence", remedy, place)
        if (count := len(scene.claim)) > CLAIM_CHARS:
            sentence = f"a claim may have at most {CLAIM_CHARS} characters, not {count}"
            yield Finding(sentence, "Leave out what the picture shows.", place)


def one_cpu(subject: Subject) -> Found:
    """Check that claims and figures on the count clock ask for one CPU, which is all it has."""
    lesson = subject.folder.lesson
    name = knob(lesson, "cpus")
    if name is None:
        return
    counted = [
        *((("claims", at), one.clock, one.params) for at, one in enumerate(lesson.claims)),
        *((("published", at), one.clock, one.params) for at, one in enumerate(lesson.published)),
    ]
    for place, clock, params in counted:
        if clock == "count" and params.get(name, 1) != 1:
            sentence = f"the count clock has one CPU, not {params[name]}"
            remedy = f"Leave {name} out, or measure on the wall clock."
            yield Finding(sentence, remedy, (*place, "params", name))


def excerpts(subject: Subject) -> Found:
    """Check that each patch line that a slide shows is in a patch of the step's arms."""
    for index, scene in enumerate(subject.folder.lesson.scenes):
        place = ("scenes", index, "patch_at")
        if scene.patch_at and "patch" not in scene.show:
            remedy = "Add `patch` to `show`, or remove `patch_at`."
            yield Finding("the step shows no patch", remedy, place)
            continue
        lines = [line for arm in scene.arms for line in patch_lines(subject, arm) or ()]
        for part, text in enumerate(scene.patch_at):
            if not any(text in line for line in lines):
                sentence = f"no patch of the step's arms has a line with '{text}'"
                yield Finding(sentence, "Copy it from the patch.", (*place, part))


def plan(subject: Subject) -> Found:
    """Check that all steps or none have planned minutes, and that planned steps have notes."""
    scenes = subject.folder.lesson.scenes
    total = sum(scene.minutes for scene in scenes)
    if total == 0:
        return
    for index, scene in enumerate(scenes):
        if scene.minutes == 0:
            sentence = f"other steps have `minutes:`, but '{scene.id}' has none"
            yield Finding(sentence, "Add `minutes:`.", ("scenes", index))
        if not scene.notes.strip():
            sentence = f"the step '{scene.id}' has `minutes:` but no notes"
            yield Finding(sentence, "Add `notes:` that tell what to say.", ("scenes", index))
    if not LEAST_MINUTES <= total <= MOST_MINUTES:
        sentence = f"a class must take {LEAST_MINUTES} to {MOST_MINUTES} minutes, not {total:g}"
        yield Finding(sentence, "Change `minutes:` of the steps.", ("scenes",))


# Rules on terms.yaml and recap.yaml: terms are used, drawings are valid, and there are enough
# questions.
QUIZ = 5


def terms(subject: Subject) -> Found:
    """Check that each term occurs in the lesson, that no two terms have a form in common, and that
    a shared term exists in the common file."""
    given = subject.folder.lesson.terms
    known = {one.term.name: one.term for one in explained(subject.folder)}
    text = texts_of(subject)
    taken: dict[str, str] = {}
    for index, term in enumerate(given):
        whole = known.get(term.name)
        if whole is None:
            sentence = f"no common file explains the term '{term.name}'"
            remedy = "Add it to lessons/_common/terms.yaml, or explain it without `shared:`."
            yield Finding(sentence, remedy, ("terms", index, "name"))
            continue
        for form in (term.name, *whole.also):
            other = taken.setdefault(form.lower(), term.name)
            if other != term.name:
                sentence = f"'{form}' is already a form of the term '{other}'"
                yield Finding(
                    sentence, "Keep the form in only one of them.", ("terms", index, "name")
                )
        if not pattern((term.name, *whole.also)).search(text):
            sentence = f"the term '{term.name}' does not occur in the lesson"
            remedy = (
                "Use it in content.md or a question, "
                "add the form that the lesson uses, or remove the term."
            )
            yield Finding(sentence, remedy, ("terms", index, "name"))


def drawings(subject: Subject) -> Found:
    """Check that drawings are valid and used, and that terms shown at the start have drawings."""
    used = set()
    for one in explained(subject.folder):
        index = [term.name for term in subject.folder.lesson.terms].index(one.term.name)
        place = ("terms", index, "drawing")
        if one.drawing is None:
            if one.term.entry:
                remedy = f"Draw one in {FOLDER}/, or add `entry: false`."
                yield Finding("a term that the first step shows needs a drawing", remedy, place)
            continue
        used.add(one.drawing)
        yield from _drawing(one.drawing, place)
    for path in sorted((subject.folder.folder / FOLDER).glob("*")):
        if path not in used:
            yield Finding("no term has this drawing", "Name it in terms.yaml.", file=path)


def _drawing(path: Path, place: Place) -> Found:
    try:
        data = path.read_bytes()
    except OSError:
        names = [found.name for found in path.parent.glob("*.svg")]
        yield unknown("there is no drawing", path.name, names, place)
        return
    for flaw in flaws(data):
        yield Finding(flaw.sentence, flaw.remedy, file=path, line=flaw.line)


def recap(subject: Subject) -> Found:
    """Check that a lesson that ends with questions has five questions and an explanation."""
    lesson = subject.folder.lesson
    if (count := len(lesson.quiz)) not in (0, QUIZ):
        sentence = f"a lesson that ends with questions needs {QUIZ} questions, not {count}"
        yield Finding(sentence, "Ask what the steps have shown.", ("quiz",))
    if lesson.quiz and lesson.explain is None:
        remedy = "Add `explain:` with `ask:` and `ours:` to recap.yaml."
        yield Finding("a lesson that ends with questions needs `explain:`", remedy, ("quiz",))


def texts_of(subject: Subject) -> str:
    """Return all texts that a reader of the lesson sees, except the terms themselves."""
    lesson = subject.folder.lesson
    parts = [COMMENT.sub("", subject.folder.content()), lesson.question, lesson.summary]
    parts += [*lesson.caveats, *(scene.title for scene in lesson.scenes)]
    parts += [one.question for one in lesson.predictions.values()]
    parts += [text for one in lesson.questions for text in (one.ask, one.why)]
    parts += [text for one in lesson.discussion for text in (one.said, one.became)]
    parts += [text for one in lesson.quiz for text in (one.ask, one.why)]
    return "\n".join(parts)


# Rule on `discussion:` in story.yaml: remarks link only to states that exist.


def trials(subject: Subject) -> Found:
    """Check that each trial names one of the lesson's clocks, an existing patch and valid knobs."""
    for index, remark in enumerate(subject.folder.lesson.discussion):
        for number, trial in enumerate(remark.tried):
            yield from _trial(subject, trial, ("discussion", index, "tried", number))


def _trial(subject: Subject, trial: Trial, at: Place) -> Found:
    lesson = subject.folder.lesson
    clocks = lesson.clocks or (lesson.clock,)
    if trial.clock is not None and trial.clock not in clocks:
        yield unknown("the lesson has no clock", trial.clock, clocks, (*at, "clock"))
    patched = [arm.name for arm in lesson.arms if arm.patches]
    if trial.patch is not None and trial.patch not in patched:
        yield unknown("there is no patch of", trial.patch, patched, (*at, "patch"))
    for name, value in trial.params.items():
        yield from _value(name, value, lesson.params[name], (*at, "params", name))


def _value(name: str, value: int, param: Param, place: Place) -> Found:
    """Check that the knob allows this value."""
    if param.choices:
        if value not in param.choices:
            yield unknown(f"{name} cannot be", str(value), map(str, param.choices), place)
        return
    low, high = (0, 1) if param.type == "bool" else (param.min, param.max)
    if (low is not None and value < low) or (high is not None and value > high):
        yield Finding(f"{name} cannot be {value}", f"Choose {low} to {high}.", place)


# Rules on challenges.yaml: the file has three challenges or none, measurable goals, and valid
# patterns.
COUNT = 3


def challenges(subject: Subject) -> Found:
    """Check that a lesson has three challenges or none, and that their limits can be measured."""
    folder = subject.folder
    given = folder.lesson.challenges
    if (count := len(given)) not in (0, COUNT):
        sentence = f"a lesson that has challenges needs {COUNT} challenges, not {count}"
        yield Finding(
            sentence,
            "Write an easy one, one that breaks something, and a hard one.",
            ("challenges",),
        )
    for name, one in given.items():
        place: Place = ("challenges", name)
        for index, regex in enumerate(one.without):
            yield from _pattern(regex, (*place, "without", index))
        seen = {"goal": 0, "rule": 0}
        for kind, goal in limits(one):
            where = (*place, f"{kind}s", seen[kind])
            seen[kind] += 1
            try:
                plan = plan_of_claim(folder, goal.claim(one.arm))
            except InputError as error:
                yield Finding(error.sentence.removesuffix("."), error.remedy, (*where, "params"))
                continue
            if goal.metric not in metrics_of(plan, one.arm):
                sentence = (
                    f"the workload {plan.workload} on {one.arm} does "
                    f"not give the metric {goal.metric}"
                )
                remedy = "Use `workload:` to name a workload that gives it."
                yield Finding(sentence, remedy, (*where, "metric"))


def stress(subject: Subject) -> Found:
    """Check that the stress test names an existing script and that its patterns are valid."""
    said = subject.folder.lesson.stress
    scripts = sorted(path.stem for path in SCRIPTS.glob("*.sh"))
    if said.beside is not None and said.beside not in scripts:
        yield unknown("there is no script", said.beside, scripts, ("stress", "beside"))
    for index, turn in enumerate(said.turns):
        try:
            subject.folder.check_params(turn)
        except InputError as error:
            place = ("stress", "turns", index)
            yield Finding(error.sentence.removesuffix("."), error.remedy, place)
    for what, regex in said.work.items():
        yield from _pattern(regex, ("stress", "work", what), groups=1)


def _pattern(pattern: str, place: Place, groups: int = 0) -> Found:
    try:
        found = re.compile(pattern)
    except re.error as error:
        remedy = "Write it in the syntax of Python's re."
        yield Finding(f"this is not a regular expression ({error})", remedy, place)
        return
    if found.groups < groups:
        remedy = r"Put the number into parentheses, (\d+)."
        yield Finding("the pattern has no group for the number", remedy, place)
