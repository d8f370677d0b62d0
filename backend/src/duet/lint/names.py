# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on names that a view must know, on patterns, and on claims that tables must confirm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from duet.base.errors import InputError
from duet.bundle import Manifest
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Claim, Lesson, Metric, Place
from duet.lessons.schema.published import Curve
from duet.lint.finding import Finding, NotChecked, Subject, unknown
from duet.measure.curves import plans_of
from duet.measure.plan import headline, metrics_of
from duet.messages import Measured

Found = Iterator[Finding | NotChecked]


def view(subject: Subject) -> Found:
    name = subject.folder.lesson.view
    if name is not None and name not in subject.catalogue.views:
        finding = unknown("there is no view", name, subject.catalogue.views, ("view",))
        own = subject.folder.folder / "view" / "about.ts"
        if own.is_file():
            finding = replace(finding, remedy=f"{finding.remedy} If it is new: make contract.")
        yield finding


def steps(subject: Subject) -> Found:
    """Check that the view defines every sentence, moment and part that a step names."""
    if subject.view is None:
        return
    catalogue, own = subject.catalogue, subject.view
    name = subject.folder.lesson.view
    for index, scene in enumerate(subject.folder.lesson.scenes):
        at: Place = ("scenes", index)
        if scene.sentence not in (known := catalogue.sentences(own)):
            place = (*at, "sentence")
            yield unknown(f"the view {name} has no sentence", scene.sentence, known, place)
        if scene.moment not in (known := catalogue.moments(own)):
            yield unknown(f"the view {name} finds no moment", scene.moment, known, (*at, "moment"))
        if scene.toy is not None and scene.toy not in own.toys:
            yield unknown(f"the view {name} has no toy", scene.toy, own.toys, (*at, "toy"))
        for number, part in enumerate(scene.show):
            if part not in (known := catalogue.shows(own)):
                yield unknown(f"the view {name} cannot show", part, known, (*at, "show", number))


def answers(subject: Subject) -> Found:
    """Check that the view can answer every prediction and draw every published value."""
    if subject.view is None:
        return
    lesson, own = subject.folder.lesson, subject.view
    for key, prediction in lesson.predictions.items():
        if prediction.metric not in (known := subject.catalogue.answers(own)):
            place = ("predictions", key, "metric")
            what = f"the view {lesson.view} has no answer"
            yield unknown(what, prediction.metric, known, place)
    for index, reference in enumerate(lesson.references):
        if reference.quantity not in own.quantities:
            what = f"the view {lesson.view} has no chart for"
            yield unknown(
                what, reference.quantity, own.quantities, ("references", index, "quantity")
            )


def focus(subject: Subject) -> Found:
    """Check that the view draws the kinds that steps focus on and that questions ask for."""
    if subject.view is None:
        return
    lesson, own = subject.folder.lesson, subject.view
    layers = {kind.name: kind.layer for kind in lesson.kinds}
    named: list[tuple[str, Place]] = [
        (kind, ("scenes", index, "focus", number))
        for index, scene in enumerate(lesson.scenes)
        for number, kind in enumerate(scene.focus)
    ]
    named += [(one.kind, ("questions", i, "kind")) for i, one in enumerate(lesson.questions)]
    for kind, place in named:
        marks = own.marks if own.marks != "points" else [point.name for point in lesson.points]
        drawn = kind in marks if layers.get(kind) == "mark" else layers.get(kind) in own.layers
        if kind in layers and not drawn:
            sentence = (
                f"the view {lesson.view} does not draw the kind "
                f"'{kind}' in the layer {layers[kind]}"
            )
            all_of = [f"all in the layer {layer}" for layer in own.layers]
            remedy = f"Choose a kind that it draws: {', '.join((*all_of, *marks))}."
            yield Finding(sentence, remedy, place)


def hidden(subject: Subject) -> Found:
    """Check that each span that the view draws only in focus is in focus in at least one step."""
    if subject.view is None or (rule := subject.view.only_in_focus) is None:
        return
    lesson = subject.folder.lesson
    opened = {span.kind for span in lesson.spans}
    focused = {kind for scene in lesson.scenes for kind in scene.focus}
    for index, kind in enumerate(lesson.kinds):
        seen = kind.name in focused or kind.colour in rule.but
        if kind.layer == rule.layer and kind.name in opened and not seen:
            sentence = (
                f"no step shows '{kind.name}': the view {lesson.view} draws a {rule.layer} only "
                "in steps that focus on it"
            )
            remedy = f"Add '{kind.name}' to `focus:` of a step, or remove `kind` from its span."
            yield Finding(sentence, remedy, ("kinds", index))


def knobs(subject: Subject) -> Found:
    """Check that the view's model contains each number that a model knob sets."""
    lesson = subject.folder.lesson
    known = subject.view.knobs if subject.view else {}
    for name, param in lesson.params.items():
        if param.applies == "model" and name not in known:
            what = f"the model of the view {lesson.view} has no number"
            yield unknown(what, name, known, ("params", name))


