# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as one object, merged from its files and checked across them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import model_validator

from duet.lessons.schema.base import Fault, Place, Strict, refuse
from duet.lessons.schema.challenges import ChallengesFile
from duet.lessons.schema.lesson import LessonFile
from duet.lessons.schema.published import EvidenceFile
from duet.lessons.schema.story import RecapFile, StoryFile, TermsFile, faults_of
from duet.lessons.schema.trace import TraceFile
from duet.lessons.schema.workload import Operation

if TYPE_CHECKING:
    from duet.lessons.schema.published import Claim, Limits, PublishedFigure
    from duet.lessons.schema.story import Sought, Trial
if TYPE_CHECKING:
    pass


# List every name that a lesson's files use, with its place and the type of its target. Pure.


@dataclass(frozen=True, slots=True)
class Use:
    """A name used at `place`. It refers to an item of the type `what` (a key of DECLARED_AT)."""

    place: Place
    what: str
    name: str


def uses(lesson: Lesson) -> Iterator[Use]:
    """Yield every use of a name, in the order of the files."""
    yield from _lesson(lesson)
    yield from _trace(lesson)
    yield from _story(lesson)
    yield from _evidence(lesson)
    yield from _challenges(lesson)


def _one(what: str, name: str | None, *place: str | int) -> Iterator[Use]:
    if name:
        yield Use(place, what, name)


def _each(what: str, names: Iterable[str], *place: str | int) -> Iterator[Use]:
    for index, name in enumerate(names):
        yield Use((*place, index), what, name)


def _keys(what: str, table: Mapping[str, object], *place: str | int) -> Iterator[Use]:
    for name in table:
        yield Use((*place, name), what, name)


def _ends(ends: object, *place: str | int) -> Iterator[Use]:
    """Yield the names in `open` and `close` of an operation or a span."""
    for key in ("open", "close"):
        yield from _one("probe", getattr(ends, key, None), *place, key)


def _lesson(lesson: Lesson) -> Iterator[Use]:
    yield from _ends(lesson.operation, "operation")
    for name, param in lesson.params.items():
        yield from _each("base", param.absent_on, "params", name, "absent_on")
    for name, act in lesson.acts.items():
        yield from _one("workload", act.workload, "acts", name, "workload")
        yield from _one("param", act.max_param, "acts", name, "max_param")
    for name, workload in lesson.workloads.items():
        yield from _keys("param", workload.optional, "workloads", name, "optional")
        yield from _ends(workload.operation, "workloads", name, "operation")
    for name, metric in lesson.metrics.items():
        at = ("metrics", name)
        yield from _one("probe", metric.event, *at, "event")
        yield from _each("probe", metric.span or (), *at, "span")
        yield from _each("probe", metric.pending or (), *at, "pending")
        yield from _each("workload", metric.workloads, *at, "workloads")
        yield from _each("arm", metric.arms, *at, "arms")
        if metric.microscope:
            yield from _each("function", metric.microscope.by, *at, "microscope", "by")
    for name, grid in lesson.grids.items():
        at = ("grids", name)
        yield from _each("arm", grid.arms, *at, "arms")
        yield from _keys("param", grid.over, *at, "over")
        yield from _keys("param", grid.params, *at, "params")
        yield from _one("workload", grid.workload, *at, "workload")
        for key, curve in grid.curves.items():
            yield from _one("metric", curve.metric, *at, "curves", key, "metric")


