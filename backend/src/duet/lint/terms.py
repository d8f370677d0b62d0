# SPDX-License-Identifier: GPL-2.0-or-later
"""terms.yaml and recap.yaml: words that occur, drawings that are sound, questions that fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from duet.lessons.drawings import FOLDER, flaws
from duet.lessons.schema import Place
from duet.lessons.terms import explained, pattern
from duet.lessons.view import COMMENT
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]
QUIZ = 5


def terms(subject: Subject) -> Found:
    """Each term occurs in the lesson, and no two claim the same word."""
    given = subject.folder.lesson.terms
    known = {one.term.name: one.term for one in explained(subject.folder)}
    text = said(subject)
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
                sentence = f"'{form}' is a form of the term '{other}' already"
                yield Finding(sentence, "Leave it to one of them.", ("terms", index, "name"))
        if not pattern((term.name, *whole.also)).search(text):
            sentence = f"the term '{term.name}' does not occur in the lesson"
            remedy = "Use it in content.md or a question, add the form that is used, or remove it."
            yield Finding(sentence, remedy, ("terms", index, "name"))


def drawings(subject: Subject) -> Found:
    """Each drawing may be shown, each term of the entry has one, and none is left over."""
    used = set()
    for one in explained(subject.folder):
        index = [term.name for term in subject.folder.lesson.terms].index(one.term.name)
        place = ("terms", index, "drawing")
        if one.drawing is None:
            if one.term.entry:
                remedy = f"Draw one in {FOLDER}/, or say `entry: false`."
                yield Finding("a term of the entry has a drawing", remedy, place)
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
    """A lesson that ends with questions has five, and something to explain."""
    lesson = subject.folder.lesson
    if (count := len(lesson.quiz)) not in (0, QUIZ):
        sentence = f"a lesson that ends with questions has {QUIZ}, this one {count}"
        yield Finding(sentence, "Ask what the steps have shown.", ("quiz",))
    if lesson.quiz and lesson.explain is None:
        remedy = "Add `explain:` with `ask:` and `ours:` to recap.yaml."
        yield Finding("nothing is to be explained at the end", remedy, ("quiz",))


def said(subject: Subject) -> str:
    """All texts of the lesson that a reader meets beside the terms themselves."""
    lesson = subject.folder.lesson
    parts = [COMMENT.sub("", subject.folder.content()), lesson.question, lesson.summary]
    parts += [*lesson.caveats, *(scene.title for scene in lesson.scenes)]
    parts += [one.question for one in lesson.predictions.values()]
    parts += [text for one in lesson.questions for text in (one.ask, one.why)]
    parts += [text for one in lesson.discussion for text in (one.said, one.became)]
    parts += [text for one in lesson.quiz for text in (one.ask, one.why)]
    return "\n".join(parts)
