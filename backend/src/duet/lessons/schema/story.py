# SPDX-License-Identifier: GPL-2.0-or-later
"""story.yaml: the steps, predictions, questions, and the discussion."""

from __future__ import annotations

from datetime import date as day
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, PositiveInt, field_validator, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse

if TYPE_CHECKING:
    from duet.lessons.schema.whole import Lesson


# recap.yaml: the end of the last step, with an explanation in three sentences and a quiz.


class Explanation(Strict):
    """What a reader must explain in three sentences, and the lesson's own explanation."""

    ask: str = Field(min_length=1, description="what to explain, as a question")
    ours: tuple[str, ...] = Field(
        min_length=3,
        max_length=3,
        description="the lesson's explanation in three sentences, for comparison",
    )


class QuizQuestion(Strict):
    """A question with choices, or with a number as its answer."""

    ask: str = Field(min_length=1, description="the question")
    choices: tuple[str, ...] = Field(
        default=(), max_length=5, description="two to five answers; none if the answer is a number"
    )
    right: int | None = Field(default=None, ge=1, description="the right choice, counted from 1")
    number: float | None = Field(
        default=None, description="the right number, if there are no choices"
    )
    within: float = Field(
        default=0, ge=0, description="tolerance of the answer, in the number's unit"
    )
    unit: str = Field(default="", description="unit unit of the number, in words")
    why: str = Field(
        min_length=1, description="why it is right, in one or two sentences shown with the verdict"
    )
    step: Name | None = Field(default=None, description="the step whose picture answers it")

    @model_validator(mode="after")
    def choices_or_a_number(self) -> QuizQuestion:
        """Check that the question has complete choices or a complete number."""
        faults = []
        if self.choices and self.number is not None:
            remedy = "Remove `choices:` or `number:`."
            faults.append(Fault(("number",), "a question has both choices and a number", remedy))
        elif self.choices and len(self.choices) < 2:
            faults.append(Fault(("choices",), "a question needs two choices", "Add another one."))
        elif self.choices and (self.right is None or self.right > len(self.choices)):
            sentence = f"`right` must be from 1 to {len(self.choices)}, not {self.right}"
            faults.append(Fault(("right",), sentence, "Count the choices from 1."))
        elif not self.choices and self.number is None:
            remedy = "Add `choices:` and `right:`, or `number:`."
            faults.append(Fault((), "a question needs choices or a number", remedy))
        refuse("QuizQuestion", faults)
        return self


class RecapFile(Strict):
    """recap.yaml: the end of the last step, with an explanation in three sentences and a quiz."""

    explain: Explanation | None = Field(
        default=None,
        description="what a reader must explain at the end; leave it out for no explanation",
    )
    quiz: tuple[QuizQuestion, ...] = Field(
        default=(), max_length=9, description="questions at the end, judged by the page"
    )


# `discussion:` of story.yaml: what others said about the patch, and the outcome.


class Source(Strict):
    """A message or a commit: its author, date, and where to find it."""

    by: str = Field(
        min_length=1, description="its author's name; separate several authors with commas"
    )
    date: str = Field(
        default="",
        pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$",
        description="2023-06-09, 2023-06 or 2023",
    )
    subject: str = Field(min_length=1, description="subject of the message or commit")
    link: str = Field(
        default="", pattern=r"^(https?://\S+)?$", description="the message in an archive"
    )
    commit: str = Field(
        default="", pattern=r"^([0-9a-f]{12,40})?$", description="its commit id in mainline"
    )

    @field_validator("date", mode="before")
    @classmethod
    def yaml_reads_dates(cls, value: object) -> object:
        """Accept YAML's values for unquoted dates: a date for 2023-06-09, a number for 2023."""
        return str(value) if isinstance(value, day | int) else value

    @model_validator(mode="after")
    def it_can_be_found(self) -> Source:
        """Require a date, link or commit, because author and subject do not identify a message."""
        if not (self.date or self.link or self.commit):
            sentence = "a source needs a date, a link or a commit"
            remedy = "Add `date:`, or the `link:` of the message, or its `commit:`."
            refuse("Source", [Fault((), sentence, remedy)])
        return self