def _trace(lesson: Lesson) -> Iterator[Use]:
    for i, probe in enumerate(lesson.probes):
        yield from _each("arm", probe.arms, "probes", i, "arms")
        yield from _keys("param", probe.explain_max, "probes", i, "explain_max")
        yield from _keys("base", probe.bases, "probes", i, "bases")
        for base, event in probe.bases.items():
            if event != "absent":
                place = ("probes", i, "bases", base, "explain_max")
                yield from _keys("param", event.explain_max, *place)
    if lesson.microscope is not None:
        yield from _keys("base", lesson.microscope.bases, "microscope", "bases")
        for base, instead in lesson.microscope.bases.items():
            yield from _keys("function", instead, "microscope", "bases", base)
    for i, span in enumerate(lesson.spans):
        yield from _ends(span, "spans", i)
        yield from _one("kind", span.kind, "spans", i, "kind")
        yield from _one("kind", span.wait, "spans", i, "wait")
    for i, track in enumerate(lesson.tracks):
        yield from _each("arm", track.arms, "tracks", i, "arms")
        for j, phase in enumerate(track.phases):
            yield from _one("probe", phase.event, "tracks", i, "phases", j, "event")
            yield from _one("kind", phase.after, "tracks", i, "phases", j, "after")
            yield from _one("kind", phase.opens, "tracks", i, "phases", j, "opens")
    for i, link in enumerate(lesson.links):
        yield from _one("probe", link.event, "links", i, "event")
        yield from _one("kind", link.during, "links", i, "during")
    for i, point in enumerate(lesson.points):
        yield from _one("probe", point.probe, "points", i, "probe")
    for i, counter in enumerate(lesson.counters):
        yield from _one("point", counter.point, "counters", i, "point")
        yield from _one("x-ray probe", counter.xray, "counters", i, "xray")
    for i, lit in enumerate(lesson.lit):
        yield from _one("kind", lit.kind, "lit", i, "kind")
        yield from _each("arm", lit.arms, "lit", i, "arms")
    yield from _lenses(lesson)


def _lenses(lesson: Lesson) -> Iterator[Use]:
    for i, config in enumerate(lesson.xray):
        yield from _each("workload", config.workloads, "xray", i, "workloads")
    if scope := lesson.microscope:
        yield from _each("workload", scope.workloads, "microscope", "workloads")
        yield from _one("x-ray probe", scope.probe, "microscope", "probe")
        yield from _one("function", scope.operation, "microscope", "operation")
        yield from _one("function", scope.until, "microscope", "until")
    if lesson.beat:
        yield from _one("point", lesson.beat.point, "beat", "point")
    if lesson.axis:
        yield from _one("point", lesson.axis.point, "axis", "point")
        yield from _each("workload", lesson.axis.workloads, "axis", "workloads")


def _story(lesson: Lesson) -> Iterator[Use]:
    yield from _one("scene", lesson.hero, "hero")
    for i, scene in enumerate(lesson.scenes):
        yield from _each("arm", scene.arms, "scenes", i, "arms")
        yield from _keys("param", scene.params, "scenes", i, "params")
        yield from _each("kind", scene.focus, "scenes", i, "focus")
        yield from _one("prediction", scene.predict, "scenes", i, "predict")
        yield from _one("workload", scene.workload, "scenes", i, "workload")
        for j, sought in enumerate(scene.must_show.marks if scene.must_show else ()):
            yield from _sought(sought, "scenes", i, "must_show", "marks", j)
        if scene.on_count:
            at = ("scenes", i, "on_count", "params")
            yield from _keys("param", scene.on_count.params, *at)
    for name, prediction in lesson.predictions.items():
        yield from _each("arm", prediction.arms, "predictions", name, "arms")
        yield from _keys("param", prediction.params, "predictions", name, "params")
    for i, question in enumerate(lesson.questions):
        yield from _one("scene", question.step, "questions", i, "step")
        yield from _one("kind", question.kind, "questions", i, "kind")
        yield from _one("arm", question.arm, "questions", i, "arm")
        for n, kind in enumerate(question.also):
            yield from _one("kind", kind, "questions", i, "also", n)
    for i, remark in enumerate(lesson.discussion):
        for j, trial in enumerate(remark.tried):
            yield from _trial(trial, "discussion", i, "tried", j)
    for i, asked in enumerate(lesson.quiz):
        yield from _one("scene", asked.step, "quiz", i, "step")


def _sought(sought: Sought, *place: str | int) -> Iterator[Use]:
    yield from _one("kind", sought.kind, *place, "kind")
    yield from _one("kind", sought.during, *place, "during")
    yield from _one("point", sought.point, *place, "point")
    yield from _one("link", sought.link, *place, "link")
    yield from _one("x-ray probe", sought.looks, *place, "looks")
    yield from _each("arm", sought.arms, *place, "arms")


def _trial(trial: Trial, *place: str | int) -> Iterator[Use]:
    yield from _one("scene", trial.step, *place, "step")
    yield from _each("arm", trial.arms, *place, "arms")
    yield from _keys("param", trial.params, *place, "params")
    yield from _one("workload", trial.workload, *place, "workload")
    yield from _one("arm", trial.patch, *place, "patch")


