# SPDX-License-Identifier: GPL-2.0-or-later
"""Patterns that read numbers and names out of text, by themselves and on what was recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from duet.bundle import Manifest
from duet.lessons.schema import Metric, Place
from duet.lint.finding import Finding, NotChecked, Subject

Found = Iterator[Finding | NotChecked]
Lines = Mapping[str, Sequence[str]]
"""Arm -> what its workload printed."""
OPS = ("ops", "per_s")


def patterns(subject: Subject) -> Found:
    """Every pattern can be read, and has the groups that are read out of it."""
    lesson = subject.folder.lesson
    for name, metric in lesson.metrics.items():
        yield from _pattern(metric.line, ("metrics", name, "line"), ("value",))
    for name, workload in lesson.workloads.items():
        at: Place = ("workloads", name)
        yield from _pattern(workload.ops_line, (*at, "ops_line"), OPS)
        yield from _pattern(workload.rows, (*at, "rows"), ())
    if lesson.microscope is not None:
        yield from _pattern(lesson.microscope.ready, ("microscope", "ready"), ())


def _pattern(text: str | None, place: Place, groups: tuple[str, ...]) -> Found:
    if text is None:
        return
    try:
        known = re.compile(text).groupindex
    except re.error as error:
        sentence = f"this is no regular expression: {error.msg}"
        yield Finding(sentence, "Correct it; a special character is meant with a \\.", place)
        return
    for group in groups:
        if group not in known:
            sentence = f"the pattern has no group '{group}'"
            yield Finding(sentence, f"Write (?P<{group}>...) around what is to be read.", place)


def unmatched(subject: Subject, recorded: Sequence[tuple[Manifest, Lines]]) -> Found:
    """Patterns of a workload that was recorded, and that matched no line of any recording."""
    lesson = subject.folder.lesson
    for name, metric in lesson.metrics.items():
        if metric.line is not None:
            texts = list(_lines_for(metric, recorded))
            yield from _matching(metric.line, ("metrics", name, "line"), texts)
    for name, workload in lesson.workloads.items():
        if workload.ops_line is not None:
            texts = [
                lines for run, arms in recorded if run.workload == name for lines in arms.values()
            ]
            yield from _matching(workload.ops_line, ("workloads", name, "ops_line"), texts)


def _lines_for(
    metric: Metric, recorded: Sequence[tuple[Manifest, Lines]]
) -> Iterator[Sequence[str]]:
    """The output of the lanes that the metric is read from."""
    for run, arms in recorded:
        if metric.workloads and run.workload not in metric.workloads:
            continue
        if metric.clocks and run.clock not in metric.clocks:
            continue
        for arm, lines in arms.items():
            if not metric.arms or arm in metric.arms:
                yield lines


def _matching(text: str, place: Place, texts: Sequence[Sequence[str]]) -> Found:
    printed = [line for lines in texts for line in lines]
    try:
        pattern = re.compile(text)
    except re.error:
        return  # `patterns` names it
    if printed and not any(pattern.search(line) for line in printed):
        like = f", such as '{printed[-1]:.100}'" if printed else ""
        sentence = (
            f"the pattern matches none of {len(printed)} recorded lines of the workload{like}"
        )
        yield Finding(sentence, "Write it after a line that the workload prints.", place)
