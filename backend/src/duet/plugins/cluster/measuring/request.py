# SPDX-License-Identifier: GPL-2.0-or-later
"""Input and output of a comparison's program, which checks its input against the host's lesson."""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet.base.errors import DuetError, InfraError, InputError
from duet.base.failures import Failure
from duet.bundle.manifest import Sha256
from duet.lessons import load as roles
from duet.measure import MeasurePlan, Table
from duet.measure.compare import shift_words
from duet.measure.jobs import Job, Name, has_planned_series, is_usable
from duet.measure.model import ArmFacts, Condition, Series
from duet.measure.plan import all_steps, conditions
from duet.plugins.cluster.measuring.limits import (
    LEASE_MOST_S,
    PROGRAM_BYTES,
    REQUEST_BYTES,
    RESULT_BYTES,
    RUN_S,
    SPARE_S,
    UNPACKED_BYTES,
)
from duet.plugins.cluster.types import Want

# A measurement is split into comparisons. Each comparison has one condition, one link order of the
# kernels, and all arms. Pure.


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison.

    Args:
        name: its condition in words.
        table: index of its condition in the whole measurement.
        layout: number of the link order of its kernels. 0 is the default order. Other numbers are
            relinked kernels.
        plan: the plan of the comparison's runs, in order.
    """

    name: str
    table: int
    layout: int
    plan: MeasurePlan


def parts_of(plan: MeasurePlan) -> list[Part]:
    """Split a plan into comparisons. Comparisons with the default link order come first.

    Raises:
        InputError: the number of runs is impossible (see all_steps).
    """
    all_steps(plan)
    swept, values = plan.sweep or ("", (0,))
    places = [(value, shift) for value in values for shift in shifts_of(plan)]
    assert len(places) == len(conditions(plan))
    return [
        _part(plan, table, layout, (swept, value), shift)
        for layout in range(plan.layouts + 1)
        for table, (value, shift) in enumerate(places)
    ]


def shifts_of(plan: MeasurePlan) -> tuple[int, ...]:
    """Return the shifts of a plan's tables."""
    return (0,) if plan.clock == "wall" else plan.shifts


def _part(plan: MeasurePlan, table: int, layout: int, knob: tuple[str, int], shift: int) -> Part:
    name, value = knob
    said = [f"{name}={value}"] if name else []
    if plan.clock == "count" and len(plan.shifts) > 1:
        said.append(shift_words(shift))
    said += [f"link {layout}"] if layout else []
    params = {**plan.params, name: value} if name else dict(plan.params)
    link = layout if plan.layouts else None
    own = replace(plan, params=params, sweep=None, shifts=(shift,), link=link)
    return Part(", ".join(said) or plan.workload, table, layout, own)


def want_of(part: Part, lease_s: float | None = None) -> Want:
    """Return what a comparison's lease needs.

    On the wall clock, the lease needs exclusive CPUs. On the count clock, it needs one CPU.

    Args:
        lease_s: the lease's length. By default it follows from the number of runs.
    """
    wall = part.plan.clock == "wall"
    lesson = part.plan.lesson
    usual_s = SPARE_S + RUN_S * len(all_steps(part.plan))
    return Want(
        vcpus=roles.cpus(lesson, part.plan.params) if wall else 1,
        memory_bytes=(lesson.memory_mb << 20) + PROGRAM_BYTES,
        exclusive=wall,
        ttl_s=lease_s or min(usual_s, LEASE_MOST_S),
    )


VERSION: Final = 1


class Envelope(BaseModel):
    """Base class of the messages between a pool and a comparison's program. Both sides must have
    the same version."""

    model_config = ConfigDict(extra="forbid")


class Request(Job):
    """A request for a comparison, as its program reads it from standard input."""

    version: Literal[1] = VERSION
    layouts: Annotated[int, Field(ge=0, le=100)]
    link: int | None
    at_once: Annotated[int, Field(ge=1, le=1024)]

    @classmethod
    def of(cls, part: Part, at_once: int) -> Request:
        """Make the request for a comparison.

        Args:
            at_once: maximum number of guests that run at the same time on the count clock.
        """
        plan = part.plan
        more = {"layouts": plan.layouts, "link": plan.link, "at_once": at_once}
        return cls.model_validate({**cls.fields_of(plan), **more})

    @classmethod
    def read(cls, text: bytes) -> Request:
        """Parse standard input.

        Raises:
            InputError: the input is no request.
        """
        try:
            if len(text) > REQUEST_BYTES:
                raise ValueError("the input is too long")
            return cls.model_validate_json(text)
        except ValueError as error:
            raise InputError(
                f"the input is not a comparison request of this version ({error!s:.200}).",
                remedy="Use the same version of Kernel Duet on all hosts.",
            ) from None

    def plan(self) -> MeasurePlan:
        return replace(super().plan(), layouts=self.layouts, link=self.link)


