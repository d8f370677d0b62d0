# SPDX-License-Identifier: GPL-2.0-or-later
"""evidence.yaml: claims, references, caveats, and published figures with their tests."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse


def one_line(text: str) -> str:
    """Return the stripped text of a single line.

    Raises:
        ValueError: the text is empty or has several lines.
    """
    if not text.strip() or "\n" in text.strip():
        raise ValueError("this must be one line of text")
    return text.strip()


Line = Annotated[str, AfterValidator(one_line)]


class Mail(Strict):
    """A mail or web page from which figures are quoted."""

    author: Line = Field(description="who wrote it")
    date: Line = Field(pattern=r"^\d{4}-\d\d(-\d\d)?$", description="2024-06-12, or 2022-01")
    subject: Line = Field(description="its subject, verbatim")
    url: str | None = Field(
        default=None, pattern=r"^https://", description="its web address; leave it out if unknown"
    )


class PublishedFigure(Strict):
    """A figure from a mail. The figure is tested here, or a reason says why it is not tested."""

    claim: Line = Field(description="what the figure is, in a few words")
    mail: Line = Field(description="the figures as in the mail: '12916 to 2811 ops/s'")
    value: float = Field(description="the figure in `unit`; if two are compared, that of `arm`")
    base: float | None = Field(default=None, description="the figure of `to`, in the same unit")
    unit: Line = Field(description="unit of value and base; 'exponent' for a complexity")
    context: Line = Field(description="one line: the machine and the load")
    link: Name | None = Field(default=None, description="one of `mails:`; default: the first")
    mail_ratio: float | None = Field(
        default=None, gt=0, description="arm over `to`; default: value over base"
    )
    mail_interval: tuple[float, float] | None = Field(
        default=None,
        description="range of the ratio, if the mail gives a range or its digits imply one",
    )
    exponent: float | None = Field(
        default=None, gt=0, description="a complexity: cost grows with n to this power"
    )
    not_testable: str = Field(default="", description="why this machine cannot test it")
    needs_cpus: int = Field(
        default=1, ge=1, le=1024, description="CPUs of a host that can test it; see `duet pack`"
    )
    metric: Name | None = Field(
        default=None, description="our metric that corresponds to the mail's"
    )
    arm: Name | None = Field(default=None, description="our kernel for the mail's new one")
    to: Name | None = Field(default=None, description="our kernel for the mail's old one")
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs; the others have their defaults"
    )
    to_params: dict[str, int] = Field(
        default_factory=dict, description="knobs of `to` that differ from those of `arm`"
    )
    clock: Clock = Field(default="wall", description="clock of the measurement here")
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns per instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")
    because: str = Field(
        default="", description="why our result differs, shown when it is not simply reproduced"
    )

    @property
    def measured(self) -> bool:
        """Return whether a metric of the lesson corresponds to the mail's figure."""
        return self.metric is not None

    @property
    def ratio(self) -> float | None:
        """The ratio that the mail reports: `arm` divided by `to`. None for a single figure."""
        if self.mail_ratio is not None or not self.base or self.value <= 0:
            return self.mail_ratio
        return self.value / self.base

    @property
    def scaled(self) -> float | None:
        """The value of a knob for `arm`, divided by the knob's value for `to`.

        None unless exactly one knob differs between `arm` and `to`.
        """
        ends = {**self.params, **self.to_params}
        knobs = [name for name, n in ends.items() if self.params.get(name) != n]
        if len(knobs) != 1 or not ends[knobs[0]] or knobs[0] not in self.params:
            return None
        found = self.params[knobs[0]] / ends[knobs[0]]
        return found if found > 0 else None

    @model_validator(mode="after")
    def it_can_be_judged(self) -> Self:
        """Check that a figure has all keys that its verdict needs."""
        faults = []
        named = [name for name in ("metric", "arm", "to") if getattr(self, name) is not None]
        if named and len(named) < 3:
            sentence = f"a tested figure needs metric, arm and to, but only {named[0]} is given"
            faults.append(Fault((named[0],), sentence, "Give all three."))
        if not named and not self.not_testable:
            remedy = "Give metric, arm and to, or give the reason under `not_testable:`."
            faults.append(Fault((), "this figure is not tested, and no reason is given", remedy))
        if named and not self.not_testable and self.ratio is None and self.exponent is None:
            remedy = "Give `base:` with the value, `mail_ratio:` or `exponent:`."
            faults.append(Fault((), "this figure has no ratio to test", remedy))
        if self.exponent is not None and self.scaled in (None, 1):
            sentence = (
                "an exponent needs two sizes, so exactly one knob "
                "must differ between `params:` and `to_params:`"
            )
            faults.append(
                Fault(("exponent",), sentence, "Give that knob in `params:` and in `to_params:`.")
            )
        low, high = self.mail_interval or (1.0, 1.0)
        if not 0 < low <= high:
            sentence = (
                f"the interval of a ratio must go from low to high "
                f"and be above 0, not {low}, {high}"
            )
            faults.append(Fault(("mail_interval",), sentence, "Write the lower end first."))
        refuse("PublishedFigure", faults)
        return self


