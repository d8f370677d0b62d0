# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps as slides of a class: one claim each, lines of a patch that are there, and a plan."""

from __future__ import annotations

from collections.abc import Iterator

from duet.lint.arms import patch_lines
from duet.lint.finding import Finding, NotChecked, Subject

Found = Iterator[Finding | NotChecked]
CLAIM_CHARS = 110
"""Two lines at most of the size in which a slide shows it."""
LEAST_MINUTES, MOST_MINUTES = 35, 45
"""Of a class, with the words at the beginning and the questions at the end."""


def claims(subject: Subject) -> Found:
    """A claim is one sentence, short enough to be read from the last row."""
    for index, scene in enumerate(subject.folder.lesson.scenes):
        place = ("scenes", index, "claim")
        if scene.claim and scene.claim[-1] not in ".?!":
            remedy = "Write a whole sentence, with its full stop."
            yield Finding("a claim is a sentence", remedy, place)
        if (count := len(scene.claim)) > CLAIM_CHARS:
            sentence = f"a claim has at most {CLAIM_CHARS} characters, this one {count}"
            yield Finding(sentence, "Leave out what the picture shows.", place)


def excerpts(subject: Subject) -> Found:
    """What a slide shows of a patch stands in a patch of the step's arms."""
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
    """Minutes are planned for all steps or for none, and each step of a plan says what to say."""
    scenes = subject.folder.lesson.scenes
    total = sum(scene.minutes for scene in scenes)
    if total == 0:
        return
    for index, scene in enumerate(scenes):
        if scene.minutes == 0:
            sentence = f"other steps have minutes, '{scene.id}' has none"
            yield Finding(sentence, "Add `minutes:`.", ("scenes", index))
        if not scene.notes.strip():
            sentence = f"the plan has a step without notes, '{scene.id}'"
            yield Finding(sentence, "Add `notes:`, what to say.", ("scenes", index))
    if not LEAST_MINUTES <= total <= MOST_MINUTES:
        sentence = f"a class has {LEAST_MINUTES} to {MOST_MINUTES} minutes, this plan {total:g}"
        yield Finding(sentence, "Change `minutes:` of the steps.", ("scenes",))
