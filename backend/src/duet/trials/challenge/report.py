# SPDX-License-Identifier: GPL-2.0-or-later
"""A judged challenge in text."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from duet.lessons.schema import Challenge, Lesson
from duet.measure.claims import wanted
from duet.trials.challenge.judge import Judgement, Line
from duet.trials.challenge.plans import limits

MARKS = {True: "holds", False: "FAILS", None: "not judged"}
WIDTH = 96


def listing(lesson: Lesson) -> str:
    """All challenges of a lesson."""
    parts = []
    for name, one in lesson.challenges.items():
        parts += [f"{name}: {one.title} (starts from {one.arm}, aim: {one.aim})"]
        parts += [f"  {line}" for line in wrap(" ".join(one.ask.split()), WIDTH)]
        for kind, goal in limits(one):
            metric = lesson.metrics[goal.metric].title
            parts.append(f"  {kind}: {goal.says} ({metric}: {wanted(goal.claim(one.arm))})")
        parts.append(f"  hint: {' '.join(one.hint.split())}")
    return "\n".join(parts)


def text(name: str, challenge: Challenge, judged: Judgement) -> str:
    """What came of one change."""
    parts = [f"{name}: {'met' if judged.met else 'not met'}. {judged.because}"]
    parts += [part for line in judged.lines for part in _line(line)]
    if judged.met:
        parts += ["", *wrap(" ".join(challenge.answer.split()), WIDTH)]
    return "\n".join(parts)


def _line(line: Line) -> Iterator[str]:
    limit = f", wanted {line.wanted}" if line.wanted else ""
    yield f"  {MARKS[line.holds]:>10}  {line.kind}: {line.says}"
    yield f"  {'':>10}  {line.found}{limit}"