class Trial(Strict):
    """A state of the page that demonstrates a remark. Missing fields have their defaults."""

    title: str = Field(min_length=1, description="text of the link")
    step: Name | None = Field(default=None, description="the step to open; default: the first")
    arms: tuple[Name, ...] = Field(default=(), description="lanes; default: those of the step")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs that differ from the step's"
    )
    workload: Name | None = Field(default=None, description="default: that of the step")
    clock: Clock | None = Field(default=None, description="default: the lesson's")
    patch: Name | None = Field(default=None, description="arm whose patch is shown")


class Remark(Strict):
    """An objection, a counter-proposal or a later change, in one or two sentences each."""

    said: str = Field(min_length=1, description="what was said or done")
    became: str = Field(default="", description="the outcome")
    sources: tuple[Source, ...] = Field(
        min_length=1, description="where it was said, the earliest first"
    )
    tried: tuple[Trial, ...] = Field(default=(), description="where it can be tried on the page")
    untried: str = Field(
        default="", description="why it cannot be tried on the page, in one sentence"
    )

    @model_validator(mode="after")
    def tried_or_why_not(self) -> Remark:
        """Require a step or setting for trying the remark, or the reason why that is impossible."""
        if not self.tried and not self.untried:
            sentence = "a remark must say where it can be tried, or why it cannot be tried"
            remedy = "Add `tried:` with a step, arms or knobs, or `untried:` with the reason."
            refuse("Remark", [Fault((), sentence, remedy)])
        return self


# Conditions on what a step's window shows, in terms of recorded events.

NAMING = ("kind", "point", "link", "operation", "looks")
"""A mark has exactly one of these keys."""


class Sought(Strict):
    """A number of items that each lane must show in the step's window.

    Items are spans, points, links, operations, or intervals between samples. For a lower bound,
    only visible items count. A span is visible if the complete span is inside the window, or if the
    part inside covers at least a twentieth of the window. For an upper bound, every item that
    overlaps the window counts.
    """

    kind: Name | None = Field(default=None, description="spans of this kind")
    point: Name | None = Field(default=None, description="instead of `kind`: points of this name")
    link: Name | None = Field(default=None, description="instead of `kind`: links of this name")
    operation: bool = Field(default=False, description="instead of `kind`: operations")
    looks: Name | None = Field(
        default=None,
        description="instead of `kind`: the time between samples of this x-ray probe that fits "
        "`where`; adjacent intervals count as one",
    )
    arms: tuple[Name, ...] = Field(default=(), description="lanes; none: all lanes of the step")
    where: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        description="ranges for fields of the point, or for the growth of facts between two "
        "samples: "
        "least and largest value",
    )
    among: tuple[Name, ...] = Field(
        default=(),
        description="for `looks`: growth as a share of these facts' total growth, 0 to 1",
    )
    during: Name | None = Field(
        default=None, description="only the part during spans of this kind, on the same lane"
    )
    at_once: PositiveInt | Literal["all"] = Field(
        default=1,
        description="count only the time during which this many overlap; `all` means "
        "one on every thread",
    )
    whole: bool = Field(default=False, description="whether it must begin and end in the window")
    longer_ms: float = Field(default=0, ge=0, description="shortest duration in ms of guest time")
    at_least: int | None = Field(
        default=None,
        ge=0,
        description="least number in the window; default: 1, or 0 with `at_most`",
    )
    at_most: int | None = Field(default=None, ge=0, description="largest number in the window")
    most: bool = Field(
        default=False,
        description="if several windows qualify, take the one that has the most of this",
    )
    opens: bool = Field(
        default=False, description="the step starts playing just before the first of these"
    )

    @model_validator(mode="after")
    def one_of_five(self) -> Sought:
        """Check that exactly one type of item is named, and that other keys apply to this type."""
        named = [key for key in NAMING if getattr(self, key)]
        faults = []
        if len(named) != 1:
            what = "a mark must name exactly one of kind, point, link, operation and looks"
            faults.append(Fault((), what, "Keep exactly one of them."))
        if self.where and not (self.point or self.looks):
            what = "only a `point:` has fields, and only `looks:` have facts"
            faults.append(Fault(("where",), what, "Name a `point:`, or `looks:`."))
        if self.looks and not self.where:
            what = "`looks:` needs `where:`, the facts that must have grown between two samples"
            faults.append(Fault(("where",), what, "Add `where: {FACT: [LEAST, LARGEST]}`."))
        if self.among and not self.looks:
            faults.append(
                Fault(
                    ("among",),
                    "`among:` is a share of facts' growth, so it needs `looks:`",
                    "Name `looks:`.",
                )
            )
        if self.kind is None and self.at_once != 1:
            what = "only spans can overlap, so `at_once:` needs a `kind:`"
            faults.append(Fault(("at_once",), what, "Name a `kind:`."))
        if (self.point or self.link) and (self.longer_ms or self.whole):
            key = "longer_ms" if self.longer_ms else "whole"
            what = "only a span, an operation or a `looks:` interval has a duration"
            faults.append(Fault((key,), what, f"Remove `{key}`, or name a `kind:`."))
        refuse("Sought", faults)
        return self


