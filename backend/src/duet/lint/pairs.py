# SPDX-License-Identifier: GPL-2.0-or-later
"""Braces in commands, kernel parameters and lines: each names a knob of the lesson."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter

from duet.lessons.schema import Place
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]
IN_PROBES = re.compile(r"\{(?!sym:[A-Za-z0-9_.]+\}|comm\})[^}]*\}?")
"""Of a probe only {sym:NAME} and {comm} are replaced."""
VALUE = ["value"]


def workloads(subject: Subject) -> Found:
    """Commands and values of workloads name knobs that a run has."""
    lesson = subject.folder.lesson
    knobs = [name for name, param in lesson.params.items() if param.applies != "model"]
    for name, workload in lesson.workloads.items():
        at: Place = ("workloads", name)
        texts: list[tuple[str, Place]] = [(workload.run, (*at, "run"))]
        texts += [(text, (*at, "setup", i)) for i, text in enumerate(workload.setup)]
        texts += [(text, (*at, "writes", i)) for i, text in enumerate(workload.writes)]
        for key, text in workload.optional.items():
            texts.append((text, (*at, "optional", key)))
            if key not in knobs:
                yield unknown("no run has a knob", key, knobs, (*at, "optional", key))
        for text, place in texts:
            yield from _named(text, knobs, place)


def values(subject: Subject) -> Found:
    """Kernel parameters and acts have one value."""
    lesson = subject.folder.lesson
    for name, param in lesson.params.items():
        if param.cmdline:
            yield from _named(param.cmdline, VALUE, ("params", name, "cmdline"), "value")
    for name, act in lesson.acts.items():
        yield from _named(act.say, VALUE, ("acts", name, "say"), "value")


def probes(subject: Subject) -> Found:
    """A probe may name symbols and the workload's processes."""
    for index, probe in enumerate(subject.folder.lesson.probes):
        for key in ("define", "filter"):
            for match in IN_PROBES.findall(getattr(probe, key) or ""):
                sentence = f"'{match}' is not replaced here"
                remedy = "Only {comm} and {sym:NAME} are; write the value."
                yield Finding(sentence, remedy, ("probes", index, key))


def _named(text: str, known: list[str], place: Place, what: str = "knob of a run") -> Found:
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        sentence = f"the braces do not match: {str(error).lower()}"
        yield Finding(sentence, "Write {{ for a brace that is meant as one.", place)
        return
    for name in names:
        if name not in known:
            yield unknown(
                f"nothing replaces {{{name}}} here; no {what} is called", name, known, place
            )
