# SPDX-License-Identifier: GPL-2.0-or-later
"""Every name that a lesson's files use, where it stands and what it must be a name of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duet.lessons.schema.base import Place

if TYPE_CHECKING:
    from duet.lessons.schema.discussion import Trial
    from duet.lessons.schema.evidence import Claim, Limits
    from duet.lessons.schema.must_show import Sought
    from duet.lessons.schema.published import PublishedFigure
    from duet.lessons.schema.whole import Lesson


@dataclass(frozen=True, slots=True)
class Use:
    """A name that stands at `place` and means a `what` (of declared.DECLARED_AT)."""

    place: Place
    what: str
    name: str


def uses(lesson: Lesson) -> Iterator[Use]:
    """All of them, in order of the files."""
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
    """`open` and `close` of an operation or a span."""
    for key in ("open", "close"):
        yield from _one("probe", getattr(ends, key, None), *place, key)


def _lesson(lesson: Lesson) -> Iterator[Use]:
    yield from _ends(lesson.operation, "operation")
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


def _trace(lesson: Lesson) -> Iterator[Use]:
    for i, probe in enumerate(lesson.probes):
        yield from _each("arm", probe.arms, "probes", i, "arms")
        yield from _keys("param", probe.explain_max, "probes", i, "explain_max")
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