class MustShow(Strict):
    """A step's claim, and the marks that its window must show to support it."""

    that: str = Field(description="the claim, to follow 'shows that': all four wait at once")
    marks: tuple[Sought, ...] = Field(min_length=1, description="the window must show each of them")


def faults_of(lesson: Lesson) -> list[Fault]:
    """Return faults for fields in `where` that the point lacks."""
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


class OnCount(Strict):
    """What a step changes on the count clock, where the guest has one vCPU."""

    params: dict[str, int] = Field(
        default_factory=dict, description="knobs that replace the step's"
    )
    note: str = Field(default="", description="one or two sentences, shown with the prose")


class Scene(Strict):
    """A step of the story: a saved scene, whose text is in content.md below the same id."""

    id: Name = Field(description="the name in links and in content.md")
    was: tuple[Name, ...] = Field(default=(), description="former names of the step, for old links")
    title: str = Field(description="its title in the list of steps")
    arms: tuple[Name, ...] = Field(description="the lanes, from the top")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs; the others have their defaults"
    )
    window_ms: float = Field(
        default=0, ge=0, description="visible guest ms; 0: as long as the moment's object"
    )
    window_steps: int = Field(
        default=0, ge=0, description="visible steps on a counting axis; excludes window_ms"
    )
    seconds: float = Field(default=5, gt=0, description="wall seconds that the window plays at 1x")
    moment: Name = Field(
        default="newest", description="the moment to show; `./duet views` lists the names"
    )
    align: Literal["time", "operation", "marker", "begin"] = Field(
        default="time", description="the event at which lanes are aligned, at the left edge"
    )
    operation: int = Field(
        default=1, ge=1, description="number of the operation at which lanes are aligned"
    )
    focus: tuple[Name, ...] = Field(default=(), description="kinds in focus; other kinds are muted")
    show: tuple[Name, ...] = Field(
        default=(),
        description="knobs, patch, latency, measured, hold (each lane stands still after one "
        "operation), and parts of the view",
    )
    must_show: MustShow | None = Field(
        default=None, description="what the window must show; the window is searched in the run"
    )
    sentence: Name = Field(default="none", description="the view knows the names")
    workload: Name | None = Field(default=None, description="default: the first")
    predict: Name | None = Field(
        default=None, description="prediction that is asked before the step"
    )
    toy: Name | None = Field(
        default=None, description="a rule to play with, beside the run; the view knows the names"
    )
    on_count: OnCount | None = Field(
        default=None, description="differences on the count clock, in a lesson with both clocks"
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
        default="", description="for the speaker only, Markdown: what to say and to point at"
    )
    minutes: float = Field(
        default=0,
        ge=0,
        le=45,
        description="planned time in a class, for the speaker's clock; 0 means no plan",
    )

    def has_name(self, name: str | None) -> bool:
        """Return whether a link with this name leads to this step."""
        return name == self.id or name in self.was


class Crossing(Strict):
    """The answer of a prediction over a grid: where a curve's ratio of two arms passes a limit.

    The value is the first recorded value of the curve's knob at which the ratio is below or above
    the limit; without such a value, the last choice is right.
    """

    grid: Name = Field(description="a grid of lesson.yaml")
    curve: Name = Field(description="one of its curves")
    below: float | None = Field(default=None, gt=0, description="the ratio falls below this")
    above: float | None = Field(default=None, gt=0, description="the ratio rises above this")

    @model_validator(mode="after")
    def it_has_one_limit(self) -> Self:
        if (self.below is None) == (self.above is None):
            sentence = "a crossing needs either `below` or `above`"
            refuse("Crossing", [Fault(("below",), sentence, "Write one of the two.")])
        return self


