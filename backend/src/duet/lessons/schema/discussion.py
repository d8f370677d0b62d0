# SPDX-License-Identifier: GPL-2.0-or-later
"""`discussion:` of story.yaml: what others said of the patch, and the outcome."""

from __future__ import annotations

from datetime import date as day

from pydantic import Field, field_validator, model_validator

from duet.lessons.schema.base import ClockName, Fault, Name, Strict, refuse


class Source(Strict):
    """A message or a commit: who wrote it, when, and where it is found."""

    by: str = Field(min_length=1, description="its author's name; several with commas")
    date: str = Field(
        default="",
        pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$",
        description="2023-06-09, 2023-06 or 2023",
    )
    subject: str = Field(min_length=1, description="of the message or the commit")
    link: str = Field(
        default="", pattern=r"^(https?://\S+)?$", description="the message in an archive"
    )
    commit: str = Field(
        default="", pattern=r"^([0-9a-f]{12,40})?$", description="its id in mainline"
    )

    @field_validator("date", mode="before")
    @classmethod
    def yaml_reads_dates(cls, value: object) -> object:
        """2023-06-09 without quotes is a date in YAML, and 2023 a number."""
        return str(value) if isinstance(value, day | int) else value

    @model_validator(mode="after")
    def it_can_be_found(self) -> Source:
        """An author and a subject alone find nothing."""
        if not (self.date or self.link or self.commit):
            sentence = "a source needs a date, a link or a commit"
            remedy = "Add `date:`, or the `link:` of the message, or its `commit:`."
            refuse("Source", [Fault((), sentence, remedy)])
        return self


class Trial(Strict):
    """A state of the lesson's page in which the point can be tried; what is left out is usual."""

    title: str = Field(min_length=1, description="the words of the link")
    step: Name | None = Field(
        default=None, description="the step that is opened; default: the first"
    )
    arms: tuple[Name, ...] = Field(default=(), description="lanes; default: those of the step")
    params: dict[str, int] = Field(default_factory=dict, description="knobs that are turned")
    workload: Name | None = Field(default=None, description="default: that of the step")
    clock: ClockName | None = Field(default=None, description="default: the lesson's")
    patch: Name | None = Field(default=None, description="the arm whose patch is shown")


class Remark(Strict):
    """One objection, counter-proposal or later change, in one or two sentences each."""

    said: str = Field(min_length=1, description="what was said or done")
    became: str = Field(default="", description="the outcome")
    sources: tuple[Source, ...] = Field(
        min_length=1, description="where it was said, the first first"
    )
    tried: tuple[Trial, ...] = Field(default=(), description="where it can be tried here")
    untried: str = Field(default="", description="why it cannot be tried here, in one sentence")

    @model_validator(mode="after")
    def tried_or_why_not(self) -> Remark:
        """A reader learns where to try it, or why not."""
        if not self.tried and not self.untried:
            sentence = "a remark says where it can be tried, or why not"
            remedy = "Add `tried:` with a step, arms or knobs, or `untried:` with the reason."
            refuse("Remark", [Fault((), sentence, remedy)])
        return self
