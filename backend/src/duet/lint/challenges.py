# SPDX-License-Identifier: GPL-2.0-or-later
"""challenges.yaml: three or none, goals that can be measured, patterns that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from duet.errors import InputError
from duet.lessons.schema import Place
from duet.lint.finding import Finding, NotChecked, Subject, unknown
from duet.measure.claims import plan_of_claim
from duet.measure.plan import metrics_of
from duet.trials.challenge.plans import limits
from duet.trials.check.table import SCRIPTS

Found = Iterator[Finding | NotChecked]
COUNT = 3


def challenges(subject: Subject) -> Found:
    """A lesson that offers challenges has three, and each of their limits can be measured."""
    folder = subject.folder
    given = folder.lesson.challenges
    if (count := len(given)) not in (0, COUNT):
        sentence = f"a lesson that offers challenges has {COUNT}, this one {count}"
        yield Finding(sentence, "One is easy, one breaks something, one is hard.", ("challenges",))
    for name, one in given.items():
        place: Place = ("challenges", name)
        for index, pattern in enumerate(one.without):
            yield from _pattern(pattern, (*place, "without", index))
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
                sentence = f"{plan.workload} on {one.arm} gives no {goal.metric}"
                remedy = "Name a workload that gives it, with `workload:`."
                yield Finding(sentence, remedy, (*where, "metric"))


def stress(subject: Subject) -> Found:
    """The stress names a script that is there, and its patterns can be read."""
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
    for what, pattern in said.work.items():
        yield from _pattern(pattern, ("stress", "work", what), groups=1)


def _pattern(pattern: str, place: Place, groups: int = 0) -> Found:
    try:
        found = re.compile(pattern)
    except re.error as error:
        remedy = "Write it as Python's re has it."
        yield Finding(f"this is no regular expression ({error})", remedy, place)
        return
    if found.groups < groups:
        remedy = r"Put the number into parentheses, (\d+)."
        yield Finding("the pattern has no group for the number", remedy, place)
