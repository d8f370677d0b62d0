# SPDX-License-Identifier: GPL-2.0-or-later
"""evidence.yaml: what is claimed, what was published, and what one should not conclude."""

from __future__ import annotations

from pydantic import Field

from duet.lessons.schema.base import ClockName, Name, Strict
from duet.lessons.schema.former_keys import TOP, key_and_former


class Claim(Strict):
    """Tested data: `metric` of `arm` against `to` (or alone), within these limits."""

    metric: Name = Field(description="one of the lesson's metrics")
    arm: Name = Field(description="the kernel that is claimed about")
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
    source: str = Field(description="where the expectation comes from")


class Seed(Strict):
    """A figure of the mail, and how it is looked for here."""

    claim: str = Field(description="what the mail says, in a few words")
    mail: str = Field(description="its figures, e.g. '12916 to 2811 ops/s'")
    mail_ratio: float = Field(gt=0, description="arm over `to`, as the mail has it")
    metric: Name = Field(description="the lesson's metric that stands for the mail's")
    arm: Name = Field(description="our kernel that stands for the mail's new one")
    to: Name = Field(description="our kernel that stands for the mail's old one")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs; the others have their defaults"
    )
    to_params: dict[str, int] = Field(
        default_factory=dict, description="where `to` ran under other knobs than `arm`"
    )
    clock: ClockName = Field(description="the clock it is measured on here")
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns an instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")
    because: str = Field(
        default="", description="why ours differs, shown when it is not simply reproduced"
    )


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
    seeds: tuple[Seed, ...] = Field(
        default=(),
        validation_alias=key_and_former(TOP, "published"),
        description="figures of the mail; duet measure --published looks for them",
    )
    references: tuple[Reference, ...] = Field(
        default=(), description="published values that charts show beside ours"
    )
    caveats: tuple[str, ...] = Field(
        default=(), description="what one should not conclude, a sentence each"
    )
