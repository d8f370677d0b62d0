# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that a lesson declares, and those it uses without. Pure."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from duet.lessons.schema.base import Fault
from duet.lessons.schema.uses import Use, uses

if TYPE_CHECKING:
    from duet.lessons.schema.whole import Lesson

SHOWN = 24
"""Names that a sentence lists at most."""
DECLARED_AT = {
    "arm": "`arms:` in lesson.yaml",
    "param": "`params:` in lesson.yaml",
    "workload": "`workloads:` in lesson.yaml",
    "metric": "`metrics:` in lesson.yaml",
    "kind": "`kinds:` in trace.yaml",
    "probe": "`probes:` in trace.yaml",
    "point": "`points:` in trace.yaml",
    "link": "`links:` in trace.yaml",
    "counter": "`counters:` in trace.yaml",
    "x-ray probe": "`xray:` in trace.yaml",
    "function": "`microscope.functions:` in trace.yaml",
    "scene": "`scenes:` in story.yaml",
    "prediction": "`predictions:` in story.yaml",
    "mail": "`mails:` in evidence.yaml",
}
"""What a name may be of -> where such names are declared."""


def undeclared(lesson: Lesson) -> list[Fault]:
    """Every name that is used and not declared, in order of the files."""
    known = declared(lesson)
    return [
        missing(use, known[use.what]) for use in uses(lesson) if use.name not in known[use.what]
    ]


def declared(lesson: Lesson) -> dict[str, list[str]]:
    """The names of a lesson by what they are of."""
    scope = lesson.microscope
    return {
        "arm": [arm.name for arm in lesson.arms],
        "param": list(lesson.params),
        "workload": list(lesson.workloads),
        "metric": list(lesson.metrics),
        "kind": [kind.name for kind in lesson.kinds],
        "probe": [probe.name for probe in lesson.probes],
        "point": [point.name for point in lesson.points],
        "link": [link.name for link in lesson.links],
        "counter": [counter.name for counter in lesson.counters],
        "x-ray probe": [config.probe for config in lesson.xray],
        "function": list(scope.functions) if scope else [],
        "scene": [scene.id for scene in lesson.scenes],
        "prediction": list(lesson.predictions),
        "mail": list(lesson.mails),
    }


def repeated(lesson: Lesson) -> list[Fault]:
    """Names that two entries of one list have."""
    places = {
        "arm": ("arms", "name"),
        "kind": ("kinds", "name"),
        "probe": ("probes", "name"),
        "point": ("points", "name"),
        "counter": ("counters", "name"),
        "scene": ("scenes", "id"),
    }
    faults = []
    for what, names in declared(lesson).items():
        for index, name in enumerate(names):
            if what in places and name in names[:index]:
                key, field = places[what]
                sentence = f"there is a {what} '{name}' already, {key}[{names.index(name)}]"
                faults.append(
                    Fault((key, index, field), sentence, "Give one of them another name.")
                )
    return [*faults, *_former(lesson)]


def _former(lesson: Lesson) -> list[Fault]:
    """Former names of steps that are a name of another."""
    taken = {scene.id for scene in lesson.scenes}
    faults = []
    for index, scene in enumerate(lesson.scenes):
        for n, old in enumerate(scene.was):
            if old in taken:
                sentence = f"'{old}' is the name of another step, so a link with it goes there"
                faults.append(Fault(("scenes", index, "was", n), sentence, "Leave it out."))
            taken.add(old)
    return faults


def missing(use: Use, known: list[str]) -> Fault:
    """The fault of a name that is not declared."""
    shown = ", ".join(known[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    sentence = f"no {use.what} is called '{use.name}'; known: {shown or 'none'}"
    close = difflib.get_close_matches(use.name, known, n=1)
    fix = f"Write '{close[0]}', or declare" if close else "Declare"
    return Fault(use.place, sentence, f"{fix} '{use.name}' under {DECLARED_AT[use.what]}.")