# evidence.yaml: claims, published figures, and caveats.


class Limits(Strict):
    """Limits for a kernel's `metric`: for its ratio to the arm `to`, or for the value itself."""

    metric: Name = Field(description="one of the lesson's metrics")
    to: Name | None = Field(
        default=None, description="arm to compare with; none: the limits are for the value itself"
    )
    ratio_max: float | None = Field(default=None, description="arm over `to` is at most this")
    ratio_min: float | None = Field(default=None, description="arm over `to` is at least this")
    value_max: float | None = Field(default=None, description="largest value, in the metric's unit")
    value_min: float | None = Field(
        default=None, description="smallest value, in the metric's unit"
    )
    equals: Name | None = Field(
        default=None, description="metric of the same arm that must be exactly equal"
    )
    params: dict[str, int] = Field(description="its knobs")
    clock: Clock = Field(description="its clock")
    shift: int = Field(default=0, ge=0, le=10, description="2^shift ns per instruction (count)")
    workload: Name | None = Field(default=None, description="default: the first")


class Claim(Limits):
    """Limits that tests check for an arm."""

    arm: Name = Field(description="the kernel of the claim")
    source: str = Field(description="source of the expectation")


class Reference(Strict):
    """A published value that a chart of the view shows next to our value."""

    quantity: Name = Field(description="the quantity; `./duet views` lists the names")
    arm: Name = Field(description="our kernel next to which it is shown")
    params: dict[str, int] = Field(description="its knobs; values may be larger than in our runs")
    value: float = Field(gt=0, description="value in the unit of the quantity's axis")
    title: str = Field(default="", description="description, shown on hover")


class Curve(Strict):
    """A metric as a function of one knob, with a measured table per value of the knob.

    A host with too few CPUs for a point leaves the point out. `./duet pack` packs the measurement
    of such a point for another host.
    """

    over: Name = Field(description="the knob on the axis")
    arms: tuple[Name, ...] = Field(min_length=1, description="the arms; each has one line")
    points: tuple[dict[str, int], ...] = Field(
        min_length=2, description="knobs of each table; the others have their defaults"
    )
    clock: Clock = Field(default="wall", description="clock of the measurements")
    workload: Name | None = Field(default=None, description="default: the first")
    metric: Name | None = Field(
        default=None, description="a line metric of the workload; default: the headline"
    )

    @model_validator(mode="after")
    def its_points_differ(self) -> Self:
        """Check that each point has a different value of the knob."""
        values = [point.get(self.over) for point in self.points]
        if None in values or len(set(values)) < len(values):
            sentence = f"each point of a curve over {self.over} needs its own value of {self.over}"
            refuse("Curve", [Fault(("points",), sentence, f"Write {self.over} into each point.")])
        return self


class EvidenceFile(Strict):
    """evidence.yaml: claims, published figures, curves, and caveats."""

    claims: tuple[Claim, ...] = Field(default=(), description="checked by lint and by the tests")
    mails: dict[Name, Mail] = Field(
        default={}, description="sources of the figures; the first is the default"
    )
    published: tuple[PublishedFigure, ...] = Field(
        default=(),
        description="every figure of the mails; duet measure --published tests them",
    )
    references: tuple[Reference, ...] = Field(
        default=(), description="published values that charts show beside ours"
    )
    curves: dict[Name, Curve] = Field(
        default={}, description="measured curves over a knob, for a panel of a step"
    )
    caveats: tuple[str, ...] = Field(
        default=(), description="wrong conclusions to avoid, each in one sentence"
    )
    no_table: str = Field(
        default="",
        description="why no table of untraced runs is recorded, and what to look at instead",
    )
