# SPDX-License-Identifier: GPL-2.0-or-later
"""What the window of a step must show, in terms of what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, PositiveInt, model_validator

from duet.lessons.schema.base import Fault, Name, Strict, refuse

if TYPE_CHECKING:
    from duet.lessons.schema.whole import Lesson

NAMING = ("kind", "point", "link", "operation", "looks")
"""Keys of which a mark has one."""


class Sought(Strict):
    """So many spans, points, links, operations or stretches between looks, on each of some lanes.

    A lower bound counts what can be seen: of a span the part in the window, which is all of it
    or a twentieth of the window. An upper bound counts whatever touches the window.
    """

    kind: Name | None = Field(default=None, description="spans of this kind")
    point: Name | None = Field(default=None, description="in place of `kind`: points of this name")
    link: Name | None = Field(default=None, description="in place of `kind`: links of this name")
    operation: bool = Field(default=False, description="in place of `kind`: operations")
    looks: Name | None = Field(
        default=None,
        description="in place of `kind`: the time between looks of this x-ray probe that fits "
        "`where`, one stretch where looks follow each other",
    )
    arms: tuple[Name, ...] = Field(default=(), description="lanes; none: each of the step")
    where: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        description="fields of the point, or by how much facts grew from one look to the next: "
        "least and largest value",
    )
    among: tuple[Name, ...] = Field(
        default=(),
        description="of `looks`: growth as a share of that of these facts together, 0 to 1",
    )
    during: Name | None = Field(
        default=None, description="only the part during spans of this kind, on the same lane"
    )
    at_once: PositiveInt | Literal["all"] = Field(
        default=1, description="the time during which so many go on at once; all: of every thread"
    )
    whole: bool = Field(default=False, description="begins and ends in the window")
    longer_ms: float = Field(default=0, ge=0, description="lasts so long, guest ms")
    at_least: int | None = Field(
        default=None, ge=0, description="so many in the window; default: 1, or 0 with `at_most`"
    )
    at_most: int | None = Field(default=None, ge=0, description="no more than so many")
    most: bool = Field(
        default=False, description="of several such windows, the one with most of this"
    )
    opens: bool = Field(
        default=False, description="the step begins to play just before the first of these"
    )

    @model_validator(mode="after")
    def one_of_five(self) -> Sought:
        """It names one thing to look for, and bounds that this thing has."""
        named = [key for key in NAMING if getattr(self, key)]
        faults = []
        if len(named) != 1:
            what = "this names one of kind, point, link, operation and looks"
            faults.append(Fault((), what, "Leave exactly one of them."))
        if self.where and not (self.point or self.looks):
            what = "only a point has fields, and only looks have facts"
            faults.append(Fault(("where",), what, "Name a `point:`, or `looks:`."))
        if self.looks and not self.where:
            what = "looks are sought by what grew between them"
            faults.append(Fault(("where",), what, "Say `where: {FACT: [LEAST, LARGEST]}`."))
        if self.among and not self.looks:
            faults.append(Fault(("among",), "only facts are shares", "Name `looks:`."))
        if self.kind is None and self.at_once != 1:
            what = "only spans go on at once"
            faults.append(Fault(("at_once",), what, "Name a `kind:`."))
        if (self.point or self.link) and (self.longer_ms or self.whole):
            key = "longer_ms" if self.longer_ms else "whole"
            what = "only a span, an operation or a stretch of looks lasts"
            faults.append(Fault((key,), what, f"Remove `{key}`, or name a `kind:`."))
        refuse("Sought", faults)
        return self


class MustShow(Strict):
    """The window of a step shows all of `marks`, which is what the words of `that` say."""

    that: str = Field(description="the claim after 'shows that': all four wait at once")
    marks: tuple[Sought, ...] = Field(min_length=1, description="the window has each of them")


def faults_of(lesson: Lesson) -> list[Fault]:
    """Fields that a point lacks."""
    fields = {point.name: point.fields for point in lesson.points}
    faults = []
    for index, scene in enumerate(lesson.scenes):
        for number, one in enumerate(scene.must_show.marks if scene.must_show else ()):
            place = ("scenes", index, "must_show", "marks", number, "where")
            for field in one.where:
                if field in (known := fields.get(one.point or "", (field,))):
                    continue
                names = ", ".join(known) or "none"
                what = f"the point '{one.point}' has no field '{field}'; known: {names}"
                faults.append(Fault((*place, field), what, "Add it to the point's `fields:`."))
    return faults
