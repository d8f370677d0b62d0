# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that belong to the lesson's view: sentences, moments, answers, panels, kinds, points."""

from __future__ import annotations

from collections.abc import Iterator

from duet.lessons.schema import Place
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]


def view(subject: Subject) -> Found:
    """The view exists."""
    name = subject.folder.lesson.view
    if name is not None and name not in subject.catalogue.views:
        yield unknown("there is no view", name, subject.catalogue.views, ("view",))


def steps(subject: Subject) -> Found:
    """The view knows every sentence, moment and part that a step asks for."""
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
    """The view can answer every prediction, and draws every published value."""
    if subject.view is None:
        return
    lesson, own = subject.folder.lesson, subject.view
    for key, prediction in lesson.predictions.items():
        if prediction.metric not in (known := subject.catalogue.answers(own)):
            place = ("predictions", key, "metric")
            what = f"the view {lesson.view} cannot answer by"
            yield unknown(what, prediction.metric, known, place)
    for index, reference in enumerate(lesson.references):
        if reference.quantity not in own.quantities:
            what = f"the view {lesson.view} has no chart of"
            yield unknown(
                what, reference.quantity, own.quantities, ("references", index, "quantity")
            )


def focus(subject: Subject) -> Found:
    """Kinds in focus, and kinds that questions point at, are drawn."""
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
            sentence = f"the view {lesson.view} draws no kind '{kind}' of the layer {layers[kind]}"
            all_of = [f"all of the layer {layer}" for layer in own.layers]
            remedy = f"Choose a kind that it draws: {', '.join((*all_of, *marks))}."
            yield Finding(sentence, remedy, place)


def hidden(subject: Subject) -> Found:
    """Spans that the view draws only in focus are in focus somewhere."""
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
                "in steps that have it in focus"
            )
            remedy = f"Add '{kind.name}' to `focus:` of a step, or take `kind` out of its span."
            yield Finding(sentence, remedy, ("kinds", index))


def knobs(subject: Subject) -> Found:
    """The view's model has every number that a knob of a model sets."""
    lesson = subject.folder.lesson
    known = subject.view.knobs if subject.view else {}
    for name, param in lesson.params.items():
        if param.applies == "model" and name not in known:
            what = f"the model of the view {lesson.view} has no number"
            yield unknown(what, name, known, ("params", name))


def points(subject: Subject) -> Found:
    """The points that the view draws from are declared, with their fields."""
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
                f"({', '.join(fields)}), but {len(given)} are given"
            )
            yield Finding(sentence, "Name them in this order.", ("points", index, "fields"))