def _evidence(lesson: Lesson) -> Iterator[Use]:
    figures: dict[str, tuple[Claim | PublishedFigure, ...]] = {}
    figures |= {"claims": lesson.claims, "published": lesson.published}
    for key, several in figures.items():
        for i, one in enumerate(several):
            yield from _one("arm", one.arm, key, i, "arm")
            yield from _limits(one, key, i)
    for i, figure in enumerate(lesson.published):
        yield from _keys("param", figure.to_params, "published", i, "to_params")
        yield from _one("mail", figure.link, "published", i, "link")
    for name, curve in lesson.curves.items():
        yield from _one("param", curve.over, "curves", name, "over")
        yield from _each("arm", curve.arms, "curves", name, "arms")
        yield from _one("workload", curve.workload, "curves", name, "workload")
        for i, point in enumerate(curve.points):
            yield from _keys("param", point, "curves", name, "points", i)
    for i, reference in enumerate(lesson.references):
        yield from _one("arm", reference.arm, "references", i, "arm")
        yield from _keys("param", reference.params, "references", i, "params")


def _limits(one: Limits | PublishedFigure, *place: str | int) -> Iterator[Use]:
    yield from _one("metric", one.metric, *place, "metric")
    yield from _one("metric", getattr(one, "equals", None), *place, "equals")
    yield from _one("arm", one.to, *place, "to")
    yield from _keys("param", one.params, *place, "params")
    yield from _one("workload", one.workload, *place, "workload")


def _challenges(lesson: Lesson) -> Iterator[Use]:
    for name, one in lesson.challenges.items():
        yield from _one("arm", one.arm, "challenges", name, "arm")
        for key, goals in (("goals", one.goals), ("rules", one.rules)):
            for i, goal in enumerate(goals):
                yield from _limits(goal, "challenges", name, key, i)
    for i, turn in enumerate(lesson.stress.turns):
        yield from _keys("param", turn, "stress", "turns", i)
    yield from _each("workload", lesson.stress.alone, "stress", "alone")


# Find the names that a lesson declares, and names that it uses but does not declare. Pure.