class Prediction(Strict):
    """A question before a run, whose answer is computed from the run's events."""

    question: str = Field(description="the question")
    choices: tuple[str, ...] = Field(description="answers in order of rising value")
    metric: Name = Field(description="ops_ratio, crossing, or one of the view's answers")
    unit: str = Field(default="", description="unit of the answer, in words; none for ops_ratio")
    crossing: Crossing | None = Field(
        default=None, description="only for the metric crossing: the curve that answers"
    )
    arms: tuple[Name, Name] = Field(description="ops_ratio: the first over the second")
    bounds: tuple[float, ...] = Field(description="limits between the choices, in rising order")
    params: dict[str, int] = Field(default_factory=dict, description="knobs of the run")
    measured_on: Literal["wall", "count"] | None = Field(
        default=None,
        description="only for ops_ratio: the recorded table of this clock decides, untraced runs "
        "with these params, instead of the run on the stage",
    )
    judged_when_busy: bool = Field(
        default=False,
        description="whether to judge even a run whose vCPUs waited for the host, because the "
        "waiting is the effect",
    )


class Question(Strict):
    """A task to point at a mark of a given kind: on the lane of `arm`, or on any lane."""

    ask: str = Field(description="one sentence: 'Point at ...'")
    step: Name = Field(description="the step that shows the mark")
    kind: Name = Field(description="kind of the mark")
    arm: Name = Field(description="lane of the mark")
    also: tuple[Name, ...] = Field(default=(), description="other kinds that are right")
    any_lane: bool = Field(
        default=False, description="whether a mark on any other lane is right too"
    )
    why: str = Field(description="one sentence, shown when the mark was found")


class StoryFile(Strict):
    """story.yaml: the steps, predictions, questions, and the discussion."""

    scenes: tuple[Scene, ...] = Field(default=(), max_length=12, description="the steps, in order")
    hero: Name | None = Field(default=None, description="scene shown on the front page")
    predictions: dict[Name, Prediction] = Field(
        default_factory=dict, description="by name; scenes refer to them"
    )
    questions: tuple[Question, ...] = Field(
        default=(), description="asked after the last step, answered by pointing at a mark"
    )
    discussion: tuple[Remark, ...] = Field(
        default=(),
        description="what was said about the patch, and its outcome; shown after the last step",
    )


# terms.yaml: the words that readers of the lesson need, each with a drawing.

Form = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9 _-]*[A-Za-z0-9])?$")]
"""Pattern for one or more words: letters, digits, spaces, dashes and underscores."""


class Term(Strict):
    """A term, its meaning in one or two sentences, and a drawing."""

    name: Form = Field(description="the word as used in a sentence")
    also: tuple[Form, ...] = Field(default=(), description="other forms, such as the plural")
    says: str = Field(default="", description="what it is, in one or two sentences")
    drawing: str = Field(
        default="",
        pattern=r"^([a-z0-9-]+\.svg)?$",
        description="a file in the folder drawings/; see docs/AUTHORING.md",
    )
    entry: bool = Field(default=True, description="shown at the beginning of the first step")
    shared: bool = Field(
        default=False, description="whether the other fields are in lessons/_common/terms.yaml"
    )

    @model_validator(mode="after")
    def shared_or_said(self) -> Term:
        """Check that a term is explained either here or in the common file, not in both."""
        own = self.says or self.drawing or self.also
        if self.shared and own:
            sentence = "a shared term is explained both in the common file and here"
            remedy = "Keep only `name:`, `shared: true` and `entry:`, or remove `shared:`."
            refuse("Term", [Fault(("shared",), sentence, remedy)])
        if not self.shared and not self.says:
            remedy = "Add `says:` with one or two sentences, or `shared: true`."
            refuse("Term", [Fault((), "a term needs an explanation", remedy)])
        return self


class TermsFile(Strict):
    """terms.yaml: the words that readers of the lesson need, each with a drawing."""

    terms: tuple[Term, ...] = Field(
        default=(), max_length=16, description="in the order in which a reader meets them"
    )