# The result of a comparison's program. The receiver checks it.
#
# The result is one line of ASCII, so that it can be found in a log among other lines.


MARK: Final = b"duet-comparison "
"""Prefix of the result line."""


class BadResult(Exception):
    """The output contains no result of the requested comparison."""


class Facts(Envelope):
    """Facts that a comparison's program collected about its host."""

    host: dict[Name, str] = Field(max_length=50)
    kernels: dict[Name, Sha256] = Field(max_length=128)
    root: Sha256
    waited_share: float | None = Field(default=None, ge=0, le=1)


class Counts(Envelope):
    """A table in transit. Verdicts are computed after merging."""

    condition: Condition
    series: list[Series]
    lines: dict[str, list[str]]
    refusals: list[str]
    errors: dict[str, Failure]
    counted: dict[str, tuple[int, int]]


class Result(Envelope):
    """The result of a comparison, or a failure that happened before its first run."""

    version: Literal[1] = VERSION
    failure: Failure | None = None
    facts: Facts | None = None
    arms: list[ArmFacts] = Field(default_factory=list)
    counts: Counts | None = None
    partial: str | None = None

    def error(self) -> DuetError | None:
        return self.failure.error() if self.failure else None

    def table(self) -> Table:
        assert self.counts is not None
        counts = self.counts
        return Table(
            condition=counts.condition,
            series=counts.series,
            lines=counts.lines,
            refusals=counts.refusals,
            errors={arm: failure.error() for arm, failure in counts.errors.items()},
            counted=counts.counted,
        )


def counts_of(table: Table) -> Counts:
    """Convert a table for transit."""
    return Counts(
        condition=table.condition,
        series=table.series,
        lines=table.lines,
        refusals=table.refusals,
        errors={arm: Failure.of(error) for arm, error in table.errors.items()},
        counted=table.counted,
    )


def line_of(result: Result) -> bytes:
    """Encode the line that a program writes.

    Raises:
        InfraError: the line is longer than the part of a program's output that a pool keeps.
    """
    text = result.model_dump_json(exclude_unset=False).encode()
    line = MARK + base64.b64encode(zlib.compress(text)) + b"\n"
    if len(line) > RESULT_BYTES or len(text) > UNPACKED_BYTES:
        raise InfraError(
            f"the result of a comparison has {len(line):,} bytes, but at most {RESULT_BYTES:,} can"
            " be returned.",
            remedy="Use fewer --repeats.",
        )
    return line


def read_result(output: bytes, part: Part) -> Result:
    """Find and decode the result in a program's output.

    Raises:
        BadResult: there is no result, or it belongs to another comparison.
    """
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        raise BadResult("no result arrived")
    try:
        unpack = zlib.decompressobj()
        text = unpack.decompress(
            base64.b64decode(lines[-1][len(MARK) :], validate=True), UNPACKED_BYTES
        )
        if not unpack.eof:
            raise BadResult("the result is cut off or too long")
        result = Result.model_validate_json(text)
    except (binascii.Error, zlib.error, ValidationError, ValueError):
        raise BadResult("the result cannot be read; use the same version on all hosts") from None
    if not result.failure:
        _check(result, part)
    return result


def _check(result: Result, part: Part) -> None:
    """Check that a result belongs to the requested comparison."""
    (condition,) = conditions(part.plan)
    if result.counts is None or result.facts is None or result.counts.condition != condition:
        raise BadResult("the result belongs to another condition")
    series = result.counts.series
    if not has_planned_series(part.plan, series):
        raise BadResult("the result has other metrics or arms; use the same lesson on all hosts")
    if tuple(arm.name for arm in result.arms) != part.plan.arms:
        raise BadResult("the result belongs to other arms")
    booted = {*part.plan.arms}
    booted |= {f"{arm} link {part.layout}" for arm in part.plan.arms} if part.layout else set()
    if set(result.facts.kernels) != booted:
        raise BadResult("the result does not say which kernels ran")
    ran = any(one.samples or one.layouts for one in series if one.evidence != "static")
    if ran and not all(result.facts.host.get(name) for name in ("cpu", "qemu", "accel")):
        raise BadResult("the result does not say what its host is")
    for one in series:
        if not is_usable(one):
            raise BadResult(f"the result has no usable figures for {one.metric}")
        if set(one.layouts) - {part.layout}:
            raise BadResult("the result has figures for other link orders")
