# SPDX-License-Identifier: GPL-2.0-or-later
"""The story: text for each step, predictions, questions, and what one should not conclude."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from duet.lessons.view import HEADING, sections
from duet.lint.finding import Finding, NotChecked, Subject

Found = Iterator[Finding | NotChecked]
QUESTIONS = 5
CAVEATS = 3
PROSE = "content.md"
TEMPLATE = "lessons/_template/lesson.yaml"
REPLACE = "Replace this"
"""How texts of the template begin that a lesson is to replace."""
WRITE = "Write your own."


def prose(subject: Subject) -> Found:
    """content.md has a section for each step, and no other."""
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
    """Somebody can predict, and each bound parts two choices."""
    lesson = subject.folder.lesson
    if lesson.view is not None and not lesson.predictions:
        sentence = "a lesson with a view has at least one prediction"
        yield Finding(sentence, "Add `predictions:`, and `predict:` to a step.", ("scenes",))
    used = {scene.predict for scene in lesson.scenes}
    for key, one in lesson.predictions.items():
        if len(one.choices) != len(one.bounds) + 1:
            choices, bounds = len(one.choices), len(one.bounds)
            sentence = f"{choices} choices need {choices - 1} bounds between them, not {bounds}"
            remedy = "Give the values that part the choices, in rising order."
            yield Finding(sentence, remedy, ("predictions", key, "bounds"))
        if list(one.bounds) != sorted(one.bounds):
            place = ("predictions", key, "bounds")
            yield Finding("the bounds do not rise", "Sort bounds and choices.", place)
        if key not in used:
            sentence = f"no step asks for the prediction '{key}'"
            yield Finding(sentence, f"Add `predict: {key}` to a step.", ("predictions", key))


def questions(subject: Subject) -> Found:
    """A lesson that is seen asks five questions and has three caveats."""
    lesson = subject.folder.lesson
    if lesson.view is None:
        return
    if (count := len(lesson.questions)) != QUESTIONS:
        place = ("questions",) if count else ("scenes",)
        sentence = f"a lesson with a view has {QUESTIONS} questions, this one {count}"
        yield Finding(sentence, "Ask for something that the picture shows.", place)
    if (count := len(lesson.caveats)) < CAVEATS:
        place = ("caveats",) if count else ("claims",)
        sentence = f"a lesson with a view has at least {CAVEATS} caveats, this one {count}"
        yield Finding(sentence, "Say what one should not conclude.", place)


def template(subject: Subject) -> Found:
    """Title, question, summary, prose and caveats are not the template's any more."""
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
    was = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key in ("title", "question", "summary"):
        if was.get(key) == getattr(subject.folder.lesson, key):
            yield Finding(f"this is still the template's {key}", WRITE, (key,))
