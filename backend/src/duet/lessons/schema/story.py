# SPDX-License-Identifier: GPL-2.0-or-later
"""story.yaml: the steps, what a reader predicts and is asked, and the discussion."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.lessons.schema.base import Name, Strict
from duet.lessons.schema.discussion import Remark
from duet.lessons.schema.must_show import MustShow


class OnCount(Strict):
    """What a step says and does otherwise on the count clock, whose guest has one vCPU."""

    params: dict[str, int] = Field(default_factory=dict, description="these replace the step's")
    note: str = Field(default="", description="one or two sentences, shown with the prose")


class Scene(Strict):
    """A step of the story: a saved scene. The text stands in content.md under the same id."""

    id: Name = Field(description="the name in links and in content.md")
    was: tuple[Name, ...] = Field(
        default=(), description="former names of the step: links with them lead here"
    )
    title: str = Field(description="the words in the list of steps")
    arms: tuple[Name, ...] = Field(description="the lanes, from the top")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs; the others have their defaults"
    )
    window_ms: float = Field(
        default=0, ge=0, description="guest ms that are seen; 0: as long as what is looked at"
    )
    window_steps: int = Field(
        default=0, ge=0, description="the same where the axis counts; one of the two at most"
    )
    seconds: float = Field(default=5, gt=0, description="wall seconds the window lasts at 1x")
    moment: Name = Field(default="newest", description="where to look; the view knows the names")
    align: Literal["time", "operation", "marker", "begin"] = Field(
        default="time", description="what the lanes have in common at the left"
    )
    operation: int = Field(default=1, ge=1, description="the one that lanes are aligned at")
    focus: tuple[Name, ...] = Field(default=(), description="kinds in focus; others are muted")
    show: tuple[Name, ...] = Field(
        default=(),
        description="knobs, patch, latency, measured, hold (each lane stands still after one "
        "operation), and parts of the view",
    )
    must_show: MustShow | None = Field(
        default=None, description="what the window shows: it is looked for in the run"
    )
    sentence: Name = Field(default="none", description="the view knows the names")
    workload: Name | None = Field(default=None, description="default: the first")
    predict: Name | None = Field(default=None, description="prediction that is asked before it")
    toy: Name | None = Field(
        default=None, description="a rule to play with, beside the run; the view knows the names"
    )
    on_count: OnCount | None = Field(
        default=None, description="what differs on the count clock, in a lesson of both"
    )
    claim: str = Field(
        default="",
        description="the step in one sentence, large over its picture on a slide; "
        "empty: the first sentence of its text",
    )
    patch_at: tuple[str, ...] = Field(
        default=(),
        description="parts of lines of the patches that its slide shows; none: lines that run, "
        "of patches that no step before has shown",
    )
    notes: str = Field(
        default="", description="for the speaker alone, Markdown: what to say, and what to point at"
    )
    minutes: float = Field(
        default=0, ge=0, le=45, description="of a class, for the speaker's clock; 0: no plan"
    )

    def goes_by(self, name: str | None) -> bool:
        """Whether a link with this name leads here."""
        return name == self.id or name in self.was


class Prediction(Strict):
    """A question asked before a run; the answer is computed from the events."""

    question: str = Field(description="what will happen")
    choices: tuple[str, ...] = Field(description="answers, from the smallest value up")
    metric: Name = Field(description="ops_ratio, or one of the view's answers")
    unit: str = Field(default="", description="of the answer, in words; none for ops_ratio")
    arms: tuple[Name, Name] = Field(description="ops_ratio: the first over the second")
    bounds: tuple[float, ...] = Field(description="rising limits between the choices")
    params: dict[str, int] = Field(default_factory=dict, description="knobs of the run")
    measured_on: Literal["wall", "count"] | None = Field(
        default=None,
        description="ops_ratio alone: the recorded table of this clock answers, of untraced runs "
        "with these params, in place of the run on the stage",
    )
    judged_when_busy: bool = Field(
        default=False, description="also on a run whose vCPUs waited for the host: it is the effect"
    )


class Question(Strict):
    """Answered by pointing at a mark of `kind`, or of one of `also`, on `arm`, or on any lane."""

    ask: str = Field(description="one sentence: 'Point at ...'")
    step: Name = Field(description="the step whose picture has the mark")
    kind: Name = Field(description="kind of the mark")
    arm: Name = Field(description="lane of the mark")
    also: tuple[Name, ...] = Field(default=(), description="kinds that are right as well")
    any_lane: bool = Field(default=False, description="a mark of another lane is right as well")
    why: str = Field(description="one sentence, shown when it was found")


class StoryFile(Strict):
    """story.yaml: the steps, what a reader predicts and is asked, and the discussion."""

    scenes: tuple[Scene, ...] = Field(default=(), max_length=9, description="the steps, in order")
    hero: Name | None = Field(default=None, description="scene that the front page shows")
    predictions: dict[Name, Prediction] = Field(
        default_factory=dict, description="by name; scenes refer to them"
    )
    questions: tuple[Question, ...] = Field(
        default=(), description="asked after the last step, answered in the picture"
    )
    discussion: tuple[Remark, ...] = Field(
        default=(),
        description="what was said of the patch, and its outcome; at the end of the last step",
    )
