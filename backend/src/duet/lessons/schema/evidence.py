# SPDX-License-Identifier: GPL-2.0-or-later
"""evidence.yaml: what is claimed, what was published, and what one should not conclude."""

from __future__ import annotations

from pydantic import Field

from duet.lessons.schema.base import ClockName, Name, Strict
from duet.lessons.schema.published import Mail, PublishedFigure


class Limits(Strict):
    """`metric` of a kernel against `to` (or alone), within these limits."""

    metric: Name = Field(description="one of the lesson's metrics")
    to: Name | None = Field(default=None, description="none: the limits are for the value itself")
    ratio_max: float | None = Field(default=None, description="arm over `to` is at most this")
    ratio_min: float | None = Field(default=None, description="arm over `to` is at least this")
    value_max: float | None = Field(default=None, description="largest value, in the metric's unit")
    value_min: float | None = Field(default=None, description="smallest, in the metric's unit")
    equals: Name | None = Field(default=None, description="metric of the same arm, to the digit")
    params: dict[str, int] = Field(description="the knobs it is for")
    clock: ClockName = Field(description="the clock it is for")
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns an instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")


class Claim(Limits):
    """Tested data: limits that an arm keeps."""

    arm: Name = Field(description="the kernel that is claimed about")
    source: str = Field(description="where the expectation comes from")


class Reference(Strict):
    """A published value that a chart of the view shows beside ours."""

    quantity: Name = Field(description="what it is of; the view knows the names")
    arm: Name = Field(description="our kernel that it is shown with")
    params: dict[str, int] = Field(description="the knobs it is for; values may lie beyond ours")
    value: float = Field(gt=0, description="in the unit of the quantity's axis")
    title: str = Field(default="", description="in words, for who points at it")


class EvidenceFile(Strict):
    """evidence.yaml: what is claimed, what was published, and what one should not conclude."""

    claims: tuple[Claim, ...] = Field(default=(), description="checked by lint and by the tests")
    mails: dict[Name, Mail] = Field(
        default={}, description="where the figures stand; the first is meant where none is named"
    )
    published: tuple[PublishedFigure, ...] = Field(
        default=(),
        description="every figure of the mails; duet measure --published looks for them",
    )
    references: tuple[Reference, ...] = Field(
        default=(), description="published values that charts show beside ours"
    )
    caveats: tuple[str, ...] = Field(
        default=(), description="what one should not conclude, a sentence each"
    )
    no_table: str = Field(
        default="",
        description="why no table of untraced runs is recorded, and what to look at in its place",
    )