def curves(subject: Subject) -> Found:
    """Check that each point of a curve can be measured."""
    folder = subject.folder
    lesson = folder.lesson
    arms = {arm.name for arm in lesson.arms}
    for name, curve in lesson.curves.items():
        place = ("curves", name)
        wrong = [arm for arm in curve.arms if arm not in arms]
        for arm in wrong:
            yield unknown("there is no arm", arm, arms, (*place, "arms"))
        if curve.workload is not None and curve.workload not in lesson.workloads:
            yield unknown("there is no workload", curve.workload, lesson.workloads, place)
        elif not wrong:
            yield from _unmeasurable(folder, curve, place)


def _unmeasurable(folder: LessonFolder, curve: Curve, place: Place) -> Found:
    try:
        plan = plans_of(folder, curve)[0]
    except InputError as error:
        yield Finding(error.sentence.rstrip("."), error.remedy, (*place, "points"))
        return
    for metric in plan.metrics or ():
        known = metrics_of(plan, plan.arms[0])
        if metric not in known:
            yield unknown(f"the workload {plan.workload} has no metric", metric, known, place)


def points(subject: Subject) -> Found:
    """Check that the points that the view draws are declared with their fields."""
    if subject.view is None:
        return
    lesson = subject.folder.lesson
    own = {point.name: (index, point.fields) for index, point in enumerate(lesson.points)}
    for name, fields in subject.view.points.items():
        if name not in own:
            wanted = f" with the fields {', '.join(fields)}" if fields else ""
            sentence = f"the view {lesson.view} needs a point '{name}'{wanted}"
            yield Finding(sentence, "Declare it under `points:`.", ("view",))
            continue
        index, given = own[name]
        if len(given) < len(fields):
            sentence = (
                f"the view {lesson.view} reads {len(fields)} fields of '{name}' "
                f"({', '.join(fields)}), but the point has {len(given)}"
            )
            yield Finding(sentence, "Name the fields in this order.", ("points", index, "fields"))


# Rules on patterns that read numbers and names from text: each pattern is valid and matches
# recorded lines.
Lines = Mapping[str, Sequence[str]]
"""Lines that each arm's workload printed."""
OPS = ("ops", "per_s")


def patterns(subject: Subject) -> Found:
    """Check that every pattern is valid and has the required groups."""
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
        sentence = f"this is not a regular expression: {error.msg}"
        yield Finding(sentence, "Correct it; escape special characters with a \\.", place)
        return
    for group in groups:
        if group not in known:
            sentence = f"the pattern has no group '{group}'"
            yield Finding(sentence, f"Write (?P<{group}>...) around the value to read.", place)


def unmatched(subject: Subject, recorded: Sequence[tuple[Manifest, Lines]]) -> Found:
    """Yield findings for patterns of a recorded workload that match no line in any recording."""
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
    """Yield the output of each lane from which the metric is read."""
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
        return  # `patterns` reports it
    if printed and not any(pattern.search(line) for line in printed):
        like = f", such as '{printed[-1]:.100}'" if printed else ""
        sentence = (
            f"the pattern matches none of {len(printed)} recorded lines of the workload{like}"
        )
        yield Finding(sentence, "Change it to match a line that the workload prints.", place)


# Check a lesson's claims against the lesson's recorded measured tables. Pure.


def table_for(claim: Claim, tables: list[Measured]) -> Measured | None:
    """Return the table measured with the claim's clock, workload and knobs, or None."""
    for table in tables:
        same = all(table.params.get(name) == value for name, value in claim.params.items())
        same = same and claim.workload in (None, table.workload) and table.clock == claim.clock
        arms = {row.arm for row in table.rows}
        if same and {claim.arm, claim.to} <= arms:
            return table
    return None


def ratio_of(claim: Claim, table: Measured) -> float | None:
    """Return the ratio of the claim's arm to its other arm; None if one row has no number."""
    rates = {row.arm: row.ops_per_s_median for row in table.rows}
    one, other = rates.get(claim.arm), rates.get(claim.to or claim.arm)
    return one / other if one is not None and other else None


def broken_claims(lesson: Lesson, tables: list[Measured]) -> Iterator[tuple[int, str]]:
    """Yield (index, sentence) for each claim that the tables contradict or do not cover.

    Some claims are checked only on live guests. They are about a metric other than the headline, at
    a shift other than 0, or about an arm that no recorded table contains.
    """
    recorded = {row.arm for table in tables for row in table.rows}
    for index, claim in enumerate(lesson.claims):
        workload = claim.workload or next(iter(lesson.workloads))
        headline_metric = headline(lesson, workload, claim.clock)
        if claim.metric != headline_metric or claim.shift or not {claim.arm, claim.to} <= recorded:
            continue
        said = f"{claim.arm} to {claim.to}, {claim.clock} clock, {claim.params}"
        table = table_for(claim, tables)
        if table is None:
            yield index, f"no recorded table fits the claim ({said})."
            continue
        ratio = ratio_of(claim, table)
        if ratio is None:
            yield index, f"the recorded table has no numbers for the claim ({said})."
        elif claim.ratio_max is not None and ratio > claim.ratio_max:
            yield index, f"at most {claim.ratio_max} is claimed, {ratio:.2f} was measured ({said})."
        elif claim.ratio_min is not None and ratio < claim.ratio_min:
            yield index, f"at least {claim.ratio_min} is claimed, {ratio:.2f} measured ({said})."
