# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as the program uses it: its files as one object, checked across files."""

from __future__ import annotations

from pydantic import model_validator

from duet.lessons.schema.base import Fault, Strict, refuse
from duet.lessons.schema.challenges import ChallengesFile
from duet.lessons.schema.declared import repeated, undeclared
from duet.lessons.schema.evidence import EvidenceFile
from duet.lessons.schema.lesson import LessonFile
from duet.lessons.schema.must_show import faults_of
from duet.lessons.schema.recap import RecapFile
from duet.lessons.schema.story import StoryFile
from duet.lessons.schema.terms import TermsFile
from duet.lessons.schema.trace import TraceFile
from duet.lessons.schema.workload import Operation

FILES: dict[str, type[Strict]] = {
    "lesson.yaml": LessonFile,
    "trace.yaml": TraceFile,
    "story.yaml": StoryFile,
    "evidence.yaml": EvidenceFile,
    "terms.yaml": TermsFile,
    "recap.yaml": RecapFile,
    "challenges.yaml": ChallengesFile,
}
"""File of a lesson's folder -> what it may say. Each but the first may be absent."""
GENERAL_VIEW = "timeline"
"""The view that draws any lesson from what it declares."""


class Lesson(ChallengesFile, RecapFile, TermsFile, EvidenceFile, StoryFile, TraceFile, LessonFile):
    """One lesson, as the files of its folder say it."""

    def operation_of(self, workload: str) -> Operation | None:
        """What one operation of a workload is; None: nothing is one."""
        own = self.workloads.get(workload)
        return (own and own.operation) or self.operation

    @model_validator(mode="before")
    @classmethod
    def a_story_is_drawn(cls, data: object) -> object:
        """A lesson with a story that names no view has the general one."""
        if isinstance(data, dict) and data.get("scenes") and "view" not in data:
            return {**data, "view": GENERAL_VIEW}
        return data

    @model_validator(mode="after")
    def fields_of_points(self) -> Lesson:
        """Counters and steps read fields that their points have."""
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
        """Every name used must be declared, once."""
        refuse("Lesson", [*repeated(self), *undeclared(self)])
        return self

    @model_validator(mode="after")
    def one_knob_a_role(self) -> Lesson:
        """A role is one knob's."""
        first: dict[str, str] = {}
        faults = []
        for name, param in self.params.items():
            if param.role and first.setdefault(param.role, name) != name:
                sentence = f"the knob '{first[param.role]}' has the role '{param.role}' already"
                place = ("params", name, "role")
                faults.append(Fault(place, sentence, "Leave the role to one of them."))
        refuse("Lesson", faults)
        return self

    @model_validator(mode="after")
    def counts_have_a_microscope(self) -> Lesson:
        """A metric that the microscope counts needs one, and a field an object."""
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
        """A lesson that is seen has a story; one that is only measured has none yet."""
        faults = []
        if self.view is None and self.scenes:
            remedy = "Leave `view:` out of lesson.yaml, or name one of ./duet views."
            faults.append(Fault(("scenes",), "there is no view to show the scenes in", remedy))
        if self.view is not None and self.operation is None:
            remedy = "Add `operation:` with name and plural to lesson.yaml."
            faults.append(Fault(("view",), "a lesson with a view needs an operation", remedy))
        if self.view is not None and len(self.scenes) < 5:
            sentence = f"a lesson with a view has five to nine scenes, this one {len(self.scenes)}"
            place = ("scenes",) if self.scenes else ("view",)
            faults.append(Fault(place, sentence, "Add scenes to story.yaml."))
        refuse("Lesson", faults)
        return self
