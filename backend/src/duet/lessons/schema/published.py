# SPDX-License-Identifier: GPL-2.0-or-later
"""A published figure: what a mail says, where, and how it is looked for here."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse


def one_line(text: str) -> str:
    """Text of one line.

    Raises:
        ValueError: it is empty, or has several lines.
    """
    if not text.strip() or "\n" in text.strip():
        raise ValueError("one line of text is wanted")
    return text.strip()


Line = Annotated[str, AfterValidator(one_line)]


class Mail(Strict):
    """A mail, or a page, that figures are quoted from."""

    author: Line = Field(description="who wrote it")
    date: Line = Field(pattern=r"^\d{4}-\d\d(-\d\d)?$", description="2024-06-12, or 2022-01")
    subject: Line = Field(description="its subject, as it stands there")
    url: str | None = Field(
        default=None, pattern=r"^https://", description="none: no address of it is known to us"
    )


class PublishedFigure(Strict):
    """A figure of a mail. It is tested here, or it says why that is impossible."""

    claim: Line = Field(description="what the figure is, in a few words")
    mail: Line = Field(description="the figures as the mail has them: '12916 to 2811 ops/s'")
    value: float = Field(description="the figure in `unit`; of `arm`, where two are compared")
    base: float | None = Field(default=None, description="the one of `to`, in the same unit")
    unit: Line = Field(description="of value and base; 'exponent' of a complexity")
    context: Line = Field(description="one line: on what machine, under what load")
    link: Name | None = Field(default=None, description="one of `mails:`; default: the first")
    mail_ratio: float | None = Field(
        default=None, gt=0, description="arm over `to`; default: value over base"
    )
    mail_interval: tuple[float, float] | None = Field(
        default=None, description="of the ratio, where the mail gives a range, or digits do"
    )
    exponent: float | None = Field(
        default=None, gt=0, description="a complexity: cost grows with n to this power"
    )
    not_testable: str = Field(default="", description="why this machine cannot test it")
    needs_cpus: int = Field(
        default=1, ge=1, le=1024, description="CPUs of a host that can test it; see `duet pack`"
    )
    metric: Name | None = Field(default=None, description="our metric that stands for the mail's")
    arm: Name | None = Field(default=None, description="our kernel for the mail's new one")
    to: Name | None = Field(default=None, description="our kernel for the mail's old one")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs; the others have their defaults"
    )
    to_params: dict[str, int] = Field(
        default_factory=dict, description="where `to` ran under other knobs than `arm`"
    )
    clock: Clock = Field(default="wall", description="the clock it is measured on here")
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns an instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")
    because: str = Field(
        default="", description="why ours differs, shown when it is not simply reproduced"
    )

    @property
    def measured(self) -> bool:
        """Is there a number here that stands for the mail's?"""
        return self.metric is not None

    @property
    def ratio(self) -> float | None:
        """The mail's, arm over `to`; None of a figure that stands alone."""
        if self.mail_ratio is not None or not self.base or self.value <= 0:
            return self.mail_ratio
        return self.value / self.base

    @property
    def scaled(self) -> float | None:
        """n of `arm` over n of `to`, of the one knob in which they differ; None of others."""
        ends = {**self.params, **self.to_params}
        knobs = [name for name, n in ends.items() if self.params.get(name) != n]
        if len(knobs) != 1 or not ends[knobs[0]] or knobs[0] not in self.params:
            return None
        found = self.params[knobs[0]] / ends[knobs[0]]
        return found if found > 0 else None

    @model_validator(mode="after")
    def it_can_be_judged(self) -> Self:
        """A figure has what its verdict needs."""
        faults = []
        named = [name for name in ("metric", "arm", "to") if getattr(self, name) is not None]
        if named and len(named) < 3:
            sentence = f"a tested figure needs metric, arm and to, but only {named[0]} is given"
            faults.append(Fault((named[0],), sentence, "Give all three."))
        if not named and not self.not_testable:
            remedy = "Give metric, arm and to, or say why under `not_testable:`."
            faults.append(Fault((), "this figure is not tested, and nothing says why", remedy))
        if named and not self.not_testable and self.ratio is None and self.exponent is None:
            remedy = "Give `base:` with the value, `mail_ratio:` or `exponent:`."
            faults.append(Fault((), "this figure has no ratio to test", remedy))
        if self.exponent is not None and self.scaled in (None, 1):
            sentence = "an exponent needs two sizes: one knob that differs from `to_params:`"
            faults.append(Fault(("exponent",), sentence, "Give it in params and in to_params."))
        low, high = self.mail_interval or (1.0, 1.0)
        if not 0 < low <= high:
            sentence = f"the interval of a ratio goes from low to high, above 0, but {low}, {high}"
            faults.append(Fault(("mail_interval",), sentence, "Write the lower end first."))
        refuse("PublishedFigure", faults)
        return self


# evidence.yaml: what is claimed, what was published, and what one should not conclude.


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
    clock: Clock = Field(description="the clock it is for")
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