SHOWN = 24
"""Maximum number of names that an error sentence lists."""
DECLARED_AT = {
    "arm": "`arms:` in lesson.yaml",
    "base": "`base:` of an arm in lesson.yaml",
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
"""Where names are declared, by what they refer to."""


def undeclared(lesson: Lesson) -> list[Fault]:
    """Return faults for names that are used but not declared, in the order of the files."""
    known = declared(lesson)
    return [
        missing(use, known[use.what]) for use in uses(lesson) if use.name not in known[use.what]
    ]


def declared(lesson: Lesson) -> dict[str, list[str]]:
    """Return a lesson's declared names, by type of item."""
    scope = lesson.microscope
    return {
        "arm": [arm.name for arm in lesson.arms],
        "base": sorted({arm.base for arm in lesson.arms if arm.base is not None}),
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
    """Return faults for names that two items of a list share."""
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
                sentence = f"there is already a {what} '{name}', at {key}[{names.index(name)}]"
                faults.append(
                    Fault((key, index, field), sentence, "Give one of them another name.")
                )
    return [*faults, *_former(lesson)]


def _former(lesson: Lesson) -> list[Fault]:
    """Return faults for former names of steps that are also names of other steps."""
    taken = {scene.id for scene in lesson.scenes}
    faults = []
    for index, scene in enumerate(lesson.scenes):
        for n, old in enumerate(scene.was):
            if old in taken:
                sentence = f"'{old}' is the name of another step, so links with it lead there"
                faults.append(Fault(("scenes", index, "was", n), sentence, "Leave it out."))
            taken.add(old)
    return faults


def missing(use: Use, known: list[str]) -> Fault:
    """Return the fault for an undeclared name."""
    shown = ", ".join(known[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    sentence = f"no {use.what} is called '{use.name}'; known: {shown or 'none'}"
    close = difflib.get_close_matches(use.name, known, n=1)
    fix = f"Write '{close[0]}', or declare" if close else "Declare"
    return Fault(use.place, sentence, f"{fix} '{use.name}' under {DECLARED_AT[use.what]}.")


FILES: dict[str, type[Strict]] = {
    "lesson.yaml": LessonFile,
    "trace.yaml": TraceFile,
    "story.yaml": StoryFile,
    "evidence.yaml": EvidenceFile,
    "terms.yaml": TermsFile,
    "recap.yaml": RecapFile,
    "challenges.yaml": ChallengesFile,
}
"""Schema of each file in a lesson's folder. All files but the first may be absent."""
GENERAL_VIEW = "timeline"
"""Name of the view that can draw any lesson from its declarations."""


class Lesson(ChallengesFile, RecapFile, TermsFile, EvidenceFile, StoryFile, TraceFile, LessonFile):
    """One lesson, from all files of its folder."""

    def operation_of(self, workload: str) -> Operation | None:
        """Return the operation of a workload; None if the workload has no operation."""
        own = self.workloads.get(workload)
        return (own and own.operation) or self.operation

    @model_validator(mode="before")
    @classmethod
    def a_story_is_drawn(cls, data: object) -> object:
        """Set the general view if a lesson has a story but names no view."""
        if isinstance(data, dict) and data.get("scenes") and "view" not in data:
            return {**data, "view": GENERAL_VIEW}
        return data

    @model_validator(mode="after")
    def fields_of_points(self) -> Lesson:
        """Check that counters and steps read only fields that their points have."""
        fields = {point.name: point.fields for point in self.points}
        faults = []
        for index, counter in enumerate(self.counters):
            known = fields.get(counter.point or "")
            if known is None or counter.field is None or counter.field in known:
                continue
            sentence = (
                f"the point '{counter.point}' has no field '{counter.field}'; "
                f"known: {', '.join(known) or 'none'}"
            )
            place = ("counters", index, "field")
            faults.append(Fault(place, sentence, "Add it to the point's `fields:`."))
        refuse("Lesson", [*faults, *faults_of(self)])
        return self

    @model_validator(mode="after")
    def names_refer(self) -> Lesson:
        """Check that every name that is used is declared exactly once."""
        refuse("Lesson", [*repeated(self), *undeclared(self)])
        return self

    @model_validator(mode="after")
    def one_knob_a_role(self) -> Lesson:
        first: dict[str, str] = {}
        faults = []
        for name, param in self.params.items():
            if param.role and first.setdefault(param.role, name) != name:
                sentence = f"the knob '{first[param.role]}' already has the role '{param.role}'"
                place = ("params", name, "role")
                faults.append(Fault(place, sentence, "Keep the role in only one of them."))
        refuse("Lesson", faults)
        return self

    @model_validator(mode="after")
    def counts_have_a_microscope(self) -> Lesson:
        """Check that microscope metrics have a microscope, and metrics of fields have an object."""
        faults = []
        for name, metric in self.metrics.items():
            count, place = metric.microscope, ("metrics", name, "microscope")
            if count is not None and self.microscope is None:
                remedy = "Add `microscope:` with functions and operation to trace.yaml."
                faults.append(Fault(place, "the lesson has no microscope", remedy))
            elif count is not None and count.field and not self.microscope.probe:  # type: ignore[union-attr]
                remedy = "Add `probe:`, `object:`, `ready:` and `go:` to the lesson's microscope."
                faults.append(Fault((*place, "field"), "no object is watched", remedy))
        refuse("Lesson", faults)
        return self

    @model_validator(mode="after")
    def view_has_scenes(self) -> Lesson:
        """Check that a lesson with a view has a story, and a lesson without a view has no story."""
        faults = []
        if self.view is None and self.scenes:
            remedy = "Leave `view:` out of lesson.yaml, or name one of ./duet views."
            faults.append(Fault(("scenes",), "no view shows the scenes", remedy))
        if self.view is not None and self.operation is None:
            remedy = "Add `operation:` with name and plural to lesson.yaml."
            faults.append(Fault(("view",), "a lesson with a view needs an operation", remedy))
        if self.view is not None and not self.scenes:
            remedy = "Add scenes to story.yaml."
            faults.append(Fault(("view",), "a lesson with a view needs scenes", remedy))
        refuse("Lesson", faults)
        return self
